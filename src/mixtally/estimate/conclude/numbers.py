"""Mean and quantiles of numbers, now and over time, out of the counts of their bins."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.estimate.cumulants import cumulants
from mixtally.estimate.numbers import Cuts, summary
from mixtally.records.mechanism import Shuffled
from mixtally.records.question import Question
from mixtally.records.result import Result, Step
from mixtally.records.results import Estimate, Figures

_RESOLUTION = (
    "A value is known up to its bin: the resolution is in the intervals, half a bin for each epoch."
)


def numbers(
    question: Question,
    mechanism: Shuffled,
    messages: int,
    found: Estimate,
    edges: NDArray[np.float64],
    users: int,
) -> Figures:
    """Mean and quantiles of a crowd whose numbers were cut at ``edges``."""
    level = found.each.level
    cuts = Cuts(found.counts, edges, users, cumulants(mechanism, messages, found.counts))
    return Figures(
        "numbers",
        f"{question.name}: mean and quantiles",
        f"Out of the counts of {question.bins:,} bins, {100 * level:g} % for each number alone. A "
        "value is known up to its bin: this resolution, half a bin on each side of the mean and a "
        "bin at either end of a quantile, is in the intervals.",
        tuple(summary(cuts, level)),
    )


def means_over_time(
    names: Sequence[str],
    results: Sequence[Result],
    rounds: Sequence[Shuffled],
    users: Sequence[int],
    steps: Sequence[Step],
    edges: NDArray[np.float64],
) -> tuple[Figures, ...]:
    """A mean for every round and a change for every step; ``rounds`` are their mechanisms."""
    cuts = [
        Cuts(
            result.estimate.counts,
            edges,
            people,
            cumulants(mechanism, result.messages, result.estimate.counts),
        )
        for result, mechanism, people in zip(results, rounds, users, strict=True)
    ]
    asked, level = results[0].question.name, results[0].estimate.each.level
    means = [replace(one.mean(level), label=n) for n, one in zip(names, cuts, strict=True)]
    changes = [
        replace(
            cuts[step.first].rise_to(cuts[step.last], level),
            label=f"{names[step.first]} to {names[step.last]}",
        )
        for step in steps
    ]
    note = f"{100 * level:g} % for each number alone. {_RESOLUTION}"
    found = [Figures("means", f"{asked}: mean over time", note, tuple(means))]
    if changes:
        title = f"{asked}: change of the mean"
        found.append(Figures("mean_changes", title, note, tuple(changes)))
    return tuple(found)
