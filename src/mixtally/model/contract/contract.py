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


class Contract(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan together with its operators and its schedule.

    Raises PlanError if the fields contradict each other.

    Attributes
    ----------
    version : int
        The version of the file format.
    name, serial : str, int
        A mix signs one contract of each name and serial. A larger serial ends the earlier ones.
    hops : tuple of Role
        The mixes in the order in which messages pass them.
    suite : int
        The number of the HPKE suite.
    envelope_bytes : tuple of tuples of int
        For each part, the bytes of an envelope as each hop and then the collector receive it.
    admission : str
        Who may take part: always "open".
    client_files : dict
        The SHA-256 of each file of a client, so that people can compare their copy.
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
    admission: str
    client_files: dict[str, str]

    def __post_init__(self) -> None:
        check_readable(bare.read_contract, self)


def envelope_bytes(plan: Plan, suite: int = 1) -> tuple[tuple[int, ...], ...]:
    """Return, for each part, the bytes of an envelope before each hop and before the collector.

    Raise PlanError for an unknown suite.
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
    """Return the bytes that are signed and published."""
    return encode_record(contract)


def read_contract(data: bytes, subject: str) -> Contract:
    """Read the contract in ``data``, with or without signatures below it.

    Its certificate is not proved again. Raise PlanError for anything else.
    """
    return decode_record(text_of(data), Contract, bare.read_contract, subject)


def write_plan(plan: Plan) -> bytes:
    """Return the plan as a file."""
    return encode_record(plan)


def read_plan(data: bytes, subject: str) -> Plan:
    """Read the plan in ``data``, or raise PlanError."""
    return decode_record(data, Plan, read_bare_plan, subject, "plan")
