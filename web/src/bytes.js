/** Bytes: hexadecimal digits, base64, hashes, and integers as bytes. */

const encoder = new TextEncoder();

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>} The text in UTF-8.
 */
export function utf8(text) {
  return new Uint8Array(encoder.encode(text));
}

/**
 * @param {Uint8Array} bytes
 * @returns {string} Hexadecimal digits in lower case.
 */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {string} digits Hexadecimal digits, an even number of them.
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function fromHex(digits) {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer> | null} The bytes; null unless `text` is exactly the base64
 *   that an encoder would write.
 */
export function fromBase64(text) {
  let raw;
  try {
    raw = atob(text);
  } catch {
    return null;
  }
  return btoa(raw) === text ? Uint8Array.from(raw, (one) => one.charCodeAt(0)) : null;
}

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function toBase64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/**
 * @param {...Uint8Array} pieces
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function concat(...pieces) {
  const out = new Uint8Array(pieces.reduce((total, one) => total + one.length, 0));
  let place = 0;
  for (const one of pieces) {
    out.set(one, place);
    place += one.length;
  }
  return out;
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 * @returns {boolean} Whether both have the same bytes. The comparison does not take constant time.
 */
export function equal(one, other) {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>} SHA-256 of the bytes.
 */
export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<string>} SHA-256 as 64 hexadecimal digits.
 */
export async function digest(bytes) {
  return toHex(await sha256(bytes));
}

/**
 * @param {Uint8Array} bytes
 * @returns {bigint} The bytes as a big-endian integer.
 */
export function toInteger(bytes) {
  return bytes.length ? BigInt(`0x${toHex(bytes)}`) : 0n;
}

/**
 * @param {bigint} value An integer of at least 0.
 * @param {number} size Number of bytes.
 * @returns {Uint8Array<ArrayBuffer>} The integer in `size` bytes, the least significant first.
 */
export function littleEndian(value, size) {
  return fromHex(value.toString(16).padStart(2 * size, "0")).reverse();
}

/**
 * @param {bigint} value An integer of at least 0.
 * @returns {number} The number of binary digits of the integer; 0 for 0.
 */
export function bitLength(value) {
  return value === 0n ? 0 : value.toString(2).length;
}
