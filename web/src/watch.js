/**
 * Watching: at which roles the messages of a device arrived (SPEC.md, section 18).
 *
 * A tag is a short hash of the bytes that a role receives. The tags of a device's messages are in
 * the diary until the round is checked. Anyone who reads them there can follow the messages through
 * all roles. Whole lists are fetched, so nobody learns which tags the device looks for.
 */

import { findTags } from "./arrivals.js";
import { digest, utf8 } from "./bytes.js";
import { fetchBytes } from "./client.js";
import { rolesOf, textOf } from "./contract.js";
import { findEntry } from "./diary.js";
import { checkLists, checkRound, readManifest, readReceipt, sentOf } from "./manifest.js";
import { findSigners } from "./note.js";
import { Refusal } from "./refusal.js";

const MOST_NOTES = 50;
/**
 * Refusals that do not accuse the role: it gave no answer, or an earlier role may have signed two
 * manifests and serve only one of them.
 */
const UNPROVED = new Set(["no-answer-from-role", "before-unfit"]);

/** @typedef {{name: string, reason: string}} Fault */
/**
 * @typedef {object} Arrivals
 * @property {{name: string, state: "yes" | "no" | "no answer" | "refused"}[]} roles
 * @property {{after: string | null, before: string}[]} lost The lost messages. For each, `before`
 *   is the first role that does not list it, and `after` the last role that does, or null.
 * @property {Fault[]} faults False statements that roles have signed. The reason is the name of a
 *   refusal; `signed-twice` if a role has signed two different notes; or `message-left-out` if its
 *   list lacks a message that a later role has received.
 * @property {string | null} ended Why the round was destroyed; null if it was not.
 */

/**
 * Find out where the messages of an entry arrived, and store this in the diary. If a later check
 * cannot have another outcome, delete the tags.
 *
 * @param {import("./diary.js").Entry} entry With `watched`, of a round that has closed.
 * @param {{contract: import("./contract.js").Contract, storage: import("./diary.js").Storage,
 *   fetch?: typeof globalThis.fetch}} options
 * @returns {Promise<Arrivals>}
 */
export async function checkArrivals(entry, { contract, storage, fetch = globalThis.fetch }) {
  const roles = [...contract.hops, contract.collector];
  const { known, arrivals, faults } = await readNotes(entry, contract, fetch);
  const ended = known.find((one) => one.destroyed !== null)?.destroyed ?? null;
  const chains = entry.watched ?? [];
  /** @type {(string[] | null)[]} */
  const seen = [];
  /** @type {Arrivals["roles"]} */
  const answers = [];
  for (const [place, { name, address }] of roles.entries()) {
    if (known.slice(0, place + 1).some((one) => one.destroyed !== null)) break;
    const lists = place < contract.hops.length ? known[place]?.arrivals : arrivals;
    const wanted = chains.map((tags) => tags[place]);
    const read = (/** @type {string} */ file) => fetchBytes(`${address}/pieces/${file}`, { fetch });
    const found = await judge(name, faults, async () => {
      // The roles are asked again while one is silent. A list that had all tags is not read again.
      if (lists && entry.arrivals?.roles[place]?.state === "yes") return wanted;
      const several = [];
      for (const files of lists ?? []) several.push(...(await findTags(wanted, files, read)));
      return lists ? several : null;
    });
    seen.push(found);
    const all = found !== null && wanted.every((tag) => found.includes(tag));
    const why = faults.some((fault) => fault.name === name) ? "refused" : "no answer";
    answers.push({ name, state: found === null ? why : all ? "yes" : "no" });
  }
  for (const place of seen.keys()) {
    const isLater = (/** @type {string[]} */ tags) => seen.some((one, k) => k > place && one?.includes(tags[k]));
    const isFalse = chains.some((tags) => seen[place] && !seen[place].includes(tags[place]) && isLater(tags));
    if (isFalse) faults.push({ name: roles[place].name, reason: "message-left-out" });
  }
  const losses = chains.map((tags) => lossOf(tags, seen, roles, entry.state === "taken"));
  const lost = losses.flatMap((one) => one ?? []);
  const report = { roles: answers, lost, faults, ended };
  await storage.update((pages) => {
    const stored = findEntry(pages, entry.name, entry.round);
    if (!stored?.watched) return; // checked by another tab, or erased
    stored.arrivals = report;
    const isFinal = ended !== null || answers.every(({ state }) => state !== "no answer");
    if (isFinal) stored.watched = null;
  });
  return report;
}

/**
 * Call `check` for data of the role `name`. If it refuses them, return null and add a fault of the
 * role, unless the refusal does not accuse the role.
 *
 * @template T
 * @param {string} name
 * @param {Fault[]} faults
 * @param {() => Promise<T>} check
 * @returns {Promise<T | null>}
 */
async function judge(name, faults, check) {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (!UNPROVED.has(error.reason)) faults.push({ name, reason: error.reason });
    return null;
  }
}

/**
 * @param {string[]} tags The tags of one message at all roles.
 * @param {(string[] | null)[]} seen For each role, the tags that its list has; null if unknown.
 * @param {{name: string}[]} roles
 * @param {boolean} confirmed Whether the first hop has confirmed the bundle.
 * @returns {{after: string | null, before: string} | null} The roles between which the message was
 *   lost; null if it was not lost.
 */
function lossOf(tags, seen, roles, confirmed) {
  const listed = seen.map((one, place) => one && one.includes(tags[place]));
  const last = listed.lastIndexOf(true);
  const next = listed.indexOf(false, last + 1);
  if (next < 0 || (last < 0 && !confirmed)) return null; // perhaps never delivered
  return { after: roles[last]?.name ?? null, before: roles[next].name };
}

/**
 * Read the notes of a round that all roles serve. Return the manifests of consecutive hops from hop
 * 1 on, the arrival lists of the collector, and the faults.
 *
 * @param {import("./diary.js").Entry} entry
 * @param {import("./contract.js").Contract} contract
 * @param {typeof globalThis.fetch} fetch
 */
async function readNotes({ contract: fingerprint, round, sheet }, contract, fetch) {
  const signers = rolesOf(contract);
  const { length } = contract.hops;
  /** By role, and by the digest of the text. @type {Map<string, Uint8Array>[]} */
  const kept = signers.map(() => new Map());
  /** @type {Fault[]} */
  const faults = [];
  /** @param {number} place */
  const noteOf = (place) => {
    const { name } = signers[place];
    if (kept[place].size > 1) faults.push({ name, reason: "signed-twice" });
    return kept[place].size === 1 ? [...kept[place]][0] : null;
  };
  for (const { address } of [...contract.hops, contract.collector]) {
    const url = `${address}/contracts/${fingerprint}/rounds/${round}/manifests`;
    const served = await fetchBytes(url, { fetch }).then(
      (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
    ).catch(() => []);
    for (const text of Array.isArray(served) ? served.slice(0, MOST_NOTES) : []) {
      const note = utf8(String(text));
      // Only signed notes are parsed, because a malicious role could serve many long texts.
      const by = await findSigners(note, signers).catch(() => new Map());
      for (const isManifest of by.size ? [true, false] : []) {
        await (async () => {
          const one = isManifest ? readManifest(note) : readReceipt(note);
          if ("sheet" in one ? one.sheet !== sheet || one.hop > length : one.hop <= length) return;
          if (by.has(signers[one.hop - 1].name)) kept[one.hop - 1].set(await digest(textOf(note)), note);
        })().catch(() => {});
      }
    }
  }
  /** @type {import("./manifest.js").Manifest[]} */
  let known = [];
  /** @type {Uint8Array[]} */
  const notes = [];
  let last = "";
  for (const place of contract.hops.keys()) {
    const [hash, note] = noteOf(place) ?? [];
    if (hash === undefined || note === undefined) break;
    const { name } = signers[place];
    const read = await judge(name, faults, () => checkRound(contract, sheet, [...notes, note], []));
    if (read === null) break;
    [known, last] = [read, hash];
    notes.push(note);
  }
  if (notes.length < length) return { known, faults, arrivals: null };
  for (const [hash, note] of kept[length]) if (readReceipt(note).manifest !== last) kept[length].delete(hash);
  const note = noteOf(length)?.[1];
  const arrivals = await judge(signers[length].name, faults, async () => {
    const lists = note ? readReceipt(note).arrivals : null;
    if (lists) checkLists(lists, known[length - 1].destroyed ? [] : known[length - 1].parts.map(sentOf));
    return lists;
  });
  return { known, faults, arrivals };
}
