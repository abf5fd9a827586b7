"""The contract: all that devices, mixes and a collector agree on, in one file that is signed."""

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
"""HPKE suites by their numbers; ``device.wire.suite`` has their keys."""


class Contract(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Plan, and who keeps them.

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
    """For every part the bytes of an envelope before each hop and before the collector.

    Raises PlanError for a suite that is not known.
    """
    if suite not in SUITES:
        raise PlanError(
            "suite of the contract",
            expected=f"one of {list(SUITES)}",
            got=suite,
            do="take one of these",
        )
    return bare.envelope_bytes(plan.message_bytes, plan.hops, suite)


def write_contract(contract: Contract) -> bytes:
    """The bytes to be served and signed."""
    return encode_record(contract)


def read_contract(data: bytes, subject: str) -> Contract:
    """The contract in ``data``, signatures below it or not; its numbers are not derived again.

    Raises PlanError for anything else.
    """
    return decode_record(text_of(data), Contract, bare.read_contract, subject)


def write_plan(plan: Plan) -> bytes:
    """Plan as a file, from which contracts are made."""
    return encode_record(plan)


def read_plan(data: bytes, subject: str) -> Plan:
    """The plan in ``data``; raises PlanError for anything else."""
    return decode_record(data, Plan, read_bare_plan, subject, "plan")
