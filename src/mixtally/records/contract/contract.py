"""The contract: all that devices, mixes and a collector agree on, in one file that is signed."""

import re

import msgspec

from mixtally.errors import PlanError
from mixtally.records.contract.note import text_of
from mixtally.records.contract.spelling import spelled, unspelled
from mixtally.records.contract.terms import Terms
from mixtally.records.roles import Role, Rounds

CONTRACT_VERSION = 1
LAYER_BYTES = {1: 48, 2: 1136}
"""What a layer of encryption adds, by the suite: a share of a key and a 16-byte tag."""
SUITES = {
    1: "X25519, HKDF-SHA256, AES-128-GCM",
    2: "MLKEM768-X25519, HKDF-SHA256, AES-128-GCM",
}
"""HPKE suites by their numbers; ``wire.suite`` has their keys."""
ADMISSIONS = ("open",)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FILE = re.compile(r"[!-~]{1,200}")


class Contract(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Terms, and who keeps them.

    where
      version         of this format
      name, serial    a mix signs one contract of a name and serial; a larger serial ends the others
      hops            mixes in the order in which messages pass them
      suite           number of the HPKE suite
      envelope_bytes  for every part, the bytes of an envelope as each hop and then the collector
                      receives it
      admission       who may take part: "open"
      client_files    file -> SHA-256 of the files of a client, for whoever wants to compare

    Raises PlanError for what does not fit together.
    """

    version: int
    name: str
    serial: int
    terms: Terms
    hops: tuple[Role, ...]
    collector: Role
    suite: int
    envelope_bytes: tuple[tuple[int, ...], ...]
    rounds: Rounds
    admission: str
    client_files: dict[str, str]

    def __post_init__(self) -> None:
        for subject, right, wanted, got in (
            ("version", self.version == CONTRACT_VERSION, str(CONTRACT_VERSION), self.version),
            ("name", _NAME.fullmatch(self.name), "small letters, digits and dashes", self.name),
            ("serial", 1 <= self.serial <= 1 << 53, "a positive integer", self.serial),
            ("admission", self.admission in ADMISSIONS, "open", self.admission),
            (
                "hops",
                len(self.hops) == self.terms.hops,
                f"the {self.terms.hops} that its terms are priced for",
                len(self.hops),
            ),
            (
                "envelope bytes",
                self.envelope_bytes == envelope_bytes(self.terms, self.suite),
                "those that follow from its layouts",
                self.envelope_bytes,
            ),
        ):
            if not right:
                raise _wrong(subject, wanted, got)
        roles = [*self.hops, self.collector]
        for field, values in (
            ("name", [role.name for role in roles]),
            ("address", [role.address for role in roles]),
            ("public key", [role.public.hex() for role in roles]),
        ):
            twice = [value for value in values if values.count(value) > 1]
            if twice:
                raise _wrong("hops", f"another {field} for each and for the collector", twice[0])
        for file, digest in self.client_files.items():
            if not _FILE.fullmatch(file) or not _SHA256.fullmatch(digest):
                raise _wrong("client files", "names and SHA-256 digests", f"{file}: {digest}")


def envelope_bytes(terms: Terms, suite: int = 1) -> tuple[tuple[int, ...], ...]:
    """For every part the bytes of an envelope before each hop and before the collector.

    Raises PlanError for a suite that is not known.
    """
    if suite not in LAYER_BYTES:
        raise _wrong("suite", f"one of {list(SUITES)}", suite)
    layer, layers = LAYER_BYTES[suite], range(terms.hops + 1, 0, -1)
    return tuple(tuple(size + layer * left for left in layers) for size in terms.message_bytes)


def write_contract(contract: Contract) -> bytes:
    """The bytes to be served and signed."""
    return spelled(contract)


def read_contract(data: bytes, subject: str) -> Contract:
    """The contract in ``data``, signatures below it or not; its numbers are not derived again.

    Raises PlanError for anything else.
    """
    return unspelled(text_of(data), Contract, subject)


def write_terms(terms: Terms) -> bytes:
    """Terms as a file, from which contracts are made."""
    return spelled(terms)


def read_terms(data: bytes, subject: str) -> Terms:
    """The terms in ``data``; raises PlanError for anything else."""
    return unspelled(data, Terms, subject)


def _wrong(subject: str, wanted: str, got: object) -> PlanError:
    return PlanError(
        f"{subject} of the contract",
        wanted=wanted,
        got=ascii(got)[:80],
        do="take the file as it was published, or make it again",
    )
