/** What a device checks by itself, whatever the operators have signed (SPEC.md, section 8). */

import { protocolOf } from "./part.js";
import { isPaired, isShaped, shapeTable } from "./recipe.js";
import { toRatio } from "./ratio.js";
import { need } from "./refusal.js";

const UNIT = 2n ** 128n;

/**
 * @typedef {object} Limits
 * @property {number} epsilon Largest epsilon of a guarantee.
 * @property {number} delta Largest delta.
 * @property {number | null} local_epsilon Largest local epsilon; null for any, also for none.
 * @property {number} hops Fewest hops.
 * @property {readonly string[]} protocols Protocols that are allowed.
 * @property {readonly string[]} covers Covers that are allowed.
 */

/** @type {Limits} */
export const DEFAULT_LIMITS = {
  epsilon: 1,
  delta: 1e-6,
  local_epsilon: null,
  hops: 2,
  protocols: [
    "clear-shaped",
    "clear-uniform",
    "flip",
    "flip-blank",
    "flip-uniform",
    "kary-response",
    "single-bit",
  ],
  covers: ["every mix", "people"],
};

/**
 * Refuse a plan beyond a device's own limits.
 *
 * @param {import("./plan.js").Plan} plan
 * @param {Limits} limits
 * @throws {Refusal}
 */
export function checkLimits(plan, limits) {
  const { guarantee, local_epsilon: local, parts, certificate } = plan;
  need(guarantee.epsilon <= limits.epsilon, "above-own-limit", `epsilon ${guarantee.epsilon}`);
  need(guarantee.delta <= limits.delta, "above-own-limit", `delta ${guarantee.delta}`);
  const within = local !== null && limits.local_epsilon !== null && local <= limits.local_epsilon;
  need(limits.local_epsilon === null || within, "above-own-limit", `local epsilon ${local}`);
  need(plan.hops >= limits.hops, "too-few-hops", `${plan.hops} hops`);
  for (const part of parts) {
    const protocol = protocolOf(part);
    need(limits.protocols.includes(protocol), "protocol-not-allowed", protocol);
  }
  need(limits.covers.includes(plan.cover), "cover-not-allowed", plan.cover);
  const [{ recipe }] = parts;
  if (parts.length === 1 && plan.collections === 1 && isShaped(recipe)) {
    const [sum, unit] = deltaOf(shapeTable(recipe), guarantee.epsilon, isPaired(recipe));
    const [stated, power] = toRatio(certificate.upper);
    need(stated * unit >= sum * power, "promise-false", "delta is larger than the plan states");
  }
}

/**
 * Compute the delta of a table of fakes, rounded down by less than 2^-100, without floating point.
 *
 * @param {bigint[]} table
 * @param {number} epsilon
 * @param {boolean} paired
 * @returns {[bigint, bigint]} The delta as numerator and denominator.
 */
export function deltaOf(table, epsilon, paired) {
  const [u, v] = toRatio(epsilon);
  let growth = 0n;
  for (let term = UNIT, k = 1n; term; k++) {
    growth += term;
    term = (term * u) / (v * k);
  }
  const ends = [0n, ...table, 0n];
  if (paired) {
    const sum = (/** @type {(i: number) => bigint} */ gain) => {
      let total = 0n;
      for (let i = 1; i < ends.length; i++) if (gain(i) > 0n) total += gain(i);
      return total;
    };
    const rises = sum((i) => UNIT * ends[i - 1] - growth * ends[i]);
    const falls = sum((i) => UNIT * ends[i] - growth * ends[i - 1]);
    return [rises > falls ? rises : falls, 2n ** 192n];
  }
  return [sumOfPairs(ends, growth), 2n ** 256n];
}

/**
 * Return the sum over s and t of the positive UNIT F(s-1) F(t) - growth F(s) F(t-1).
 *
 * A term is positive exactly if F(s-1) / F(s) exceeds a multiple of F(t-1) / F(t). Both are sorted,
 * so that for each s the terms of t are a beginning of the list, whose sums are known.
 *
 * @param {bigint[]} ends F with a 0 at both ends.
 * @param {bigint} growth
 */
function sumOfPairs(ends, growth) {
  const steps = ends.slice(1).map((right, i) => ({ left: ends[i], right }));
  const live = steps.filter(({ left, right }) => left || right);
  // Falling ratios left / right; a right of 0 is an infinite ratio.
  live.sort((a, b) => {
    const [one, other] = [a.left * b.right, b.left * a.right];
    return one === other ? 0 : one > other ? -1 : 1;
  });
  const rising = [...live].reverse();
  let [total, place, lefts, rights] = [0n, 0, 0n, 0n];
  // From the least ratio of s on, so that the number of positive terms grows.
  for (const s of rising) {
    while (place < rising.length) {
      const t = rising[place];
      if (UNIT * s.left * t.right <= growth * s.right * t.left) break;
      lefts += t.left;
      rights += t.right;
      place++;
    }
    total += UNIT * s.left * rights - growth * s.right * lefts;
  }
  return total;
}
