"""Means, sums and quantiles of numbers that were rounded at random, and changes of the mean.

``conclude`` and ``conclude_series`` call this module. ``protocol.estimate.numbers`` has the
derivation.
"""

from collections.abc import Sequence
from dataclasses import replace

from mixtally.model.estimates import Estimate, Figures, Row
from mixtally.model.grid import Grid
from mixtally.model.mechanism import Shuffled
from mixtally.model.question import Question
from mixtally.model.result import Result, Step
from mixtally.protocol.estimate.cumulants import cumulants
from mixtally.protocol.estimate.numbers import RoundedNumbers, summary


def number_figures(
    question: Question,
    mechanism: Shuffled,
    messages: int,
    found: Estimate,
    grid: Grid,
    users: int,
) -> Figures:
    """Estimate mean, sum, variance and quantiles of numbers that were rounded to ``grid``.

    ``found`` are the estimated counts of the grid's points, from ``messages`` messages of ``users``
    people.
    """
    level = found.individual.level
    rounded = RoundedNumbers(
        found.counts, grid, users, cumulants(mechanism, messages, found.counts)
    )
    return Figures(
        "numbers",
        f"{question.name}: mean and quantiles",
        f"Computed from the counts of {grid.points:,} points, with {100 * level:g} % intervals for "
        "each number alone. Each number was rounded at random to one of its two nearest points, "
        "without bias. So mean and sum have no resolution, and their errors include the worst "
        "case of rounding. A quantile is known up to two steps, squares up to an eighth of a "
        "squared step. Numbers outside the range were moved to its ends; the shares at the ends "
        "show how many these may be.",
        (*summary(rounded, level), *_end_shares(found, grid, users)),
    )


def _end_shares(found: Estimate, grid: Grid, users: int) -> list[Row]:
    """Return two rows: the shares of people at the first and at the last point of the grid."""
    each, error = found.individual, found.standard_error / users
    return [
        Row(
            f"share at {end:g}",
            float(found.counts[place]) / users,
            lower=float(each.lower[place]) / users,
            upper=min(1.0, float(each.upper[place]) / users),
            standard_error=error,
        )
        for place, end in ((0, grid.low), (-1, grid.high))
    ]


def means_over_time(
    names: Sequence[str],
    results: Sequence[Result],
    rounds: Sequence[Shuffled],
    users: Sequence[int],
    steps: Sequence[Step],
    grid: Grid,
) -> tuple[Figures, ...]:
    """Estimate the mean of every round, and the change of the mean in every step.

    ``rounds`` are the mechanisms of the rounds, with the fakes that arrived. ``users`` are the
    numbers of people of the rounds. ``steps`` name the two rounds of each change.
    """
    every = [
        RoundedNumbers(
            result.estimate.counts,
            grid,
            people,
            cumulants(mechanism, result.messages, result.estimate.counts),
        )
        for result, mechanism, people in zip(results, rounds, users, strict=True)
    ]
    asked, level = results[0].question.name, results[0].estimate.individual.level
    means = [replace(one.mean(level), label=n) for n, one in zip(names, every, strict=True)]
    changes = [
        replace(
            every[step.first].change_to(every[step.last], level),
            label=f"{names[step.first]} to {names[step.last]}",
        )
        for step in steps
    ]
    note = (
        f"{100 * level:g} % intervals for each number alone. Every epoch rounds independently: the "
        "intervals include the worst case of rounding."
    )
    found = [Figures("means", f"{asked}: mean over time", note, tuple(means))]
    if changes:
        title = f"{asked}: change of the mean"
        found.append(Figures("mean_changes", title, note, tuple(changes)))
    return tuple(found)
