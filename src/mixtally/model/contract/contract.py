"""The contract: everything that devices, mixes and a collector agree on, in one signed file."""

import msgspec

from mixtally.device.contract import contract as bare
from mixtally.device.contract.fields import text_of
from mixtally.device.contract.plan import read_plan as read_bare_plan
from mixtally.errors import PlanError
from mixtally.model.contract_json import check_readable, decode_record, encode_record
from mixtally.model.plan import Plan
from mixtally.model.roles import Role, Rounds

SUITES = {
    1: "X25519, HKDF-SHA256, AES-128-GCM",
    2: "MLKEM768-X25519, HKDF-SHA256, AES-128-GCM",
}
"""HPKE suites by number. Their keys are in ``device.wire.suite``."""


class ClientFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of the page by which people answer: its relative path, and its SHA-256 as hex."""

    path: str
    sha256: str


class Contract(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan together with its operators and its schedule.

    Raises PlanError if the fields contradict each other.

    Attributes
    ----------
    version : int
        The version of the file format.
    name, serial : str, int
        The name of the contract, and the number of its version. A mix signs only one contract of
        each name and serial. A contract with a larger serial ends the earlier ones of its name.
    hops : tuple of Role
        The mixes in the order in which messages pass them.
    suite : int
        The number of the HPKE suite.
    envelope_bytes : tuple of tuples of int
        For each part, the length of an envelope in bytes, as each hop and then the collector
        receive it.
    most_bundles : int
        The maximum number of bundles that a round accepts, in [users, 100 users].
    admission : str
        Who may take part: everybody ("open"), or everybody who has a one-time code ("codes").
    client_files : tuple of ClientFile
        The files of the page by which people answer, in the order of their paths. People can
        compare the page that they receive.
    """

    version: int
    name: str
    serial: int
    plan: Plan
    hops: tuple[Role, ...]
    collector: Role
    suite: int
    envelope_bytes: tuple[tuple[int, ...], ...]
    rounds: Rounds
    most_bundles: int
    admission: str
    client_files: tuple[ClientFile, ...]

    def __post_init__(self) -> None:
        check_readable(bare.read_contract, self)


def envelope_bytes(plan: Plan, suite: int = 1) -> tuple[tuple[int, ...], ...]:
    """Return the length of an envelope in bytes, for each part and each role that receives it.

    An envelope is a message that is encrypted once for each role. Every role removes one layer, so
    the tuple of each part has the length that each hop receives, then the collector's.

    Raise PlanError for an unknown suite.

    Parameters
    ----------
    plan : Plan
        The plan, which has the message formats and the number of hops.
    suite : int
        The number of the HPKE suite, a key of ``SUITES``.
    """
    if suite not in SUITES:
        raise PlanError(
            "suite of the contract",
            expected=f"one of {list(SUITES)}",
            got=suite,
            do="choose one of these",
        )
    return bare.envelope_bytes(plan.message_bytes, plan.hops, suite)


def write_contract(contract: Contract) -> bytes:
    """Return the contract as a file: the bytes that are signed and published."""
    return encode_record(contract)


def read_contract(data: bytes, subject: str) -> Contract:
    """Read a contract, with or without signatures below it.

    This function does not prove the certificate again. Raise PlanError if the content is not a
    contract that devices accept.

    Parameters
    ----------
    data : bytes
        The content of a file.
    subject : str
        The name of the input in messages.
    """
    return decode_record(text_of(data), Contract, bare.read_contract, subject)


def write_plan(plan: Plan) -> bytes:
    """Return the plan as a file."""
    return encode_record(plan)


def read_plan(data: bytes, subject: str) -> Plan:
    """Read a plan, or raise PlanError.

    Parameters
    ----------
    data : bytes
        The content of a file.
    subject : str
        The name of the input in messages.
    """
    return decode_record(data, Plan, read_bare_plan, subject, "plan")
