/** Points and planes of Z_p^t, which stand for values of large questions (SPEC.md, section 4). */

import { sha256, toInteger, utf8 } from "./bytes.js";
import { integer, record } from "./fields.js";
import { need, Refusal } from "./refusal.js";

/** The maximum number of bins of a closed list. If a question has more, each bin is a point. */
const MOST_LISTED = 10n ** 7n;
const MOST_PLANES = 2n ** 127n;
/** The number of rounds of the permutation of bins. */
const ROUNDS = 6;
/** The maximum number of times that the permutation is applied; it needs 2 on average. */
const MOST_REPEATS = 10_000;

/**
 * The vector space Z_p^t. A direction divides its points into p planes.
 *
 * @typedef {object} Planes
 * @property {bigint} prime p
 * @property {number} digits t
 * @property {bigint} directions J = (p^t - 1) / (p - 1)
 * @property {bigint} points p^t
 */

const read = record({
  prime: integer("prime-out-of-range", 2, 2 ** 31 - 1),
  digits: integer("digits-out-of-range", 2, 62),
});

/** @type {import("./fields.js").Read<Planes>} */
export function readPlanes(value) {
  const { prime, digits } = read(value);
  for (let factor = 2; factor * factor <= prime; factor++) need(prime % factor, "not-prime");
  const p = BigInt(prime);
  const points = p ** BigInt(digits);
  const directions = (points - 1n) / (p - 1n);
  need(directions * p <= MOST_PLANES, "planes-too-many");
  return { prime: p, digits, directions, points };
}

/**
 * @param {bigint} point
 * @param {Planes} planes
 * @param {bigint} direction Number of a direction, below `planes.directions`.
 * @returns {bigint} The number of the plane that contains the point in this direction.
 */
export function planeIn(point, { prime, digits }, direction) {
  let [rest, lead] = [direction, 0];
  let number = prime ** BigInt(digits - 1);
  while (rest >= number) {
    rest -= number;
    number /= prime;
    lead++;
  }
  // `rest` has the digits after the leading 1 of the direction, the most significant first.
  let left = point / prime ** BigInt(lead);
  let sum = left % prime;
  for (let place = lead + 1; place < digits; place++) {
    left /= prime;
    number /= prime;
    sum += ((rest / number) % prime) * (left % prime);
  }
  return direction * prime + (sum % prime);
}

/**
 * @param {bigint} bin
 * @param {bigint} bins
 * @param {Planes} planes
 * @returns {Promise<bigint>} The point of a bin, for a question with one value a person.
 */
export async function pointOf(bin, bins, { prime, digits }) {
  if (bins > MOST_LISTED) return bin;
  let side = 1n;
  while (side * side < bins) side++;
  let place = bin;
  for (let repeats = 0; repeats === 0 || place >= bins; repeats++) {
    if (repeats > MOST_REPEATS) throw new Refusal("not-prime", "no point was found");
    let [low, high] = [place % side, place / side];
    for (let round = 0; round < ROUNDS; round++) {
      const hash = toInteger(await sha256(utf8(`mixtally point ${round} ${bins} ${high}`)));
      [low, high] = [high, (low + hash) % side];
    }
    place = side * high + low;
  }
  const top = prime ** BigInt(digits - 1);
  return (place % top) + top * ((place / top + (place % prime) ** 2n) % prime);
}

/**
 * Return the points of a set: the first `most` distinct points of its bins and of the pads, which
 * stand for missing members.
 *
 * @param {readonly bigint[]} cells The bins of the set, ascending.
 * @param {bigint} bins The number of bins of the question.
 * @param {number} most The number of points of a record.
 * @param {Planes} planes
 * @returns {Promise<bigint[]>}
 */
export async function pointsOfSet(cells, bins, most, planes) {
  /** @type {Set<bigint>} */
  const points = new Set();
  const candidates = [...cells, ...Array.from({ length: most }, (_, i) => bins + BigInt(i))];
  for (const cell of candidates) {
    if (points.size === most) break;
    const isPoint = cell < bins && bins === planes.points;
    points.add(isPoint ? cell : toInteger(await sha256(utf8(String(cell)))) % planes.points);
  }
  need(points.size === most, "too-many-members", "the members of a set share points");
  return [...points];
}
