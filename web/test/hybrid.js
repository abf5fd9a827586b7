/** The KEM of suite 2 for secrets of 96 bytes, which the library has only as seeds of 32 bytes. */

import { createHash, createPrivateKey, createPublicKey, diffieHellman } from "node:crypto";
import { MlKem768 } from "mlkem";

import { concat, fromHex } from "../src/bytes.js";

const LABEL = fromHex("5c2e2f2f5e5c");
const PRIVATE = fromHex("302e020100300506032b656e04220420");
const PUBLIC = fromHex("302a300506032b656e032100");

/** @param {Uint8Array} raw */
function secretOf(raw) {
  return createPrivateKey({ key: Buffer.from(concat(PRIVATE, raw)), format: "der", type: "pkcs8" });
}

/** @param {Uint8Array} raw */
function publicOf(raw) {
  return createPublicKey({ key: Buffer.from(concat(PUBLIC, raw)), format: "der", type: "spki" });
}

/** A KEM that opens with a seed of ML-KEM (64 bytes) and an X25519 private key (SPEC.md, 13). */
export class Hybrid {
  id = 0x647a;
  secretSize = 32;
  encSize = 1120;
  publicKeySize = 1216;
  privateKeySize = 96;

  init() {}

  /** @param {{recipientKey: Uint8Array, enc: ArrayBuffer}} given */
  async decap({ recipientKey, enc }) {
    const share = new Uint8Array(enc);
    const lattice = new MlKem768();
    const [, privateKey] = await lattice.deriveKeyPair(recipientKey.slice(0, 64));
    const ofLattice = await lattice.decap(share.slice(0, 1088), privateKey);
    const secret = secretOf(recipientKey.slice(64));
    const ofCurve = diffieHellman({ privateKey: secret, publicKey: publicOf(share.slice(1088)) });
    const own = createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-32);
    const hash = createHash("sha3-256");
    for (const one of [ofLattice, ofCurve, share.slice(1088), own, LABEL]) hash.update(one);
    return new Uint8Array(hash.digest()).buffer;
  }
}
