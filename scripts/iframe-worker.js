// A worker for pages that are opened as files: browsers allow these no Worker, but an iframe.
//
// The theme's search runs in a Worker. On file: addresses this class takes its place: it runs the
// same script in a hidden iframe, which has what the script uses of a worker.
"use strict";

class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.frame = frame;
    this.waiting = [];
    const inside = frame.contentWindow;
    // The script answers by postMessage, which in an iframe would need an origin.
    inside.postMessage = (data) => this.answer(data);
    inside.IFrameWorker = IFrameWorker;
    inside.importScripts = (...urls) =>
      urls.reduce((before, one) => before.then(() => load(inside, one)), Promise.resolve());
    load(inside, url).then(() => {
      const { waiting } = this;
      this.waiting = null;
      waiting.forEach((data) => this.postMessage(data));
    });
  }

  postMessage(data) {
    if (this.waiting) this.waiting.push(data);
    else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
  }

  answer(data) {
    const event = new MessageEvent("message", { data });
    this.dispatchEvent(event);
    if (this.onmessage) this.onmessage(event);
  }

  terminate() {
    this.frame.remove();
  }
}

function load(place, url) {
  return new Promise((done, failed) => {
    const script = place.document.createElement("script");
    script.src = new URL(url, document.baseURI).href;
    script.onload = done;
    script.onerror = () => failed(new Error(`${url} cannot be loaded`));
    place.document.body.append(script);
  });
}

if (location.protocol === "file:") window.Worker = IFrameWorker;
