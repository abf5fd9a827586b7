"""Study: one or more releases from the same data, and the true numbers to compare them with.

``app.count``, ``app.places`` and the demo make a `Study`; ``study_document`` shows it.
"""

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
    """A round from which nothing is released, with the reason.

    It has the attributes of a `Result` that documents read, so that a document can show it.
    """

    plan: Plan
    received: Received
    error: MessageError
    figures: tuple[Figures, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """The question of the plan."""
        return self.plan.question

    @property
    def certificate(self) -> Certificate:
        """The certificate of everything that a person sent."""
        return self.plan.certificate


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One collection that was played, and its ``conclusion``: a result, or why there is none.

    ``leaked`` has the fakes that dishonest hops drew and revealed to the observer, one tally per
    part. ``sums`` is the certificate against an observer of the sums alone, if requested.
    """

    conclusion: Result | Refusal
    leaked: tuple[Tally, ...] = ()
    sums: Certificate | None = None

    @property
    def refusal(self) -> str | None:
        """Why nothing is released; None if there is a result."""
        return str(self.conclusion.error) if isinstance(self.conclusion, Refusal) else None

    @property
    def result(self) -> Result:
        """The released result. If there is none, raises the MessageError that explains why."""
        if isinstance(self.conclusion, Refusal):
            raise self.conclusion.error
        return self.conclusion


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(Findings[Truth]):
    """A question asked of a crowd, and its releases, the main one first.

    ``central`` has mechanisms of the central model with the guarantee of the main release.
    ``contest`` has the votes of both ways of counting; None if no winner was requested.
    """

    releases: tuple[Release, ...]
    central: Central = NOT_DRAWN
    contest: Contest | None = None

    @property
    def main_result(self) -> Result:
        """The result that is reported in full. Raises like `Release.result`."""
        return self.releases[0].result

    @property
    def true_counts(self) -> NDArray[np.int64] | None:
        """True number of people in each bin; None if unknown."""
        return None if self.truth is None else self.truth.counts

    @property
    def central_error(self) -> float:
        """Standard error of the central model at the same guarantee, in counts."""
        found = self.releases[0].conclusion
        stated = found.plan.guarantee
        return central_error(
            found.plan.question, stated.epsilon, stated.delta, found.plan.collections
        )

    @property
    def local_error(self) -> float:
        """Standard error of the local model at the same epsilon, in counts."""
        found = self.releases[0].conclusion
        people = found.received.contributors
        return local_error(found.question, found.certificate.epsilon, people)
