/** Arrival lists: tags (short hashes) of everything that a role received (SPEC.md, section 18). */

import { concat, digest, fromHex, utf8 } from "./bytes.js";
import { checkPiece } from "./manifest.js";
import { need } from "./refusal.js";

const TAG = 8;

/**
 * @param {string} sheet SHA-256 of the sheet.
 * @param {number} hop From 1; the collector follows the last hop.
 * @param {number} part From 0. A bundle, which only hop 1 receives, has part 0.
 * @param {Uint8Array} bytes The received bundle or envelope.
 * @returns {Promise<string>} Its tag, as hexadecimal digits.
 */
export async function arrivalTag(sheet, hop, part, bytes) {
  const place = Uint8Array.of(hop, part >> 8, part & 255);
  const hash = await digest(concat(utf8("mixtally arrival 1"), fromHex(sheet), place, bytes));
  return hash.slice(0, 2 * TAG);
}

/**
 * Return those of some tags that a list has. The whole list is read.
 *
 * @param {readonly string[]} wanted The tags to look for.
 * @param {readonly import("./manifest.js").ListFile[]} files The files of one list.
 * @param {(name: string) => Promise<Uint8Array>} read Returns the bytes of a file.
 * @returns {Promise<string[]>}
 * @throws {Refusal} If a file does not match its hash or length, or if tags do not ascend.
 */
export async function findTags(wanted, files, read) {
  const known = new Map(wanted.map((tag) => [BigInt(`0x${tag}`), tag]));
  const found = new Set();
  let last = 0n;
  for (const { sha256, tags } of files) {
    const bytes = await read(sha256);
    await checkPiece(bytes, { sha256, messages: tags }, TAG);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += TAG) {
      const tag = view.getBigUint64(at);
      need(last <= tag, "tags-unsorted");
      last = tag;
      if (known.has(tag)) found.add(known.get(tag));
    }
  }
  return [...found];
}
