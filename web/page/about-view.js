/** What a person reads before they agree: who runs the survey, its promise, and its host. */

import { promiseSentences, sendingSentences } from "./promise.js";
import { foreign, h, say } from "./view.js";

/** @typedef {import("./view.js").Key} Key */

/**
 * @param {import("../src/contract.js").Contract} contract
 * @param {number | null} closes When the round closes, seconds since 1970; null if none is open.
 * @returns {Node[]}
 */
export function aboutNodes(contract, closes) {
  const roles = contract.hops.map((role, i) => ({ role, place: say("mix", { number: i + 1 }) }));
  roles.push({ role: contract.collector, place: say("collector") });
  const people = roles.map(({ role, place }) => {
    const where = h("span", { class: "hint" }, foreign(role.name), ", ", foreign(role.address));
    return h("li", {}, h("strong", {}, foreign(role.operator)), h("br"), place, h("br"), where);
  });
  const sentences = (/** @type {import("./promise.js").Sentence[]} */ list) => {
    return h("ul", {}, ...list.map(([key, values]) => h("li", {}, say(key, values))));
  };
  // Without the code of the link, which is nobody else's business.
  const command = `mixtally page check '${new URL(".", document.baseURI).href}#${contract.fingerprint}'`;
  const sections = [
    section("people-heading", h("p", {}, say("operator-hint")), h("ol", {}, ...people)),
    section("promise-heading", sentences(promiseSentences(contract))),
    section("host-heading", h("p", {}, say("host-text")), h("p", {}, h("code", {}, command))),
  ];
  if (closes !== null) {
    sections.splice(2, 0, section("sending-heading", sentences(sendingSentences(contract, closes))));
  }
  return sections;
}

/** @param {Key} heading @param {...Node} children */
function section(heading, ...children) {
  return h("section", {}, h("h2", {}, say(heading)), ...children);
}
