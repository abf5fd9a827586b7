/** What the page says of the messages of a round: at which roles they arrived. */

import { foreign, h, say } from "./view.js";

/** @typedef {import("./view.js").Value} Value */

/**
 * @param {import("../src/diary.js").Entry} entry
 * @param {import("../src/contract.js").Contract} contract
 * @param {Node} button Checks again.
 * @returns {HTMLElement}
 */
export function arrivalSection({ round, closes, watched, watched_until: until = 0, arrivals }, contract, button) {
  const { roles = [], lost = [], faults = [], ended = null } = arrivals ?? {};
  const places = new Map(contract.hops.map(({ name }, i) => [name, placeOf("mix", i + 1)]));
  places.set(contract.collector.name, placeOf("collector-short", 0));
  const named = (/** @type {string | null} */ name) => /** @type {Value} */ (places.get(name ?? "") ?? "");
  const all = roles.length === places.size && roles.every(({ state }) => state === "yes");
  const sentences = new Map(lost.map(({ after, before }) => [`${after} ${before}`,
    say(after === null ? "lost-at" : "lost-between", { after: named(after), before: named(before) })]));
  for (const { name, reason } of faults) sentences.set(`${name} ${reason}`,
    say(reason === "signed-twice" ? reason : "unfit", { role: named(name), reason }));
  const nodes = [h("h2", {}, say("arrival-heading", { round }))];
  if (ended !== null) nodes.push(h("p", {}, say(ended === "too-few" ? ended : "ended", { reason: ended })));
  if (all) nodes.push(h("p", {}, say("arrived")));
  nodes.push(...[...sentences.values()].map((one) => h("p", { class: "warning" }, one)));
  const items = roles.map(({ name, state }) => h("li", {}, say(`role-${state}`, { place: named(name) }),
    h("br"), h("span", { class: "hint" }, foreign(name))));
  if (items.length) nodes.push(h("ul", {}, ...items));
  const date = (/** @type {number} */ time) => new Date(1000 * time);
  const isOver = closes <= Date.now() / 1000;
  if (watched && !isOver) nodes.push(h("p", {}, say("arrival-wait", { closes: date(closes) })));
  if (watched && isOver) {
    if (!navigator.onLine) nodes.push(h("p", {}, say("offline")));
    if (arrivals) nodes.push(h("p", {}, say("arrival-again", { until: date(until) })));
    nodes.push(h("p", {}, button));
  }
  const bad = sentences.size ? "lost" : watched ? "waiting" : "unclear";
  return h("section", { "data-state": ended !== null ? "ended" : all ? "arrived" : bad }, ...nodes);
}

/** @param {import("./view.js").Key} key @param {number} number @returns {Value} */
const placeOf = (key, number) => [key, { number }];
