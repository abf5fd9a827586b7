"""What a report over time is made from: releases of one plan, their changes, the price."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.records.certificate import Certificate
from mixtally.records.change import Change
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.results import Figures
from mixtally.report.study import Release


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


@dataclass(frozen=True, slots=True)
class Step:
    """The change from epoch number ``first`` to epoch number ``last``."""

    first: int
    last: int
    change: Change


@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """One question in one epoch after another.

    where
      guarantee   kept for a person who takes part in every epoch
      users       people in each epoch
      steps       from each epoch to the next and, with three or more, from the first to the last
      spending    by the number of epochs a person takes part in; the last is all of them
      truth       shape (epochs, bins), None outside the lab
      seed        of the randomness, None when it came from the operating system
      figures     what else was derived from the messages of all epochs
    """

    title: str
    source: str
    guarantee: Guarantee
    epochs: tuple[str, ...]
    users: tuple[int, ...]
    releases: tuple[Release, ...]
    steps: tuple[Step, ...]
    spending: tuple[Spent, ...]
    truth: NDArray[np.int64] | None = None
    reason: str = ""
    seed: int | None = None
    figures: tuple[Figures, ...] = ()

    @property
    def plan(self) -> Plan:
        """The one plan of all epochs."""
        return self.releases[0].plan

    @property
    def mechanism(self) -> Shuffled:
        """Its mechanism."""
        return self.plan.mechanism

    @property
    def whole(self) -> Certificate:
        """Of a person who takes part in every epoch."""
        return self.spending[-1].whole

    @property
    def counts(self) -> NDArray[np.float64]:
        """Estimates, shape (epochs, bins)."""
        return np.array([release.estimate.counts for release in self.releases])

    def ranked(self) -> NDArray[np.intp]:
        """Bins from the largest estimate of all epochs together down."""
        return np.argsort(-self.counts.sum(axis=0), kind="stable")

    def true_change(self, step: Step) -> NDArray[np.int64] | None:
        """How much the bins truly rose in ``step``, None outside the lab."""
        if self.truth is None:
            return None
        rise: NDArray[np.int64] = self.truth[step.last] - self.truth[step.first]
        return rise

    def count_error(self) -> float | None:
        """Root mean square error of all counts of all epochs, None outside the lab."""
        return None if self.truth is None else _rms(self.counts - self.truth)

    def change_error(self) -> float | None:
        """Root mean square error of the changes from epoch to epoch, None outside the lab."""
        if self.truth is None or not self.steps:
            return None
        return _rms(np.diff(self.counts, axis=0) - np.diff(self.truth, axis=0))

    def covered(self) -> float | None:
        """Share of the changes' own intervals that hold the truth, None outside the lab."""
        held = []
        for step in self.steps:
            rise = self.true_change(step)
            if rise is not None:
                each = step.change.each
                held.append((each.lower <= rise) & (rise <= each.upper))
        return float(np.mean(held)) if held else None

    def findings(self) -> str:
        """What is seen, in a few sentences."""
        found, bins = self.releases[0].estimate, self.plan.question.bins
        text = f"A count has a standard error of {found.standard_error:.3g}. "
        if self.steps:
            worst = max(step.change.standard_error for step in self.steps)
            text += f"A change has one of {worst:.3g}. "
        text += (
            f"Intervals are {100 * found.each.level:g} % for each number alone "
            f"({found.each.method})."
        )
        if self.steps:
            text += (
                f" Counting all bins and all changes at once, {self._sure_bins():,} of {bins:,} "
                "bins surely changed somewhere."
            )
        covered = self.covered()
        if covered is not None:
            text += f" {100 * covered:.1f} % of the changes' intervals hold the truth."
        return text

    def _sure_bins(self) -> int:
        return int(np.any([step.change.surely for step in self.steps], axis=0).sum())


def _rms(errors: NDArray[np.float64]) -> float:
    return math.sqrt(float(np.mean(errors**2)))
