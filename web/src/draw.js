/** The draws of a device (SPEC.md, section 5). */

import { writeMessage } from "./layout.js";
import { planeIn } from "./planes.js";
import { Refusal } from "./refusal.js";

/** How often a message above its cap, or a direction, is drawn again before the device gives up. */
const MOST_AGAIN = 10_000;

/**
 * Draw the message of a set of cells, in which each cell is flipped with probability threshold /
 * 2^64: a set cell is cleared, and another one is set. A message above the cap is drawn again.
 *
 * @param {Set<bigint>} cells
 * @param {bigint} threshold
 * @param {import("./layout.js").Layout} layout
 * @param {import("./words.js").Words} words
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function drawFlipped(cells, threshold, layout, words) {
  for (let tries = 0; tries < MOST_AGAIN; tries++) {
    /** @type {bigint[]} */
    const named = [];
    for (let cell = 0n; cell < layout.bins; cell++) {
      if (words.next() < threshold !== cells.has(cell)) named.push(cell);
    }
    if (layout.cap === null || named.length <= layout.cap) return writeMessage(named, layout);
  }
  throw new Refusal("randomness-broken", "no message fits into its cap");
}

/**
 * Put items into a uniformly random order, in place.
 *
 * @template T
 * @param {T[]} items
 * @param {import("./words.js").Words} words
 */
function shuffle(items, words) {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Number(words.uniform(BigInt(i + 1)));
    [items[i], items[j]] = [items[j], items[i]];
  }
}

/**
 * Draw how many fakes (dummy messages) a device adds to each part.
 *
 * A coin decides whether the device adds one more fake. Coins are drawn before the value is read,
 * so that they cannot depend on the value.
 *
 * @param {import("./part.js").Part[]} parts
 * @param {import("./words.js").Words} words
 * @returns {number[]}
 */
export function drawCoins(parts, words) {
  return parts.map(({ own }) => (own === null ? 0 : own.whole + Number(words.next() < own.coin)));
}

/**
 * Draw the messages of all parts, in random order.
 *
 * @param {import("./part.js").Part[]} parts
 * @param {import("./encode.js").Answer[]} answers The answer for each part.
 * @param {number[]} fakes The number of fakes in each part, from `drawCoins`.
 * @param {import("./words.js").Words} words
 * @returns {Uint8Array<ArrayBuffer>[][]} For each part, its messages.
 */
export function drawMessages(parts, answers, fakes, words) {
  const out = parts.map((part, i) => {
    const sent = drawRecord(part, answers[i], words);
    for (let n = 0; n < fakes[i]; n++) sent.push(drawOwnFake(part, words));
    return sent;
  });
  for (const sent of out) shuffle(sent, words);
  return out;
}

/**
 * @param {import("./part.js").Part} part
 * @param {import("./words.js").Words} words
 */
function drawOwnFake(part, words) {
  const blank = part.own?.record === "blank";
  const cells = blank ? [] : [words.uniform(part.layout.bins)];
  if (part.threshold === null) return writeMessage(cells, part.layout);
  return drawFlipped(new Set(cells), part.threshold, part.layout, words);
}

/**
 * @param {import("./part.js").Part} part
 * @param {import("./encode.js").Answer} answer
 * @param {import("./words.js").Words} words
 * @returns {Uint8Array<ArrayBuffer>[]} The messages of a record.
 */
function drawRecord(part, answer, words) {
  const { layout, threshold } = part;
  if (threshold !== null) {
    const cells = new Set(answer.cells);
    return Array.from({ length: part.repeats }, () => drawFlipped(cells, threshold, layout, words));
  }
  if (answer.points.length) return answer.points.map((one) => drawPlane(part, answer, one, words));
  const cells = [...answer.cells];
  for (let i = 0; i < (part.slots ?? 0); i++) {
    const j = i + Number(words.uniform(BigInt(cells.length - i)));
    [cells[i], cells[j]] = [cells[j], cells[i]];
  }
  return cells.slice(0, part.slots ?? cells.length).map((cell) => {
    return writeMessage([drawReplacement(part, words) ?? cell], layout);
  });
}

/**
 * @param {import("./part.js").Part} part
 * @param {import("./words.js").Words} words
 * @returns {bigint | null} The uniform cell that replaces the cell of a message, or null to keep
 *   it.
 */
function drawReplacement(part, words) {
  if (part.replaced === null || words.next() >= part.replaced) return null;
  return words.uniform(part.layout.bins);
}

/**
 * Draw the message for a point of a record: a plane that contains the point and no other point of
 * the record, or a uniform message that replaces it.
 *
 * The proof requires that the plane contains no other point, so directions are drawn until it does.
 *
 * @param {import("./part.js").Part} part
 * @param {import("./encode.js").Answer} answer
 * @param {bigint} point
 * @param {import("./words.js").Words} words
 */
function drawPlane(part, answer, point, words) {
  const planes = /** @type {import("./planes.js").Planes} */ (part.planes);
  const replacement = drawReplacement(part, words);
  if (replacement !== null) return writeMessage([replacement], part.layout);
  for (let tries = 0; tries < MOST_AGAIN; tries++) {
    const direction = words.uniform(planes.directions);
    const plane = planeIn(point, planes, direction);
    const others = answer.points.filter((one) => one !== point);
    if (!others.some((one) => planeIn(one, planes, direction) === plane)) {
      return writeMessage([plane], part.layout);
    }
  }
  throw new Refusal("randomness-broken", "no direction separates the points of a set");
}
