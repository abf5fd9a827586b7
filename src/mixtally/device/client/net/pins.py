"""Decisions of a person before they take part: whom they trust, and what they spend.

The decisions are in a TOML file, which must contain the fingerprint of a contract or the key of a
hop. Signatures authenticate everything else.

    fingerprint = "64 hexadecimal digits of a contract"
    keys = ["NAME+HASH+BASE64"]        # verifier keys of roles that must be in every contract

    [limits]                           # what a contract may promise; see client.limits
    epsilon = 1.0

    [budget]                           # of all contracts together
    epsilon = 3.0
    delta = 1e-5
"""

import tomllib
from typing import Any, NamedTuple

from mixtally.device.client.limits import COVERS, PROTOCOLS, Limits
from mixtally.device.contract.fields import DIGEST
from mixtally.device.contract.roles import parse_verifier_key
from mixtally.device.wire.rotation import KeyChanges, follow_key
from mixtally.errors import DataError, RefusedError

_MOST_BYTES = 1 << 20


class Budget(NamedTuple):
    """The maximum total of the charges in a diary. A charge is the cost stated in a contract."""

    epsilon: float
    delta: float


class Pins(NamedTuple):
    """The contract or the keys that a person trusts, learned from a trustworthy source.

    ``fingerprint`` is the fingerprint of the only trusted contract; None trusts every contract that
    has the keys. ``keys`` are pairs (name of a role, its Ed25519 public key) that a contract must
    have.
    """

    fingerprint: str | None = None
    keys: tuple[tuple[str, bytes], ...] = ()


def move_pins(pins: Pins, changes: KeyChanges) -> Pins:
    """Return the pins with each key replaced by its newest successor.

    Parameters
    ----------
    pins : Pins
        The pins with the keys that the person learned.
    changes : KeyChanges
        The verified rotations of keys.
    """
    return pins._replace(
        keys=tuple((name, follow_key(changes, name, key)[-1]) for name, key in pins.keys)
    )


class Trust(NamedTuple):
    """The decisions of a person, as read from their file."""

    pins: Pins = Pins()
    limits: Limits = Limits()
    budget: Budget | None = None


def read_trust(data: bytes, subject: str) -> Trust:
    """Read the decisions of a person; raise DataError for invalid content or an unknown field.

    Parameters
    ----------
    data : bytes
        The content of the file.
    subject : str
        The name of the file in messages.
    """
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
    if not isinstance(fingerprint, str) or not DIGEST.fullmatch(fingerprint):
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
