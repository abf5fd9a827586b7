/**
 * Manifests and receipts: the signed statements of hops and the collector about a round, and their
 * verification (SPEC.md, section 17).
 */

import { digest } from "./bytes.js";
import { ROLE_NAME, rolesOf, textOf } from "./contract.js";
import { integer, list, optional, record, string } from "./fields.js";
import { readNoteFields, requireSigners } from "./note.js";
import { slotsOf } from "./part.js";
import { mostFakes } from "./recipe.js";
import { need } from "./refusal.js";
import { readDigest } from "./sheet.js";

/** The maximum length of a piece (a file of messages), in bytes. */
const MOST_PIECE = 2 ** 24;
const MOST_PIECES = 2 ** 16;
const MOST_OVERRULED = 5;
const count = integer("messages-out-of-range", 0, 2 ** 40);
/** The maximum number of tags in one file of an arrival list. */
const MOST_LISTED = 2 ** 21;
const lists = list(
  list(record({ sha256: readDigest, tags: integer("messages-out-of-range", 1, MOST_LISTED) })),
);
const manifestFields = {
  sheet: readDigest,
  hop: integer("hop-out-of-range", 1, 5),
  bundles: count,
  left_out: count,
  destroyed: optional(string("unknown-end", /^(too-few|expired|lost|ended: [ -~]{1,200})$/)),
  before: optional(readDigest),
  parts: list(
    record({
      received: count,
      copies: count,
      unopened: count,
      malformed: count,
      added: count,
      pieces: list(
        record({ sha256: readDigest, messages: integer("messages-out-of-range", 1, 2 ** 24) }),
      ),
    }),
  ),
  overruled: list(string("role-name-malformed", ROLE_NAME)),
  arrivals: lists,
};
const receiptFields = {
  manifest: readDigest,
  hop: integer("hop-out-of-range", 2, 6),
  arrivals: optional(lists),
};

/** @typedef {ReturnType<typeof readManifest>} Manifest */
/** @typedef {{sha256: string, tags: number}} ListFile */

/**
 * Read a manifest. `checkRound` verifies its signature.
 *
 * @param {Uint8Array} note
 * @throws {Refusal}
 */
export function readManifest(note) {
  const manifest = readNoteFields(note, "manifest", manifestFields);
  const { hop, before, destroyed, parts, overruled } = manifest;
  const different = new Set(overruled).size === overruled.length;
  need(different && overruled.length <= MOST_OVERRULED, "overruled-unfit");
  const mayLackBefore = destroyed !== null && destroyed !== "too-few";
  need(hop === 1 ? before === null : before !== null || mayLackBefore, "before-unfit");
  for (const part of parts) {
    need(part.pieces.length <= MOST_PIECES, "too-many-pieces");
    if (destroyed !== null) {
      need(!part.pieces.length && !part.added, "destroyed-with-pieces");
      continue;
    }
    const held = part.pieces.reduce((sum, piece) => sum + piece.messages, 0);
    need(sentOf(part) === held && held >= part.added, "false-sum");
  }
  const names = parts.flatMap((part) => part.pieces.map((piece) => piece.sha256));
  need(new Set(names).size === names.length, "piece-twice");
  const bundles = [manifest.bundles + manifest.left_out];
  const received = hop === 1 ? bundles : parts.map((part) => part.received);
  checkLists(manifest.arrivals, destroyed === null ? received : []);
  return manifest;
}

/**
 * Check that each arrival list has the number of tags in `counts`, in files that are full except
 * the last.
 *
 * @param {readonly (readonly ListFile[])[]} arrivals
 * @param {readonly number[]} counts
 */
export function checkLists(arrivals, counts) {
  need(arrivals.every((files) => files.length <= MOST_PIECES), "too-many-pieces");
  need(arrivals.length === counts.length, "arrivals-miscounted");
  for (const [i, files] of arrivals.entries()) {
    const sum = files.reduce((total, file) => total + file.tags, 0);
    const full = files.slice(0, -1).every((file) => file.tags === MOST_LISTED);
    need(sum === counts[i] && full, "arrivals-miscounted");
  }
  const names = arrivals.flat().map((file) => file.sha256);
  need(new Set(names).size === names.length, "piece-twice");
}

/**
 * @param {{received: number, copies: number, unopened: number, malformed: number, added: number}}
 *   part
 * @returns {number} The number of messages that the hop sends.
 */
export function sentOf({ received, copies, unopened, malformed, added }) {
  return received - copies - unopened - malformed + added;
}

/**
 * @param {Uint8Array} note
 * @returns {{manifest: string, hop: number, arrivals: ListFile[][] | null}}
 */
export function readReceipt(note) {
  return readNoteFields(note, "receipt", receiptFields);
}

/**
 * Verify the manifests and receipts of a round: signatures, numbers, and whether they agree.
 *
 * @param {import("./contract.js").Contract} contract
 * @param {string} sheet SHA-256 of the round's sheet.
 * @param {readonly Uint8Array[]} manifests The notes of hop 1, hop 2 and so on.
 * @param {readonly Uint8Array[]} receipts The notes of receipts, in the order of the manifests.
 * @returns {Promise<Manifest[]>}
 * @throws {Refusal}
 */
export async function checkRound(contract, sheet, manifests, receipts) {
  const roles = rolesOf(contract);
  need(manifests.length <= contract.hops.length, "other-hop");
  need(receipts.length <= manifests.length, "other-hop");
  const fakes = contract.plan.parts.map(({ recipe, layout }) => mostFakes(recipe, layout));
  const hashes = await Promise.all(manifests.map((note) => digest(textOf(note))));
  /** @type {Manifest[]} */
  const read = [];
  for (const [place, note] of manifests.entries()) {
    const one = readManifest(await requireSigners(note, [roles[place]]));
    need(one.sheet === sheet, "other-sheet");
    need(one.hop === place + 1, "other-hop");
    need(one.parts.length === contract.plan.parts.length, "parts-miscounted");
    need(one.destroyed || one.bundles >= contract.plan.minimum_crowd, "crowd-too-small");
    need(one.bundles + one.left_out <= contract.most_bundles, "too-many-bundles");
    for (const [i, part] of one.parts.entries()) {
      const own = contract.most_bundles * slotsOf(contract.plan.parts[i]);
      need(sentOf(part) <= own + one.hop * fakes[i], "too-many-messages");
    }
    if (place > 0 && one.before !== null) checkSuccession(one, read[place - 1], hashes[place - 1]);
    read.push(one);
  }
  for (const [place, note] of receipts.entries()) {
    const receipt = readReceipt(await requireSigners(note, [roles[place + 1]]));
    need(receipt.manifest === hashes[place], "other-manifest");
    need(receipt.hop === place + 2, "other-hop");
    const last = place === contract.hops.length - 1;
    need((receipt.arrivals !== null) === last, "arrivals-miscounted");
    if (receipt.arrivals !== null) {
      checkLists(receipt.arrivals, read[place].destroyed ? [] : read[place].parts.map(sentOf));
    }
  }
  return read;
}

/**
 * @param {Manifest} one
 * @param {Manifest} before
 * @param {string} hash SHA-256 of the manifest before.
 */
function checkSuccession(one, before, hash) {
  need(one.before === hash, "before-unfit");
  need(one.bundles === before.bundles && one.left_out === before.left_out, "bundles-differ");
  if (one.destroyed) return;
  need(!before.destroyed, "not-destroyed");
  const same = one.parts.every((part, i) => part.received === sentOf(before.parts[i]));
  need(same, "received-differs");
}

/**
 * Check that a piece has the hash and the length that a manifest states.
 *
 * @param {Uint8Array} bytes
 * @param {{sha256: string, messages: number}} piece
 * @param {number} size The length in bytes of an envelope that the next role receives.
 * @throws {Refusal}
 */
export async function checkPiece(bytes, piece, size) {
  need((await digest(bytes)) === piece.sha256, "piece-differs");
  need(bytes.length === piece.messages * size && bytes.length <= MOST_PIECE, "piece-length");
}
