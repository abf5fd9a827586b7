"""Decisions of a person before they take part: whom they trust, and what they spend.

They are a TOML file with a required fingerprint or key of a hop. Everything else is authenticated
by signatures.

    fingerprint = "64 hexadecimal digits of a contract"
    keys = ["NAME+HASH+BASE64"]        # verifier keys of roles that must be in every contract

    [limits]                           # what a contract may promise; see client.limits
    epsilon = 1.0

    [budget]                           # of all contracts together
    epsilon = 3.0
    delta = 1e-5
"""

import re
import tomllib
from typing import Any, NamedTuple

from mixtally.device.client.limits import COVERS, PROTOCOLS, Limits
from mixtally.device.contract.roles import parse_verifier_key
from mixtally.errors import DataError, RefusedError

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_MOST_BYTES = 1 << 20


class Budget(NamedTuple):
    """The maximum total of all charges in a diary, as stated in the contracts."""

    epsilon: float
    delta: float


class Pins(NamedTuple):
    """What is trusted without a signature.

    ``fingerprint`` is that of the only trusted contract; None trusts every contract with the keys.
    ``keys`` are pairs of the name and Ed25519 public key of roles that the contract must have.
    """

    fingerprint: str | None = None
    keys: tuple[tuple[str, bytes], ...] = ()


class Trust(NamedTuple):
    """The content of the file."""

    pins: Pins = Pins()
    limits: Limits = Limits()
    budget: Budget | None = None


def read_trust(data: bytes, subject: str) -> Trust:
    """Read the decisions in a file; raise DataError for anything else, even an unknown field."""
    try:
        if len(data) > _MOST_BYTES:
            raise ValueError("too long")
        plain = tomllib.loads(data.decode("utf-8"))
        _check_field_names(plain, "fingerprint keys limits budget")
        return Trust(
            _read_pins(plain),
            _read_limits(plain.get("limits", {})),
            _read_budget(plain.get("budget")),
        )
    except (ValueError, RecursionError, RefusedError) as error:
        raise DataError(
            subject,
            expected="TOML with a fingerprint or keys, and perhaps [limits] and [budget]",
            # Escaped and cut, because a terminal may show it.
            got=f"something else ({ascii(str(error))[1:-1][:200]})",
            do="see docs/how-to/device.md for an example",
        ) from error


def validate_fingerprint(fingerprint: str) -> str:
    """Return ``fingerprint``, or raise ValueError if it is malformed."""
    if not isinstance(fingerprint, str) or not _FINGERPRINT.fullmatch(fingerprint):
        raise ValueError("a fingerprint has 64 digits of 0-9a-f")
    return fingerprint


def _check_field_names(table: Any, names: str) -> None:
    if not isinstance(table, dict):
        raise ValueError(f"expected a table with some of the fields {names}")
    if unknown := [name for name in table if name not in names.split()]:
        raise ValueError(f"unknown field {unknown[0]}")


def _read_pins(plain: dict[str, Any]) -> Pins:
    fingerprint, written = plain.get("fingerprint"), plain.get("keys", [])
    if fingerprint is not None:
        validate_fingerprint(fingerprint)
    if not isinstance(written, list) or not all(isinstance(key, str) for key in written):
        raise ValueError("keys are a list of strings")
    names = [key.partition("+")[0] for key in written]
    if len(set(names)) < len(names):
        raise ValueError("a role has one key")
    keys = [
        (name, parse_verifier_key(name, key, "keys"))
        for name, key in zip(names, written, strict=True)
    ]
    return Pins(fingerprint, tuple(keys))


def _read_limits(table: Any) -> Limits:
    _check_field_names(table, "epsilon delta local_epsilon hops protocols covers")
    usual = Limits()
    hops = table.get("hops", usual.hops)
    if type(hops) is not int:
        raise ValueError("hops is an integer")
    local = table.get("local_epsilon")
    return Limits(
        _number(table, "epsilon", usual.epsilon),
        _number(table, "delta", usual.delta),
        None if local is None else _number(table, "local_epsilon", 0.0),
        hops,
        _names(table, "protocols", PROTOCOLS),
        _names(table, "covers", COVERS),
    )


def _read_budget(table: Any) -> Budget | None:
    if table is None:
        return None
    _check_field_names(table, "epsilon delta")
    return Budget(_number(table, "epsilon", None), _number(table, "delta", None))


def _number(table: dict[str, Any], name: str, usual: float | None) -> float:
    value = table.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ValueError(f"{name} is a number of at least 0")
    return float(value)


def _names(table: dict[str, Any], name: str, known: frozenset[str]) -> frozenset[str]:
    value = table.get(name, sorted(known))
    if not isinstance(value, list) or any(
        not isinstance(one, str) or one not in known for one in value
    ):
        raise ValueError(f"{name} are some of {', '.join(sorted(known))}")
    return frozenset(value)
