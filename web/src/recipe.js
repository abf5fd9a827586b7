/** Recipes: the fakes (dummy messages) that every hop adds (SPEC.md, section 6). */

import { bigInteger, integer, record } from "./fields.js";
import { need } from "./refusal.js";
import { drawFlipped } from "./draw.js";
import { writeMessage } from "./layout.js";

const ONE = 2n ** 256n;
const WORD = 2n ** 64n;
/** A table ends at most this number of fakes above its middle. */
const MOST_STEPS = 100_000;

/**
 * A recipe. Only the fields of its type are set.
 *
 * @typedef {object} Recipe
 * @property {"none" | "shaped" | "gaussian" | "paired" | "paired-gaussian" | "blanks" | "uniform"} type
 * @property {bigint} [ratio]
 * @property {number} [shift]
 * @property {bigint} [variance]
 * @property {number} [count]
 * @property {bigint} [threshold]
 */

export const readThreshold = bigInteger("threshold-out-of-range", 2n ** 24n, 2n ** 63n);
const shift = integer("shift-out-of-range", 1, 10 ** 5);
const count = integer("count-out-of-range", 1, 10 ** 10);
const laplace = { ratio: bigInteger("ratio-out-of-range", 1, WORD - 1n), shift };
const bell = { variance: bigInteger("variance-out-of-range", 1, 10 ** 9), shift };
/** @type {Record<string, Record<string, import("./fields.js").Read<any>>>} */
const FIELDS = {
  none: {},
  shaped: laplace,
  gaussian: bell,
  paired: laplace,
  "paired-gaussian": bell,
  blanks: { count, threshold: readThreshold },
  uniform: { count },
};
const PAIRED = new Set(["paired", "paired-gaussian"]);
const SHAPED = new Set(["shaped", "gaussian", ...PAIRED]);

/** @type {import("./fields.js").Read<Recipe>} */
export function readRecipe(value) {
  const type = value instanceof Map ? value.get("type") : undefined;
  need(typeof type === "string" && Object.hasOwn(FIELDS, type), "unknown-recipe");
  return /** @type {Recipe} */ (record({ type: () => type, ...FIELDS[type] })(value));
}

/**
 * @param {Recipe} recipe
 * @returns {boolean} Whether the fakes of two cells add up to a fixed number.
 */
export function isPaired(recipe) {
  return PAIRED.has(recipe.type);
}

/**
 * @param {Recipe} recipe
 * @returns {boolean} Whether the number of fakes of each cell is drawn from a table.
 */
export function isShaped(recipe) {
  return SHAPED.has(recipe.type);
}

/**
 * Yield P_1, P_2, ..: the probabilities of a table at the distances 1, 2, .. from its middle,
 * divided by that of the middle, times 2^256.
 *
 * @param {Recipe} recipe
 */
function* heights(recipe) {
  if (recipe.ratio !== undefined) {
    for (let p = (ONE * recipe.ratio) / WORD; ; p = (p * recipe.ratio) / WORD) yield p;
  }
  const variance = /** @type {bigint} */ (recipe.variance);
  let series = 0n;
  for (let term = ONE, k = 0n; term; term /= 2n * variance * k) {
    series += term;
    k += 1n;
  }
  let factor = ONE ** 2n / series;
  const square = factor ** 2n / ONE;
  for (let p = (ONE * factor) / ONE; ; p = (p * factor) / ONE) {
    yield p;
    factor = (factor * square) / ONE;
  }
}

/**
 * @param {Recipe} recipe A recipe for which `isShaped` is true.
 * @returns {bigint[]} F(0), F(1), .., F(M): the probability of each number of fakes in a cell,
 *   times 2^64.
 */
export function shapeTable(recipe) {
  const middle = /** @type {number} */ (recipe.shift);
  const powers = [ONE];
  const most = isPaired(recipe) ? middle : MOST_STEPS;
  for (const p of heights(recipe)) {
    if (p < 2n ** 192n || powers.length > most) break;
    powers.push(p);
  }
  const sum = (/** @type {bigint[]} */ some) => some.reduce((total, one) => total + one, 0n);
  const total = sum(powers) + sum(powers.slice(1, middle + 1));
  const table = new Array(middle + powers.length).fill(0n);
  for (let k = 1; k < powers.length; k++) {
    table[middle + k] = (powers[k] * WORD) / total;
    if (k <= middle) table[middle - k] = table[middle + k];
  }
  table[middle] = WORD - sum(table);
  if (isPaired(recipe)) {
    while (table.length < 2 * middle + 1) table.push(0n);
    return table;
  }
  while (!table[table.length - 1]) table.pop();
  return table;
}

/**
 * @param {Recipe} recipe
 * @param {import("./layout.js").Layout} layout
 * @returns {number} The maximum number of fakes that a hop adds to a part.
 */
export function mostFakes(recipe, layout) {
  if (!isShaped(recipe)) return recipe.count ?? 0;
  const most = shapeTable(recipe).length - 1;
  return isPaired(recipe) ? most : most * Number(layout.bins);
}

/**
 * @param {bigint[]} table
 * @param {bigint} word
 * @returns {number} The number of fakes that is drawn with a uniform word: the number of the sums
 *   F(0) + .. + F(k), for k = 0, 1, .., that are at most the word.
 */
function lookUp(table, word) {
  let [sum, found] = [0n, 0];
  for (const weight of table) {
    sum += weight;
    if (sum <= word) found++;
  }
  return found;
}

/**
 * Draw the messages that a hop adds to a part. They are in the order of drawing, not shuffled.
 *
 * @param {Recipe} recipe
 * @param {import("./layout.js").Layout} layout
 * @param {import("./words.js").Words} words
 * @returns {Uint8Array[]}
 */
export function drawFakes(recipe, layout, words) {
  /** @type {Uint8Array[]} */
  const out = [];
  const add = (/** @type {number} */ many, /** @type {bigint} */ cell) => {
    for (let i = 0; i < many; i++) out.push(writeMessage([cell], layout));
  };
  if (recipe.type === "blanks" || recipe.type === "uniform") {
    for (let i = 0; i < /** @type {number} */ (recipe.count); i++) {
      if (recipe.type === "uniform") add(1, words.uniform(layout.bins));
      else out.push(drawFlipped(new Set(), /** @type {bigint} */ (recipe.threshold), layout, words));
    }
  } else if (isPaired(recipe)) {
    const first = lookUp(shapeTable(recipe), words.next());
    add(first, 0n);
    add(2 * /** @type {number} */ (recipe.shift) - first, 1n);
  } else if (isShaped(recipe)) {
    const table = shapeTable(recipe);
    for (let cell = 0n; cell < layout.bins; cell++) add(lookUp(table, words.next()), cell);
  }
  return out;
}
