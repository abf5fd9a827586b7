/** Encoding of a person's value as cells or points for each part (SPEC.md, section 3). */

import { fromHex, toInteger, utf8 } from "./bytes.js";
import { pointOf, pointsOfSet } from "./planes.js";
import { toNumerators } from "./ratio.js";
import { need } from "./refusal.js";

/** The number of code points in Unicode. */
const CODE_POINTS = 1_114_112;

/**
 * The answer in the messages of a part.
 *
 * @typedef {object} Answer
 * @property {bigint[]} cells The bins of the record, ascending. In clear, pads (additional cells
 *   for the missing members of a set) follow.
 * @property {bigint[]} points The points of the record, if messages name planes; otherwise empty.
 */
/**
 * @typedef {{prefixes: number[][] | null, closing: boolean}} Asked The prefixes of a round, and
 *   whether it counts only words that end after the next symbols.
 */

/**
 * Encode a value for the parts of a plan. Call this after `drawCoins`.
 *
 * @param {import("./plan.js").Plan} plan
 * @param {unknown} value null for no answer.
 * @param {Asked} asked
 * @param {import("./words.js").Words} words Its next word rounds a number to a grid.
 * @returns {Promise<Answer[]>} One answer for each part.
 * @throws {Refusal}
 */
export async function encodeValue(plan, value, asked, words) {
  const bins = await findBins(plan, value, asked, words);
  return Promise.all(plan.parts.map((part, i) => answerOf(part, bins[i])));
}

/**
 * @param {import("./part.js").Part} part
 * @param {bigint[]} bins
 * @returns {Promise<Answer>}
 */
async function answerOf(part, bins) {
  const cells = [...bins].sort((one, other) => (one < other ? -1 : 1));
  const { most_set: most, planes } = part;
  if (planes !== null) {
    const points =
      most === 1
        ? [await pointOf(cells[0], part.bins, planes)]
        : await pointsOfSet(cells, part.bins, /** @type {number} */ (most), planes);
    return { cells, points };
  }
  if (part.threshold === null && most !== null && most > 1) {
    for (let pad = part.bins; cells.length < most; pad++) cells.push(pad);
  }
  return { cells, points: [] };
}

/**
 * @param {import("./plan.js").Plan} plan
 * @param {unknown} value
 * @param {Asked} asked
 * @param {import("./words.js").Words} words
 * @returns {Promise<bigint[][]>} For each part, the distinct bins of the value.
 */
async function findBins(plan, value, asked, words) {
  const { question, edges, grid, prefixes, parts } = plan;
  if (prefixes !== null) return [[findWordBin(plan, value, asked)]];
  need(asked.prefixes === null && !asked.closing, "prefixes-not-asked");
  const isSet = question.kind === "set" && question.attributes === null;
  need(value !== null || isSet, "no-answer");
  if (edges !== null) return [[findInterval(edges, readNumber(value))]];
  if (grid !== null) return [[roundToGrid(grid, readNumber(value), words)]];
  if (question.kind === "bits") return findBits(parts, question, readList(value));
  if (question.attributes !== null) return findAttributes(question, readList(value), parts.length);
  const { labels, hashed, bins, max_set: most } = question;
  if (question.kind === "one") {
    if (hashed !== null) return [[await hashText(question, readText(value))]];
    return [[findLabel(value, labels, bins)]];
  }
  const given = value === null ? [] : readList(value);
  /** @type {(bigint | string)[]} */
  const members =
    hashed === null ? given.map((one) => findLabel(one, labels, bins)) : given.map(readText);
  need(new Set(members).size === members.length, "member-twice");
  need(members.length <= most, "too-many-members", `expected at most ${most}`);
  if (hashed === null) return [/** @type {bigint[]} */ (members)];
  const texts = /** @type {string[]} */ (members);
  const found = await Promise.all(texts.map((text) => hashText(question, text)));
  return [[...new Set(found)]];
}

/** @param {unknown} value @returns {unknown[]} */
function readList(value) {
  need(Array.isArray(value), "not-a-list");
  return value;
}

/** @param {unknown} value @returns {number} */
function readNumber(value) {
  need(typeof value === "number" || typeof value === "bigint", "not-a-number");
  const number = Number(value);
  need(Number.isFinite(number), "not-finite");
  return number;
}

/** @param {unknown} value @returns {string} The text in form NFC. */
function readText(value) {
  need(typeof value === "string", "not-text");
  need(value !== "", "empty-text");
  need(!/\p{Surrogate}/u.test(value), "half-character");
  return value.normalize("NFC");
}

/**
 * @param {unknown} value
 * @param {readonly string[] | null} labels
 * @param {bigint} bins
 * @returns {bigint}
 */
function findLabel(value, labels, bins) {
  if (labels !== null) {
    const form = typeof value === "string" ? value.normalize("NFC") : null;
    const place = labels.findIndex((label) => label.normalize("NFC") === form);
    need(place >= 0, "value-outside-labels");
    return BigInt(place);
  }
  const whole = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
  need(whole, "value-outside-bins", "expected an integer");
  const bin = BigInt(/** @type {number | bigint} */ (value));
  need(bin >= 0n && bin < bins, "value-outside-bins", `expected an integer in [0, ${bins})`);
  return bin;
}

/**
 * @param {readonly number[]} edges
 * @param {number} value
 * @returns {bigint}
 */
function findInterval(edges, value) {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= value) low = middle;
    else high = middle;
  }
  return BigInt(low);
}

/**
 * Round a number at random to one of the two neighboring points of a grid. The mean is the number.
 *
 * @param {{low: number, high: number, points: number}} grid
 * @param {number} value
 * @param {import("./words.js").Words} words
 * @returns {bigint}
 */
function roundToGrid({ low, high, points }, value, words) {
  const nearest = Math.min(Math.max(value, low), high);
  const [first, last, held] = toNumerators([low, high, nearest]);
  const [steps, range] = [(held - first) * BigInt(points - 1), last - first];
  const below = steps / range;
  const threshold = ((steps - below * range) << 64n) / range;
  return words.next() < threshold ? below + 1n : below;
}

/**
 * @param {import("./question.js").Question} question
 * @param {string} text
 * @returns {Promise<bigint>}
 */
async function hashText({ hashed, bins }, text) {
  const seed = fromHex(/** @type {{seed: string}} */ (hashed).seed);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", seed, algorithm, false, ["sign"]);
  return toInteger(new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8(text)))) % bins;
}

/**
 * @param {import("./part.js").Part[]} parts
 * @param {import("./question.js").Question} question
 * @param {unknown[]} value
 * @returns {bigint[][]}
 */
function findBits(parts, { bins }, value) {
  for (const bit of value) need(bit === 0 || bit === 1 || bit === 0n || bit === 1n, "not-a-bit");
  need(BigInt(value.length) === bins, "bits-miscounted");
  const bits = value.map((bit) => BigInt(/** @type {number} */ (bit)));
  if (parts[0].slots !== null) return [bits.map((bit, i) => 2n * BigInt(i) + bit)];
  if (parts[0].most_set !== null) return bits.map((bit) => [bit]);
  if (parts.length > 1 || bins === 1n) return bits.map((bit) => (bit ? [0n] : []));
  return [bits.flatMap((bit, i) => (bit ? [BigInt(i)] : []))];
}

/**
 * @param {import("./question.js").Question} question
 * @param {unknown[]} value
 * @param {number} parts
 * @returns {bigint[][]}
 */
function findAttributes({ attributes, labels }, value, parts) {
  const sizes = /** @type {number[]} */ (attributes);
  need(value.length === sizes.length, "attributes-miscounted");
  let before = 0;
  const bins = sizes.map((size, i) => {
    const own = labels && labels.slice(before, before + size);
    const place = findLabel(value[i], own, BigInt(size));
    const bin = parts > 1 ? place : place + BigInt(before);
    before += size;
    return bin;
  });
  return parts > 1 ? bins.map((bin) => [bin]) : [bins];
}

/**
 * Return the bin of a word, or of null, in a round that asks for words by prefixes.
 *
 * @param {import("./plan.js").Plan} plan
 * @param {unknown} value
 * @param {Asked} asked
 * @returns {bigint}
 */
function findWordBin(plan, value, asked) {
  const { alphabet, most, longest, symbols } =
    /** @type {NonNullable<import("./plan.js").Plan["prefixes"]>} */ (plan.prefixes);
  const letters = [...alphabet];
  const text = value === null ? null : readText(value);
  const prefixes = asked.prefixes ?? [[]];
  need(prefixes.length >= 1 && prefixes.length <= most, "prefixes-miscounted");
  const length = prefixes[0].length;
  const fit = prefixes.every((one) => one.length === length);
  need(fit && length < longest, "prefix-length");
  const known = prefixes.every((one) => one.every((symbol) => isSymbol(symbol, letters.length)));
  need(known, "prefix-symbol");
  const written = prefixes.map(String);
  need(new Set(written).size === written.length, "prefix-twice");
  const last = plan.question.bins - 1n;
  if (text === null) return last;
  const spelled = spell(text, letters);
  while (spelled.length <= length + symbols) spelled.push(0);
  const prefix = written.indexOf(String(spelled.slice(0, length)));
  if (prefix < 0 || (asked.closing && spelled[length + symbols] !== 0)) return last;
  const base = BigInt(letters.length + 2);
  const asOne = (/** @type {bigint} */ sum, /** @type {number} */ one) => sum * base + BigInt(one);
  return spelled.slice(length, length + symbols).reduce(asOne, BigInt(prefix));
}

/** @param {number} symbol @param {number} letters */
function isSymbol(symbol, letters) {
  return Number.isInteger(symbol) && symbol >= 1 && symbol <= letters + 1;
}

/**
 * @param {string} text
 * @param {readonly string[]} letters
 * @returns {number[]} The symbols of a text. A character that is not in `letters` becomes an escape
 *   and the digits of its code point.
 */
function spell(text, letters) {
  const base = letters.length;
  let digits = 1;
  while (base ** digits < CODE_POINTS) digits++;
  return [...text].flatMap((character) => {
    const place = letters.indexOf(character);
    if (place >= 0) return [place + 1];
    const code = /** @type {number} */ (character.codePointAt(0));
    const spelled = Array.from({ length: digits }, (_, i) => {
      return (Math.floor(code / base ** (digits - 1 - i)) % base) + 1;
    });
    return [base + 1, ...spelled];
  });
}
