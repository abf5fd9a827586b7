/** The device of mixtally in JavaScript, as SPEC.md describes it. */

/**
 * @typedef {import("./client.js").Options} Options
 * @typedef {import("./contract.js").Contract} Contract
 * @typedef {import("./diary.js").Entry} Entry
 * @typedef {import("./diary.js").Pages} Pages
 * @typedef {import("./diary.js").Storage} Storage
 * @typedef {import("./limits.js").Limits} Limits
 * @typedef {import("./sheet.js").Sheet} Sheet
 * @typedef {import("./trust.js").Trust} Trust
 * @typedef {import("./trust.js").TrustedContract} TrustedContract
 * @typedef {import("./watch.js").Arrivals} Arrivals
 */

export { arrivalTag, findTags } from "./arrivals.js";
export { bundleShapes, sealBundle, splitBundles } from "./bundle.js";
export { answer, answerRound, deliver, deliverUntilAnswered } from "./client.js";
export { readCode } from "./code.js";
export { fingerprintOf, readContract, rolesOf, textOf } from "./contract.js";
export { memoryStorage } from "./diary.js";
export { drawCoins, drawMessages } from "./draw.js";
export { encodeValue } from "./encode.js";
export { envelopeInfo, Sealer } from "./envelope.js";
export { checkLimits, DEFAULT_LIMITS } from "./limits.js";
export { checkPiece, checkRound, readManifest, readReceipt, sentOf } from "./manifest.js";
export { findSigners, joinNotes, requireSigners } from "./note.js";
export { drawFakes, shapeTable } from "./recipe.js";
export { Refusal } from "./refusal.js";
export { followKey, readRotation, readRotations } from "./rotation.js";
export { readSheet, readWithdrawal } from "./sheet.js";
export { keyConfiguration, readKeyConfiguration, SUITES } from "./suite.js";
export { openRound, verifyContract } from "./trust.js";
export { checkArrivals } from "./watch.js";
export { secureWords, Words } from "./words.js";
