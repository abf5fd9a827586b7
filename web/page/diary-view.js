/** The diary of this browser: what was spent and sent, with export and erasure. */

import { sumUp } from "./promise.js";
import { foreign, h, say } from "./view.js";

/** @typedef {import("../src/diary.js").Pages} Pages */

/**
 * @param {Pages} pages
 * @param {() => Promise<unknown>} erase
 * @param {() => Promise<unknown>} forget Erases tags that were not checked.
 * @returns {Node[]} The content of the section.
 */
export function diaryNodes(pages, erase, forget) {
  if (!pages.entries.length && !pages.charges.length) return [h("p", {}, say("diary-empty"))];
  const [epsilon, delta] = /** @type {const} */ (["epsilon", "delta"]).map((field) => {
    return sumUp(pages.charges.map((charge) => charge[field]));
  });
  const items = pages.entries.map((entry) => {
    const made = new Date(1000 * entry.made);
    return h("li", {}, foreign(entry.name), say("diary-entry", { round: entry.round, made }),
      say(`diary-${entry.state}`), ...(entry.watched ? [say("diary-watched")] : []));
  });
  const sure = h("div", { hidden: true },
    h("p", { class: "warning" }, say("erase-warning")),
    h("button", { type: "button", class: "danger", click: () => void erase() }, say("erase-sure")),
    h("button", { type: "button", click: () => { sure.hidden = true; first.focus(); } }, say("cancel")),
  );
  const first = h("button", { type: "button", click: () => {
    sure.hidden = false;
    sure.querySelector("button").focus();
  } }, say("erase"));
  const tags = h("p", {}, h("button", { type: "button", click: () => void forget() }, say("forget")));
  return [
    h("p", {}, say("diary-spent", { epsilon, delta })),
    h("ul", {}, ...items),
    ...(pages.entries.some(({ watched }) => watched) ? [tags] : []),
    h("p", { class: "buttons" },
      h("button", { type: "button", click: () => download(pages) }, say("export")), first),
    sure,
  ];
}

/** @param {Pages} pages */
function download(pages) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(pages, null, 1)], { type: "application/json" }));
  h("a", { href: url, download: "mixtally-diary.json" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
