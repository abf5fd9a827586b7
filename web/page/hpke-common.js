/** The part of @hpke/common that @hpke/core needs for suite 1. */

export { NativeAlgorithm } from "../vendor/@hpke/common/esm/src/algorithm.js";
export * from "../vendor/@hpke/common/esm/src/consts.js";
export * from "../vendor/@hpke/common/esm/src/errors.js";
export * from "../vendor/@hpke/common/esm/src/identifiers.js";
export * from "../vendor/@hpke/common/esm/src/interfaces/aeadEncryptionContext.js";
export * from "../vendor/@hpke/common/esm/src/interfaces/dhkemPrimitives.js";
export * from "../vendor/@hpke/common/esm/src/kdfs/hkdf.js";
export { Dhkem } from "../vendor/@hpke/common/esm/src/kems/dhkem.js";
export { base64UrlToBytes, i2Osp, xor } from "../vendor/@hpke/common/esm/src/utils/misc.js";
