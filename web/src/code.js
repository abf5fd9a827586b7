/** One-time codes, each of which permits one answer in a round (SPEC.md, section 15). */

import { fromHex, sha256 } from "./bytes.js";
import { need } from "./refusal.js";

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 28;

/**
 * Read a code that a person typed, or that the fragment of a link contains.
 *
 * @param {string} typed
 * @returns {Promise<string>} The code in canonical form.
 * @throws {Refusal} `code-malformed`
 */
export async function readCode(typed) {
  const written = typed.replace(/^[ \t\n\r]+|[ \t\n\r]+$/g, "").replace(/[- ]/g, "");
  need(/^[0-9A-Za-z]*$/.test(written) && written.length === LENGTH, "code-malformed");
  const code = written.toUpperCase().replace(/O/g, "0").replace(/[IL]/g, "1");
  const digits = [...code].map((digit) => DIGITS.indexOf(digit));
  need(!digits.includes(-1), "code-malformed");
  const number = digits.reduce((sum, digit) => (sum << 5n) | BigInt(digit), 0n);
  const secret = fromHex((number >> 12n).toString(16).padStart(32, "0"));
  const [first, second] = await sha256(secret);
  need((number & 0xfffn) === BigInt((first << 4) | (second >> 4)), "code-malformed");
  return code;
}

/**
 * @param {"open" | "codes"} admission The contract's field `admission`.
 * @param {string | undefined} typed
 * @returns {Promise<string | undefined>} The code to send; undefined if the contract asks for none.
 * @throws {Refusal} `code-missing`, `code-not-asked` or `code-malformed`
 */
export async function checkCode(admission, typed) {
  need(admission !== "codes" || typed !== undefined, "code-missing");
  need(admission === "codes" || typed === undefined, "code-not-asked");
  return typed === undefined ? undefined : readCode(typed);
}
