"""What a report is made from: one or more releases of the same data, the first the main one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.privacy.baselines import central_standard_error, local_standard_error
from mixtally.protocols.base import Protocol
from mixtally.records.baseline import NOT_DRAWN, Central
from mixtally.records.plan import Plan
from mixtally.records.results import Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One collection's result.

    where
      messages   messages tallied, fakes included
    """

    plan: Plan
    protocol: Protocol
    messages: int
    estimate: Estimate


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
        return central_standard_error(self.main.plan.guarantee.epsilon)

    @property
    def local_error(self) -> float:
        """Standard error of the local model at the same epsilon."""
        plan = self.main.plan
        return local_standard_error(plan.guarantee.epsilon, plan.users, plan.question.bins)

    def ranked(self) -> NDArray[np.intp]:
        """Bins of the main release from the largest estimate down."""
        return np.argsort(-self.main.estimate.counts, kind="stable")

    def findings(self) -> str:
        """What the main release shows, in a few sentences."""
        found, bins = self.main.estimate, self.main.plan.question.bins
        above = int((found.together.lower > 0).sum())
        text = (
            f"Intervals are {100 * found.each.level:g} % for each bin alone ({found.each.method}). "
            f"Counting all bins at once, {above:,} of {bins:,} are surely above zero."
        )
        covered = self.covered(self.main)
        if covered is not None:
            text += f" {100 * covered:.1f} % of the {bins:,} intervals hold the truth."
        return text
