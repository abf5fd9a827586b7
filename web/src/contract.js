/** Contracts: a plan, and the roles that run it (SPEC.md, sections 1 and 2). */

import { concat, digest, fromBase64, sha256, toHex, utf8 } from "./bytes.js";
import { checkVersion, integer, list, oneOf, record, string } from "./fields.js";
import { readJson } from "./json.js";
import { messageSize } from "./layout.js";
import { readPlan } from "./plan.js";
import { need } from "./refusal.js";
import { SUITES } from "./suite.js";

const VERSION = 5;
const MOST_FILES = 128;
const MOST_PER_USER = 100;
export const ROLE_NAME = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;
const LOCAL = String.raw`http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[!-~]{0,100})?`;
const ADDRESS = new RegExp(`^(https://[!-~]{1,200}|${LOCAL})$`);
export const KEY = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;
const OPERATOR = /^(?:[^\p{C}\p{Z}]| ){1,200}$/u;
const SEGMENT = "[A-Za-z0-9_@+~-][A-Za-z0-9._@+~-]*";
const PATH = new RegExp(`^(?=.{1,200}$)${SEGMENT}(/${SEGMENT})*$`);
const DIGEST = /^[0-9a-f]{64}$/;

const roleFields = record({
  name: string("role-name-malformed", ROLE_NAME),
  address: string("address-malformed", ADDRESS),
  key: string("key-malformed", KEY),
  operator: string("operator-malformed", OPERATOR),
});
const fileFields = record({
  path: string("client-files-malformed", PATH),
  sha256: string("client-files-malformed", DIGEST),
});
const seconds = integer("rounds-out-of-range", 1, 10 ** 8);
const contractFields = record({
  version: integer("unknown-version", VERSION, VERSION),
  name: string("name-malformed", /^[a-z0-9][a-z0-9-]{0,62}$/),
  serial: integer("serial-out-of-range", 1, 2 ** 53),
  plan: readPlan,
  hops: list(roleFields),
  collector: roleFields,
  suite: integer("unknown-suite", 1, 2),
  envelope_bytes: list(list(integer("envelope-bytes", 0, 2 ** 53))),
  rounds: record({ open_seconds: seconds, every_seconds: seconds }),
  most_bundles: integer("most-bundles-out-of-range", 1, 2 ** 53),
  admission: oneOf("unknown-admission", /** @type {const} */ (["open", "codes"])),
  client_files: list(fileFields),
});

/** @typedef {ReturnType<typeof roleFields>} Role */
/** @typedef {ReturnType<typeof contractFields> & { fingerprint: string }} Contract */

/**
 * Return the text of a note, without its signatures. The bytes of the text are hashed and signed.
 *
 * @param {Uint8Array} note
 * @returns {Uint8Array}
 */
export function textOf(note) {
  const mark = utf8("\n\n\u2014 ");
  for (let i = note.indexOf(10); i >= 0; i = note.indexOf(10, i + 1)) {
    if (mark.every((byte, k) => note[i + k] === byte)) return note.subarray(0, i + 1);
  }
  return note;
}

/**
 * @param {Uint8Array} note A contract or a plan, with or without signatures.
 * @returns {Promise<string>} SHA-256 of its text, as hexadecimal digits.
 */
export function fingerprintOf(note) {
  return digest(textOf(note));
}

/**
 * Read a contract, and check every field. Signatures are not verified here.
 *
 * @param {Uint8Array} note
 * @returns {Promise<Contract>}
 * @throws {Refusal}
 */
export async function readContract(note) {
  const text = textOf(note);
  const plain = readJson(text);
  checkVersion(plain, VERSION);
  const contract = contractFields(plain);
  const { plan, hops } = contract;
  const roles = rolesOf(contract);
  for (const role of roles) await checkKey(role);
  need(hops.length >= plan.hops, "more-drawing-mixes-than-hops");
  need(hops.length <= plan.hops, "more-hops-than-priced");
  for (const used of [
    roles.map((role) => role.name),
    roles.map((role) => role.address),
    roles.map((role) => toHex(publicKeyOf(role))),
  ]) {
    need(new Set(used).size === roles.length, "hop-twice");
  }
  const layer = SUITES[contract.suite].layer;
  const wanted = plan.parts.map((part) =>
    roles.map((_, i) => messageSize(part.layout) + layer * (roles.length - i)),
  );
  need(JSON.stringify(wanted) === JSON.stringify(contract.envelope_bytes), "envelope-bytes");
  need(contract.rounds.open_seconds <= contract.rounds.every_seconds, "rounds-out-of-range");
  const { users } = plan;
  const { most_bundles: most } = contract;
  need(users <= most && most <= MOST_PER_USER * users, "most-bundles-out-of-range");
  const paths = contract.client_files.map(({ path }) => path);
  const isSorted = paths.every((path, i) => i === 0 || paths[i - 1] < path);
  need(isSorted && paths.length <= MOST_FILES, "client-files-malformed");
  return { ...contract, fingerprint: await digest(text) };
}

/**
 * @param {{hops: Role[], collector: Role}} contract
 * @returns {Role[]} The hops in order, and the collector.
 */
export function rolesOf({ hops, collector }) {
  return [...hops, collector];
}

/**
 * @param {{key: string}} role
 * @returns {Uint8Array<ArrayBuffer>} The 32 bytes of the role's Ed25519 key.
 */
export function publicKeyOf({ key }) {
  const raw = fromBase64(/** @type {RegExpExecArray} */ (KEY.exec(key))[3]);
  return new Uint8Array(/** @type {Uint8Array} */ (raw).subarray(1));
}

/**
 * @param {string} name
 * @param {Uint8Array} publicKey
 * @returns {Promise<Uint8Array>} The 4 bytes that identify the key in a signature line of a note.
 */
export async function keyHash(name, publicKey) {
  return (await sha256(concat(utf8(`${name}\n\x01`), publicKey))).subarray(0, 4);
}

/**
 * @param {{name: string, key: string}} role
 * @throws {Refusal} `key-malformed`
 */
export async function checkKey({ name, key }) {
  const [, named, hash, written] = /** @type {RegExpExecArray} */ (KEY.exec(key));
  const raw = fromBase64(written);
  need(raw !== null && raw.length === 33 && raw[0] === 1 && named === name, "key-malformed");
  need(toHex(await keyHash(name, raw.subarray(1))) === hash, "key-malformed");
}
