"""Contracts, and the operators (*network*) that a contract adds to a plan.

The commands of a contract, attacks and the Python API call the functions here.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path

import msgspec

from mixtally.app.page_files import CONTRACT, HEADERS
from mixtally.errors import DataError, PlanError, pluralize
from mixtally.model.contract import (
    CONTRACT_VERSION,
    ClientFile,
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
USUAL_PER_USER = 4
"""Default number of bundles that a round accepts for each expected person.

It leaves room for repeated requests and for more people than expected.
"""
_NETWORK = "see docs/how-to/contract.md for an example"


class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The operators of a contract, as written in a TOML file.

    Attributes
    ----------
    name, serial : str or None, int
        The name of the contract, or None to use the name of the question, and its serial number.
    hops : tuple of Role
        The mixes in order. Each is a table ``[[hops]]`` with name, address, key and operator.
    collector : Role
        The collector, a table ``[collector]`` with the same fields.
    rounds : Rounds
        The times of rounds, a table ``[rounds]`` with ``open_seconds`` and ``every_seconds``. By
        default a round is open for one day, and one begins every day.
    suite : int
        Number of the HPKE cipher suite.
    most_bundles : int, optional
        Largest number of bundles in a round, where a bundle has all messages of one person. The
        default is four for every expected person.
    admission : str
        Who may take part: "open" or "codes".
    """

    name: str | None = None
    serial: int = 1
    hops: tuple[Role, ...]
    collector: Role
    rounds: Rounds = Rounds(open_seconds=DAY, every_seconds=DAY)
    suite: int = 1
    most_bundles: int | None = None
    admission: str = "open"


def read_network(given: Path | Mapping[str, object]) -> Network:
    """Return the network in a TOML file, or in a mapping with the fields of such a file.

    Raises
    ------
    DataError
        If the file cannot be read.
    PlanError
        If a field is missing or invalid.
    """
    subject = str(given) if isinstance(given, Path) else "network"
    try:
        if isinstance(given, Path):
            fields = tomllib.loads(read_bytes(given, "a network", _NETWORK).decode())
        else:
            fields = dict(given)
        return msgspec.convert(fields, Network, strict=True)
    except (ValueError, RecursionError) as error:
        raise PlanError(
            subject,
            expected="TOML with [[hops]] and a [collector], each with name, address, key and "
            "operator",
            got=f"something else ({error})",
            do=_NETWORK,
        ) from error


def read_client_files(folder: Path) -> tuple[ClientFile, ...]:
    """Return the path and SHA-256 of each generic file in the folder of a page.

    Generic files are the same for all contracts: all except ``contract.json`` and ``_headers``.

    Raises
    ------
    DataError
        If the folder or a file cannot be read.
    """
    found = {}

    def stop(error: OSError) -> None:
        raise error

    try:
        for place, _, names in os.walk(folder, onerror=stop):
            for path in (Path(place, name) for name in names):
                with path.open("rb") as opened:
                    digest = file_digest(opened, "sha256").hexdigest()
                found[path.relative_to(folder).as_posix()] = digest
    except OSError as error:
        raise DataError(
            str(folder),
            expected="a folder with the files of a page",
            got=error,
            do="name the folder, and make its files readable",
        ) from error
    generic = sorted(found.keys() - {CONTRACT, HEADERS})
    return tuple(ClientFile(path=path, sha256=found[path]) for path in generic)


def contract_of(
    plan: Plan, network: Network, subject: str, client_files: tuple[ClientFile, ...] = ()
) -> Contract:
    """Return the contract of a plan and its network; raise PlanError if they do not fit.

    Parameters
    ----------
    plan : Plan
        The plan, whose number of hops must be that of the network.
    network : Network
        The roles that run the plan.
    subject : str
        The name of the network's file in messages.
    client_files : tuple of ClientFile
        The files of the web page on which people answer, with their hashes; empty to leave them
        out.
    """
    if len(network.hops) != plan.hops:
        raise PlanError(
            subject,
            expected=f"{pluralize(plan.hops, 'hop')}, as in the plan",
            got=f"{len(network.hops)}",
            do="name all hops, or plan again with --hops",
        )
    fields = {**msgspec.structs.asdict(network), "name": network.name or plan.question.name}
    if network.most_bundles is None:
        fields["most_bundles"] = USUAL_PER_USER * plan.users
    return Contract(
        version=CONTRACT_VERSION,
        plan=plan,
        envelope_bytes=envelope_bytes(plan, network.suite),
        client_files=client_files,
        **fields,
    )


def read_plan_or_contract(data: bytes, subject: str) -> Contract | Plan:
    """Return the plan or the contract in a file; raise PlanError for any other content.

    Parameters
    ----------
    data : bytes
        The content of the file.
    subject : str
        The name of the file in messages.
    """
    return read_contract(data, subject) if _is_contract(data) else read_plan(data, subject)


def _is_contract(data: bytes) -> bool:
    """Return whether the bytes are a contract of any version, which has a serial number."""
    try:
        fields = json.loads(text_of(data))
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "serial" in fields
