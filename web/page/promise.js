/** What a contract promises and sends, as texts with numbers that never promise too much. */

import { bundleShapes } from "../src/bundle.js";

/** @typedef {[import("./view.js").Key, import("./view.js").Values]} Sentence */
/** @typedef {import("../src/contract.js").Contract} Contract */

/**
 * @param {number} value A positive double, read as its shortest decimal spelling.
 * @returns {[bigint, number]} An integer m and a power p with value = m 10^p.
 */
function decimal(value) {
  const [mantissa, power] = value.toExponential().split("e");
  const digits = mantissa.replace(".", "");
  return [BigInt(digits), Number(power) - digits.length + 1];
}

/**
 * @param {number} value A privacy number, at least 0.
 * @param {number} [digits]
 * @returns {number} The number with at most this number of digits, rounded up.
 */
export function roundUp(value, digits = 3) {
  return sumUp([value], digits);
}

/**
 * @param {readonly number[]} values Privacy numbers, at least 0.
 * @param {number} [digits]
 * @returns {number} The sum of the decimal spellings with this number of digits, rounded up.
 */
export function sumUp(values, digits = 6) {
  const all = values.map(decimal);
  const power = Math.min(0, ...all.map(([, one]) => one));
  const sum = all.reduce((total, [whole, one]) => total + whole * 10n ** BigInt(one - power), 0n);
  const unit = 10n ** BigInt(Math.max(0, String(sum).length - digits));
  return Number(`${((sum + unit - 1n) / unit) * unit}e${power}`);
}

/**
 * @param {number} probability A probability above 0.
 * @returns {number} The largest n with three digits such that it is at most 1 / n.
 */
export function oneIn(probability) {
  const [whole, power] = decimal(probability);
  const exact = power >= 0 ? 1n : 10n ** BigInt(-power) / whole;
  const unit = 10n ** BigInt(Math.max(0, String(exact).length - 3));
  return Number((exact / unit) * unit);
}

/**
 * @param {Contract} contract
 * @returns {Sentence[]} The guarantee, and the conditions under which it holds.
 */
export function promiseSentences({ plan }) {
  const { epsilon, delta } = plan.guarantee;
  const times = roundUp(Math.exp(epsilon) * (1 + 2 ** -50)); // more than the error of exp
  const numbers = { epsilon: roundUp(epsilon, 6), delta: roundUp(delta, 6) };
  /** @type {Sentence[]} */
  const found = [
    ["promise-factor", { times, one: oneIn(delta) }],
    ["promise-numbers", numbers],
    plan.collections === 1
      ? ["promise-one-round", {}]
      : ["promise-rounds", { rounds: plan.collections }],
    trustSentence(plan),
  ];
  const { local_epsilon: local } = plan;
  found.push(local === null ? ["promise-collusion", {}] : ["promise-local", { local: roundUp(local) }]);
  found.push(["promise-participation", {}]);
  const crowd = plan.minimum_crowd;
  found.push(crowd > 1 ? ["minimum-crowd", { crowd }] : ["no-minimum-crowd", {}]);
  return found;
}

/** @param {import("../src/plan.js").Plan} plan @returns {Sentence} */
function trustSentence({ cover, count_flips: flips, parts, hops, minimum_crowd: crowd }) {
  if (cover === "every mix") return ["trust-any-mix", { hops }];
  if (!flips && parts.every((part) => part.own === null)) return ["trust-nobody", {}];
  return ["trust-first-mix", { crowd }];
}

/**
 * @param {Contract} contract
 * @param {number} closes Seconds since 1970.
 * @returns {Sentence[]} What leaves the device, and when.
 */
export function sendingSentences(contract, closes) {
  const bytes = bundleShapes(contract).reduce((sum, { slots, size }) => sum + slots * size, 0);
  const [first] = contract.hops;
  return [
    ["sent-bytes", { bytes, layers: contract.hops.length + 1 }],
    ["sent-where", { name: first.name, address: first.address }],
    ["sent-when", { closes: new Date(1000 * closes) }],
  ];
}
