/** Plans: what is asked, how answers are hidden, and the proved guarantee (SPEC.md, section 2). */

import { checkVersion, flag, integer, list, number, oneOf, optional, record, string } from "./fields.js";
import { readPart } from "./part.js";
import { readQuestion } from "./question.js";
import { need } from "./refusal.js";

const VERSION = 6;
const observer = oneOf("unknown-observer", /** @type {const} */ (["messages"]));
const planFields = record({
  version: integer("unknown-version", VERSION, VERSION),
  question: readQuestion,
  edges: optional(list(number("no-scale"))),
  grid: optional(
    record({
      low: number("grid-ends"),
      high: number("grid-ends"),
      points: integer("grid-points", 2, 10 ** 6),
    }),
  ),
  prefixes: optional(
    record({
      alphabet: string(),
      most: integer("prefixes-out-of-range", 1, 10 ** 6),
      longest: integer("prefixes-out-of-range", 1, 1000),
      symbols: integer("prefixes-out-of-range", 1, 10),
    }),
  ),
  guarantee: record({
    epsilon: number("epsilon-out-of-range", 0.01, 20),
    delta: number("delta-out-of-range", 1e-15, 0.1),
    observer,
  }),
  users: integer("users-out-of-range", 2, 10 ** 10),
  minimum_crowd: integer("minimum-crowd-out-of-range", 1, 10 ** 10),
  honest_share: number("honest-share-out-of-range", 1e-12, 1),
  count_flips: flag,
  collections: integer("collections-out-of-range", 1, 1000),
  hops: integer("hops-out-of-range", 1, 5),
  cover: oneOf("unknown-cover", /** @type {const} */ (["every mix", "people"])),
  parts: list(readPart),
  certificate: record({
    epsilon: number("other-epsilon"),
    lower: number("bounds-out-of-range", 0, 1),
    upper: number("bounds-out-of-range", 0, 1),
    observer,
    status: oneOf("not-proved", /** @type {const} */ (["proved"])),
    source: string(),
    assumption: string(),
  }),
  local_epsilon: optional(number("local-epsilon-out-of-range", 0)),
});

/** @typedef {ReturnType<typeof planFields>} Plan */

/** @type {import("./fields.js").Read<Plan>} */
export function readPlan(value) {
  checkVersion(value, VERSION);
  const plan = planFields(value);
  checkScale(plan);
  need(plan.minimum_crowd <= plan.users, "minimum-crowd-above-users");
  const { certificate, guarantee } = plan;
  need(certificate.lower <= certificate.upper, "bounds-out-of-range");
  need(certificate.epsilon === guarantee.epsilon, "other-epsilon");
  need(certificate.upper <= guarantee.delta, "proved-above-promise");
  checkParts(plan);
  checkCover(plan);
  return plan;
}

/** @param {Plan} plan */
function checkScale({ question, edges, grid, prefixes }) {
  const { bins, hashed, kind } = question;
  const ways = [edges, grid, prefixes, hashed].filter((way) => way !== null).length;
  need(ways <= 1 && (!ways || kind === "one" || hashed !== null), "several-encoders");
  if (edges !== null) {
    const rising = edges.every((edge, i) => i === 0 || edges[i - 1] < edge);
    need(rising && BigInt(edges.length) === bins + 1n, "no-scale");
  }
  if (grid !== null) {
    need(grid.low < grid.high && Number.isFinite(grid.high - grid.low), "grid-ends");
    need(BigInt(grid.points) === bins, "grid-points");
  }
  if (prefixes !== null) {
    const letters = [...prefixes.alphabet];
    const fit = letters.length >= 2 && letters.length <= 200;
    need(fit && new Set(letters).size === letters.length, "alphabet-unfit");
    const level = BigInt(letters.length + 2) ** BigInt(prefixes.symbols);
    need(bins === BigInt(prefixes.most) * level + 1n, "prefixes-bins");
  }
}

/**
 * Check that the parts are one of the ways in which a question can be sent.
 *
 * @param {Plan} plan
 */
function checkParts({ question, parts }) {
  const { bins, kind, attributes, hashed, max_set: most } = question;
  if (hashed !== null) {
    const points = parts[0]?.planes?.points ?? null;
    const texts = points !== null && points >= 2n ** 63n ? 2n ** 62n : points;
    need(texts === bins, "hashed-without-planes");
  }
  const shown = parts.map((part) => `${part.bins},${part.most_set}`).join(" ");
  const isSet = kind === "set" && attributes === null && most > 1;
  if (parts[0]?.slots != null) {
    const one = kind === "bits" ? `${2n * bins},${bins}` : `${bins},${most}`;
    const full = parts[0].layout.bins === parts[0].bins;
    need(shown === one && full !== isSet, "parts-unfit");
    return;
  }
  // In a part in clear, or with uniform fakes, each record must have exactly one bin.
  const oneBin = parts.some((part) => part.threshold === null || part.own?.record === "uniform");
  const inClear = parts.filter((part) => part.threshold === null).length;
  /** @type {[string, boolean][]} */
  const ways = [
    [`${bins},${kind === "bits" ? null : most}`, kind === "one" || (isSet && inClear === 1)],
  ];
  if (kind === "bits") {
    const each = Number(bins);
    ways.push([new Array(each).fill("1,null").join(" "), false]);
    ways.push([new Array(each).fill("2,1").join(" "), true]);
  }
  if (attributes !== null) ways.push([attributes.map((size) => `${size},1`).join(" "), true]);
  need(ways.some(([way, exact]) => way === shown && (exact || !oneBin)), "parts-unfit");
}

/** @param {Plan} plan */
function checkCover(plan) {
  const byMixes = plan.cover === "every mix";
  need(plan.parts.every((part) => (part.recipe.type !== "none") === byMixes), "cover-unfit");
  if (byMixes) {
    need(!plan.count_flips, "flips-beside-mixes");
    return;
  }
  need(countHonest(plan) >= 2n, "too-few-honest");
  const free = plan.parts.some((part) => part.most_set === null && part.bins > 1n);
  need(plan.count_flips || !free, "free-bits-uncounted");
  need(plan.count_flips || plan.parts.every((part) => part.replaced === null), "replaced-uncounted");
  const uniform = plan.parts.some((part) => part.threshold !== null && part.own?.record === "uniform");
  need(!uniform || (plan.parts.length === 1 && plan.collections === 1), "flip-uniform-repeated");
}

/**
 * @param {Plan} plan
 * @returns {bigint} The number of honest people on which the guarantee relies: floor(h m). Here m
 *   is the minimum crowd, and h the shortest decimal of the honest share.
 */
export function countHonest({ honest_share: share, minimum_crowd: crowd }) {
  const [digits, exponent = "0"] = String(share).split("e");
  const [whole, fraction = ""] = digits.split(".");
  const places = fraction.length - Number(exponent);
  return (BigInt(whole + fraction) * BigInt(crowd)) / 10n ** BigInt(places);
}
