/** Message formats: how the numbers of cells are written as bytes (SPEC.md, section 4). */

import { bigInteger, oneOf, optional, record } from "./fields.js";
import { need } from "./refusal.js";
import { bitLength, littleEndian } from "./bytes.js";

/** The maximum cap of the form `positions`, in which the count has two bytes. */
const MOST_NAMED = 65535;
/** The maximum cap of the form `bits`. */
const MOST_CAP = 10 ** 7;

/**
 * @typedef {object} Layout
 * @property {"bits" | "index" | "positions"} form
 * @property {bigint} bins The number of cells that a message can name.
 * @property {number | null} cap The maximum number of cells that a message names; null for no
 *   limit.
 */

const read = record({
  form: oneOf("unknown-form", /** @type {const} */ (["bits", "index", "positions"])),
  bins: bigInteger("layout-bins", 1, 2n ** 127n),
  cap: optional(bigInteger("cap-too-large")),
});

/** @type {import("./fields.js").Read<Layout>} */
export function readLayout(value) {
  const { form, bins, cap } = read(value);
  need(form !== "index" || cap === null, "cap-with-index");
  need(form !== "positions" || cap !== null, "cap-missing");
  if (cap !== null) {
    need(cap >= 1n, "cap-below-one");
    need(cap <= bins && cap <= BigInt(form === "positions" ? MOST_NAMED : MOST_CAP), "cap-too-large");
  }
  return { form, bins, cap: cap === null ? null : Number(cap) };
}

/**
 * @param {number} bits
 * @returns {number} The number of bytes that are needed for this number of bits.
 */
function bytesFor(bits) {
  return Math.ceil(bits / 8);
}

/**
 * @param {Layout} layout
 * @returns {number} Bytes of a message.
 */
export function messageSize(layout) {
  const width = bitLength(layout.bins - 1n);
  if (layout.form === "bits") return bytesFor(Number(layout.bins));
  if (layout.form === "index") return bytesFor(width);
  const cap = layout.cap ?? 0;
  return bytesFor(bitLength(BigInt(cap))) + bytesFor(cap * width);
}

/**
 * Write the message that names some cells.
 *
 * @param {readonly bigint[]} cells Different cells, ascending; exactly one for the form `index`.
 * @param {Layout} layout
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function writeMessage(cells, layout) {
  const size = messageSize(layout);
  if (layout.form === "index") return littleEndian(cells[0], size);
  if (layout.form === "bits") {
    const out = new Uint8Array(size);
    for (const cell of cells) out[Number(cell >> 3n)] |= 1 << Number(cell & 7n);
    return out;
  }
  const width = bitLength(layout.bins - 1n);
  const front = 8 * bytesFor(bitLength(BigInt(layout.cap ?? 0)));
  let total = BigInt(cells.length);
  cells.forEach((cell, i) => (total |= cell << BigInt(front + i * width)));
  return littleEndian(total, size);
}
