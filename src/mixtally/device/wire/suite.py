"""HPKE suites by their numbers in contracts, and the keys of a round.

Suite 1 is X25519, HKDF-SHA256, AES-128-GCM; suite 2 has MLKEM768_X25519 in place of X25519, which
holds against who has a quantum computer later. Public keys travel as RFC 9458 key configurations:
key identifier (1 byte, 0), KEM (2), public key, length of what follows (2), KDF (2), AEAD (2).

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
_SEED_BYTES = 64  # of ML-KEM
_LATTICE_BYTES = 1184  # its public key
_POINT_BYTES = 32  # of X25519, which comes last in both suites
_CHECKER = X25519PrivateKey.from_private_bytes(bytes([1] * _POINT_BYTES))


@dataclass(frozen=True, slots=True)
class HpkeSuite:
    """A suite, and how its keys are written.

    where
      layer_bytes     what an envelope is longer than what it holds
      private_bytes   secret bytes of which a key is made
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
        """The library's suite; it cannot be pickled, so every process makes its own."""
        return Suite(self.library, KDF.HKDF_SHA256, AEAD.AES_128_GCM)

    def configuration(self, private: bytes) -> bytes:
        """The public key of a private one, as others are told."""
        return bytes([0]) + self.kem.to_bytes(2) + self.public_of(private) + _TAIL

    def key(self, configuration: bytes) -> Any:
        """The public key in a configuration; raises RefusedError for another suite or form."""
        head, tail = bytes([0]) + self.kem.to_bytes(2), configuration[-len(_TAIL) :]
        raw = configuration[len(head) : -len(_TAIL)]
        right = configuration[: len(head)] == head and tail == _TAIL
        if not right or len(raw) != self.public_bytes:
            expected = f"a key configuration of suite {self.number}"
            raise make_refusal("key-configuration", "key of a hop", expected, configuration.hex())
        try:
            _CHECKER.exchange(X25519PublicKey.from_public_bytes(raw[-_POINT_BYTES:]))
            return self.public(raw)
        except ValueError as error:  # among them points of small order: nobody could seal for them
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
"""Suites by their numbers."""
