/** What this package finds for a vector of the specification. */

import assert from "node:assert/strict";

import { Aes128Gcm, CipherSuite, HkdfSha256 } from "@hpke/core";

import { concat, digest, fromBase64, fromHex, toBase64, toHex, utf8 } from "../src/bytes.js";
import { checkCode } from "../src/code.js";
import { keyHash } from "../src/contract.js";
import { list, string } from "../src/fields.js";
import * as mixtally from "../src/index.js";
import { deltaOf } from "../src/limits.js";
import { isPaired, readRecipe } from "../src/recipe.js";
import { readLayout } from "../src/layout.js";
import { readJson } from "../src/json.js";
import { readNoteFields } from "../src/note.js";
import { need } from "../src/refusal.js";
import { Hybrid } from "./hybrid.js";

/** Words in the order in which they stand; all of them must be used. */
function tape(digits) {
  const words = new BigUint64Array(fromHex(digits ?? "").buffer);
  let used = 0;
  const source = new mixtally.Words(() => {
    if (used === words.length) throw new mixtally.Refusal("words-ran-out");
    return words[used++];
  });
  return { source, unused: () => words.length - used };
}

const HYBRID = new CipherSuite({ kem: new Hybrid(), kdf: new HkdfSha256(), aead: new Aes128Gcm() });
const signer = (key) => ({ name: key.split("+", 1)[0], key });
const DIGEST = string("digest-malformed", /^[0-9a-f]{64}$/);

/** Only a first hop reads lists of codes. */
async function codes(vector) {
  const contract = await mixtally.readContract(utf8(vector.contract));
  const note = utf8(vector.codes);
  await mixtally.requireSigners(note, [contract.collector]);
  const readers = { contract: DIGEST, hashes: list(DIGEST) };
  const { contract: named, hashes } = readNoteFields(note, "codes", readers);
  need(named === contract.fingerprint, "other-contract");
  need(hashes.length > 0 && hashes.length <= contract.most_bundles, "codes-miscounted");
  need(hashes.every((one, i) => i === 0 || hashes[i - 1] < one), "codes-unsorted");
  return { hashes };
}

const shapeRow = ({ slots, padding, size }) => [slots, padding, size];

async function encoded(vector) {
  const note = vector.contract_hex ? fromHex(vector.contract_hex) : utf8(vector.contract);
  const contract = await mixtally.readContract(note);
  if (vector.limits) mixtally.checkLimits(contract.plan, vector.limits);
  if (!("value" in vector)) return {};
  const { source, unused } = tape(vector.words);
  const value = valueOf(vector.value);
  const fakes = mixtally.drawCoins(contract.plan.parts, source);
  const asked = { prefixes: vector.prefixes, closing: vector.closing };
  const answers = await mixtally.encodeValue(contract.plan, value, asked, source);
  const messages = mixtally.drawMessages(contract.plan.parts, answers, fakes, source);
  return { messages: messages.map((part) => part.map(toHex)), unused: unused() };
}

function valueOf(value) {
  return value !== null && typeof value === "object" && "double" in value
    ? { nan: NaN, inf: Infinity, "-inf": -Infinity }[value.double]
    : value;
}

async function envelope(vector) {
  const sheet = await mixtally.fingerprintOf(utf8(vector.sheet));
  const opened = [];
  let held = fromHex(vector.envelope);
  for (const [i, secret] of vector.secrets.entries()) {
    held = await open(vector.suite, secret, sheet, vector.first + i, vector.part, held);
    opened.push(held && toHex(held));
    if (held === null) break;
  }
  return { opened };
}

async function open(suite, secret, sheet, hop, part, sealed) {
  const { load, share } = mixtally.SUITES[suite];
  const hpke = suite === 1 ? await load() : HYBRID;
  const info = mixtally.envelopeInfo(sheet, hop, part).buffer;
  const raw = fromHex(secret);
  const recipientKey = suite === 1 ? await hpke.kem.importKey("raw", raw.buffer, false) : raw;
  try {
    const enc = sealed.slice(0, share).buffer;
    return new Uint8Array(await hpke.open({ recipientKey, enc, info }, sealed.slice(share).buffer));
  } catch {
    return null;
  }
}

async function firstHop(vector) {
  const contract = await mixtally.readContract(utf8(vector.contract));
  const sheet = await mixtally.fingerprintOf(utf8(vector.sheet));
  const shapes = mixtally.bundleShapes(contract);
  const bundles = new Map();
  for (const bundle of mixtally.splitBundles(fromHex(vector.body), shapes)) {
    bundles.set(bundle.flat().map(toHex).join(), bundle);
  }
  const parts = shapes.length;
  const none = { received: Array(parts).fill(0), copies: Array(parts).fill(0), passed: Array.from({ length: parts }, () => []) };
  if (bundles.size < contract.plan.minimum_crowd) return { bundles: bundles.size, left_out: 0, ...none };
  const counted = [];
  for (const bundle of bundles.values()) {
    const opened = [];
    let good = true;
    for (const [part, envelopes] of bundle.entries()) {
      const size = contract.envelope_bytes[part][1];
      const inside = [];
      for (const one of envelopes) {
        inside.push([toHex(one), await open(contract.suite, vector.secret, sheet, 1, part, one)]);
      }
      const padding = inside.filter(([, one]) => one && one.every((byte) => byte === 0)).length;
      good &&= inside.every(([, one]) => one?.length === size) && padding <= shapes[part].padding;
      opened.push(inside);
    }
    if (good) counted.push(opened);
  }
  const numbers = { bundles: counted.length, left_out: bundles.size - counted.length };
  if (counted.length < contract.plan.minimum_crowd) return { ...numbers, ...none };
  const found = { received: [], copies: [], passed: [] };
  for (let part = 0; part < parts; part++) {
    const every = counted.flatMap((bundle) => bundle[part]).filter(([, one]) => one.some((byte) => byte));
    const once = new Map(every);
    found.received.push(every.length);
    found.copies.push(every.length - once.size);
    found.passed.push([...once.values()].map(toHex).sort());
  }
  return { ...numbers, ...found };
}

async function signNote({ key, text }) {
  const name = key.split("+")[2];
  const seed = fromBase64(key.split("+").slice(4).join("+")).subarray(1);
  const prefix = fromHex("302e020100300506032b657004220420");
  const algorithm = { name: "Ed25519" };
  const secret = await crypto.subtle.importKey("pkcs8", concat(prefix, seed), algorithm, true, ["sign"]);
  const jwk = await crypto.subtle.exportKey("jwk", secret);
  const publicKey = Uint8Array.from(Buffer.from(jwk.x, "base64url"));
  const hash = await keyHash(name, publicKey);
  const signature = new Uint8Array(await crypto.subtle.sign(algorithm, secret, utf8(text)));
  return {
    verifier: `${name}+${toHex(hash)}+${toBase64(concat(Uint8Array.of(1), publicKey))}`,
    note: `${text}\n\u2014 ${name} ${toBase64(concat(hash, signature))}\n`,
  };
}

async function round(vector) {
  const contract = await mixtally.readContract(utf8(vector.contract));
  const sheet = await mixtally.readSheet(utf8(vector.sheet), contract);
  const manifests = vector.manifests.map(utf8);
  const read = await mixtally.checkRound(contract, sheet.hash, manifests, vector.receipts.map(utf8));
  for (const [hop, manifest] of read.entries()) {
    for (const [part, { pieces }] of manifest.parts.entries()) {
      for (const piece of pieces) {
        const bytes = fromHex(vector.pieces[piece.sha256] ?? "");
        await mixtally.checkPiece(bytes, piece, contract.envelope_bytes[part][hop + 1] ?? messageBytes(contract, part));
      }
    }
  }
  const last = vector.receipts.map(utf8).map(mixtally.readReceipt).at(-1)?.arrivals;
  const lists = [...read.slice(1).map((one) => one.arrivals), last];
  for (const [place, manifest] of read.entries()) {
    if (manifest.destroyed || !lists[place] || read[place + 1]?.destroyed) continue;
    for (const [part, { pieces }] of manifest.parts.entries()) {
      const size = contract.envelope_bytes[part][place + 1];
      const bytes = pieces.map((piece) => vector.pieces[piece.sha256]).join("");
      const received = bytes.match(new RegExp(`.{${2 * size}}`, "g")) ?? [];
      const made = fromHex(await listOf(sheet.hash, place + 2, part, received));
      const right = made.length ? [await digest(made)] : [];
      const named = lists[place][part].map((file) => file.sha256);
      if (String(named) !== String(right)) throw new mixtally.Refusal("arrivals-differ");
    }
  }
  return { sent: read.map((one) => one.parts.map((part) => (one.destroyed ? 0 : mixtally.sentOf(part)))) };
}

async function listOf(sheet, hop, part, received) {
  const tags = received.map((one) => mixtally.arrivalTag(sheet, hop, part, fromHex(one)));
  return (await Promise.all(tags)).sort().join("");
}

const messageBytes = (contract, part) =>
  contract.envelope_bytes[part].at(-1) - mixtally.SUITES[contract.suite].layer;

const FINDERS = {
  messages: encoded,
  contract: encoded,
  value: encoded,
  "by limits": encoded,
  fingerprint: async ({ file }) => ({ fingerprint: await mixtally.fingerprintOf(utf8(file)) }),
  shape: async (vector) => {
    const recipe = readRecipe(readJson(utf8(JSON.stringify(vector.recipe))));
    const table = mixtally.shapeTable(recipe);
    const [sum, unit] = deltaOf(table, vector.epsilon, isPaired(recipe));
    const weights = table.map((one) => (one > 2n ** 53n ? String(one) : Number(one)));
    return { weights, delta: Number((sum * 2n ** 200n) / unit) / 2 ** 200 };
  },
  recipe: async (vector) => {
    const recipe = readRecipe(readJson(utf8(JSON.stringify(vector.recipe))));
    const layout = readLayout(readJson(utf8(JSON.stringify(vector.layout))));
    const { source, unused } = tape(vector.words);
    return { fakes: mixtally.drawFakes(recipe, layout, source).map(toHex), unused: unused() };
  },
  note: async (vector) => {
    const note = vector.note_hex ? fromHex(vector.note_hex) : utf8(vector.note);
    const signers = vector.keys.map(signer);
    if (vector.what.startsWith("refused")) return mixtally.requireSigners(note, signers);
    return { signers: [...(await mixtally.findSigners(note, signers)).keys()].sort() };
  },
  "signed note": signNote,
  "joined notes": async ({ text, notes, keys }) => {
    const joined = await mixtally.joinNotes(utf8(text), notes.map(utf8), keys.map(signer));
    return { note: new TextDecoder().decode(joined) };
  },
  "key configuration": async ({ suite, secret, configuration }) => {
    const publicKey = mixtally.readKeyConfiguration(suite, fromHex(configuration));
    assert(secret);
    return { configuration: toHex(mixtally.keyConfiguration(suite, publicKey)) };
  },
  sheet: async (vector) => {
    const contract = await mixtally.readContract(utf8(vector.contract));
    return { hash: (await mixtally.readSheet(utf8(vector.sheet), contract)).hash };
  },
  shapes: async (vector) => {
    const contract = await mixtally.readContract(utf8(vector.contract));
    return { shapes: mixtally.bundleShapes(contract).map(shapeRow) };
  },
  bundles: async ({ shapes, body }) => {
    const read = shapes.map(([slots, padding, size]) => ({ slots, padding, size }));
    const bundles = mixtally.splitBundles(fromHex(body), read);
    return { envelopes: bundles.map((bundle) => bundle.map((part) => part.map(toHex))) };
  },
  "first hop": firstHop,
  envelope,
  manifest: async ({ manifest }) => ({
    sent: mixtally.readManifest(utf8(manifest)).parts.map(mixtally.sentOf),
    hash: await digest(utf8(manifest)),
  }),
  receipt: async ({ receipt }) => ({
    of: mixtally.readReceipt(utf8(receipt)).manifest,
    hash: await digest(utf8(receipt)),
  }),
  withdrawal: async ({ withdrawal }) => ({
    of: mixtally.readWithdrawal(utf8(withdrawal)).sheet,
    hash: await digest(utf8(withdrawal)),
  }),
  rotation: async ({ rotation }) => ({
    ...(await mixtally.readRotation(utf8(rotation))),
    hash: await mixtally.fingerprintOf(utf8(rotation)),
  }),
  rotations: async ({ rotations, key }) => ({
    keys: mixtally.followKey(await mixtally.readRotations(utf8(rotations)), key),
  }),
  code: async ({ admission, typed }) => {
    const code = await checkCode(admission, typed ?? undefined);
    return { code, hash: await digest(utf8(code ?? "")) };
  },
  codes,
  "trusted contract": async ({ note, fingerprint }) => {
    await mixtally.verifyContract(utf8(note), { fingerprint });
    return {};
  },
  round,
  arrivals: async ({ sheet, hop, part, received }) => ({
    list: await listOf(await mixtally.fingerprintOf(utf8(sheet)), hop, part, received),
  }),
  listed: async ({ files, pieces, tags }) => ({
    found: (await mixtally.findTags(tags, files, async (name) => fromHex(pieces[name] ?? ""))).sort(),
  }),
};

/**
 * @param {any} vector
 * @returns {Promise<any>} The fields that the vector expects, or the reason of a refusal.
 */
export async function find(vector) {
  const finder = FINDERS[vector.what.replace(/^refused /, "")];
  assert(finder, `nothing reproduces ${vector.what}`);
  try {
    return await finder(vector);
  } catch (error) {
    if (error instanceof mixtally.Refusal) return { reason: error.reason };
    throw error;
  }
}
