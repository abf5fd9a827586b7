/** Envelopes: a message, encrypted once for each role (SPEC.md, section 14). */

import { concat, fromHex, utf8 } from "./bytes.js";
import { readKeyConfiguration, SUITES } from "./suite.js";

/**
 * @param {string} sheet SHA-256 of the sheet.
 * @param {number} hop From 1; the collector follows the last hop.
 * @param {number} part From 0.
 * @returns {Uint8Array<ArrayBuffer>} The HPKE info, which binds an envelope to sheet, hop and part.
 */
export function envelopeInfo(sheet, hop, part) {
  const place = Uint8Array.of(hop, part >> 8, part & 255);
  return concat(utf8("mixtally envelope 1"), fromHex(sheet), place);
}

/** Seals messages and padding for one round. */
export class Sealer {
  /**
   * @param {import("@hpke/core").CipherSuite} suite
   * @param {CryptoKey[]} keys
   * @param {string} sheet
   */
  constructor(suite, keys, sheet) {
    this.suite = suite;
    this.keys = keys;
    this.sheet = sheet;
  }

  /**
   * @param {number} suite Number of the contract's suite.
   * @param {import("./sheet.js").Sheet} sheet
   * @returns {Promise<Sealer>}
   */
  static async of(suite, sheet) {
    const hpke = await SUITES[suite].load();
    const keys = await Promise.all(
      sheet.keys.map((key) => {
        return hpke.kem.deserializePublicKey(readKeyConfiguration(suite, key).buffer);
      }),
    );
    return new Sealer(hpke, keys, sheet.hash);
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} inside
   * @param {number} hop
   * @param {number} part
   * @returns {Promise<Uint8Array<ArrayBuffer>>} One layer around `inside`.
   */
  async layer(inside, hop, part) {
    const info = envelopeInfo(this.sheet, hop, part).buffer;
    const recipientPublicKey = this.keys[hop - 1];
    const { enc, ct } = await this.suite.seal({ recipientPublicKey, info }, inside.buffer);
    return concat(new Uint8Array(enc), new Uint8Array(ct));
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} message
   * @param {number} part
   * @param {(hop: number, envelope: Uint8Array) => unknown} [keep] Called with the envelope that
   *   each role receives.
   * @returns {Promise<Uint8Array<ArrayBuffer>>} The envelope that hop 1 receives.
   */
  async seal(message, part, keep = () => {}) {
    let inside = message;
    for (let hop = this.keys.length; hop >= 1; hop--) {
      inside = await this.layer(inside, hop, part);
      await keep(hop, inside);
    }
    return inside;
  }

  /**
   * @param {number} size The length of an envelope of the part that hop 2 receives.
   * @param {number} part
   * @returns {Promise<Uint8Array<ArrayBuffer>>} Padding, which only hop 1 can distinguish from an
   *   envelope.
   */
  pad(size, part) {
    return this.layer(new Uint8Array(size), 1, part);
  }
}
