"""Result of a simulation over time: the series of one plan, its cost, and the truth."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.simulation.findings import Findings
from mixtally.lab.simulation.truth import Values
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan
from mixtally.model.estimates import Estimate
from mixtally.model.guarantee import Guarantee
from mixtally.model.result import Series, Step
from mixtally.report.coverage import Coverage, coverage, measured_error


@dataclass(frozen=True, slots=True)
class EpochSpending:
    """The privacy spent by a person who takes part in ``times`` epochs.

    ``people`` is the number of people in this entry; None if unknown. ``epsilon`` is the smallest
    epsilon at the guarantee's delta; None if it exceeds 20. ``certificate`` has the bounds of delta
    at the guarantee's epsilon.
    """

    times: int
    people: int | None
    epsilon: float | None
    certificate: Certificate

    @property
    def delta(self) -> float:
        """Upper bound of delta at the guarantee's epsilon."""
        return self.certificate.upper


@dataclass(frozen=True, slots=True, eq=False)
class TrueSeries:
    """The truth about a crowd over time, which only a simulation knows.

    ``counts`` are the true counts, shape (epochs, bins). ``spending`` has the privacy that people
    spend, by the number of their epochs; the last entry is for all epochs. ``figures`` maps the
    name of each figure to the true values of its rows.
    """

    counts: NDArray[np.integer]
    spending: tuple[EpochSpending, ...]
    figures: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trend(Findings[TrueSeries]):
    """The results of one question in successive epochs, with ``users`` people in each.

    ``guarantee``, ``certificate`` and ``least_epsilon`` are those of a person who takes part in
    every epoch. ``least_epsilon`` is the smallest epsilon at the guarantee's delta; None if it
    exceeds 20.
    """

    guarantee: Guarantee
    users: tuple[int, ...]
    series: Series
    certificate: Certificate
    least_epsilon: float | None

    @property
    def spending(self) -> tuple[EpochSpending, ...]:
        """Spending by the number of epochs; only the worst case if attendance is unknown."""
        if self.truth is not None:
            return self.truth.spending
        return (EpochSpending(len(self.epochs), None, self.least_epsilon, self.certificate),)

    @property
    def plan(self) -> Plan:
        """The plan of all epochs."""
        return self.series.plan

    @property
    def epochs(self) -> tuple[str, ...]:
        """The names of the epochs."""
        return self.series.names

    @property
    def steps(self) -> tuple[Step, ...]:
        """The changes between epochs."""
        return self.series.steps

    @property
    def estimate(self) -> Estimate:
        """The counts of the first epoch. All epochs have the same error, level and method."""
        return self.series.results[0].estimate

    @property
    def worst_change(self) -> float | None:
        """Largest standard error of a change; None if there is only one epoch."""
        return max((step.change.standard_error for step in self.steps), default=None)

    @property
    def true_figures(self) -> Mapping[str, Values] | None:
        """True values by the name of the figure; None if unknown."""
        return None if self.truth is None else self.truth.figures

    def true_change(self, step: Step) -> NDArray[np.int64]:
        """Return the true increase of every bin in ``step``."""
        before, after = self.known_truth.counts[step.first], self.known_truth.counts[step.last]
        rise: NDArray[np.int64] = after.astype(np.int64) - before
        return rise

    def count_error(self) -> float:
        """Return the root mean square error of all counts of all epochs."""
        every = zip(self.series.results, self.known_truth.counts, strict=True)
        return measured_error(*(result.estimate.counts - true for result, true in every))

    def change_error(self) -> float | None:
        """Return the root mean square error of changes between neighboring epochs.

        Returns None if there is only one epoch.
        """
        if not self.steps:
            return None
        # The last step may compare the first epoch with the last one, which are not neighbors.
        neighbors = self.steps[: len(self.epochs) - 1]
        return measured_error(*(s.change.counts - self.true_change(s) for s in neighbors))

    def coverage(self) -> Coverage:
        """Return how many individual intervals of changes cover the true change."""
        each = [step.change.individual for step in self.steps]
        return coverage(
            (
                [one.lower for one in each],
                [self.true_change(step) for step in self.steps],
                [one.upper for one in each],
            )
        )
