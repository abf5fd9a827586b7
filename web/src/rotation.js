/** Rotations: a role replaces its key by a note that both keys have signed (SPEC.md, section 11). */

import { utf8 } from "./bytes.js";
import { checkKey, KEY, ROLE_NAME } from "./contract.js";
import { list, string } from "./fields.js";
import { readJson } from "./json.js";
import { readNoteFields, requireSigners } from "./note.js";
import { need } from "./refusal.js";

const MOST_LISTED = 100;
const MOST_FOLLOWED = 16;

/** @typedef {{role: string, old: string, new: string}} Rotation A role, its old verifier key, and
 *   the new one. */

const rotationFields = {
  role: string("role-name-malformed", ROLE_NAME),
  old: string("key-malformed", KEY),
  new: string("key-malformed", KEY),
};

/**
 * Read a rotation that the old and the new key have signed.
 *
 * @param {Uint8Array} note
 * @returns {Promise<Rotation>}
 * @throws {Refusal}
 */
export async function readRotation(note) {
  const { role, old, new: next } = readNoteFields(note, "rotation", rotationFields);
  const keys = [old, next].map((key) => ({ name: role, key }));
  for (const key of keys) await checkKey(key);
  need(old !== next, "key-twice");
  // The keys are checked one after the other, because both have the same name.
  for (const key of keys) await requireSigners(note, [key]);
  return { role, old, new: next };
}

/**
 * Read the list of rotations that a role serves for a contract.
 *
 * @param {Uint8Array} bytes
 * @returns {Promise<Map<string, string>>} From each old verifier key to the new one.
 * @throws {Refusal}
 */
export async function readRotations(bytes) {
  const notes = list(string())(readJson(bytes));
  need(notes.length <= MOST_LISTED, "too-long");
  /** @type {Map<string, string>} */
  const changes = new Map();
  for (const note of notes) {
    const rotation = await readRotation(utf8(note));
    const known = changes.get(rotation.old) ?? rotation.new;
    need(known === rotation.new, "rotated-twice", rotation.role);
    changes.set(rotation.old, rotation.new);
  }
  return changes;
}

/**
 * @param {Map<string, string>} changes
 * @param {string} key
 * @returns {string[]} The verifier key `key` of a role and its successors, oldest first.
 */
export function followKey(changes, key) {
  const keys = [key];
  for (let next; keys.length <= MOST_FOLLOWED && (next = changes.get(keys[keys.length - 1])); ) {
    keys.push(next);
  }
  return keys;
}
