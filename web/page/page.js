/**
 * The page on which a person answers: it checks the browser and the contract, asks, seals, and sends
 * one bundle. All that it knows of a round is in the diary, so that it can be closed at any time.
 */

import { browserStorage } from "../src/browser-storage.js";
import { answerRound, deliverUntilAnswered, fetchBytes, fetchOpenRound, fetchRounds, isInside } from "../src/client.js";
import { rolesOf } from "../src/contract.js";
import { findEntry, forgetOldTags } from "../src/diary.js";
import { need, Refusal } from "../src/refusal.js";
import { verifyContract } from "../src/trust.js";
import { aboutNodes } from "./about-view.js";
import { arrivalFollower } from "./arrival-follow.js";
import { diaryNodes } from "./diary-view.js";
import { makeForm } from "./form.js";
import { closedNodes, entryNodes, failureNodes } from "./status-view.js";
import { NAMES } from "./texts.js";
import { foreign, h, preferredLanguage, say, setLanguage } from "./view.js";

/** @typedef {import("../src/diary.js").Entry} Entry */
/** @typedef {import("../src/sheet.js").Sheet} Sheet */

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const status = h("div", { id: "status", tabindex: "-1", role: "status" });
const arrivals = h("div", { id: "arrivals", role: "status" });
const body = h("div", {});
const diary = h("div", {});
const channel = new BroadcastChannel("mixtally");
/** Whether this tab waits for the time to send. */
let isSending = false;
/** @type {import("../src/diary.js").Storage} */
let storage;
/** @type {import("../src/trust.js").TrustedContract} */
let trusted;
/** The sheet whose form is shown. @type {Sheet | null} */
let form = null;
/** @type {ReturnType<typeof arrivalFollower>} */
let follower;

/** @returns {string[]} The fingerprint in the link, and the one-time code, if there is one. */
const linked = () => /^#([0-9a-f]{64})(?:\.([0-9A-Za-z-]{1,60}))?$/.exec(location.hash)?.slice(1) ?? [];
/** Where this tab keeps the code of a link until it is used. @param {string} fingerprint */
const codeKey = (fingerprint) => `mixtally code ${fingerprint}`;
const firstHop = () => {
  const { hops, fingerprint } = trusted.contract;
  return `${hops[0].address}/contracts/${fingerprint}`;
};
/** @param {() => Promise<unknown>} action */
const run = (action) => action().catch(fail);
const againButton = (/** @type {() => void} */ click = () => void run(refresh)) => {
  return h("button", { type: "button", click }, say("again"));
};

/** Refuse before anything is fetched or asked. */
async function checkBrowser() {
  need(isSecureContext, "insecure");
  need(window.top === window, "framed");
  for (const [name, use] of /** @type {const} */ ([["X25519", "deriveBits"], ["Ed25519", "sign"]])) {
    const key = crypto.subtle.generateKey({ name }, false, [use]);
    await key.catch((error) => need(false, "unsupported", `${name}: ${error?.name}`));
  }
  storage = await browserStorage();
}

/** Narrow what this page may call to its own host and the roles of the contract. */
function narrowPolicy() {
  const origins = rolesOf(trusted.contract).map(({ address }) => new URL(address).origin);
  const content = `connect-src 'self' ${origins.join(" ")}`;
  document.head.append(h("meta", { "http-equiv": "Content-Security-Policy", content }));
}

/**
 * Take the code out of the address, so that the address bar, the back button, bookmarks and copies of
 * the address do not show it. The list of visited addresses has it already.
 */
function takeCode() {
  const [fingerprint, code] = linked();
  if (code === undefined) return;
  sessionStorage.setItem(codeKey(fingerprint), code);
  history.replaceState(null, "", `#${fingerprint}`);
}

async function loadContract() {
  const [fingerprint] = linked();
  need(fingerprint, "nothing-pinned");
  const url = new URL("contract.json", document.baseURI).href;
  trusted = await verifyContract(await fetchBytes(url, {}), { fingerprint });
  // The page does not have the modules of suite 2.
  need(trusted.contract.suite === 1, "unsupported-suite", `suite ${trusted.contract.suite}`);
}

/** Show what the diary says of the contract, and the form if a round can be answered. */
async function refresh() {
  const { contract } = trusted;
  const pages = await readDiary();
  void run(() => follower.follow(pages));
  const entries = pages.entries.filter(({ name }) => name === contract.name);
  const latest = entries.sort((one, other) => other.round - one.round)[0];
  const isAnswered = form !== null && latest?.round >= form.round;
  // What a person has entered stays while it can be sent, also without a network.
  if (form !== null && !isAnswered && isInside(form, Date.now() / 1000)) return;
  if (latest) showEntry(latest);
  if (latest?.state === "pending") return void run(() => sendPending(latest));
  try {
    const sheet = await fetchOpenRound(firstHop(), trusted, {});
    if (!latest || latest.round < sheet.round) return showForm(sheet);
    need(latest.contract === contract.fingerprint, "another-sheet", "by a contract of this name");
  } catch (error) {
    if (latest?.contract === contract.fingerprint) return; // all is known without a round
    if (!isOver(error)) throw error;
    const rounds = await fetchRounds(firstHop(), contract, {});
    showWithoutForm("closed", closedNodes(rounds, againButton()));
  }
}

async function readDiary() {
  const pages = await storage.update((stored) => {
    forgetOldTags(stored, Date.now() / 1000);
    return structuredClone(stored);
  });
  diary.replaceChildren(...diaryNodes(pages, erase, forget));
  return pages;
}

async function forget() {
  await storage.update(({ entries }) => entries.forEach((one) => one.watched &&= null));
  channel.postMessage("arrivals");
  follower.askAgain();
  /** @type {any} */ (diary.parentElement?.firstChild).focus();
}

async function erase() {
  await storage.update((pages) => Object.assign(pages, { charges: [], entries: [], rotations: [] }));
  forgetCode();
  channel.postMessage("erased");
  location.reload();
}

function forgetCode() {
  sessionStorage.removeItem(codeKey(trusted.contract.fingerprint));
}

/** @param {Entry} entry */
async function sendPending(entry) {
  if (isSending) return;
  isSending = true;
  /** @param {number} seconds */
  const sleep = async (seconds) => {
    const stored = findEntry(await readDiary(), entry.name, entry.round);
    if (stored?.state === "pending") showEntry(stored);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  };
  try {
    await deliverUntilAnswered(entry, { storage, sleep });
  } finally {
    isSending = false;
  }
  channel.postMessage("changed");
  await refresh();
}

/** @param {Entry} entry */
function showEntry(entry) {
  showWithoutForm(entry.state, entryNodes(entry, trusted.contract, againButton()));
}

/** @param {string} state @param {Node[]} nodes */
function showWithoutForm(state, nodes) {
  show(state, nodes);
  if (form !== null || !body.hasChildNodes()) body.replaceChildren(...aboutNodes(trusted.contract, null));
  form = null;
}

/** @param {string} state @param {Node[]} nodes @param {HTMLElement} [region] */
function show(state, nodes, region = status) {
  // A region that is announced must change only when there is something to say.
  const text = nodes.map((node) => node.textContent).join();
  if (region.dataset.text === text) return;
  Object.assign(region.dataset, { state, text });
  region.replaceChildren(...nodes);
}

/** @param {Sheet} sheet */
function showForm(sheet) {
  if (form?.hash === sheet.hash) return;
  const failed = (/** @type {unknown} */ error) => void (isOver(error) ? run(leaveRound) : fail(error));
  form = sheet;
  show("open", []);
  const code = sessionStorage.getItem(codeKey(trusted.contract.fingerprint)) ?? undefined;
  body.replaceChildren(makeForm(trusted.contract, sheet, code, (...given) => send(sheet, ...given), failed));
}

/** The round has closed while a person read; there may be another one. */
async function leaveRound() {
  await refresh();
  if (form === null) return;
  show("open", [h("p", {}, say("next-form"))]);
  status.focus();
}

/** @param {unknown} error */
function isOver(error) {
  return error instanceof Refusal && /^round-(over|not-open)$/.test(error.reason);
}

/** @param {Sheet} sheet @param {unknown} value @param {import("./form.js").Typed} typed */
async function send(sheet, value, typed) {
  let isAsked = false;
  navigator.storage?.persist?.().catch(() => {}); // else a browser may erase the diary
  show("sealing", [h("p", {}, say("sealing"))]);
  try {
    await answerRound(trusted, sheet, value, {
      trust: { fingerprint: trusted.contract.fingerprint },
      storage,
      consent: () => (isAsked = true),
      ...typed,
    });
    forgetCode(); // the diary has it until the bundle is answered
  } catch (error) {
    show("open", []);
    const isSecond = error instanceof Refusal && error.reason === "round-answered";
    if (!isSecond) throw error;
    isAsked = false;
  } finally {
    channel.postMessage("changed");
  }
  await refresh();
  if (!isAsked) status.append(h("p", { class: "warning" }, say("answered-elsewhere")));
  status.focus();
}

/** @param {unknown} error */
function fail(error) {
  form = null;
  body.replaceChildren();
  // Without a network a reload would lose the page.
  const again = () => follower && !navigator.onLine ? void run(refresh) : location.reload();
  show("failed", failureNodes(error, againButton(again)));
}

function languageButtons() {
  const buttons = Object.entries(NAMES).map(([code, name]) => {
    return h("button", { type: "button", lang: code, click: () => setLanguage(code) }, name);
  });
  return h("nav", { "aria-labelledby": "language" },
    h("span", { id: "language", class: "unseen" }, say("language")), ...buttons);
}

async function start() {
  const title = h("h1", {}, say("title"));
  show("loading", [h("p", {}, say("loading"))]);
  main.before(h("header", {}, languageButtons()));
  main.replaceChildren(title, status, arrivals, body);
  setLanguage(preferredLanguage());
  await checkBrowser();
  takeCode();
  await loadContract();
  narrowPolicy();
  const { contract } = trusted;
  const { name } = contract.plan.question;
  if (name.trim()) {
    title.replaceChildren(foreign(name));
    document.title = name;
  }
  follower = arrivalFollower(contract, storage, {
    readDiary,
    run,
    show: (nodes) => show("", nodes, arrivals),
    tell: () => channel.postMessage("arrivals"),
  });
  main.append(h("details", {}, h("summary", {}, say("diary-heading")),
    h("p", { class: "hint" }, say("diary-note")), diary));
  await refresh();
}

/** @param {MessageEvent} event */
channel.onmessage = ({ data }) => {
  if (data === "erased") location.reload();
  else if (follower && data === "arrivals") follower.askAgain(false);
  else if (follower) void run(refresh);
};
for (const name of ["online", "offline"]) addEventListener(name, () => follower?.askAgain());
addEventListener("hashchange", () => location.reload());
// A page that the back button shows again may be older than the diary.
addEventListener("pageshow", ({ persisted }) => void (persisted && follower && run(refresh)));
void run(start);
