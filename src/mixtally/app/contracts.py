"""Contracts, and the network of operators that a contract adds to a plan.

The commands of a contract, attacks and the Python API call the functions here.
"""

import json
import tomllib
from pathlib import Path

import msgspec

from mixtally.errors import PlanError, pluralize
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
    """The operators of a contract, as written in a TOML file.

    Attributes
    ----------
    name, serial : str, int
        Name and serial number of the contract.
    hops : tuple of Role
        The mixes in order: ``[[hops]]`` with name, address, key and operator.
    collector : Role
        ``[collector]`` with the same fields.
    rounds : Rounds
        ``[rounds]`` with ``open_seconds`` and ``every_seconds``; by default one day, every day.
    suite : int
        Number of the HPKE cipher suite.
    admission : str
        Who may take part.
    client_files : dict of str
        SHA-256 of the files of the client, by name.
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
    """Return the network in parsed TOML; raise PlanError that names the invalid field."""
    try:
        return msgspec.convert(fields, Network, strict=True)
    except (ValueError, RecursionError) as error:
        raise _network_error(subject, error) from error


def read_network(path: Path) -> Network:
    """Return the network in a TOML file.

    Raises
    ------
    DataError
        If the file cannot be read.
    PlanError
        If a field is missing or invalid.
    """
    try:
        fields = tomllib.loads(read_bytes(path, "a network", _NETWORK).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _network_error(str(path), error) from error
    return network_of(fields, str(path))


def contract_of(plan: Plan, network: Network, subject: str) -> Contract:
    """Return the contract of a plan and its network; raise PlanError if they do not fit."""
    if len(network.hops) != plan.hops:
        raise PlanError(
            subject,
            expected=f"{pluralize(plan.hops, 'hop')}, as in the plan",
            got=f"{len(network.hops)}",
            do="name all hops, or plan again with --hops",
        )
    return Contract(
        version=CONTRACT_VERSION,
        plan=plan,
        envelope_bytes=envelope_bytes(plan, network.suite),
        **msgspec.structs.asdict(network),
    )


def read_plan_or_contract(data: bytes, subject: str) -> Contract | Plan:
    """Return the plan or the contract in a file; raise PlanError for any other content."""
    return read_contract(data, subject) if _is_contract(data) else read_plan(data, subject)


def _is_contract(data: bytes) -> bool:
    """Return whether the bytes are a contract of any version; a plan has no serial number."""
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
