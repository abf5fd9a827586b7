"""What numbers that were rounded at random come to, now and over time, out of their counts."""

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
    """Mean, sum, variance and quantiles of a crowd whose numbers were rounded to ``grid``."""
    level = found.individual.level
    rounded = RoundedNumbers(
        found.counts, grid, users, cumulants(mechanism, messages, found.counts)
    )
    return Figures(
        "numbers",
        f"{question.name}: mean and quantiles",
        f"Out of the counts of {grid.points:,} points, {100 * level:g} % for each number alone. "
        "Numbers were rounded at random to one of the two points beside them, right on average: "
        "mean and sum have no resolution, and the chance of rounding is in their error, at its "
        "worst. A quantile is known up to two steps, squares up to an eighth of a step squared. "
        "All of them are of numbers moved into the range; the shares at its ends say how many may "
        "have been.",
        (*summary(rounded, level), *_end_shares(found, grid, users)),
    )


def _end_shares(found: Estimate, grid: Grid, users: int) -> list[Row]:
    """The shares of people at the first and the last point."""
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
    """A mean for every round and a change for every step; ``rounds`` are their mechanisms."""
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
        f"{100 * level:g} % for each number alone. Every epoch rounds anew: the chance of rounding "
        "is in the intervals, at its worst."
    )
    found = [Figures("means", f"{asked}: mean over time", note, tuple(means))]
    if changes:
        title = f"{asked}: change of the mean"
        found.append(Figures("mean_changes", title, note, tuple(changes)))
    return tuple(found)
