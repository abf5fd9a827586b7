/** Sheets: the signed times and public keys of one round of a contract (SPEC.md, section 12). */

import { digest, fromBase64 } from "./bytes.js";
import { rolesOf } from "./contract.js";
import { flag, integer, list, optional, string } from "./fields.js";
import { readNoteFields, requireSigners } from "./note.js";
import { need } from "./refusal.js";
import { readKeyConfiguration } from "./suite.js";

/** The maximum number of seconds from the close of a round to its expiry. */
const MOST_SECONDS = 10 ** 7;
export const readDigest = string("digest-malformed", /^[0-9a-f]{64}$/);
const time = integer("times-out-of-range", 0, 2 ** 53);

/** @type {import("./fields.js").Read<Uint8Array>} */
function readKey(value) {
  const raw = fromBase64(string()(value));
  need(raw?.length, "key-configuration");
  return raw;
}

const sheetFields = {
  contract: readDigest,
  round: integer("round-out-of-range", 1, 1000),
  opens: time,
  closes: time,
  expires: time,
  keys: list(readKey),
  prefixes: optional(list(list(integer("prefix-symbol", -(2 ** 53), 2 ** 53)))),
  closing: flag,
};

/**
 * @typedef {object} Sheet
 * @property {string} contract Fingerprint of the contract.
 * @property {number} round
 * @property {number} opens Seconds since 1970.
 * @property {number} closes
 * @property {number} expires
 * @property {Uint8Array[]} keys The HPKE key configurations of the hops, then of the collector.
 * @property {number[][] | null} prefixes In a search for words: the prefixes, as symbols.
 * @property {boolean} closing In a search for words: whether the round counts only words that end
 *   after the next symbols.
 * @property {string} hash SHA-256 of its text.
 */

/**
 * Read a sheet, and verify that all roles have signed it and that it agrees with its contract.
 *
 * @param {Uint8Array} note
 * @param {import("./contract.js").Contract} contract
 * @returns {Promise<Sheet>}
 * @throws {Refusal}
 */
export async function readSheet(note, contract) {
  const roles = rolesOf(contract);
  const text = await requireSigners(note, roles);
  const sheet = readNoteFields(text, "sheet", sheetFields);
  const { opens, closes, expires, keys } = sheet;
  need(opens < closes && closes < expires, "times-out-of-range");
  need(keys.length >= 2 && keys.length <= 6, "keys-miscounted");
  need(sheet.contract === contract.fingerprint, "other-contract");
  need(sheet.round <= contract.plan.collections, "round-out-of-range");
  need(closes - opens === contract.rounds.open_seconds, "times-out-of-range");
  need(expires - closes <= MOST_SECONDS, "times-out-of-range");
  need(keys.length === roles.length, "keys-miscounted");
  for (const key of keys) readKeyConfiguration(contract.suite, key);
  need(new Set(keys.map(String)).size === keys.length, "key-twice");
  return { ...sheet, hash: await digest(text) };
}

/**
 * Read a withdrawal, which ends a round that has not opened.
 *
 * @param {Uint8Array} note
 * @returns {{sheet: string}}
 */
export function readWithdrawal(note) {
  return readNoteFields(note, "withdrawal", { sheet: readDigest });
}
