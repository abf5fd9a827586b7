/** Readers of fields. A reader converts a JSON value, or throws a Refusal for an invalid one. */

import { need } from "./refusal.js";

/** @typedef {import("./json.js").Json} Json */
/**
 * @template T
 * @typedef {(value: Json) => T} Read
 */

const EXACT = 2n ** 53n;

/**
 * Return a reader of integers. In a text, integers above 2^53 are written as decimal strings.
 *
 * @param {string} reason The reason of the refusal of an integer out of range.
 * @param {bigint | number} [least]
 * @param {bigint | number} [most]
 * @returns {Read<bigint>}
 */
export function bigInteger(reason, least, most) {
  return (value) => {
    let read = value;
    if (typeof read === "string" && /^-?[0-9]+$/.test(read)) {
      const whole = BigInt(read);
      const large = (whole < 0n ? -whole : whole) > EXACT && String(whole) === read;
      need(large, "integer-as-string", read.slice(0, 40));
      read = whole;
    } else {
      need(typeof read === "bigint", "wrong-type", "expected an integer");
      need(read <= EXACT && read >= -EXACT, "integer-as-number", String(read).slice(0, 40));
    }
    need((least === undefined || read >= least) && (most === undefined || read <= most), reason);
    return read;
  };
}

/**
 * Return a reader of integers that a double represents exactly.
 *
 * @param {string} reason
 * @param {number} least
 * @param {number} most At most 2^53.
 * @returns {Read<number>}
 */
export function integer(reason, least, most) {
  const read = bigInteger(reason, least, most);
  return (value) => Number(read(value));
}

/**
 * Return a reader of finite numbers.
 *
 * @param {string} reason
 * @param {number} [least]
 * @param {number} [most]
 * @returns {Read<number>}
 */
export function number(reason, least = -Infinity, most = Infinity) {
  return (value) => {
    need(typeof value === "number" || typeof value === "bigint", "wrong-type", "expected a number");
    const read = Number(value);
    // For a number without a fraction, there must be a double that equals it.
    need(typeof value === "number" || (Number.isFinite(read) && BigInt(read) === value), "wrong-type");
    need(Number.isFinite(read) && read >= least && read <= most, reason);
    return read;
  };
}

/**
 * Return a reader of strings.
 *
 * @param {string} [reason]
 * @param {RegExp} [pattern] A pattern that the whole string must match.
 * @returns {Read<string>}
 */
export function string(reason = "", pattern) {
  return (value) => {
    need(typeof value === "string", "wrong-type", "expected a string");
    need(pattern === undefined || pattern.test(value), reason);
    return value;
  };
}

/**
 * Return a reader of strings that must be one of a few.
 *
 * @template {string} T
 * @param {string} reason
 * @param {readonly T[]} words
 * @returns {Read<T>}
 */
export function oneOf(reason, words) {
  return (value) => {
    need(typeof value === "string", "wrong-type", "expected a string");
    const found = words.find((one) => one === value);
    need(found !== undefined, reason, JSON.stringify(value.slice(0, 40)));
    return found;
  };
}

/** @type {Read<boolean>} */
export function flag(value) {
  need(typeof value === "boolean", "wrong-type", "expected true or false");
  return value;
}

/**
 * @template T
 * @param {Read<T>} read
 * @returns {Read<T | null>}
 */
export function optional(read) {
  return (value) => (value === null ? null : read(value));
}

/**
 * @template T
 * @param {Read<T>} read
 * @returns {Read<T[]>}
 */
export function list(read) {
  return (value) => {
    need(Array.isArray(value), "wrong-type", "expected a list");
    return value.map(read);
  };
}

/**
 * Return a reader of objects with exactly these fields.
 *
 * @template {Record<string, Read<any>>} T
 * @param {T} readers
 * @returns {Read<{ [K in keyof T]: ReturnType<T[K]> }>}
 */
export function record(readers) {
  const names = Object.keys(readers);
  return (value) => {
    need(value instanceof Map, "wrong-type", "expected an object");
    for (const name of names) need(value.has(name), "field-missing", name);
    for (const name of value.keys()) {
      need(Object.hasOwn(readers, name), "field-unknown", JSON.stringify(name.slice(0, 40)));
    }
    /** @type {any} */
    const out = {};
    for (const name of names) out[name] = readers[name](/** @type {Json} */ (value.get(name)));
    return out;
  };
}

/**
 * Check the version of an object. Call this before its fields are read, because another version may
 * have other fields.
 *
 * @param {Json} value
 * @param {number} version
 */
export function checkVersion(value, version) {
  if (!(value instanceof Map) || !value.has("version")) return;
  const found = integer("unknown-version", version, version);
  found(/** @type {Json} */ (value.get("version")));
}
