"""One question in one round after another: counts of every round, and how much they changed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.estimate.change import estimate_change
from mixtally.estimate.conclude.counts import conclude
from mixtally.estimate.conclude.numbers import means_over_time
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.result import Series, Step
from mixtally.records.results import Tally


def conclude_series(
    plan: Plan,
    tallies: Sequence[Tally],
    users: Sequence[int],
    names: Sequence[str],
    *,
    level: float = 0.95,
    edges: NDArray[np.float64] | None = None,
) -> Series:
    """Counts and changes of rounds that were all collected under ``plan``.

    where
      users   people in each round; names of the rounds
      edges   where numbers were cut into bins, to tell their means; None for no numbers

    Raises as ``conclude`` does.
    """
    results = tuple(
        conclude((plan,), (tally,), users=people, level=level)
        for tally, people in zip(tallies, users, strict=True)
    )
    steps = steps_between(plan.mechanism, tallies, level)
    means = () if edges is None else means_over_time(names, results, users, steps, edges)
    return Series(names=tuple(names), results=results, steps=steps, figures=means)


def steps_between(mechanism: Shuffled, tallies: Sequence[Tally], level: float) -> tuple[Step, ...]:
    """The change from each round to the next and, last, from the first to the last."""
    last = len(tallies) - 1
    pairs = [(i, i + 1) for i in range(last)] + [(0, last)] * (last > 1)
    return tuple(
        Step(
            i,
            j,
            estimate_change(mechanism, tallies[i], tallies[j], level=level, changes=len(pairs)),
        )
        for i, j in pairs
    )
