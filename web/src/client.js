/**
 * Taking part in a round.
 *
 *     const entry = await answer("https://mix1.example/contracts/…", "tea", {
 *       trust: { fingerprint: "…" }, consent: askThePerson, storage: await browserStorage(),
 *     });
 */

import { concat, fromBase64, toBase64 } from "./bytes.js";
import { sealBundle } from "./bundle.js";
import { MOST_BYTES } from "./json.js";
import { checkCode } from "./code.js";
import { chargeRound, findEntry } from "./diary.js";
import { drawCoins, drawMessages } from "./draw.js";
import { encodeValue } from "./encode.js";
import { Sealer } from "./envelope.js";
import { need, Refusal } from "./refusal.js";
import { followKey, readRotations } from "./rotation.js";
import { checkTrust, openRound, verifyContract } from "./trust.js";
import { secureWords } from "./words.js";

/** The maximum size of a note with all its signatures, in bytes. */
const MOST_NOTE = MOST_BYTES + 2 ** 16;
/** Seconds between attempts: the first delay, which doubles with each attempt, and the maximum. */
const [FIRST_DELAY, MOST_DELAY] = [30, 3600];
/**
 * The maximum number of seconds of a request, and of a sleep. A timer may stop while a device is
 * suspended, so a longer sleep could end after the due time.
 */
const [MOST_SECONDS, NAP] = [120, 60];
/** HTTP statuses below 500 after which the same bytes may be sent again. */
const FULL = 429;
const AGAIN = new Set([408, FULL]);
/** The number of seconds after the expiry of a round for which roles serve its arrival lists. */
const LISTS_KEPT = 30 * 86400;

/** @typedef {import("./diary.js").Entry} Entry */
/** @typedef {import("./trust.js").TrustedContract} TrustedContract */
/**
 * @typedef {object} Options
 * @property {import("./trust.js").Trust} trust
 * @property {import("./diary.js").Storage} storage
 * @property {(trusted: TrustedContract, sheet: import("./sheet.js").Sheet) => boolean |
 *   Promise<boolean>} consent Asks the person; nothing is charged unless it returns true.
 * @property {number} [round] The number of the round; by default that of the open round.
 * @property {boolean} [atOnce] Whether to send now, and not at a random time of the window.
 * @property {string} [code] The one-time code, if the contract asks for one.
 * @property {boolean} [again] Whether to allow a question that was already answered under another
 *   contract's name.
 * @property {boolean} [watch] Whether to store tags of the messages, with which `checkArrivals`
 *   finds out where they arrived. Anyone who has the tags can follow the messages.
 * @property {import("./words.js").Words} [words] A source of random words, for tests.
 * @property {() => number} [clock] Seconds since 1970.
 * @property {typeof globalThis.fetch} [fetch]
 */

const systemClock = () => Date.now() / 1000;

/**
 * Answer the open round of a contract: verify, ask for consent, charge, draw, seal and store. The
 * result is an entry in the diary. `deliver` sends the bundle later, at a random time of the
 * window.
 *
 * @param {string} url ADDRESS/contracts/FINGERPRINT, at any role.
 * @param {unknown} value null for no answer.
 * @param {Options} options
 * @returns {Promise<Entry>}
 * @throws {Refusal}
 */
export async function answer(url, value, options) {
  const trusted = await fetchContract(url, options);
  return answerRound(trusted, await fetchOpenRound(url, trusted, options), value, options);
}

/**
 * Answer a round whose contract and sheet were verified; nothing is fetched. If a bundle of this
 * round is pending already, its entry is returned unchanged, and consent is not asked.
 *
 * @param {TrustedContract} trusted
 * @param {import("./sheet.js").Sheet} sheet
 * @param {unknown} value null for no answer.
 * @param {Options} options
 * @returns {Promise<Entry>}
 * @throws {Refusal}
 */
export async function answerRound(trusted, sheet, value, options) {
  const { trust, storage, consent, clock = systemClock } = options;
  const { contract } = trusted;
  checkTrust(trust);
  const pending = await storage.update((pages) => findEntry(pages, contract.name, sheet.round));
  if (pending?.state === "pending" && pending.sheet === sheet.hash) return pending;
  const code = await checkCode(contract.admission, options.code);
  // The value is checked before anything is charged, so that an invalid value costs nothing.
  const { words = secureWords() } = options;
  await encodeValue(contract.plan, value, sheet, secureWords());
  const sealer = await Sealer.of(contract.suite, sheet);
  need(await consent(trusted, sheet), "no-consent");
  const rules = { budget: trust.budget, again: options.again };
  const entry = await storage.update((pages) => {
    return chargeRound(pages, trusted, sheet, Math.floor(clock()), rules);
  });
  const fakes = drawCoins(contract.plan.parts, words);
  const answers = await encodeValue(contract.plan, value, sheet, words);
  const messages = drawMessages(contract.plan.parts, answers, fakes, words);
  /** @type {string[][] | undefined} */
  const watched = options.watch ? [] : undefined;
  const bundle = toBase64(await sealBundle(contract, messages, sealer, watched));
  const seconds = Math.max(1, Math.floor(sheet.closes - clock()));
  const delay = options.atOnce ? 0 : Number(words.uniform(BigInt(seconds)));
  return change(storage, entry, (stored) => {
    Object.assign(stored, { state: "pending", due: Math.floor(clock()) + delay, bundle, code });
    if (watched) Object.assign(stored, { watched, watched_until: sheet.expires + LISTS_KEPT });
  });
}

/**
 * Fetch and verify a contract. First, pinned keys are replaced by their successors in the diary. If
 * a key in the contract still differs, the rotations that the role serves are followed.
 *
 * @param {string} url
 * @param {Options} options
 * @returns {Promise<TrustedContract>}
 * @throws {Refusal}
 */
async function fetchContract(url, options) {
  const { trust, storage } = options;
  const note = await fetchBytes(url, options);
  const known = new Map(await storage.update((pages) => pages.rotations ?? []));
  const keys = trust.keys?.map((key) => followKey(known, key).at(-1) ?? key);
  const moved = { ...trust, ...(keys && { keys }) };
  try {
    return await verifyContract(note, moved);
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== "not-the-pinned-key") throw error;
    const served = await fetchBytes(`${url}/rotations`, options).catch(() => null);
    if (served === null) throw error;
    return verifyContract(note, moved, await readRotations(served));
  }
}

/**
 * Send a pending bundle if it is due.
 *
 * @param {Entry} entry
 * @param {Pick<Options, "storage" | "clock" | "fetch">} options
 * @returns {Promise<Entry>} The entry as it is stored afterwards.
 */
export async function deliver(entry, options) {
  const { storage, clock = systemClock, fetch = globalThis.fetch } = options;
  const now = Math.floor(clock());
  let isDue = false;
  const begun = await change(storage, entry, (stored) => {
    if (stored.state !== "pending") return;
    if (now >= stored.closes) return end(stored, "over");
    isDue = now >= stored.due;
    if (!isDue) return;
    // Recorded before sending, so that a page that is closed does not forget that it may have sent.
    stored.due = now + retryDelay(stored, now);
    stored.tries++;
  });
  if (!isDue) return begun;
  const { status, after } = await post(begun, fetch, now);
  return change(storage, begun, (stored) => {
    if (stored.state !== "pending") return;
    if (status !== null) stored.status = status;
    if (status !== null && status >= 200 && status < 300) return end(stored, "taken");
    const again = status === null || AGAIN.has(status) || status >= 500;
    if (!again && status >= 400) return end(stored, "refused");
    if (after) stored.due = Math.max(now + 1, now + after);
    // A hop that accepts no more bundles answers 429 and asks to wait until the round is over.
    if (stored.due >= stored.closes) end(stored, status === FULL ? "refused" : "over");
  });
}

/**
 * Wait and send until the bundle is answered or the round has closed.
 *
 * @param {Entry} entry
 * @param {Pick<Options, "storage" | "clock" | "fetch"> & {sleep?: (seconds: number) =>
 *   Promise<unknown>}} options
 * @returns {Promise<Entry>}
 */
export async function deliverUntilAnswered(entry, options) {
  const { clock = systemClock, sleep = wait } = options;
  for (;;) {
    entry = await deliver(entry, options);
    if (entry.state !== "pending") return entry;
    await sleep(Math.min(NAP, Math.max(0.5, entry.due - clock())));
  }
}

/** @param {number} seconds */
function wait(seconds) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}

/**
 * @param {Entry} stored
 * @param {Entry["state"]} state
 */
function end(stored, state) {
  Object.assign(stored, { state, bundle: null });
  delete stored.code;
}

/**
 * @param {Entry} entry
 * @param {number} now
 * @returns {number} Seconds until the next attempt. They double with each attempt, up to half of
 *   the time until the round closes.
 */
function retryDelay(entry, now) {
  const usual = Math.min(FIRST_DELAY * 2 ** Math.min(entry.tries, 10), MOST_DELAY);
  return Math.max(1, Math.min(usual, Math.floor((entry.closes - now) / 2)));
}

/**
 * @param {import("./diary.js").Storage} storage
 * @param {Entry} entry
 * @param {(stored: Entry) => void} edit
 * @returns {Promise<Entry>} A copy of the entry after the change.
 */
function change(storage, entry, edit) {
  return storage.update((pages) => {
    const stored = findEntry(pages, entry.name, entry.round);
    if (stored === null) throw new Refusal("diary-unavailable", "the entry was erased");
    edit(stored);
    return structuredClone(stored);
  });
}

/**
 * Send a bundle once, without cookies, without a referrer, and without headers by which devices
 * differ, except a one-time code.
 *
 * @param {Entry} entry
 * @param {typeof globalThis.fetch} fetch
 * @param {number} now
 * @returns {Promise<{status: number | null, after: number | null}>} The status, and the seconds
 *   after which to send again.
 */
async function post(entry, fetch, now) {
  const body = new Blob([/** @type {BufferSource} */ (fromBase64(entry.bundle ?? ""))]);
  const url = `${entry.address}/contracts/${entry.contract}/rounds/${entry.round}/bundles`;
  const headers = entry.code === undefined ? undefined : { authorization: `Code ${entry.code}` };
  try {
    const found = await fetch(url, { method: "POST", body, headers, ...QUIETLY, signal: timeout() });
    const text = found.headers.get("retry-after") ?? "";
    const date = Math.floor(Date.parse(text) / 1000);
    const after = /^[0-9]{1,12}$/.test(text) ? Number(text) : date ? date - now : null;
    return { status: found.status, after };
  } catch {
    return { status: null, after: null };
  }
}

/** @type {RequestInit} */
const QUIETLY = {
  credentials: "omit",
  referrerPolicy: "no-referrer",
  redirect: "error",
  cache: "no-store",
};

function timeout() {
  return AbortSignal.timeout(1000 * MOST_SECONDS);
}

/**
 * @param {string} url
 * @param {Pick<Options, "fetch">} options
 * @returns {Promise<Uint8Array>} The bytes that a role serves. Only signatures in them can be
 *   trusted.
 */
export async function fetchBytes(url, { fetch = globalThis.fetch }) {
  /** @param {any} error In Node, its cause has the details. @returns {never} */
  const lost = (error) => {
    throw new Refusal("no-answer-from-role", `${url}: ${error?.cause?.code ?? error?.name}`);
  };
  const { status, body } = await fetch(url, { ...QUIETLY, signal: timeout() }).catch(lost);
  need(status === 200 && body, "no-answer-from-role", `${url}: status ${status}`);
  /** @type {Uint8Array[]} */
  const pieces = [];
  let size = 0;
  const reader = body.getReader(); // Safari has no `for await` of a body
  for (;;) {
    const { done, value } = await reader.read().catch(lost);
    if (done) return concat(...pieces);
    size += value.length;
    if (size > MOST_NOTE) await reader.cancel().catch(() => {}); // do not download the rest
    need(size <= MOST_NOTE, "too-long", url);
    pieces.push(value);
  }
}

/**
 * Fetch and verify the sheet of the round that is open, or of the round in the options.
 *
 * @param {string} url
 * @param {TrustedContract} trusted
 * @param {Pick<Options, "round" | "clock" | "fetch">} options
 * @returns {Promise<import("./sheet.js").Sheet>}
 * @throws {Refusal} Also `round-not-open`.
 */
export async function fetchOpenRound(url, trusted, options) {
  const { clock = systemClock } = options;
  const now = clock();
  // If the role says that the round is over, it would refuse the bundle: this device's clock is
  // slow.
  /** @param {ListedRound} listed */
  const isOpen = (listed) => isInside(listed, now) && (listed.state ?? "open") === "open";
  const round =
    options.round ?? (await fetchRounds(url, trusted.contract, options)).find(isOpen)?.round;
  need(round !== undefined, "round-not-open", "no round of this contract is open");
  return openRound(trusted, await fetchBytes(`${url}/rounds/${round}`, options), clock());
}

/**
 * @typedef {{round: number, opens: number, closes: number, state: unknown}} ListedRound
 */

/**
 * @param {{opens: number, closes: number}} window
 * @param {number} now Seconds since 1970.
 */
export const isInside = ({ opens, closes }, now) => opens <= now && now < closes;

/**
 * Fetch the list of a contract's rounds from a role. The list is not signed.
 *
 * @param {string} url
 * @param {import("./contract.js").Contract} contract
 * @param {Pick<Options, "fetch">} options
 * @returns {Promise<ListedRound[]>}
 */
export async function fetchRounds(url, { fingerprint }, options) {
  const address = url.slice(0, url.lastIndexOf("/contracts/"));
  const served = new TextDecoder().decode(await fetchBytes(`${address}/status`, options));
  let status;
  try {
    status = JSON.parse(served);
  } catch {
    throw new Refusal("no-answer-from-role", `${address}/status is no JSON`);
  }
  /** @type {any[]} */
  const rounds = Array.isArray(status?.rounds) ? status.rounds : [];
  return rounds.filter((one) => {
    return one?.contract === fingerprint && [one.round, one.opens, one.closes].every(Number.isInteger);
  });
}
