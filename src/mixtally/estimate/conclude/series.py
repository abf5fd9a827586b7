"""One question in one round after another: counts of every round, and how much they changed."""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.change import Counted, estimate_change
from mixtally.estimate.conclude.counts import conclude, seen_of
from mixtally.estimate.conclude.numbers import means_over_time
from mixtally.estimate.received import arrived
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.result import Series, Step
from mixtally.records.results import Tally


def conclude_series(
    plan: Plan,
    tallies: Sequence[Tally],
    users: Sequence[int],
    names: Sequence[str],
    analysis: Analysis = COUNTS_ALONE,
) -> Series:
    """Counts and changes of rounds that were all collected under ``plan``.

    where
      users, names   of each round: how many people, and what it is called
      analysis       what is wanted of every round; means are estimated of numbers that were rounded

    Raises as ``conclude`` does.
    """
    alone = structs.replace(plan, grid=None)
    results = tuple(
        replace(conclude(alone, (tally,), analysis, people=many), tallies=())
        for tally, many in zip(tallies, users, strict=True)
    )
    rounds = [arrived(plan, tally, many) for tally, many in zip(tallies, users, strict=True)]
    seen = [seen_of(plan.parts[0], tally) for tally in tallies]
    steps = steps_between(rounds, seen, analysis.level)
    grid = plan.grid
    means = () if grid is None else means_over_time(names, results, rounds, users, steps, grid)
    return Series(names=tuple(names), results=results, steps=steps, figures=means)


def steps_between(
    rounds: Sequence[Shuffled], tallies: Sequence[Tally], level: float
) -> tuple[Step, ...]:
    """The change from each round to the next and, last, from the first to the last.

    ``rounds`` are the mechanisms of each, with the fakes that came.
    """
    last = len(tallies) - 1
    pairs = [(i, i + 1) for i in range(last)] + [(0, last)] * (last > 1)
    return tuple(
        Step(
            i,
            j,
            estimate_change(
                Counted(rounds[i], tallies[i]),
                Counted(rounds[j], tallies[j]),
                level=level,
                changes=len(pairs),
            ),
        )
        for i, j in pairs
    )
