/** The form of an open round: the question, what a person agrees to, and what they forgot. */

import { Refusal } from "../src/refusal.js";
import { aboutNodes } from "./about-view.js";
import { makeControl, textControl, Unfit } from "./controls.js";
import { h, say } from "./view.js";

/** Reasons of section 3 of SPEC.md: the value does not fit, and nothing was charged. */
const OF_VALUES = /^(value-|not-a-number|not-text|not-finite|half-|empty-text|member-twice|too-many-members)/;

/**
 * @typedef {object} Typed
 * @property {boolean} watch
 * @property {string} [code]
 */

/**
 * @param {import("../src/contract.js").Contract} contract
 * @param {import("../src/sheet.js").Sheet} sheet
 * @param {string | undefined} linkedCode The code in the link.
 * @param {(value: unknown, typed: Typed) => Promise<unknown>} send Seals and sends; a refusal that
 *   a person can mend is shown in the form.
 * @param {(error: unknown) => void} fail Is given all other errors.
 * @returns {HTMLElement}
 */
export function makeForm(contract, sheet, linkedCode, send, fail) {
  const { plan, admission } = contract;
  const control = makeControl(plan);
  const code = admission === "open" ? null : textControl("code", "code-hint", linkedCode);
  const none = h("input", { type: "checkbox" });
  const watch = h("input", { type: "checkbox", "aria-describedby": "watch-hint" });
  const consent = h("input", { type: "checkbox", "aria-describedby": "problem" });
  const problem = h("p", { id: "problem", class: "warning", role: "alert" });
  const button = h("button", { class: "primary" }, say("send"));
  const question = h("fieldset", { "aria-describedby": "problem" },
    h("legend", {}, say("question-heading")), control.element);
  // A word is the one question that everybody can leave out without being noticed.
  if (code !== null) question.append(code.element);
  if (plan.prefixes !== null) question.append(h("label", {}, none, h("span", {}, say("none-label"))));
  const agreed = h("label", { class: "consent" }, consent, h("span", {}, say("consent")));
  const submit = async () => {
    problem.replaceChildren();
    button.disabled = true;
    try {
      const value = none.checked ? null : control.read();
      const typed = /** @type {Typed} */ ({ watch: watch.checked, ...(code && { code: code.read() }) });
      if (!consent.checked) throw new Unfit("consent-needed", consent);
      await send(value, typed);
    } catch (error) {
      const unfit = error instanceof Unfit ? error : unfitValue(error, control, code);
      if (!unfit) return fail(error);
      // Next to the field that gets the focus, so that both can be seen.
      const legend = unfit.field.closest("fieldset")?.querySelector("legend") ?? agreed;
      (code?.element.contains(unfit.field) ? code.element : legend).after(problem);
      problem.replaceChildren(say(unfit.key, unfit.values));
      unfit.field.focus();
    } finally {
      button.disabled = false;
    }
  };
  const listener = (/** @type {Event} */ event) => {
    event.preventDefault();
    void submit();
  };
  return h("form", { novalidate: true, autocomplete: "off", submit: listener },
    question, ...aboutNodes(contract, sheet.closes),
    h("section", {}, h("div", { class: "choices" }, h("label", {}, watch, h("span", {}, say("watch")))),
      h("p", { id: "watch-hint", class: "hint" }, say("watch-hint"))),
    agreed, problem, button,
  );
}

/**
 * @param {unknown} error
 * @param {import("./controls.js").Control} control
 * @param {import("./controls.js").Control | null} code
 * @returns {Unfit | null} The error as a sentence at a field, if a person can mend it.
 */
function unfitValue(error, control, code) {
  if (!(error instanceof Refusal)) return null;
  const fieldOf = (/** @type {HTMLElement} */ element) => {
    return /** @type {HTMLElement} */ (element.querySelector("input, textarea"));
  };
  if (code && error.reason.startsWith("code-")) return new Unfit("code-needed", fieldOf(code.element));
  return OF_VALUES.test(error.reason) ? new Unfit("value-unfit", fieldOf(control.element)) : null;
}
