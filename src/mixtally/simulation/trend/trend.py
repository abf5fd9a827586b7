"""What a simulation over time comes to: results of one plan, their changes, the cost, the truth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mixtally.records.certificate import Certificate
from mixtally.records.contract import Plan
from mixtally.records.guarantee import Guarantee
from mixtally.records.result import Series, Step
from mixtally.records.results import Estimate
from mixtally.simulation.lab import Provenance
from mixtally.simulation.truth import Values


@dataclass(frozen=True, slots=True)
class Spent:
    """What a person spends who takes part in ``times`` epochs.

    where
      people    how many do; None when nobody knows who is who
      epsilon   the least at the guarantee's delta; None above 20
      whole     delta at the guarantee's epsilon
    """

    times: int
    people: int | None
    epsilon: float | None
    whole: Certificate

    @property
    def delta(self) -> float:
        """The upper end of delta at the guarantee's epsilon."""
        return self.whole.upper


@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """One question in one epoch after another.

    where
      guarantee   kept for a person who takes part in every epoch
      users       people in each epoch
      spending    by the number of epochs a person takes part in; the last is all of them
      truth       true counts, shape (epochs, bins); None in what may be published
      figures     true numbers beside the rows of the series' figures, by their name
    """

    about: Provenance
    guarantee: Guarantee
    users: tuple[int, ...]
    series: Series
    spending: tuple[Spent, ...]
    truth: NDArray[np.integer] | None
    figures: Mapping[str, Values] = field(default_factory=dict)

    def published(self) -> "Trend":
        """What may be published of it: no truth, and not who took part how often."""
        worst = replace(self.spending[-1], people=None)
        return replace(self, truth=None, figures={}, spending=(worst,))

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
        return None if self.truth is None else self.figures

    @property
    def whole(self) -> Certificate:
        """Of a person who takes part in every epoch."""
        return self.spending[-1].whole

    @property
    def true(self) -> NDArray[np.integer]:
        """The true counts; raises TypeError where they are not known."""
        if self.truth is None:
            raise TypeError("a release has no true counts")
        return self.truth

    def true_change(self, step: Step) -> NDArray[np.int64]:
        """How much the bins truly rose in ``step``."""
        before, after = self.true[step.first], self.true[step.last]
        rise: NDArray[np.int64] = after.astype(np.int64) - before
        return rise

    def count_error(self) -> float:
        """Root mean square error of all counts of all epochs."""
        every = zip(self.series.results, self.true, strict=True)
        return _rms([result.estimate.counts - true for result, true in every])

    def change_error(self) -> float | None:
        """Root mean square error of the changes from epoch to epoch, None for one epoch alone."""
        if not self.steps:
            return None
        neighbors = self.steps[: len(self.epochs) - 1]
        return _rms([step.change.counts - self.true_change(step) for step in neighbors])

    def covered(self) -> float | None:
        """Share of the changes' own intervals that cover the true ones; None for one epoch."""
        inside = self.inside()
        return float(np.mean(inside)) if inside.size else None

    def inside(self) -> NDArray[np.bool_]:
        """Which of the changes' own intervals cover the true ones, shape (steps, bins)."""
        held = []
        for step in self.steps:
            rise, each = self.true_change(step), step.change.each
            held.append((each.lower <= rise) & (rise <= each.upper))
        return np.array(held, dtype=np.bool_)


def _rms(errors: Sequence[NDArray[np.float64]]) -> float:
    """Return the root mean square of errors, an array at a time."""
    return math.sqrt(float(np.mean([np.mean(one**2) for one in errors])))
