/** Refusals: why a device takes no part. */

/**
 * The error that every check of this package raises.
 *
 * `reason` is one of the names in SPEC.md, section 9, so that programs can act on it. The message
 * says where the fault is.
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
 * Throw a Refusal unless `condition` holds.
 *
 * @param {unknown} condition
 * @param {string} reason
 * @param {string} [detail]
 * @returns {asserts condition}
 */
export function need(condition, reason, detail) {
  if (!condition) throw new Refusal(reason, detail);
}
