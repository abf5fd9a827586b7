/**
 * The diary of a device: privacy charges, and bundles that still have to be sent.
 *
 * A round is charged before anything is drawn, and a bundle is stored before its first byte is
 * sent. From then on, the device sends these bytes in this round or nothing. When the first hop has
 * answered or the round has closed, the bytes and the one-time code are deleted. An answer in clear
 * is never stored.
 */

import { toNumerators } from "./ratio.js";
import { need } from "./refusal.js";
import { checkOpen } from "./trust.js";

/**
 * The privacy cost of a contract, for all its rounds together.
 *
 * @typedef {object} Charge
 * @property {string} name Name of the contract.
 * @property {string} plan SHA-256 of its plan.
 * @property {string} question SHA-256 of its question.
 * @property {number} epsilon
 * @property {number} delta
 * @property {number} made Seconds since 1970.
 */
/**
 * The bundle of a round, and its state. Times are in seconds since 1970.
 *
 * @typedef {object} Entry
 * @property {string} name Name of the contract.
 * @property {number} round
 * @property {string} contract Fingerprint of the contract.
 * @property {number} serial
 * @property {string} sheet SHA-256 of the sheet.
 * @property {string} address Address of the first hop.
 * @property {number} closes
 * @property {"drawing" | "pending" | "taken" | "refused" | "over"} state
 * @property {number} made
 * @property {number} due When the bundle is sent next.
 * @property {number} tries The number of attempts to send the bundle.
 * @property {number | null} status HTTP status of the last answer.
 * @property {string | null} bundle Base64; null before it is sealed and after it was answered.
 * @property {string[][] | null} [watched] For each message, its tags at all roles, if the device
 *   watches (`watch.js`). They are deleted when the round was checked.
 * @property {number} [watched_until] When roles stop serving their lists, so that tags are deleted.
 * @property {import("./watch.js").Arrivals} [arrivals] The result of the last check.
 * @property {string} [code] The one-time code that is sent with the bundle.
 */
/**
 * The content of a diary.
 *
 * @typedef {object} Pages
 * @property {Charge[]} charges
 * @property {Entry[]} entries
 * @property {[string, string][]} [rotations] The key replacements that were followed, each an old
 *   and a new verifier key.
 */

/**
 * A place where a diary is stored. `update` calls `change` with the pages, stores the changed
 * pages, and returns the result of `change` when the pages are durable. Changes of several tabs and
 * processes run one at a time. If the change throws, nothing is stored.
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

/** @returns {Storage} A diary in memory, for tests only: it is lost when the program ends. */
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
 * Delete the tags of rounds that were never checked and whose lists are no longer served.
 *
 * @param {Pages} pages
 * @param {number} now
 */
export function forgetOldTags({ entries }, now) {
  for (const one of entries) if (one.watched && now > (one.watched_until ?? 0)) one.watched = null;
}

/**
 * Store the rotations that were followed. Refuse a second rotation of a key, because a thief of the
 * key can sign one.
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
 * @throws {Refusal} If a rule of the diary does not allow the answer. Then nothing is charged.
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
 * @returns {boolean} Whether the charge must be added. Contracts with the same name and plan are
 *   charged only once.
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
