/** Random words: uniform integers below 2^64, each used once. */

import { Refusal } from "./refusal.js";

/** Words that are asked of the system at once: the most that one call gives. */
const AT_ONCE = 65536 / 8;
/** Words that may be rejected in a row; a sound source rejects so many with probability 2^-10000. */
const MOST_REJECTED = 10_000;
const WORD = 2n ** 64n;

/** A source of random words. */
export class Words {
  /** @param {() => bigint} next Returns a uniform integer in [0, 2^64), a new one at each call. */
  constructor(next) {
    this.next = next;
  }

  /**
   * Draw a uniform integer, by rejection: no value is more probable than another.
   *
   * @param {bigint} below The first integer that is not drawn, from 1 on.
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
    held[place++] = 0n; // so that no word is used twice, or is found in memory later
    return word;
  });
}
