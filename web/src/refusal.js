/** Refusals: the errors that keep a device from taking part. */

/**
 * The error that every check of this package throws.
 *
 * `reason` is one of the names in SPEC.md, section 9, so that programs can act on it. The message
 * has the details for people.
 */
export class Refusal extends Error {
  /**
   * @param {string} reason Name of the reason.
   * @param {string} [detail] What was expected and what was found.
   */
  constructor(reason, detail = "") {
    super(detail ? `${reason}: ${detail}` : reason);
    this.name = "Refusal";
    this.reason = reason;
  }
}

/**
 * Throw a Refusal unless `condition` is true.
 *
 * @param {unknown} condition
 * @param {string} reason
 * @param {string} [detail]
 * @returns {asserts condition}
 */
export function need(condition, reason, detail) {
  if (!condition) throw new Refusal(reason, detail);
}
