"""What a simulation comes to: one or more results of the same data, and the truth beside them."""

from dataclasses import dataclass, replace

from mixtally.privacy.baselines import (
    central_standard_error,
    local_bits_standard_error,
    local_standard_error,
)
from mixtally.records.baseline import NOT_DRAWN, Central
from mixtally.records.certificate import Certificate
from mixtally.records.question import MOST_BINS, Kind
from mixtally.records.result import Result
from mixtally.simulation.lab import Provenance
from mixtally.simulation.truth import Truth


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One collection as it was played.

    where
      sums    what someone would learn who sees only the sums, where that was asked
    """

    result: Result
    sums: Certificate | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A question asked of a crowd, its releases, and the truth.

    where
      releases   the first is the main one
      truth      None in what may be published
      central    mechanisms of the central model at the main release's guarantee
    """

    about: Provenance
    releases: tuple[Release, ...]
    truth: Truth | None
    central: Central = NOT_DRAWN

    def published(self) -> "Study":
        """What may be published of it: without the truth, and nothing that was measured on it."""
        lines = tuple(replace(line, measured=None) for line in self.central.lines)
        return replace(self, truth=None, central=replace(self.central, lines=lines))

    @property
    def main(self) -> Result:
        """The result that is reported in full."""
        return self.releases[0].result

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
