/**
 * Parts of a plan. A part is one of the messages of a record: its content, its protection and its
 * format (SPEC.md, section 2).
 */

import { bigInteger, integer, oneOf, optional, record } from "./fields.js";
import { readLayout } from "./layout.js";
import { readPlanes } from "./planes.js";
import { isPaired, isShaped, readRecipe, readThreshold } from "./recipe.js";
import { need } from "./refusal.js";

const MOST_BINS = 10n ** 7n;
const MOST_FREE_BITS = 64n;
const MOST_SET = 16;
const WORD = 2n ** 64n;
const HALF = 2n ** 63n;

/**
 * The fakes (dummy messages) that a device adds.
 *
 * @typedef {object} OwnFakes
 * @property {"blank" | "uniform"} record No bit set, or one uniform bin; before flips.
 * @property {number} whole The number of fakes that are always added.
 * @property {bigint} coin The probability of one more fake, times 2^64.
 */
/**
 * @typedef {object} Part
 * @property {bigint} bins
 * @property {number | null} most_set The maximum number of bins of a record; null for free bits.
 * @property {bigint | null} threshold The probability of a flip times 2^64; null in clear.
 * @property {import("./planes.js").Planes | null} planes
 * @property {OwnFakes | null} own
 * @property {number} repeats
 * @property {import("./recipe.js").Recipe} recipe
 * @property {import("./layout.js").Layout} layout
 * @property {bigint | null} replaced The probability that a uniform bin replaces a value, times
 *   2^64; null for never.
 * @property {number | null} slots The number of bins of a record that are drawn and sent; null if
 *   all are sent.
 */

const ownFields = record({
  record: oneOf("unknown-fake", /** @type {const} */ (["blank", "uniform"])),
  whole: integer("own-fakes-out-of-range", 0, 1000),
  coin: bigInteger("coin-too-large"),
});

/** @type {import("./fields.js").Read<OwnFakes>} */
function readOwn(value) {
  const own = ownFields(value);
  need(own.coin >= 0n, "coin-below-zero");
  need(own.coin < WORD, "coin-too-large");
  need(own.coin || own.whole, "own-fakes-none");
  return own;
}

const partFields = record({
  bins: bigInteger("bins-out-of-range", 1, 2n ** 127n),
  most_set: optional(integer("most-set-out-of-range", 1, Number(MOST_FREE_BITS))),
  threshold: optional(readThreshold),
  planes: optional(readPlanes),
  own: optional(readOwn),
  repeats: integer("repeats-out-of-range", 1, 1000),
  recipe: readRecipe,
  layout: readLayout,
  replaced: optional(bigInteger("replaced-out-of-range", 1, WORD - 1n)),
  slots: optional(integer("slots-out-of-range", 1, Number(MOST_FREE_BITS) - 1)),
});

/** @type {import("./fields.js").Read<Part>} */
export function readPart(value) {
  const part = partFields(value);
  checkSizes(part);
  need(part.own === null || part.recipe.type === "none", "two-covers");
  const bare = part.threshold !== null && part.own === null && part.recipe.type === "none";
  need(part.repeats === 1 || bare, "repeats-unfit");
  if (part.threshold === null) checkClear(part);
  else checkFlipped(part);
  return part;
}

/** @param {Part} part */
function hasCellsOfBinsAlone(part) {
  return part.slots !== null && part.layout.bins === part.bins;
}

/** @param {Part} part */
function checkSizes(part) {
  const { bins, most_set: most, slots, planes, layout } = part;
  need(most === null ? bins <= MOST_FREE_BITS : bins >= 2n, "bins-out-of-range");
  need(bins <= (planes === null ? MOST_BINS : planes.points), "bins-out-of-range");
  if (most !== null) {
    const largest = hasCellsOfBinsAlone(part) ? Number(MOST_FREE_BITS) : MOST_SET;
    need(most <= largest && BigInt(most) <= bins, "most-set-out-of-range");
  }
  if (slots !== null) {
    const plain = part.threshold === null && planes === null && part.replaced === null;
    need(most !== null && most > 1 && plain && !isShaped(part.recipe), "slots-unfit");
    need(slots < most, "slots-out-of-range");
    need(!hasCellsOfBinsAlone(part) || bins >= 2n * BigInt(most), "slots-unfit");
  }
  const pads = part.threshold === null && most !== null && most > 1 && !hasCellsOfBinsAlone(part);
  const cells = planes ? planes.directions * planes.prime : bins + BigInt(pads ? (most ?? 0) : 0);
  need(layout.bins === cells, "layout-bins");
}

/** @param {Part} part */
function checkClear(part) {
  const { most_set: most, recipe, own, replaced, planes, slots, layout } = part;
  need(most !== null && layout.form === "index", "clear-not-index");
  const shaped = isShaped(recipe);
  const covered = own !== null || shaped || planes !== null || slots === 1 || replaced !== null;
  need(most === 1 || covered, "set-uncovered");
  need(replaced === null || recipe.type === "none", "replaced-unfit");
  need(own === null || own.record === "uniform", "clear-uncovered");
  const hides = shaped || recipe.type === "uniform" || own !== null || replaced !== null;
  need(hides, "clear-uncovered");
  if (planes !== null) checkPlanes(part, planes, most);
  need(!isPaired(recipe) || layout.bins === 2n, "paired-unfit");
}

/**
 * @param {Part} part
 * @param {import("./planes.js").Planes} planes
 * @param {number} most
 */
function checkPlanes(part, { prime, digits, points, directions }, most) {
  const cells = directions * prime;
  need(!isShaped(part.recipe), "planes-among-shaped");
  if (most === 1) {
    need(cells <= HALF, "planes-too-many");
    need(part.bins > prime && (digits === 2 || points / prime < part.bins), "digits-unfit");
    return;
  }
  need(prime >= 2n * BigInt(most), "planes-below-set");
  const longer = (directions + points) * prime; // the number of cells with one digit more
  const limit = cells <= HALF && digits > most ? HALF : 2n ** 127n;
  need(part.bins > prime && longer > limit, "digits-unfit");
}

/** @param {Part} part */
function checkFlipped(part) {
  const { most_set: most, recipe, own, threshold, layout, bins } = part;
  need(part.planes === null, "planes-flipped");
  need(part.replaced === null, "replaced-unfit");
  need(/** @type {bigint} */ (threshold) < HALF, "threshold-half");
  need(layout.form !== "index", "flips-as-index");
  need(recipe.type === "none" || recipe.type === "blanks", "recipe-unfit");
  need(recipe.type === "none" || recipe.threshold === threshold, "recipe-unfit");
  need(own?.record !== "uniform" || most === 1, "uniform-fakes-unfit");
  const alone = own === null && recipe.type === "none";
  need(most !== null || bins === 1n || alone, "free-bits-among-fakes");
  const least = most ?? Number(bins);
  need(layout.cap === null || layout.cap >= least, "cap-below-record");
}

/**
 * @param {Part} part
 * @returns {number} The maximum number of slots of the part in a bundle that are padding.
 */
export function paddingOf({ own }) {
  return own !== null && own.coin > 0n ? 1 : 0;
}

/**
 * @param {Part} part
 * @returns {number} The number of envelopes of the part in a bundle.
 */
export function slotsOf(part) {
  const { threshold, slots, most_set: most, repeats, own } = part;
  const record = threshold === null ? (slots ?? most ?? 1) : repeats;
  return record + (own?.whole ?? 0) + paddingOf(part);
}

/**
 * @param {Part} part
 * @returns {string} The name of the part's protocol (SPEC.md, section 7).
 */
export function protocolOf({ replaced, threshold, recipe, own, bins, most_set: most }) {
  if (replaced !== null) return "kary-response";
  if (threshold === null) return isShaped(recipe) ? "clear-shaped" : "clear-uniform";
  if (own?.record === "uniform") return "flip-uniform";
  if (bins === 1n && most === null) return "single-bit";
  return own !== null || recipe.type === "blanks" ? "flip-blank" : "flip";
}
