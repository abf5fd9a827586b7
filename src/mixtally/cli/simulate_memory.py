"""``mixtally simulate --memory``: the same as ``mixtally memory``, with f chosen for an epsilon."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mixtally.cli.budget import given
from mixtally.cli.memory_options import BLOOM, LEVELS, USUAL
from mixtally.cli.reading import READING

MEMORY: dict[str, tuple[Any, Any]] = {
    "memory": (
        Annotated[
            bool,
            typer.Option(
                "--memory",
                help="Randomize answers once and report again: as --protocol memory, and as "
                "`mixtally memory`, which has more options. No mix is relied on.",
            ),
        ],
        False,
    ),
    **LEVELS,
}
_READ = ("column", "labels")
"""What memoized answers need of the options that say how data are read."""


def asked(options: dict[str, Any], budget: dict[str, Any], beside: dict[str, Any]) -> bool:
    """Whether memoized answers are asked for, by their flag or as a protocol.

    where
      beside   other options that make no sense with them, by their flag; None or False if not given

    Raises ParameterError for options that belong to the other kind of collection.
    """
    from mixtally.errors import ParameterError

    wanted = options["memory"] or budget["protocol"] == "memory"
    if not wanted:
        flags = [_flag(name) for name in LEVELS if options[name] is not None]
        if flags:
            raise ParameterError(
                "--memory", wanted="it beside " + ", ".join(flags), got="none",
                do="add --memory, or leave these out",
            )  # fmt: skip
        return False
    rest = {**budget, "protocol": None} if budget["protocol"] == "memory" else budget
    reading = [name for name in READING if name not in _READ]
    flags = given(rest) + [_FLAGS[name] for name in reading if _came(options[name])]
    flags += [flag for flag, value in beside.items() if _came(value)]
    if flags:
        hashed = {"--hash-bins", "--candidates"} & set(flags)
        raise ParameterError(
            "--memory", wanted="no mixes, no plan and one value of a --column a person",
            got="it beside " + ", ".join(flags),
            do="leave these out" + "; `mixtally memory --bloom-bits` hashes words" * bool(hashed),
        )  # fmt: skip
    if options["column"] is None:
        raise ParameterError(
            "--memory", wanted="one value of a --column a person", got="no column",
            do="add --column NAME",
        )  # fmt: skip
    return True


def play(
    data: Path,
    options: dict[str, Any],
    guarantee: tuple[float | None, float | None],
    *,
    level: float,
    seed: int | None,
    out: Path | None,
    top: int,
    json: bool,
) -> None:
    """What ``mixtally memory`` does with these options."""
    from mixtally.cli import memory

    epsilon, _ = guarantee
    levels = {name: options[name] for name in LEVELS}
    levels["permanent"], reason = _permanent(levels, *guarantee)
    memory.play(
        data, options["column"], {**dict.fromkeys(BLOOM), **levels}, labels=options["labels"],
        epsilon=epsilon, level=level, seed=seed, out=out, top=top, json=json, reason=reason,
    )  # fmt: skip


def _permanent(
    levels: dict[str, Any], epsilon: float | None, delta: float | None
) -> tuple[float, str]:
    """The permanent response f: given, or the least that keeps the guarantee; the reason in words.

    With a state file reports may go on in later runs, so then the guarantee is for any number of
    them: what would be seen if the permanent response itself were shown.
    """
    from mixtally.errors import ParameterError
    from mixtally.privacy.divergence.memoized import least_permanent
    from mixtally.records.guarantee import Guarantee, checked_epsilon
    from mixtally.records.mechanism.memoized import memoized
    from mixtally.report.words import at_most

    if epsilon is None:
        if delta is not None:
            raise ParameterError(
                "--delta", wanted="--epsilon beside it", got="none", do="leave it out, or add one"
            )
        given_f = levels["permanent"]
        return (USUAL["permanent"], "") if given_f is None else (given_f, "")
    if levels["permanent"] is not None:
        raise ParameterError(
            "--permanent", wanted="it or --epsilon", got="both",
            do="leave one out: epsilon chooses f; `mixtally memory` prints delta at an epsilon",
        )  # fmt: skip
    checked_epsilon(epsilon)
    if delta is not None:
        Guarantee(epsilon=epsilon, delta=delta)
    p, q, reports = (
        USUAL[name] if levels[name] is None else levels[name] for name in ("p", "q", "reports")
    )
    shown = memoized(2, 0.5, p, q)
    told = f"the {reports:,} reports of this run"
    if levels["state"] is not None:
        shown, reports = memoized(2, 0.5, 0.0, 1.0), 1
        told = "any number of reports, as with a state file they may go on"
    f = least_permanent(shown, reports, epsilon, delta or 0.0).f
    promise = f"epsilon = {epsilon:g}" + (f", delta = {delta:g}" if delta else "")
    return f, f"The least permanent response that keeps {promise} over {told}: f = {at_most(f, 6)}."


def _came(value: object) -> bool:
    return value is not None and value is not False  # 0 was given, too


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


_FLAGS = {name: _flag(name) for name in READING} | {"read_as": "--as", "separator": "--set"}
