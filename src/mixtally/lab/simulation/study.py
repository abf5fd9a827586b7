"""What a simulation comes to: one or more results of the same data, and the truth beside them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.baselines import central_error, local_error
from mixtally.errors import MessageError
from mixtally.lab.simulation.findings import Findings
from mixtally.lab.simulation.truth import Truth
from mixtally.lab.simulation.winner.contest import Contest
from mixtally.model.baseline import NOT_DRAWN, Central
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan
from mixtally.model.estimates import Figures, Tally
from mixtally.model.question import Question
from mixtally.model.received import Received
from mixtally.model.result import Result


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A round of which nothing is released, and why; what else is told of it as of a result."""

    plan: Plan
    received: Received
    error: MessageError
    figures: tuple[Figures, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.plan.question

    @property
    def certificate(self) -> Certificate:
        """Of everything that a person sent."""
        return self.plan.certificate


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One collection as it was played.

    where
      found    what the collector releases, or why it releases nothing
      leaked   what dishonest hops drew and told the observer, a tally a part
      sums     what someone would learn who sees only the sums, where that was asked
    """

    conclusion: Result | Refusal
    leaked: tuple[Tally, ...] = ()
    sums: Certificate | None = None

    @property
    def refusal(self) -> str | None:
        """Why nothing is released; None where something is."""
        return str(self.conclusion.error) if isinstance(self.conclusion, Refusal) else None

    @property
    def result(self) -> Result:
        """What is released; raises the MessageError that says why nothing is."""
        if isinstance(self.conclusion, Refusal):
            raise self.conclusion.error
        return self.conclusion


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(Findings[Truth]):
    """A question asked of a crowd, and its releases.

    where
      releases   the first is the main one
      central    mechanisms of the central model at the main release's guarantee
      contest    who won the vote, where that was asked
    """

    releases: tuple[Release, ...]
    central: Central = NOT_DRAWN
    contest: Contest | None = None

    @property
    def main_result(self) -> Result:
        """The result that is reported in full; raises as ``Release.result``."""
        return self.releases[0].result

    @property
    def true_counts(self) -> NDArray[np.int64] | None:
        """How many people truly are in each bin; None where that is not known."""
        return None if self.truth is None else self.truth.counts

    @property
    def central_error(self) -> float:
        """Return the standard error of the central model at the same guarantee."""
        found = self.releases[0].conclusion
        stated = found.plan.guarantee
        return central_error(
            found.plan.question, stated.epsilon, stated.delta, found.plan.collections
        )

    @property
    def local_error(self) -> float:
        """Standard error of the local model at the same epsilon."""
        found = self.releases[0].conclusion
        people = found.received.contributors
        return local_error(found.question, found.certificate.epsilon, people)
