/** Suites of HPKE (SPEC.md, section 13). */

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import { concat, equal, toInteger } from "./bytes.js";
import { need, Refusal } from "./refusal.js";

/**
 * @typedef {object} Suite
 * @property {number} layer The number of bytes that a layer of encryption adds.
 * @property {number} share The number of bytes of the key share, before the ciphertext.
 * @property {number} publicKey The number of bytes of a public key.
 * @property {number} kem The number of the KEM.
 * @property {() => Promise<CipherSuite>} load
 */

/** @type {Record<number, Suite>} */
export const SUITES = {
  1: {
    layer: 48,
    share: 32,
    publicKey: 32,
    kem: 0x0020,
    load: async () => make(new DhkemX25519HkdfSha256()),
  },
  2: {
    layer: 1136,
    share: 1120,
    publicKey: 1216,
    kem: 0x647a,
    // Loaded only if needed, so that a page with suite 1 does not fetch it.
    load: async () => {
      const { XWing } = await import("@hpke/hybridkem-x-wing").catch(() => {
        throw new Refusal("unsupported", "suite 2 needs the package @hpke/hybridkem-x-wing");
      });
      return make(new XWing());
    },
  },
};
const ALGORITHMS = Uint8Array.of(0, 4, 0, 1, 0, 1);

/** @param {any} kem */
function make(kem) {
  return new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes128Gcm() });
}

/**
 * Return the key configuration of a public key (RFC 9458, section 3.1).
 *
 * @param {number} suite
 * @param {Uint8Array} publicKey
 */
export function keyConfiguration(suite, publicKey) {
  const { kem } = SUITES[suite];
  return concat(Uint8Array.of(0, kem >> 8, kem & 255), publicKey, ALGORITHMS);
}

/**
 * Return the public key in a configuration of a suite.
 *
 * @param {number} suite
 * @param {Uint8Array} configuration
 * @returns {Uint8Array<ArrayBuffer>}
 * @throws {Refusal} `key-configuration`, also for a key with which encryption fails.
 */
export function readKeyConfiguration(suite, configuration) {
  const { publicKey: size } = SUITES[suite];
  const publicKey = new Uint8Array(configuration.subarray(3, 3 + size));
  const fits = equal(configuration, keyConfiguration(suite, publicKey));
  need(publicKey.length === size && fits, "key-configuration");
  need(!isSmallOrder(publicKey.subarray(size - 32)), "key-configuration");
  return publicKey;
}

const FIELD = 2n ** 255n - 19n;
/** The u-coordinates of points of X25519 whose order divides 8 (RFC 7748, section 6.1). */
const SMALL_ORDER = new Set([
  0n,
  1n,
  FIELD - 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
]);

/**
 * @param {Uint8Array} point The 32 bytes of an X25519 key.
 * @returns {boolean} Whether the exchange with every private key gives zero.
 */
function isSmallOrder(point) {
  // The highest bit is ignored, and coordinates are reduced modulo p (RFC 7748, section 5).
  const coordinate = toInteger(point.slice().reverse()) % 2n ** 255n;
  return SMALL_ORDER.has(coordinate % FIELD);
}
