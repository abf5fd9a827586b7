/** What the page says of a bundle, of a time without a round, and of a failure. */

import { isInside } from "../src/client.js";
import { Refusal } from "../src/refusal.js";
import { h, say } from "./view.js";

/** @typedef {import("./view.js").Key} Key */

/** Reasons of refusals, and the texts that explain them. @type {Record<string, Key>} */
const EXPLAINED = {
  "insecure": "error-insecure",
  "framed": "error-framed",
  "unsupported": "error-browser",
  "unsupported-suite": "error-suite",
  "diary-unavailable": "error-storage",
  "nothing-pinned": "error-link",
  "not-the-pinned-contract": "error-foreign",
  "signature-missing": "error-signatures",
  "signature-false": "error-signatures",
  "no-answer-from-role": "error-network",
  "too-long": "error-network",
  "above-own-limit": "error-limits",
  "too-few-hops": "error-limits",
  "another-sheet": "error-twice",
  "serial-twice": "error-twice",
  "serial-ended": "error-ended",
  "question-under-another-name": "error-twice",
};
/** Statuses of refused bundles, and the texts that explain them. @type {Record<number, Key>} */
const REFUSED = { 403: "refused-unknown", 409: "refused-spent", 410: "refused-late", 429: "full" };
/** Only a contract with codes refuses a bundle for its code. */
const OF_CODES = [403, 409];

/**
 * @param {import("../src/diary.js").Entry} entry
 * @param {import("../src/contract.js").Contract} contract
 * @param {Node} button Looks for a later round.
 * @returns {Node[]}
 */
export function entryNodes({ state, status, closes, due, tries, round }, { plan, admission }, button) {
  const code = status ?? 0;
  const values = { status: code, closes: new Date(1000 * closes), now: new Date() };
  const isKnown = code in REFUSED && (admission === "codes" || !OF_CODES.includes(code));
  const text = state === "refused" && isKnown ? REFUSED[code] : state;
  const nodes = [h("h2", {}, say(`${state}-title`)), h("p", {}, say(text, values))];
  if (state === "pending" && tries > 0) {
    nodes.push(h("p", {}, say("pending-tried", { due: new Date(1000 * due) })));
  }
  const isLast = round >= plan.collections;
  if (state !== "pending" && !isLast) nodes.push(h("p", {}, say("next-round"), " ", button));
  return nodes;
}

/**
 * @param {import("../src/client.js").ListedRound[]} rounds All rounds that the first hop lists.
 * @param {Node} button Looks again.
 * @returns {Node[]}
 */
export function closedNodes(rounds, button) {
  const now = Date.now() / 1000;
  const next = rounds.filter(({ opens }) => opens > now).sort((a, b) => a.opens - b.opens)[0];
  const past = rounds.filter(({ closes }) => closes <= now).sort((a, b) => b.closes - a.closes)[0];
  const ended = rounds.find((one) => isInside(one, now));
  const date = (/** @type {number} */ time) => new Date(1000 * time);
  const nodes = [h("h2", {}, say("not-open-title"))];
  if (rounds.some(({ state }) => state === "open")) {
    nodes.push(h("p", {}, say("clock-wrong", { now: new Date() })));
  } else if (ended) {
    nodes.push(h("p", {}, say("clock-slow", { closes: date(ended.closes), now: new Date() })));
  } else nodes.push(h("p", {}, say("not-open")));
  if (next) nodes.push(h("p", {}, say("opens-at", { opens: date(next.opens) })));
  else if (past) nodes.push(h("p", {}, say("last-closed", { closes: date(past.closes) })));
  return [...nodes, h("p", {}, button)];
}

/**
 * @param {unknown} error
 * @param {Node} button Looks again.
 * @returns {Node[]}
 */
export function failureNodes(error, button) {
  const reason = error instanceof Refusal ? error.reason : "unexpected";
  const detail = error instanceof Error ? error.message : String(error);
  return [
    h("h2", {}, say("failed-title")),
    h("p", {}, say(EXPLAINED[reason] ?? "error-other")),
    h("p", { class: "hint" }, say("reason", { reason: detail.slice(0, 200) })),
    h("p", {}, button),
  ];
}
