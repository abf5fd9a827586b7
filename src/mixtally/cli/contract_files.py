"""Contracts and networks as files."""

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from mixtally.errors import PlanError
from mixtally.records.contract import (
    CONTRACT_VERSION,
    Contract,
    Plan,
    Role,
    Rounds,
    envelope_bytes,
    fingerprint_of,
    read_contract,
    read_plan,
    text_of,
)
from mixtally.store.files import read_bytes

DAY = 86_400
CONTRACT = "make one with `mixtally contract new`"
_NETWORK = "see docs/how-to/contract.md for an example"


class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who runs a contract, as people write it down in TOML.

    where
      name, serial    of the contract
      hops            [[hops]] with name, address, key, operator, in the order of the mixes
      collector       [collector] with the same
      rounds          [rounds] with open_seconds and every_seconds; a day, every day, if left out
      suite           number of the HPKE suite
      admission       who may take part
      client_files    [client_files] with the SHA-256 of the client's files
    """

    name: str
    serial: int = 1
    hops: tuple[Role, ...]
    collector: Role
    rounds: Rounds = Rounds(open_seconds=DAY, every_seconds=DAY)
    suite: int = 1
    admission: str = "open"
    client_files: dict[str, str] = {}


def read_network(path: Path) -> Network:
    """The network in a TOML file; raises PlanError, naming the field that is wrong."""
    try:
        fields: dict[str, Any] = tomllib.loads(
            read_bytes(path, "a network", _NETWORK).decode("utf-8")
        )
        return msgspec.convert(fields, Network, strict=True)
    except (ValueError, RecursionError) as error:
        raise PlanError(
            str(path),
            wanted="TOML with a name, [[hops]] and a [collector], each with name, address, key "
            "and operator",
            got=f"something else ({error})",
            do=_NETWORK,
        ) from error


def made(plan: Plan, network: Network, subject: str) -> Contract:
    """The contract of ``plan`` run by ``network``; raises PlanError when they do not fit."""
    if len(network.hops) != plan.hops:
        raise PlanError(
            subject,
            wanted=f"{plan.hops} hops, for which the plan is priced",
            got=f"{len(network.hops)}",
            do="name all of them, or plan again with --hops",
        )
    return Contract(
        version=CONTRACT_VERSION,
        plan=plan,
        envelope_bytes=envelope_bytes(plan, network.suite),
        **msgspec.structs.asdict(network),
    )


def read_any(data: bytes, subject: str) -> Contract | Plan:
    """A contract, or a plan that nobody runs yet; raises PlanError for anything else."""
    return read_contract(data, subject) if _of_contract(data) else read_plan(data, subject)


def read_contract_file(path: Path) -> tuple[Contract, str]:
    """The contract in a file and its fingerprint; raises DataError or PlanError for none."""
    data = read_bytes(path, "a contract", CONTRACT)
    return read_contract(data, str(path)), fingerprint_of(data)


def _of_contract(data: bytes) -> bool:
    """Whether these are the bytes of a contract, of this version or another: plans have no name."""
    try:
        fields = json.loads(text_of(data))
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "serial" in fields
