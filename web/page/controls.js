/** The question as form controls. Nothing that a person enters is stored. */

import { foreign, h, say } from "./view.js";

/** Lists with more labels can be searched; at most `MOST_SHOWN` labels are shown at once. */
const [MOST_LISTED, MOST_SHOWN] = [12, 50];
/** @typedef {import("./view.js").Key} Key */

/** An answer that is missing or unfit: the text to show, and the field to go to. */
export class Unfit extends Error {
  /** @param {Key} key @param {HTMLElement} field @param {import("./view.js").Values} [values] */
  constructor(key, field, values = {}) {
    super(key);
    this.key = key;
    this.field = field;
    this.values = values;
  }
}

/**
 * @typedef {object} Control
 * @property {HTMLElement} element
 * @property {() => unknown} read Returns the value; throws Unfit.
 */

let last = 0;
const newId = () => `field-${++last}`;

/**
 * @param {import("../src/plan.js").Plan} plan
 * @returns {Control}
 */
export function makeControl({ question, edges, grid, prefixes }) {
  const { kind, labels, hashed, attributes, max_set: most } = question;
  const bins = Number(question.bins);
  if (prefixes !== null) return textControl("word", "word-hint");
  if (edges !== null) {
    return numberControl({ low: edges[0], high: edges[bins], hint: "range-hint", bins });
  }
  if (grid !== null) {
    return numberControl({ low: grid.low, high: grid.high, hint: "grid-hint", bins });
  }
  if (kind === "bits") return group(bitControls(bins, labels));
  if (attributes !== null) {
    let start = 0;
    const controls = attributes.map((size, i) => {
      const own = labels?.slice(start, (start += size)) ?? null;
      const control = own ? choiceControl(own, 1) : integerControl(size);
      return fieldset([say("part", { number: i + 1, all: attributes.length })], control);
    });
    return group(controls);
  }
  if (kind === "set") {
    if (labels !== null) return choiceControl(labels, most);
    return linesControl(most, hashed === null ? bins : null);
  }
  if (hashed !== null) return textControl("text", "text-hint");
  return labels === null ? integerControl(bins) : choiceControl(labels, 1);
}

/** @param {Control[]} controls @returns {Control} A control whose value is the list of values. */
function group(controls) {
  const element = h("div", {}, ...controls.map((one) => one.element));
  return { element, read: () => controls.map((one) => one.read()) };
}

/** @param {(Node | string)[]} legend @param {Control} control @returns {Control} */
function fieldset(legend, { element, read }) {
  return { element: h("fieldset", {}, h("legend", {}, ...legend), element), read };
}

/** @param {number} bins @param {string[] | null} labels */
function bitControls(bins, labels) {
  return Array.from({ length: bins }, (_, i) => {
    const name = newId();
    const [yes, no] = ["1", "0"].map((value) => h("input", { type: "radio", name, value }));
    const element = h(
      "div",
      { class: "pair" },
      h("label", {}, yes, h("span", {}, say("yes"))),
      h("label", {}, no, h("span", {}, say("no"))),
    );
    const read = () => {
      if (!yes.checked && !no.checked) throw new Unfit("choose-each", yes);
      return yes.checked ? 1 : 0;
    };
    const legend = labels ? foreign(labels[i]) : say("part", { number: i + 1, all: bins });
    return fieldset([legend], { element, read });
  });
}

/**
 * One or several of a list, with a search field if the list is long.
 *
 * @param {string[]} labels
 * @param {number} most 1 for exactly one.
 * @returns {Control}
 */
function choiceControl(labels, most) {
  /** @type {Set<number>} */
  const chosen = new Set();
  const [type, name] = [most === 1 ? "radio" : "checkbox", newId()];
  const list = h("div", { class: "choices" });
  const element = h("div", {}, list);
  const search = h("input", { type: "search", id: newId(), autocomplete: "off", spellcheck: "false", dir: "auto" });
  const shown = h("p", { class: "hint", role: "status" });
  const isSearched = labels.length > MOST_LISTED;
  const keys = isSearched ? labels.map((label) => label.normalize("NFC").toLowerCase()) : [];

  /** @param {number} place */
  const option = (place) => {
    const input = h("input", {
      type,
      name,
      checked: chosen.has(place),
      change: () => {
        if (type === "radio") chosen.clear();
        if (input.checked) chosen.add(place);
        else chosen.delete(place);
      },
    });
    return h("label", {}, input, foreign(labels[place]));
  };
  const update = () => {
    const sought = search.value.normalize("NFC").trim().toLowerCase();
    const found = labels.map((_, i) => i).filter((i) => !isSearched || keys[i].includes(sought));
    // Or a short label among many longer ones would never be shown.
    const rank = (/** @type {number} */ i) => keys[i] === sought ? 0 : keys[i].startsWith(sought) ? 1 : 2;
    if (sought !== "") found.sort((one, other) => rank(one) - rank(other));
    const first = [...chosen].filter((i) => isSearched && !found.slice(0, MOST_SHOWN).includes(i));
    const rest = found.slice(0, isSearched ? MOST_SHOWN : labels.length);
    list.replaceChildren(...[...first, ...rest].map(option));
    if (isSearched) shown.replaceChildren(say("found", { shown: rest.length, found: found.length }));
  };
  if (isSearched) {
    search.addEventListener("input", update);
    search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") event.preventDefault(); // or it would send the answer
    });
    element.prepend(h("label", { for: search.id }, say("search")), search, shown);
  }
  if (most > 1) element.prepend(h("p", { class: "hint" }, say("set-hint", { most })));
  update();
  const read = () => {
    const field = isSearched ? search : list.querySelector("input");
    if (most === 1 && chosen.size === 0) throw new Unfit("choose-one", field);
    if (chosen.size > most) throw new Unfit("too-many", field, { most });
    const values = [...chosen].sort((one, other) => one - other).map((i) => labels[i]);
    return most === 1 ? values[0] : values;
  };
  return { element, read };
}

/**
 * @param {Key} label
 * @param {Node} hint
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 */
function labelled(label, hint, input) {
  input.id = newId();
  input.setAttribute("aria-describedby", `${input.id}-hint`);
  input.autocomplete = "off";
  const text = h("p", { class: "hint", id: `${input.id}-hint` }, hint);
  return h("div", {}, h("label", { for: input.id }, say(label)), text, input);
}

/**
 * @param {{low: number, high: number, hint: Key, bins: number}} range
 * @returns {Control}
 */
function numberControl({ low, high, hint, bins }) {
  const input = h("input", { type: "number", step: "any" });
  const read = () => {
    if (!Number.isFinite(input.valueAsNumber)) throw new Unfit("number-needed", input);
    return input.valueAsNumber;
  };
  return { element: labelled("number", say(hint, { low, high, bins }), input), read };
}

/** @param {number} bins @returns {Control} */
function integerControl(bins) {
  const input = h("input", { type: "number", step: "1", min: "0", max: String(bins - 1) });
  const read = () => {
    const value = input.valueAsNumber;
    const fits = Number.isInteger(value) && value >= 0 && value < bins;
    if (!fits) throw new Unfit("integer-needed", input, { high: bins - 1 });
    return value;
  };
  return { element: labelled("number", say("integer-hint", { high: bins - 1 }), input), read };
}

/** @param {Key} label @param {Key} hint @param {string} [value] @returns {Control} */
export function textControl(label, hint, value = "") {
  const input = h("input", { type: "text", value, spellcheck: "false", autocapitalize: "none", dir: "auto" });
  const read = () => {
    if (input.value === "") throw new Unfit(label === "code" ? "code-needed" : "text-needed", input);
    return input.value;
  };
  return { element: labelled(label, say(hint), input), read };
}

/**
 * @param {number} most Most lines.
 * @param {number | null} bins The number of bins, or null for texts.
 * @returns {Control}
 */
function linesControl(most, bins) {
  const input = h("textarea", { rows: "4", spellcheck: "false", autocapitalize: "none", dir: "auto" });
  const read = () => {
    const lines = input.value.split("\n").map((/** @type {string} */ line) => line.trim());
    const given = [...new Set(lines.filter((/** @type {string} */ line) => line !== ""))];
    if (given.length > most) throw new Unfit("too-many", input, { most });
    if (bins === null) return given;
    const unfit = given.some((line) => !/^[0-9]{1,9}$/.test(line) || Number(line) >= bins);
    if (unfit) throw new Unfit("integer-needed", input, { high: bins - 1 });
    return [...new Set(given.map(Number))];
  };
  const hint = bins === null ? say("lines-hint", { most }) : say("integers-hint", { most, high: bins - 1 });
  return { element: labelled("answers", hint, input), read };
}
