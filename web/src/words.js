/** Random words: uniform integers below 2^64, each used once. */

import { Refusal } from "./refusal.js";

/** The number of words that are requested from the system at once: the maximum of one call. */
const AT_ONCE = 65536 / 8;
/**
 * The maximum number of words that are rejected in a row. A uniform source exceeds it with a
 * probability of at most 2^-10000.
 */
const MOST_REJECTED = 10_000;
const WORD = 2n ** 64n;

/** A source of random words. */
export class Words {
  /** @param {() => bigint} next Returns a new uniform integer in [0, 2^64) at each call. */
  constructor(next) {
    this.next = next;
  }

  /**
   * Draw a uniform integer in [0, below), by rejection, so that all values are equally probable.
   *
   * @param {bigint} below The exclusive upper limit, at least 1.
   * @returns {bigint}
   */
  uniform(below) {
    const wide = below > 2n ** 63n;
    const range = wide ? 2n ** BigInt((below - 1n).toString(2).length) : WORD;
    const limit = wide ? below : (WORD / below) * below;
    for (let tries = 0; tries < MOST_REJECTED; tries++) {
      const drawn = wide ? (this.next() + WORD * this.next()) % range : this.next();
      if (drawn < limit) return wide ? drawn : drawn % below;
    }
    throw new Refusal("randomness-broken", "the random words of this device repeat");
  }
}

/**
 * @returns {Words} The words of the system's secure source.
 */
export function secureWords() {
  const held = new BigUint64Array(AT_ONCE);
  let place = held.length;
  return new Words(() => {
    if (place === held.length) {
      crypto.getRandomValues(held);
      place = 0;
    }
    const word = held[place];
    held[place++] = 0n; // so that no word is used twice or stays in memory
    return word;
  });
}
