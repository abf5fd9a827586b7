"""What a simulation over time comes to: results of one plan, their changes, the cost, the truth."""

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
    """What a person spends who takes part in ``times`` epochs.

    where
      people    how many do; None when nobody knows who is who
      epsilon   the least at the guarantee's delta; None above 20
      whole     delta at the guarantee's epsilon
    """

    times: int
    people: int | None
    epsilon: float | None
    certificate: Certificate

    @property
    def delta(self) -> float:
        """The upper end of delta at the guarantee's epsilon."""
        return self.certificate.upper


@dataclass(frozen=True, slots=True, eq=False)
class TrueSeries:
    """What a lab knows of a crowd over time.

    where
      counts     shape (epochs, bins)
      figures    true numbers beside the rows of the series' figures, by their name
      spending   by the number of epochs that people take part in; the last is all of them
    """

    counts: NDArray[np.integer]
    spending: tuple[EpochSpending, ...]
    figures: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trend(Findings[TrueSeries]):
    """One question in one epoch after another.

    where
      guarantee   kept for a person who takes part in every epoch
      users       people in each epoch
      whole       of a person who takes part in every epoch
      least       epsilon of that person at the guarantee's delta; None above 20
    """

    guarantee: Guarantee
    users: tuple[int, ...]
    series: Series
    certificate: Certificate
    least_epsilon: float | None

    @property
    def spending(self) -> tuple[EpochSpending, ...]:
        """Who spends what: the worst case alone where it is not known who took part how often."""
        if self.truth is not None:
            return self.truth.spending
        return (EpochSpending(len(self.epochs), None, self.least_epsilon, self.certificate),)

    @property
    def plan(self) -> Plan:
        """The one plan of all epochs."""
        return self.series.plan

    @property
    def epochs(self) -> tuple[str, ...]:
        """Their names."""
        return self.series.names

    @property
    def steps(self) -> tuple[Step, ...]:
        """The changes."""
        return self.series.steps

    @property
    def estimate(self) -> Estimate:
        """The counts of the first epoch: all have its errors, its level and its method."""
        return self.series.results[0].estimate

    @property
    def worst_change(self) -> float | None:
        """The largest standard error of a change; None for one epoch alone."""
        return max((step.change.standard_error for step in self.steps), default=None)

    @property
    def true_figures(self) -> Mapping[str, Values] | None:
        """True numbers by the name of figures; None where they are not known."""
        return None if self.truth is None else self.truth.figures

    def true_change(self, step: Step) -> NDArray[np.int64]:
        """How much the bins truly rose in ``step``."""
        before, after = self.known_truth.counts[step.first], self.known_truth.counts[step.last]
        rise: NDArray[np.int64] = after.astype(np.int64) - before
        return rise

    def count_error(self) -> float:
        """Root mean square error of all counts of all epochs."""
        every = zip(self.series.results, self.known_truth.counts, strict=True)
        return measured_error(*(result.estimate.counts - true for result, true in every))

    def change_error(self) -> float | None:
        """Root mean square error of the changes from epoch to epoch, None for one epoch alone."""
        if not self.steps:
            return None
        neighbors = self.steps[: len(self.epochs) - 1]
        return measured_error(*(s.change.counts - self.true_change(s) for s in neighbors))

    def coverage(self) -> Coverage:
        """How many of the changes' own intervals cover the true ones."""
        each = [step.change.individual for step in self.steps]
        return coverage(
            (
                [one.lower for one in each],
                [self.true_change(step) for step in self.steps],
                [one.upper for one in each],
            )
        )
