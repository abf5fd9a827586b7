"""Sections 13 and 14 of SPEC.md: keys, and envelopes that are opened.

Suite 1 is opened by ``pyhpke``. Suite 2 is put together here from RFC 9180 and the page; ML-KEM,
X25519 and AES-GCM are those of ``cryptography``.
"""

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, PyHPKEError

from spec.stranger_forms import RefusalError, need

KEM = {1: 0x0020, 2: 0x647A}
PUBLIC, SHARE, LAYER = {1: 32, 2: 1216}, {1: 32, 2: 1120}, {1: 48, 2: 1136}
PEER = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)
TAIL = bytes([0, 4, 0, 1, 0, 1])


def halves(secret):
    return MLKEM768PrivateKey.from_seed_bytes(secret[:64]), secret[64:]


def public_of(suite, secret):
    front = b""
    if suite == 2:
        lattice, secret = halves(secret)
        front = lattice.public_key().public_bytes_raw()
    return front + X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def configuration(suite, public):
    return bytes([0]) + KEM[suite].to_bytes(2, "big") + public + TAIL


def check_key(suite, key):
    """A configuration that somebody can seal for."""
    public = key[3:-6]
    need(len(public) == PUBLIC[suite], "key-configuration")
    need(key == configuration(suite, public), "key-configuration")
    point = X25519PublicKey.from_public_bytes(public[-32:])
    try:
        X25519PrivateKey.generate().exchange(point)
    except ValueError:
        raise RefusalError("key-configuration") from None


def open_layer(suite, secret, info, envelope):
    """What is inside; None where it does not open."""
    share, sealed = envelope[: SHARE[suite]], envelope[SHARE[suite] :]
    if len(envelope) < LAYER[suite]:
        return None
    if suite == 1:
        key = PEER.kem.deserialize_private_key(secret)
        try:
            return PEER.create_recipient_context(share, key, info).open(sealed)
        except (PyHPKEError, ValueError):  # the latter for a share of small order
            return None
    return opened(shared_secret(secret, share), info, sealed)


def shared_secret(secret, share):
    """The hybrid's."""
    lattice, curve = halves(secret)
    ours = X25519PrivateKey.from_private_bytes(curve)
    of_curve = ours.exchange(X25519PublicKey.from_public_bytes(share[1088:]))
    of_lattice = lattice.decapsulate(share[:1088])
    public = ours.public_key().public_bytes_raw()
    label = bytes.fromhex("5c2e2f2f5e5c")
    return hashlib.sha3_256(of_lattice + of_curve + share[1088:] + public + label).digest()


def extract(salt, label, value):
    return hmac.digest(salt, b"HPKE-v1" + SUITE_ID + label + value, "sha256")


def expand(key, label, info, size):
    """One block of HKDF is enough."""
    info = size.to_bytes(2, "big") + b"HPKE-v1" + SUITE_ID + label + info
    return hmac.digest(key, info + b"\1", "sha256")[:size]


SUITE_ID = b"HPKE" + bytes.fromhex("647a 0001 0001")


def opened(shared, info, sealed):
    """RFC 9180, section 5.1, base mode; the first message of the context."""
    context = bytes([0]) + extract(b"", b"psk_id_hash", b"") + extract(b"", b"info_hash", info)
    secret = extract(shared, b"secret", b"")
    key, nonce = expand(secret, b"key", context, 16), expand(secret, b"base_nonce", context, 12)
    try:
        return AESGCM(key).decrypt(nonce, sealed, b"")
    except InvalidTag:
        return None


def info_of(sheet, hop, part):
    return b"mixtally envelope 1" + sheet + bytes([hop]) + part.to_bytes(2, "big")
