/**
 * Elements of the page, and its texts in the chosen language.
 *
 * Texts of others (labels, names, operators) become text nodes and nothing else, so that HTML in
 * them is shown as it is written.
 */

import { TEXTS } from "./texts.js";

/** @typedef {keyof typeof TEXTS.en} Key */
/** @typedef {string | number | Date | [Key, Values]} Value A pair is a text of the page. */
/** @typedef {{[name: string]: Value}} Values */

/** @type {keyof typeof TEXTS} */
let language = "en";
/** @type {WeakMap<Text, [Key, Values]>} */
const said = new WeakMap();

/**
 * @param {string} name
 * @param {Record<string, string | boolean | EventListener>} [attributes] A function is a listener.
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/**
 * @param {string} text A text of others.
 * @returns {HTMLElement} The text, whose direction of writing does not leave the element.
 */
export function foreign(text) {
  return h("bdi", {}, text);
}

/**
 * @param {Key} key
 * @param {Values} [values]
 * @returns {Text} A text of the page, which follows the language.
 */
export function say(key, values = {}) {
  const node = document.createTextNode(textOf(key, values));
  said.set(node, [key, values]);
  return node;
}

/** @param {Key} key @param {Values} values @returns {string} */
function textOf(key, values) {
  return TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => format(values[name]));
}

/** @param {Value} value */
function format(value) {
  if (typeof value === "number") {
    return new Intl.NumberFormat(language, { maximumSignificantDigits: 15 }).format(value);
  }
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return textOf(...value);
  const style = /** @type {const} */ ({ dateStyle: "medium", timeStyle: "short" });
  return new Intl.DateTimeFormat(language, style).format(value);
}

/** @param {string} chosen Changes all texts on the page; what a person has entered stays. */
export function setLanguage(chosen) {
  language = chosen in TEXTS ? /** @type {keyof typeof TEXTS} */ (chosen) : "en";
  document.documentElement.lang = language;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = /** @type {Text} */ (texts.currentNode);
    const given = said.get(node);
    if (given) node.data = textOf(...given);
  }
}

/** @returns {string} The first language of the browser that the page speaks. */
export function preferredLanguage() {
  const codes = navigator.languages.map((one) => one.slice(0, 2));
  return codes.find((code) => code in TEXTS) ?? "en";
}
