/**
 * The limits of a device, which it checks even if all operators have signed (SPEC.md, section 8).
 */

import { protocolOf } from "./part.js";
import { isPaired, isShaped, shapeTable } from "./recipe.js";
import { toRatio } from "./ratio.js";
import { need } from "./refusal.js";

const UNIT = 2n ** 128n;

/**
 * @typedef {object} Limits
 * @property {number} epsilon The maximum epsilon of a guarantee.
 * @property {number} delta The maximum delta of a guarantee.
 * @property {number | null} local_epsilon The maximum epsilon that may remain if all hops collude
 *   with the collector. null also accepts plans that have no guarantee in this case.
 * @property {number} hops The minimum number of hops.
 * @property {readonly string[]} protocols The accepted protocols.
 * @property {readonly string[]} covers Who may provide the fakes or flips that protect a person.
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
 * Throw a Refusal if a plan exceeds the limits, or if its stated delta is below that of its fakes.
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
 * Compute the delta of a table of fakes, with integers only. The result differs from the exact
 * delta by less than 2^-100.
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
 * Return the sum over s and t of max(0, UNIT F(s-1) F(t) - growth F(s) F(t-1)).
 *
 * A term is positive if F(s-1) / F(s) exceeds growth / UNIT times F(t-1) / F(t). The values of s
 * and t are sorted by this ratio. So for each s, the values of t with a positive term are the first
 * ones of the list, whose sums are known.
 *
 * @param {bigint[]} ends F with a 0 at both ends.
 * @param {bigint} growth e^epsilon times UNIT.
 */
function sumOfPairs(ends, growth) {
  const steps = ends.slice(1).map((right, i) => ({ left: ends[i], right }));
  const live = steps.filter(({ left, right }) => left || right);
  // In descending order of the ratio left / right, which is infinite if `right` is 0.
  live.sort((a, b) => {
    const [one, other] = [a.left * b.right, b.left * a.right];
    return one === other ? 0 : one > other ? -1 : 1;
  });
  const rising = [...live].reverse();
  let [total, place, lefts, rights] = [0n, 0, 0n, 0n];
  // In ascending order of the ratio of s, so that the number of positive terms only grows.
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
