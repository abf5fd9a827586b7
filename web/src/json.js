/**
 * A strict reader of JSON.
 *
 * `JSON.parse` keeps the last of two fields of the same name, and rounds integers above 2^53. Two
 * devices could then read different contracts in the same signed text. This reader refuses repeated
 * fields, reads integers exactly, and distinguishes them from numbers with a fraction or an
 * exponent.
 *
 * Source: RFC 8259; SPEC.md, section 1.
 */

import { Refusal } from "./refusal.js";

/** The maximum length of the text of a contract, in bytes. */
export const MOST_BYTES = 2 ** 24 - 2 ** 16;
/** The maximum depth of nesting; a contract needs 8. */
const MOST_DEPTH = 100;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const SPACE = /[ \t\n\r]*/y;
/** @type {Record<string, string>} */
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * A value of JSON: integers are bigint, other numbers are number, and objects are maps.
 *
 * @typedef {null | boolean | bigint | number | string | any[] | Map<string, any>} Json
 */

/**
 * Read a JSON text.
 *
 * @param {Uint8Array} bytes UTF-8 without a byte order mark.
 * @returns {Json}
 * @throws {Refusal} `too-long`, `not-json` or `field-twice`.
 */
export function readJson(bytes) {
  if (bytes.length > MOST_BYTES) throw new Refusal("too-long", `${bytes.length} bytes`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal("not-json", "expected UTF-8");
  }
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.skip();
  if (reader.place < text.length) reader.fail("the end of the text");
  return value;
}

class Reader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.place = 0;
  }

  /**
   * @param {string} expected
   * @returns {never}
   */
  fail(expected) {
    throw new Refusal("not-json", `expected ${expected} at character ${this.place}`);
  }

  /** @param {RegExp} pattern */
  match(pattern) {
    pattern.lastIndex = this.place;
    const found = pattern.exec(this.text);
    if (found) this.place = pattern.lastIndex;
    return found;
  }

  skip() {
    this.match(SPACE);
  }

  /**
   * @param {string} wanted
   * @returns {boolean} Whether the next characters are `wanted`; then they are passed.
   */
  take(wanted) {
    this.skip();
    if (!this.text.startsWith(wanted, this.place)) return false;
    this.place += wanted.length;
    return true;
  }

  /**
   * @param {number} depth
   * @returns {Json}
   */
  value(depth) {
    if (depth > MOST_DEPTH) this.fail(`at most ${MOST_DEPTH} levels`);
    if (this.take("{")) return this.object(depth);
    if (this.take("[")) return this.list(depth);
    if (this.take('"')) return this.string();
    for (const [word, value] of /** @type {const} */ ([["true", true], ["false", false], ["null", null]])) {
      if (this.take(word)) return value;
    }
    const found = this.match(NUMBER);
    if (!found) this.fail("a value");
    if (found[1] === undefined && found[2] === undefined) return BigInt(found[0]);
    return Number(found[0]);
  }

  /** @param {number} depth */
  object(depth) {
    /** @type {Map<string, Json>} */
    const fields = new Map();
    if (this.take("}")) return fields;
    do {
      if (!this.take('"')) this.fail("a field");
      const name = this.string();
      if (fields.has(name)) throw new Refusal("field-twice", JSON.stringify(name));
      if (!this.take(":")) this.fail("a colon");
      fields.set(name, this.value(depth + 1));
    } while (this.take(","));
    if (!this.take("}")) this.fail("a comma or }");
    return fields;
  }

  /** @param {number} depth */
  list(depth) {
    /** @type {Json[]} */
    const items = [];
    if (this.take("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.take(","));
    if (!this.take("]")) this.fail("a comma or ]");
    return items;
  }

  string() {
    let out = "";
    for (;;) {
      out += /** @type {RegExpExecArray} */ (this.match(PLAIN))[0];
      const next = this.text[this.place++];
      if (next === '"') return out;
      if (next !== "\\") this.fail("the end of a string");
      const escape = this.text[this.place++] ?? "";
      if (escape === "u") {
        const digits = this.text.slice(this.place, this.place + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail("four hexadecimal digits");
        out += String.fromCharCode(parseInt(digits, 16));
        this.place += 4;
      } else {
        out += ESCAPES[escape] ?? this.fail("an escape");
      }
    }
  }
}
