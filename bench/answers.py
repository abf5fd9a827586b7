"""Stored answers of commands, for comparison with the answers after a change.

``bench.wishes`` writes and compares them. A certificate may change by rounding, an error by half a
percent, and ordinary requests may take one and a half times as long. Each larger change is reported
on a line.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

KEPT = ("protocol", "epsilon", "delta", "delta_lower", "standard_error", "flip_threshold", "fakes")
"""The stored numbers of an answer: the guarantee, the bracket of the true delta, and the costs."""
_ERROR, _SECONDS, _LEAST = 1.005, 1.5, 0.2
"""The allowed ratios of an error and of a command's seconds. Commands below ``_LEAST`` seconds are
not compared.
"""
_ROUNDED = 1e-8
"""The allowed relative change of a delta by rounding."""

ORDINARY = (
    *(
        f"plan --epsilon {epsilon} --delta 1e-6 --users {users} {asked}"
        for users, asked in (
            (200, "--bins 2"),
            (200, "--bins 12 --mix-fakes"),
            (2_000, "--bins 5"),
            (2_000, "--bins 50 --max-set 3"),
            (20_000, "--attributes 2,3,5"),
            (100_000, "--bins 100 --collections 12"),
            (1_000_000, "--bins 1000"),
            (1_000_000, "--bins 1000 --mix-fakes"),
            (1_000_000, "--bins 100000"),
            (1_000_000, "--bins 200 --max-set 5"),
            (1_000_000, "--bits 20 --fakes-per-user 0"),
            (10_000_000, "--bins 500 --collections 365"),
            (1_000_000_000, "--bins 10000"),
            (1_000_000, "--bins 100 --hops 3 --minimum-crowd 500000"),
            (1_000_000, "--bins 100 --hops 3 --mix-messages 1e5 --collections 52"),
        )
        for epsilon in (0.5, 1)
    ),
    "check noise --protocol flip-blank --epsilon 1 --delta 1e-6 --fakes 1e6",
    "check noise --protocol flip --epsilon 1 --delta 1e-6 --users 1e5 --bins 100",
    "check noise --protocol flip --epsilon 2 --delta 1e-6 --users 1e5 --bits 8",
    "check noise --protocol flip --epsilon 2 --delta 1e-6 --users 5000 --bits 5",
    "check noise --protocol single-bit --epsilon 1 --delta 1e-6 --users 1e6 --fakes 0",
    "check noise --protocol clear-uniform --epsilon 1 --delta 1e-6 --bins 1000",
    "check delta --protocol flip-blank --epsilon 1 --fakes 1e6 --flip 1e-4 --repeats 3",
    "check delta --protocol flip --epsilon 1 --users 1e6 --bins 100 --flip 0.0065",
    "check delta --protocol flip-uniform --epsilon 1 --users 1e4 --fakes 1e4 --bins 1000 "
    "--flip 0.004",
    "check delta --protocol clear-shaped --epsilon 1 --shape-shift 27 --shape-decay 0.53",
)
"""Forty typical requests."""


class CommandAnswer(NamedTuple):
    """The answer of a command: CPU seconds, the exit status or None, and numbers."""

    seconds: float
    status: int | None
    numbers: dict[str, Any]


def numbers_of(printed: bytes) -> dict[str, Any]:
    """Return the stored numbers of a printed answer; nothing if it is not JSON."""
    try:
        facts = json.loads(printed)
    except ValueError:
        return {}
    return {key: facts[key] for key in KEPT if key in facts}


def write(path: Path, answers: dict[str, CommandAnswer]) -> None:
    """Write one line of JSON for each command."""
    lines = [json.dumps([command, *answer]) for command, answer in answers.items()]
    path.write_text("\n".join(lines) + "\n")


def read_answers(path: Path) -> dict[str, CommandAnswer]:
    """Read the lines of ``write``."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {command: CommandAnswer(*rest) for command, *rest in rows}


def differences(before: dict[str, CommandAnswer], after: dict[str, CommandAnswer]) -> list[str]:
    """Return a line for every command whose answer changed more than allowed."""
    return [
        f"{reason}: {command}"
        for command, old in before.items()
        if (new := after.get(command)) is not None
        for reason in _describe_difference(command, old, new)
    ]


def _describe_difference(command: str, old: CommandAnswer, new: CommandAnswer) -> list[str]:
    moved = []
    if old.status != new.status:
        moved.append(f"exit {old.status} -> {new.status}")
    was, now = old.numbers, new.numbers
    if was.get("protocol") != now.get("protocol"):
        moved.append(f"{was.get('protocol')} -> {now.get('protocol')}")
    elif was and command.startswith("check delta"):
        if now["delta"] < was["delta_lower"] * (1.0 - _ROUNDED):
            moved.append(f"delta {now['delta']:g} below the truth, {was['delta_lower']:g}")
        if now["delta"] > was["delta"] * _ERROR:
            moved.append(f"delta {was['delta']:g} -> {now['delta']:g}")
    error, wide = was.get("standard_error"), now.get("standard_error")
    if error and wide and wide > error * _ERROR:
        moved.append(f"error {error:.5g} -> {wide:.5g}")
    ordinary = command.removesuffix(" --json") in ORDINARY
    if ordinary and new.seconds > max(_LEAST, _SECONDS * old.seconds):
        moved.append(f"{old.seconds:.2f} s -> {new.seconds:.2f} s")
    return moved
