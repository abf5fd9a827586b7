/**
 * The part of @hpke/core that suite 1 needs: the import map of the page names this file.
 *
 * The classes of @hpke/core with the usual names are these, without additions. Their module also
 * imports the curves of NIST, which the page does not need.
 */

export { HkdfSha256Native as HkdfSha256 } from "../vendor/@hpke/common/esm/src/kdfs/hkdf.js";
export { Aes128Gcm } from "../vendor/@hpke/core/esm/src/aeads/aesGcm.js";
export { CipherSuiteNative as CipherSuite } from "../vendor/@hpke/core/esm/src/cipherSuiteNative.js";
export { DhkemX25519HkdfSha256 } from "../vendor/@hpke/core/esm/src/kems/dhkemX25519.js";
