"""A contract: a plan, and the network of those who run it."""

import json
import tomllib
from pathlib import Path

import msgspec

from mixtally.errors import PlanError
from mixtally.model.contract import (
    CONTRACT_VERSION,
    Contract,
    Plan,
    Role,
    Rounds,
    envelope_bytes,
    read_contract,
    read_plan,
    text_of,
)
from mixtally.primitives.files import read_bytes

DAY = 86_400
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


def network_of(fields: object, subject: str) -> Network:
    """The network in what TOML holds; raises PlanError, naming the field that is wrong."""
    try:
        return msgspec.convert(fields, Network, strict=True)
    except (ValueError, RecursionError) as error:
        raise _network_error(subject, error) from error


def read_network(path: Path) -> Network:
    """The network in a TOML file; DataError without one, PlanError for anything else."""
    try:
        fields = tomllib.loads(read_bytes(path, "a network", _NETWORK).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _network_error(str(path), error) from error
    return network_of(fields, str(path))


def contract_of(plan: Plan, network: Network, subject: str) -> Contract:
    """The contract of ``plan`` run by ``network``; raises PlanError when they do not fit."""
    if len(network.hops) != plan.hops:
        raise PlanError(
            subject,
            expected=f"{plan.hops} hops, for which the plan is priced",
            got=f"{len(network.hops)}",
            do="name all of them, or plan again with --hops",
        )
    return Contract(
        version=CONTRACT_VERSION,
        plan=plan,
        envelope_bytes=envelope_bytes(plan, network.suite),
        **msgspec.structs.asdict(network),
    )


def read_plan_or_contract(data: bytes, subject: str) -> Contract | Plan:
    """Return the contract or the plan that a file has; raise PlanError for anything else."""
    return read_contract(data, subject) if _is_contract(data) else read_plan(data, subject)


def _is_contract(data: bytes) -> bool:
    """Return whether these bytes are a contract, of any version: plans have no serial number."""
    try:
        fields = json.loads(text_of(data))
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "serial" in fields


def _network_error(subject: str, error: Exception) -> PlanError:
    return PlanError(
        subject,
        expected="TOML with a name, [[hops]] and a [collector], each with name, address, key "
        "and operator",
        got=f"something else ({error})",
        do=_NETWORK,
    )
