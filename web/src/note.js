/** Signed notes: a text, and lines with Ed25519 signatures of it (SPEC.md, section 11). */

import { concat, equal, fromBase64, toInteger, utf8 } from "./bytes.js";
import { checkVersion, integer, oneOf, record } from "./fields.js";
import { keyHash, publicKeyOf, ROLE_NAME, textOf } from "./contract.js";
import { readJson } from "./json.js";
import { need, Refusal } from "./refusal.js";

const MOST_LINES = 100;
const LINE = /^\u2014 ([^ \n]+) ([^ \n]+)$/;
const FIELD = 2n ** 255n - 19n;
/** The y-coordinates of the points of Ed25519 whose order divides 8. */
const SMALL_ORDER = new Set([
  0n,
  1n,
  FIELD - 1n,
  2707385501144840649318225287225658788936804267575313519463743609750303021422n,
  55188659117513257062467267217118295137698188065244968500265048394206261417927n,
]);

/** @typedef {{name: string, key: string}} Signer A name and its verifier key. */
/** @typedef {{line: string, name: string, hash: Uint8Array, signature: Uint8Array}} Line */

/**
 * @param {Uint8Array} note
 * @returns {{text: Uint8Array, lines: Line[]}}
 * @throws {Refusal} `no-note`
 */
function splitNote(note) {
  const text = textOf(note);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let below;
  try {
    decoder.decode(text);
    below = decoder.decode(note.subarray(text.length));
  } catch {
    throw new Refusal("no-note", "expected UTF-8");
  }
  need(text.length && text[text.length - 1] === 10, "no-note", "expected a newline at the end");
  need(text.every((byte) => byte >= 32 || byte === 10), "no-note", "expected no control characters");
  if (below === "") return { text, lines: [] };
  need(below.startsWith("\n") && below.endsWith("\n"), "no-note", "expected lines of signatures");
  const written = below.slice(1, -1).split("\n");
  need(written.length <= MOST_LINES, "no-note", `expected at most ${MOST_LINES} lines`);
  const lines = written.map((line) => {
    const found = LINE.exec(line);
    const raw = found && fromBase64(found[2]);
    need(found && ROLE_NAME.test(found[1]) && raw && raw.length >= 5, "no-note", line.slice(0, 80));
    return { line: `${line}\n`, name: found[1], hash: raw.subarray(0, 4), signature: raw.subarray(4) };
  });
  return { text, lines };
}

/**
 * @param {Uint8Array} publicKey 32 bytes.
 * @param {Uint8Array} text
 * @param {Uint8Array} signature
 * @returns {Promise<boolean>} Whether the key has signed the text.
 */
async function verify(publicKey, text, signature) {
  if (signature.length !== 64 || !isStrictPoint(publicKey)) return false;
  try {
    const algorithm = { name: "Ed25519" };
    const bytes = new Uint8Array(publicKey);
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    return await crypto.subtle.verify(
      algorithm,
      key,
      new Uint8Array(signature),
      new Uint8Array(text),
    );
  } catch (error) {
    if (/** @type {Error} */ (error).name === "NotSupportedError") {
      throw new Refusal("unsupported", "this browser has no Ed25519: update it");
    }
    return false;
  }
}

/**
 * Return whether 32 bytes are the canonical encoding of a point that is not of small order. For a
 * key of small order, anyone could make valid signatures. Libraries differ in whether they accept
 * such points and other encodings.
 *
 * @param {Uint8Array} bytes
 */
function isStrictPoint(bytes) {
  const y = toInteger(bytes.slice().reverse()) % 2n ** 255n;
  return y < FIELD && !SMALL_ORDER.has(y);
}

/**
 * Return the first valid signature line of each signer that has signed.
 *
 * @param {Uint8Array} note
 * @param {readonly Signer[]} signers
 * @returns {Promise<Map<string, string>>} From the name of a signer to the line.
 * @throws {Refusal} `no-note`, or `signature-false` for any invalid signature of these keys.
 */
export async function findSigners(note, signers) {
  const { text, lines } = splitNote(note);
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const signer of signers) {
    const publicKey = publicKeyOf(signer);
    const hash = await keyHash(signer.name, publicKey);
    for (const one of lines) {
      if (one.name !== signer.name || !equal(one.hash, hash)) continue;
      need(await verify(publicKey, text, one.signature), "signature-false", signer.name);
      if (!found.has(signer.name)) found.set(signer.name, one.line);
    }
  }
  return found;
}

/**
 * Return the text of a note that all signers have signed.
 *
 * @param {Uint8Array} note
 * @param {readonly Signer[]} signers
 * @returns {Promise<Uint8Array>}
 * @throws {Refusal} `no-note`, `signature-false` or `signature-missing`.
 */
export async function requireSigners(note, signers) {
  const found = await findSigners(note, signers);
  const missing = signers.filter(({ name }) => !found.has(name)).map(({ name }) => name);
  need(!missing.length, "signature-missing", missing.join(", "));
  return textOf(note);
}

/**
 * Join several notes of the same text into one note with all their signatures.
 *
 * @param {Uint8Array} text
 * @param {readonly Uint8Array[]} notes
 * @param {readonly Signer[]} signers The signers whose lines are kept, in this order.
 * @returns {Promise<Uint8Array>}
 * @throws {Refusal} `another-text`, and those of `findSigners`.
 */
export async function joinNotes(text, notes, signers) {
  /** @type {Map<string, string>} */
  const first = new Map();
  for (const note of notes) {
    need(equal(textOf(note), text), "another-text");
    for (const [name, line] of await findSigners(note, signers)) {
      if (!first.has(name)) first.set(name, line);
    }
  }
  const lines = signers.map(({ name }) => first.get(name) ?? "").join("");
  return concat(text, utf8(lines && `\n${lines}`));
}

/**
 * Read the JSON of a sheet, withdrawal, manifest or receipt.
 *
 * @template {Record<string, import("./fields.js").Read<any>>} T
 * @param {Uint8Array} note
 * @param {string} kind
 * @param {T} readers The other fields.
 * @returns {{ [K in keyof T]: ReturnType<T[K]> }}
 * @throws {Refusal}
 */
export function readNoteFields(note, kind, readers) {
  const plain = readJson(textOf(note));
  checkVersion(plain, 1);
  const ofKind = oneOf("another-kind", [kind]);
  if (plain instanceof Map && plain.has("kind")) ofKind(plain.get("kind") ?? null);
  const version = integer("unknown-version", 1, 1);
  return /** @type {any} */ (record({ version, kind: ofKind, ...readers })(plain));
}
