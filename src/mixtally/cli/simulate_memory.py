"""``mixtally simulate --memory``: the same as ``mixtally memory``, with f chosen for an epsilon."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.budget import BudgetOptions
from mixtally.cli.grouped import flags
from mixtally.cli.memory_options import Answers, BloomOptions, LevelOptions
from mixtally.cli.reading import ReadingOptions
from mixtally.cli.rows import RowOptions
from mixtally.errors import ParameterError
from mixtally.privacy.divergence.memoized import least_permanent
from mixtally.records.guarantee import Guarantee, checked_epsilon
from mixtally.records.mechanism.memoized import memoized
from mixtally.report.words import at_most


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """Whether answers are memoized, and how."""

    memory: Annotated[
        bool,
        o.option(
            "--memory",
            "Randomize answers once and report again: as --protocol memory, and as "
            "`mixtally memory`, which has more options. No mix is relied on.",
        ),
    ] = False
    levels: LevelOptions


def asked(
    memory: MemoryOptions, reading: ReadingOptions, budget: BudgetOptions, beside: list[str]
) -> Answers | None:
    """Whose answers are memoized, None when that is not asked for by its flag or as a protocol.

    where
      beside   flags of other options that make no sense with them

    Raises ParameterError for options that belong to the other kind of collection.
    """
    named = budget.trust.protocol == "memory"
    if not memory.memory and not named:
        used = flags(memory.levels)
        if used:
            raise ParameterError(
                "--memory",
                wanted="it beside " + ", ".join(used),
                got="none",
                do="add --memory, or leave these out",
            )
        return None
    if named:
        budget = replace(budget, trust=replace(budget.trust, protocol=None))
    used = (
        flags(budget)
        + flags(replace(reading, column=None, labels=None, rows=RowOptions()))
        + beside
    )
    if used:
        hashed = {"--hash-bins", "--candidates"} & set(used)
        raise ParameterError(
            "--memory",
            wanted="no mixes, no plan and one value of a --column a person",
            got="it beside " + ", ".join(used),
            do="leave these out" + "; `mixtally memory --bloom-bits` hashes words" * bool(hashed),
        )
    if reading.column is None:
        raise ParameterError(
            "--memory",
            wanted="one value of a --column a person",
            got="no column",
            do="add --column NAME",
        )
    return Answers(column=reading.column, labels=reading.labels)


def play(
    data: Path,
    rows: RowOptions,
    answers: Answers,
    promise: o.MaybePromise,
    run: o.RunOptions,
    options: LevelOptions,
) -> None:
    """What ``mixtally memory`` does with these options."""
    from mixtally.cli import memory  # it is slow to import, and only wanted with --memory

    permanent, reason = _permanent(options, promise)
    levels = replace(options, permanent=permanent)
    memory.play(data, rows, answers, promise.epsilon, run, levels, BloomOptions(), reason)


def _permanent(options: LevelOptions, promise: o.MaybePromise) -> tuple[float, str]:
    """The permanent response f: given, or the least that keeps the guarantee; the reason in words.

    With a state file reports may go on in later runs, so then the guarantee is for any number of
    them: what would be seen if the permanent response itself were shown.
    """
    epsilon, delta, levels = promise.epsilon, promise.delta, options.filled()
    if epsilon is None:
        if delta is not None:
            raise ParameterError(
                "--delta", wanted="--epsilon beside it", got="none", do="leave it out, or add one"
            )
        return levels.permanent, ""
    if options.permanent is not None:
        raise ParameterError(
            "--permanent",
            wanted="it or --epsilon",
            got="both",
            do="leave one out: epsilon chooses f; `mixtally memory` prints delta at an epsilon",
        )
    checked_epsilon(epsilon)
    if delta is not None:
        Guarantee(epsilon=epsilon, delta=delta)
    shown, reports = memoized(2, 0.5, levels.p, levels.q), levels.reports
    over = f"the {reports:,} reports of this run"
    if options.state is not None:
        shown, reports = memoized(2, 0.5, 0.0, 1.0), 1
        over = "any number of reports, as with a state file they may go on"
    f = least_permanent(shown, reports, epsilon, delta or 0.0).f
    kept = f"epsilon = {epsilon:g}" + (f", delta = {delta:g}" if delta else "")
    return f, f"The least permanent response that keeps {kept} over {over}: f = {at_most(f, 6)}."
