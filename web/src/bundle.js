/**
 * Bundles: all that a device sends in a round. All bundles of a contract have the same length
 * (SPEC.md, section 15).
 */

import { arrivalTag } from "./arrivals.js";
import { concat } from "./bytes.js";
import { paddingOf, slotsOf } from "./part.js";
import { need } from "./refusal.js";

/**
 * The envelopes of a part in every bundle.
 *
 * @typedef {object} Shape
 * @property {number} slots The number of envelopes of the part.
 * @property {number} padding The maximum number of them that are padding.
 * @property {number} size The length of an envelope in bytes.
 */

/**
 * @param {import("./contract.js").Contract} contract
 * @returns {Shape[]} The envelopes of each part.
 */
export function bundleShapes({ plan, envelope_bytes: sizes }) {
  return plan.parts.map((part, i) => {
    return { slots: slotsOf(part), padding: paddingOf(part), size: sizes[i][0] };
  });
}

/**
 * Seal the messages of all parts as one bundle.
 *
 * @param {import("./contract.js").Contract} contract
 * @param {Uint8Array<ArrayBuffer>[][]} messages From `drawMessages`.
 * @param {import("./envelope.js").Sealer} sealer
 * @param {string[][]} [watched] The tags of each message, in the order of the roles, are added to
 *   this array.
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function sealBundle(contract, messages, sealer, watched) {
  /** @type {Uint8Array[]} */
  const out = [];
  for (const [part, { slots, size }] of bundleShapes(contract).entries()) {
    const envelopes = [];
    for (const message of messages[part]) {
      /** @type {string[]} */
      const tags = [];
      watched?.push(tags);
      const keep = async (/** @type {number} */ hop, /** @type {Uint8Array} */ envelope) => {
        if (watched && hop > 1) tags[hop - 1] = await arrivalTag(sealer.sheet, hop, part, envelope);
      };
      envelopes.push(await sealer.seal(message, part, keep));
    }
    // If a coin decided against one more fake, its slot contains padding.
    const inner = contract.envelope_bytes[part][1];
    while (envelopes.length < slots) envelopes.push(await sealer.pad(inner, part));
    need(envelopes.every((one) => one.length === size) && envelopes.length === slots, "body-length");
    out.push(...envelopes);
  }
  const bundle = concat(...out);
  const tag = watched && (await arrivalTag(sealer.sheet, 1, 0, bundle));
  for (const tags of watched ?? []) tags[0] = /** @type {string} */ (tag);
  return bundle;
}

/**
 * Split a body into bundles, and each bundle into the envelopes of its parts.
 *
 * @param {Uint8Array} body
 * @param {readonly Shape[]} shapes
 * @returns {Uint8Array[][][]} For each bundle, for each part, its envelopes.
 * @throws {Refusal} `body-length`
 */
export function splitBundles(body, shapes) {
  const length = shapes.reduce((sum, { slots, size }) => sum + slots * size, 0);
  need(body.length && body.length % length === 0, "body-length");
  const bundles = [];
  for (let place = 0; place < body.length; ) {
    bundles.push(
      shapes.map(({ slots, size }) =>
        Array.from({ length: slots }, () => body.subarray(place, (place += size))),
      ),
    );
  }
  return bundles;
}
