"""HPKE suites by their numbers in contracts, and the keys of a round.

Suite 1 is X25519, HKDF-SHA256, AES-128-GCM. Suite 2 has MLKEM768_X25519 in place of X25519, which
also resists a later quantum computer. Public keys are sent as RFC 9458 key configurations: key
identifier (1 byte, 0), KEM (2), public key, length of the rest (2), KDF (2), AEAD (2).

Source: RFC 9180; RFC 9458, section 3; draft-ietf-hpke-pq.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)

from mixtally.device.contract.fields import make_refusal

_TAIL = bytes.fromhex("0004 0001 0001")  # HKDF-SHA256, AES-128-GCM
_SEED_BYTES = 64  # an ML-KEM-768 private key
_LATTICE_BYTES = 1184  # an ML-KEM-768 public key
_POINT_BYTES = 32  # an X25519 public key, which is last in both suites
_CHECKER = X25519PrivateKey.from_private_bytes(bytes([1] * _POINT_BYTES))


@dataclass(frozen=True, slots=True)
class HpkeSuite:
    """An HPKE suite, and the encoding of its keys.

    ``kem`` is the number of its KEM on the wire. ``layer_bytes`` is the number of bytes that a
    layer of encryption adds. ``private_bytes`` is the number of secret bytes from which a key is
    derived. ``private`` and ``public`` convert bytes to keys of the library. ``public_of`` converts
    the bytes of a private key to those of its public key.
    """

    number: int
    kem: int
    layer_bytes: int
    private_bytes: int
    public_bytes: int
    library: Any
    private: Callable[[bytes], Any]
    public: Callable[[bytes], Any]
    public_of: Callable[[bytes], bytes]

    def create_suite(self) -> Suite:
        """Create the suite of the HPKE library.

        It cannot be pickled, so every process creates one of its own.
        """
        return Suite(self.library, KDF.HKDF_SHA256, AEAD.AES_128_GCM)

    def configuration(self, private: bytes) -> bytes:
        """Return the key configuration of the public key that belongs to ``private``."""
        return bytes([0]) + self.kem.to_bytes(2) + self.public_of(private) + _TAIL

    def key(self, configuration: bytes) -> Any:
        """Return the public key in a configuration; raise RefusedError for an invalid one."""
        head, tail = bytes([0]) + self.kem.to_bytes(2), configuration[-len(_TAIL) :]
        raw = configuration[len(head) : -len(_TAIL)]
        right = configuration[: len(head)] == head and tail == _TAIL
        if not right or len(raw) != self.public_bytes:
            expected = f"a key configuration of suite {self.number}"
            raise make_refusal("key-configuration", "key of a hop", expected, configuration.hex())
        try:
            # The exchange fails for points of small order, for which sealing would fail, too.
            _CHECKER.exchange(X25519PublicKey.from_public_bytes(raw[-_POINT_BYTES:]))
            return self.public(raw)
        except ValueError as error:
            expected = "a public key"
            raise make_refusal("key-configuration", "key of a hop", expected, str(error)) from error


def _x25519_public_bytes(raw: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw()


def _split_private_key(raw: bytes) -> tuple[MLKEM768PrivateKey, X25519PrivateKey]:
    lattice = MLKEM768PrivateKey.from_seed_bytes(raw[:_SEED_BYTES])
    return lattice, X25519PrivateKey.from_private_bytes(raw[_SEED_BYTES:])


def _combine_public_key(raw: bytes) -> MLKEM768X25519PublicKey:
    return MLKEM768X25519PublicKey(
        MLKEM768PublicKey.from_public_bytes(raw[:_LATTICE_BYTES]),
        X25519PublicKey.from_public_bytes(raw[_LATTICE_BYTES:]),
    )


def _hybrid_public_bytes(raw: bytes) -> bytes:
    lattice, curve = _split_private_key(raw)
    return lattice.public_key().public_bytes_raw() + curve.public_key().public_bytes_raw()


SUITES = {
    1: HpkeSuite(
        number=1,
        kem=0x0020,
        layer_bytes=48,
        private_bytes=32,
        public_bytes=32,
        library=KEM.X25519,
        private=X25519PrivateKey.from_private_bytes,
        public=X25519PublicKey.from_public_bytes,
        public_of=_x25519_public_bytes,
    ),
    2: HpkeSuite(
        number=2,
        kem=0x647A,
        layer_bytes=1136,
        private_bytes=_SEED_BYTES + 32,
        public_bytes=_LATTICE_BYTES + 32,
        library=KEM.MLKEM768_X25519,
        private=lambda raw: MLKEM768X25519PrivateKey(*_split_private_key(raw)),
        public=_combine_public_key,
        public_of=_hybrid_public_bytes,
    ),
}
"""HPKE suites by number."""
