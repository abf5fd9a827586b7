/**
 * The diary of a device: what it spent, and bundles that still have to be sent.
 *
 * A round is charged before anything is drawn, and a bundle is stored before its first byte leaves.
 * From then on the same bytes are sent again, or nothing. When the bundle is answered or the round
 * has closed, its bytes and its code are deleted. An answer in clear is never stored.
 */

import { toNumerators } from "./ratio.js";
import { need } from "./refusal.js";
import { checkOpen } from "./trust.js";

/**
 * @typedef {object} Charge
 * @property {string} name Name of the contract.
 * @property {string} plan SHA-256 of its plan.
 * @property {string} question
 * @property {number} epsilon
 * @property {number} delta
 * @property {number} made Seconds since 1970.
 */
/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {number} round
 * @property {string} contract Fingerprint.
 * @property {number} serial
 * @property {string} sheet SHA-256 of the sheet.
 * @property {string} address Address of the first hop.
 * @property {number} closes
 * @property {"drawing" | "pending" | "taken" | "refused" | "over"} state
 * @property {number} made
 * @property {number} due When the bundle is sent next.
 * @property {number} tries
 * @property {number | null} status HTTP status of the last answer.
 * @property {string | null} bundle Base64; null before it is sealed and after it was answered.
 * @property {string[][] | null} [watched] Tags of the messages at every role, until the round is
 *   checked. Only devices that watch have them.
 * @property {number} [watched_until] When roles stop serving their lists, and tags are erased.
 * @property {import("./watch.js").Arrivals} [arrivals] What the last check found.
 * @property {string} [code] The one-time code that is sent with the bundle.
 */
/**
 * @typedef {object} Pages
 * @property {Charge[]} charges
 * @property {Entry[]} entries
 * @property {[string, string][]} [rotations] Old and new verifier keys that were followed.
 */

/**
 * Where a diary is kept. `update` runs one change at a time, also among tabs and processes, and
 * returns when the new pages are durable. If the change throws, nothing is stored.
 *
 * @typedef {object} Storage
 * @property {<T>(change: (pages: Pages) => T) => Promise<T>} update
 */

/**
 * @param {unknown} stored
 * @returns {Pages}
 */
export function pagesOf(stored) {
  return /** @type {Pages | undefined | null} */ (stored) ?? { charges: [], entries: [] };
}

/** @returns {Storage} A diary in memory: for tests, and for nothing else. */
export function memoryStorage() {
  let pages = pagesOf(null);
  return {
    update: async (change) => {
      const next = structuredClone(pages);
      const result = change(next);
      pages = next;
      return result;
    },
  };
}

/**
 * @param {Pages} pages
 * @param {string} name
 * @param {number} round
 */
export function findEntry(pages, name, round) {
  return pages.entries.find((one) => one.name === name && one.round === round) ?? null;
}

/**
 * Erase tags that nobody has checked, of rounds whose lists are no longer served.
 *
 * @param {Pages} pages
 * @param {number} now
 */
export function forgetOldTags({ entries }, now) {
  for (const one of entries) if (one.watched && now > (one.watched_until ?? 0)) one.watched = null;
}

/**
 * Keep followed rotations. The first one of a key counts, as a thief of the key can sign another.
 *
 * @param {Pages} pages
 * @param {[string, string][]} followed
 * @throws {Refusal} `rotated-twice`
 */
function keepRotations(pages, followed) {
  const known = new Map(pages.rotations);
  for (const [old, next] of followed) {
    need((known.get(old) ?? next) === next, "rotated-twice", old);
    known.set(old, next);
  }
  if (known.size) pages.rotations = [...known];
}

/**
 * Charge a round, before anything is drawn.
 *
 * @param {Pages} pages
 * @param {import("./trust.js").TrustedContract} trusted
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} now
 * @param {{budget?: {epsilon: number, delta: number}, again?: boolean}} options
 * @returns {Entry}
 * @throws {Refusal} If a rule forbids to answer; then nothing is charged.
 */
export function chargeRound(pages, trusted, sheet, now, { budget, again = false }) {
  const { contract } = trusted;
  forgetOldTags(pages, now);
  checkOpen(sheet, now); // the round may have closed while the person read
  const before = findEntry(pages, contract.name, sheet.round);
  const isOfOther = before?.state !== "pending" && before?.contract !== contract.fingerprint;
  const isSame = before === null || before.sheet === sheet.hash || isOfOther;
  need(isSame, "another-sheet", "somebody signed two");
  need(before === null, "round-answered", "wait for the next round");
  checkOrder(pages, contract, sheet);
  const { epsilon, delta } = contract.plan.guarantee;
  const { plan, question } = trusted;
  const charge = { name: contract.name, plan, question, epsilon, delta, made: now };
  if (checkCost(pages.charges, charge, budget, again)) pages.charges.push(charge);
  keepRotations(pages, trusted.rotations);
  /** @type {Entry} */
  const entry = {
    name: contract.name,
    round: sheet.round,
    contract: contract.fingerprint,
    serial: contract.serial,
    sheet: sheet.hash,
    address: contract.hops[0].address,
    closes: sheet.closes,
    state: "drawing",
    made: now,
    due: now,
    tries: 0,
    status: null,
    bundle: null,
  };
  pages.entries.push(entry);
  return entry;
}

/**
 * @param {Pages} pages
 * @param {import("./contract.js").Contract} contract
 * @param {import("./sheet.js").Sheet} sheet
 */
function checkOrder({ entries }, contract, sheet) {
  for (const one of entries.filter(({ name }) => name === contract.name)) {
    need(one.serial <= contract.serial, "serial-ended", `serial ${one.serial} came after it`);
    const same = one.serial !== contract.serial || one.contract === contract.fingerprint;
    need(same, "serial-twice", "somebody signed two contracts of this serial");
    need(one.round < sheet.round, "round-out-of-order", `round ${one.round} was answered`);
  }
}

/**
 * @param {Charge[]} charges
 * @param {Charge} added
 * @param {{epsilon: number, delta: number} | undefined} budget
 * @param {boolean} again
 * @returns {boolean} Whether the plan must be charged: once for each plan under a name.
 */
function checkCost(charges, added, budget, again) {
  if (charges.some(({ name, plan }) => name === added.name && plan === added.plan)) return false;
  const other = charges.find(
    ({ name, question }) => question === added.question && name !== added.name,
  );
  need(again || other === undefined, "question-under-another-name", other?.name);
  if (budget !== undefined) {
    for (const field of /** @type {const} */ (["epsilon", "delta"])) {
      const costs = [...charges, added].map((one) => one[field]);
      need(!isSumAbove(costs, budget[field]), "budget-passed", field);
    }
  }
  return true;
}

/**
 * @param {readonly number[]} costs
 * @param {number} most
 * @returns {boolean} Whether the exact sum of doubles exceeds `most`.
 */
export function isSumAbove(costs, most) {
  const whole = toNumerators([...costs, most]);
  const allowed = /** @type {bigint} */ (whole.pop());
  return whole.reduce((sum, one) => sum + one, 0n) > allowed;
}
