/** A contract and a round with keys of their own, and a first hop that answers as it is told. */

import { readFileSync } from "node:fs";

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";

import { concat, toBase64, toHex, utf8 } from "../src/bytes.js";
import { fingerprintOf, keyHash } from "../src/contract.js";
import { keyConfiguration } from "../src/suite.js";

const VECTORS = new URL("../../vectors/", import.meta.url);
const HPKE = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

export function vector(name) {
  return JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), "utf8"));
}

export async function makeSigner(name) {
  const pair = await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]);
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const hash = await keyHash(name, raw);
  return {
    key: `${name}+${toHex(hash)}+${toBase64(concat(Uint8Array.of(1), raw))}`,
    sign: async (text) => {
      const signature = await crypto.subtle.sign({ name: "Ed25519" }, pair.privateKey, text);
      return `\u2014 ${name} ${toBase64(concat(hash, new Uint8Array(signature)))}\n`;
    },
  };
}

export async function signAll(plain, signers) {
  const text = utf8(`${JSON.stringify(plain, null, 1)}\n`);
  const lines = await Promise.all(signers.map((one) => one.sign(text)));
  return concat(text, utf8(`\n${lines.join("")}`));
}

/**
 * Make a round of the contract of a vector, whose window is [1000, 1060).
 *
 * @param {string} [name] The vector.
 * @param {(contract: any) => void} [edit] Changes the contract before it is signed.
 * @param {any} [first] The key of the first hop.
 */
export async function makeRound(name = "messages-label-clear-uniform-heads", edit = () => {}, first = null) {
  const contract = JSON.parse(vector(name).contract);
  Object.assign(contract.plan.guarantee, { delta: 1e-6 });
  Object.assign(contract.plan.certificate, { upper: 1e-6, lower: 0 });
  contract.rounds = { open_seconds: 60, every_seconds: 60 };
  edit(contract);
  const roles = [...contract.hops, contract.collector];
  const signers = await Promise.all(roles.map((role) => makeSigner(role.name)));
  if (first) signers[0] = first;
  roles.forEach((role, i) => (role.key = signers[i].key));
  const note = await signAll(contract, signers);
  const pairs = await Promise.all(roles.map(() => HPKE.kem.generateKeyPair()));
  const publics = await Promise.all(
    pairs.map(async ({ publicKey }) => new Uint8Array(await HPKE.kem.serializePublicKey(publicKey))),
  );
  const fingerprint = await fingerprintOf(note);
  const plain = {
    version: 1,
    kind: "sheet",
    contract: fingerprint,
    round: 1,
    opens: 1000,
    closes: 1060,
    expires: 2000,
    keys: publics.map((one) => toBase64(keyConfiguration(1, one))),
    prefixes: null,
    closing: false,
  };
  return {
    contract,
    fingerprint,
    note,
    signers,
    plain,
    sheet: await signAll(plain, signers),
    signSheet: (changed, by = signers) => signAll({ ...plain, ...changed }, by),
    url: `${contract.hops[0].address}/contracts/${fingerprint}`,
  };
}

/** The note by which a role replaces its key. */
export async function rotationNote(role, old, next, signers = [old, next]) {
  const plain = { version: 1, kind: "rotation", role, old: old.key, new: next.key };
  return new TextDecoder().decode(await signAll(plain, signers));
}

/**
 * A role that serves a round and takes bundles.
 *
 * @param {Awaited<ReturnType<typeof makeRound>>} round
 * @param {(number | (() => Response))[]} statuses What bundles are answered, one after the other;
 *   afterwards 201.
 */
export function makeRole(round, statuses = []) {
  const bodies = [];
  const status = { rounds: [{ contract: round.fingerprint, round: 1, opens: 1000, closes: 1060 }] };
  const fetch = async (url, { method = "GET", body } = {}) => {
    if (method === "POST") {
      bodies.push(Buffer.from(await body.arrayBuffer()).toString("hex"));
      const next = statuses.shift() ?? 201;
      return typeof next === "function" ? next() : new Response(null, { status: next });
    }
    if (url.endsWith("/rotations")) return new Response(JSON.stringify(round.rotations ?? []));
    if (url.endsWith("/status")) return new Response(JSON.stringify(status));
    return new Response(url.endsWith("/rounds/1") ? round.sheet : round.note);
  };
  return { bodies, fetch };
}
