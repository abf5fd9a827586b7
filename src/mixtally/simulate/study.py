"""What a simulation comes to: one or more results of the same data, and the truth beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixtally.privacy.baselines import (
    central_standard_error,
    local_bits_standard_error,
    local_standard_error,
)
from mixtally.records.baseline import NOT_DRAWN, Central
from mixtally.records.certificate import Certificate
from mixtally.records.question import MOST_BINS, Kind
from mixtally.records.result import Result
from mixtally.simulate.lab import Provenance
from mixtally.simulate.truth import Truth


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One collection as it was played.

    where
      facts   what its plans say, flat
      sums    what someone would learn who sees only the sums, where that was asked
    """

    result: Result
    facts: Mapping[str, Any]
    sums: Certificate | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A question asked of a crowd, its releases, and the truth.

    where
      releases   the first is the main one
      central    mechanisms of the central model at the main release's guarantee
    """

    about: Provenance
    releases: tuple[Release, ...]
    truth: Truth
    central: Central = NOT_DRAWN

    @property
    def main(self) -> Result:
        """The result that is reported in full."""
        return self.releases[0].result

    def measured_error(self, result: Result) -> float:
        """Root mean square error over the bins, in counts."""
        return float(np.sqrt(np.mean((result.estimate.counts - self.truth.counts) ** 2)))

    def covered(self, result: Result) -> float:
        """Share of bins whose own interval covers the true count."""
        each, counts = result.estimate.each, self.truth.counts
        return float(np.mean((each.lower <= counts) & (counts <= each.upper)))

    @property
    def central_error(self) -> float:
        """Standard error of the central model at the same epsilon."""
        main = self.main
        return central_standard_error(main.certificate.epsilon, main.question.most_changed)

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
