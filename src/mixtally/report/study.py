"""What a report is made from: one or more releases of the same data, the first the main one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.privacy.baselines import (
    central_standard_error,
    local_bits_standard_error,
    local_standard_error,
)
from mixtally.records.baseline import NOT_DRAWN, Central
from mixtally.records.certificate import Certificate
from mixtally.records.plan import Plan
from mixtally.records.question import MOST_BINS, Kind, Question
from mixtally.records.results import Estimate, Figures


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One collection's result.

    where
      messages   messages tallied, fakes included
      rest       plans of a split record's other messages, in their order
      asked      the question, where it is not the plan's own
      whole      the certificate of all plans together, where they are several
      told       their facts, where they are several
      figures    what else was derived from the messages
      sums       what someone would learn who sees only the sums, where that was asked
    """

    plan: Plan
    messages: int
    estimate: Estimate
    rest: tuple[Plan, ...] = ()
    asked: Question | None = None
    whole: Certificate | None = None
    told: Mapping[str, Any] | None = None
    figures: tuple[Figures, ...] = ()
    sums: Certificate | None = None

    @property
    def question(self) -> Question:
        """What people were asked, however their records travelled."""
        return self.asked or self.plan.question

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan of every message of a record."""
        return (self.plan, *self.rest)

    @property
    def name(self) -> str:
        """The mechanism, and whether records were split."""
        return self.plan.protocol + ", split" * bool(self.rest)

    @property
    def certificate(self) -> Certificate:
        """Of everything that a person sent."""
        return self.whole or self.plan.certificate

    def facts(self) -> dict[str, Any]:
        """What the plans say, flat."""
        return dict(self.told) if self.told else self.plan.facts()


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A question asked of a crowd, its releases, and the truth where it is known.

    where
      truth    shape (bins,), None outside the lab
      reason   why the main release's plan was chosen
      seed     of the randomness, None when it came from the operating system
      central  mechanisms of the central model at the main release's guarantee
    """

    title: str
    source: str
    releases: tuple[Release, ...]
    truth: NDArray[np.int64] | None = None
    reason: str = ""
    seed: int | None = None
    central: Central = NOT_DRAWN

    @property
    def main(self) -> Release:
        """The release that is reported in full."""
        return self.releases[0]

    def measured_error(self, release: Release) -> float | None:
        """Root mean square error over the bins, in counts, None when the truth is not known."""
        if self.truth is None:
            return None
        return float(np.sqrt(np.mean((release.estimate.counts - self.truth) ** 2)))

    def covered(self, release: Release) -> float | None:
        """Share of bins whose own interval holds the truth, None when it is not known."""
        if self.truth is None:
            return None
        each = release.estimate.each
        return float(np.mean((each.lower <= self.truth) & (self.truth <= each.upper)))

    @property
    def central_error(self) -> float:
        """Standard error of the central model at the same epsilon."""
        release = self.main
        return central_standard_error(release.certificate.epsilon, release.question.most_changed)

    @property
    def local_error(self) -> float:
        """Standard error of the local model at the same epsilon."""
        question, users = self.main.question, self.main.plan.users
        epsilon = self.main.certificate.epsilon
        if question.kind is Kind.BITS:
            return local_bits_standard_error(epsilon, users, question.bins)
        if question.max_set > 1:  # sets: unary encoding alone, every member with its share
            return local_standard_error(epsilon / question.max_set, users, MOST_BINS)
        return local_standard_error(epsilon, users, question.bins)

    def ranked(self) -> NDArray[np.intp]:
        """Bins of the main release from the largest estimate down."""
        return np.argsort(-self.main.estimate.counts, kind="stable")

    def findings(self) -> str:
        """What the main release shows, in a few sentences."""
        found, bins = self.main.estimate, self.main.question.bins
        above = int((found.together.lower > 0).sum())
        text = (
            f"Intervals are {100 * found.each.level:g} % for each bin alone ({found.each.method}). "
            f"Counting all bins at once, {above:,} of {bins:,} are surely above zero."
        )
        covered = self.covered(self.main)
        if covered is not None:
            text += f" {100 * covered:.1f} % of the {bins:,} intervals hold the truth."
        return text
