/** Questions: the values that a record may have (SPEC.md, section 2). */

import { bigInteger, integer, list, oneOf, optional, record, string } from "./fields.js";
import { need } from "./refusal.js";

const MOST_BINS = 10n ** 7n;
const MOST_TEXTS = 2n ** 63n - 1n;
const MOST_BITS = 64n;
const MOST_SET = 16;
/** Text without control characters, without characters that change the direction of writing, and
 * without halves of surrogate pairs. */
const PRINTED = /^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\p{Surrogate}]*$/u;

/**
 * @typedef {object} Question
 * @property {string} name
 * @property {bigint} bins
 * @property {string[] | null} labels
 * @property {"one" | "set" | "bits"} kind
 * @property {number} max_set
 * @property {number[] | null} attributes
 * @property {{function: "HMAC-SHA-256", seed: string} | null} hashed
 */

const questionFields = record({
  name: string("control-character-in-name", PRINTED),
  bins: bigInteger("bins-out-of-range", 1, MOST_TEXTS),
  labels: optional(list(string("control-character-in-label", PRINTED))),
  kind: oneOf("unknown-kind", /** @type {const} */ (["one", "set", "bits"])),
  max_set: integer("max-set-out-of-range", 1, MOST_SET),
  attributes: optional(list(integer("attributes-unfit", 2, 2 ** 53))),
  hashed: optional(
    record({
      function: oneOf("unknown-hash", /** @type {const} */ (["HMAC-SHA-256"])),
      seed: string("seed-malformed", /^[0-9a-f]{32}$/),
    }),
  ),
});

/** @type {import("./fields.js").Read<Question>} */
export function readQuestion(value) {
  const question = questionFields(value);
  const { bins, labels, kind, attributes, hashed, max_set: most } = question;
  need(kind === "bits" ? bins <= MOST_BITS : bins >= 2n, "bins-out-of-range");
  need(hashed !== null || bins <= MOST_BINS, "bins-out-of-range");
  need(BigInt(most) <= (kind === "set" ? bins : 1n), "max-set-out-of-range");
  if (attributes !== null) {
    const sum = attributes.reduce((total, one) => total + BigInt(one), 0n);
    need(kind === "set" && sum === bins && attributes.length === most, "attributes-unfit");
  }
  if (hashed !== null) {
    need(kind !== "bits" && labels === null && attributes === null, "hashed-with-labels");
  }
  if (labels !== null) {
    need(labels.every((label) => label !== ""), "label-empty");
    const forms = new Set(labels.map((label) => label.normalize("NFC")));
    need(forms.size === labels.length, "label-twice");
    need(BigInt(labels.length) === bins, "labels-miscounted");
  }
  return question;
}
