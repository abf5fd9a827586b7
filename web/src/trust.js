/**
 * The decisions of a person about trust, and the checks of a contract and a round against them
 * (SPEC.md, section 16).
 */

import { digest, utf8 } from "./bytes.js";
import { readContract, rolesOf } from "./contract.js";
import { DEFAULT_LIMITS, checkLimits } from "./limits.js";
import { requireSigners } from "./note.js";
import { need } from "./refusal.js";
import { followKey } from "./rotation.js";
import { readSheet } from "./sheet.js";

/**
 * The decisions of a person. A fingerprint or the key of a hop is required.
 *
 * @typedef {object} Trust
 * @property {string} [fingerprint] The SHA-256 of the only contract that is trusted.
 * @property {readonly string[]} [keys] Verifier keys. The roles with the names in these keys must
 *   have these keys.
 * @property {Partial<import("./limits.js").Limits>} [limits] The limits of a contract.
 * @property {{epsilon: number, delta: number}} [budget] The maximum total of all charges in a
 *   diary.
 */

/**
 * A contract that was verified.
 *
 * @typedef {object} TrustedContract
 * @property {import("./contract.js").Contract} contract
 * @property {string} plan SHA-256 of its plan. Contracts with the same name and plan are charged
 *   once.
 * @property {string} question SHA-256 of its question.
 * @property {[string, string][]} rotations The key replacements, each an old and a new verifier
 *   key, that lead from pinned keys to those of the contract.
 */

const isNumber = (/** @type {any} */ value) => typeof value === "number" && value >= 0 && value < 1e9;
const isAny = () => true;
/** @type {Record<string, Record<string, (value: any) => boolean>>} */
const FIELDS = {
  trust: { fingerprint: isAny, keys: isAny, limits: isAny, budget: isAny },
  limits: {
    epsilon: isNumber,
    delta: isNumber,
    local_epsilon: (value) => value === null || isNumber(value),
    hops: isNumber,
    protocols: Array.isArray,
    covers: Array.isArray,
  },
  budget: { epsilon: isNumber, delta: isNumber },
};

/**
 * Refuse unknown fields and values of other types, because a misspelt limit would have no effect.
 *
 * @param {Trust} trust
 * @throws {TypeError}
 */
export function checkTrust(trust) {
  const { limits = {}, budget } = trust;
  const both = budget && Object.assign({ epsilon: undefined, delta: undefined }, budget);
  for (const [name, given] of Object.entries({ trust, limits, budget: both ?? {} })) {
    for (const [field, value] of Object.entries(given)) {
      if (FIELDS[name][field]?.(value)) continue;
      const expected = Object.keys(FIELDS[name]).join(", ");
      throw new TypeError(`${name}: expected valid ${expected}, got ${field}: ${JSON.stringify(value)}`);
    }
  }
}

/**
 * Verify a contract against what the person trusts.
 *
 * @param {Uint8Array} note
 * @param {Trust} trust
 * @param {Map<string, string>} [changes] Rotations to follow from a pinned key, as `readRotations`
 *   returns them.
 * @returns {Promise<TrustedContract>}
 * @throws {Refusal} Also `nothing-pinned`, `not-the-pinned-contract` and `not-the-pinned-key`.
 * @throws {TypeError} If `trust` has an unknown field.
 */
export async function verifyContract(note, trust, changes = new Map()) {
  checkTrust(trust);
  const contract = await readContract(note);
  // Pins are checked first, because without them the keys in the contract prove nothing.
  const rotations = checkPins(contract, trust, changes);
  await requireSigners(note, rolesOf(contract));
  checkLimits(contract.plan, { ...DEFAULT_LIMITS, ...trust.limits });
  for (const { address } of rolesOf(contract)) checkAddress(address);
  const { question, edges, grid, prefixes } = contract.plan;
  return {
    contract,
    plan: await hashOf(contract.plan),
    question: await hashOf({ question, edges, grid, prefixes }),
    rotations,
  };
}

/**
 * @param {import("./contract.js").Contract} contract
 * @param {Trust} trust
 * @param {Map<string, string>} changes
 * @returns {[string, string][]} The rotations that were followed.
 */
function checkPins({ fingerprint, hops, collector }, { fingerprint: pinned, keys = [] }, changes) {
  const nameOf = (/** @type {string} */ key) => key.split("+", 1)[0];
  const known = hops.some((hop) => keys.some((key) => nameOf(key) === hop.name));
  need(pinned !== undefined || known, "nothing-pinned", "give a fingerprint, or the key of a hop");
  need(pinned === undefined || pinned === fingerprint, "not-the-pinned-contract", fingerprint);
  /** @type {[string, string][]} */
  const followed = [];
  for (const key of keys) {
    const role = [...hops, collector].find(({ name }) => name === nameOf(key));
    const path = followKey(changes, key);
    const place = path.findIndex((one) => one === role?.key);
    need(place >= 0, "not-the-pinned-key", nameOf(key));
    for (let i = 0; i < place; i++) followed.push([path[i], path[i + 1]]);
  }
  return followed;
}

/**
 * @param {string} address It is refused if it has no host, or if paths cannot be appended to it.
 */
function checkAddress(address) {
  let port = "0";
  try {
    if (!/[@?#\\]/.test(address)) ({ port } = new URL(address));
  } catch {
    // no address
  }
  need(port !== "0", "address-malformed", address);
}

/**
 * Verify the sheet of a round that is open.
 *
 * @param {TrustedContract} trusted
 * @param {Uint8Array} note
 * @param {number} now Seconds since 1970.
 * @returns {Promise<import("./sheet.js").Sheet>}
 * @throws {Refusal} Also `round-not-open` and `round-over`.
 */
export async function openRound({ contract }, note, now) {
  const sheet = await readSheet(note, contract);
  const asked = contract.plan.prefixes !== null;
  need(asked || (sheet.prefixes === null && !sheet.closing), "prefixes-not-asked");
  checkOpen(sheet, now);
  return sheet;
}

/**
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} now
 */
export function checkOpen({ opens, closes }, now) {
  need(now >= opens, "round-not-open", `it opens in ${Math.ceil(opens - now)} seconds`);
  need(now < closes, "round-over", `it closed ${Math.ceil(now - closes)} seconds ago`);
}

/** @param {object} value */
function hashOf(value) {
  // The readers put fields into a fixed order, independently of their order in the text.
  const plain = JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one));
  return digest(utf8(plain));
}
