"""Results of the planner: candidates, infeasible protocols, and the chosen plan.

Every protocol's file returns a ``Candidate`` or an ``Infeasible``. ``planning.choose`` makes a
``Choice`` of them, which the reports show.
"""

import math
from dataclasses import dataclass
from typing import Any

from mixtally.accounting.plans.terms import PrivacyTerms
from mixtally.model.costs import Costs
from mixtally.model.part import Part
from mixtally.model.plan import Cover, Plan
from mixtally.model.question import Question
from mixtally.planning.request import PlanRequest

CONFIDENCE = 1.96
"""Half the width of a 95 % interval, in standard errors. An interval as wide as the crowd is
useless."""
_ROUNDING_FACTOR = 1.0 + 1e-12
"""Tolerance for comparing the sum of the parts' means, in floating point, with the budget."""


@dataclass(frozen=True, slots=True)
class Candidate(Costs):
    """A way to keep the guarantee, with an estimate of the noise; nothing is proved yet.

    Attributes
    ----------
    question : Question
        The question of the request. For an open domain, the number of points is filled in.
    cover : Cover
        Who draws the fakes.
    count_flips : bool
        Whether the guarantee counts on the flips of other people.
    """

    request: PlanRequest
    question: Question
    parts: tuple[Part, ...]
    cover: Cover = Cover.PEOPLE
    count_flips: bool = False

    @property
    def users(self) -> int:  # type: ignore[override]
        """The number of people expected to take part."""
        return self.request.users

    @property
    def hops(self) -> int:  # type: ignore[override]
        """The number of mixes in a row."""
        return self.request.mix_count

    @property
    def crowd(self) -> int:
        """The number of people whose flips are counted on."""
        return (self.request.people or 0) if self.count_flips else 0

    @property
    def privacy_terms(self) -> PrivacyTerms:
        """The parameters on which the certificate depends."""
        people = (self.request.people or 0) if self.cover is Cover.PEOPLE else 0
        return PrivacyTerms(
            parts=self.parts,
            guarantee=self.request.guarantee,
            collections=self.request.collections,
            people=people,
            count_flips=self.count_flips,
            hops=self.hops,
        )

    @property
    def error(self) -> float:
        """The standard error, in counts, at the count where the request compares errors."""
        return self.error_of(self.request.count)

    @property
    def cost(self) -> tuple[float, float, float]:
        """The standard error at the request's count, and the messages and bytes per user."""
        return self.error, self.messages_per_user, self.bytes_per_user

    @property
    def is_informative(self) -> bool:
        """Whether the 95 % interval of an empty bin is narrower than the whole crowd."""
        return CONFIDENCE * self.standard_error < self.users

    @property
    def fits_bytes(self) -> bool:
        """Whether a bundle has at most the bytes that the request allows."""
        limit = self.request.bytes_per_user
        return limit is None or self.bytes_per_user <= limit

    @property
    def is_affordable(self) -> bool:
        """Whether devices and mixes stay within the budget of messages and bytes."""
        most = float(self.request.messages_per_user)
        sent = self.messages_per_user <= most * _ROUNDING_FACTOR and self.fits_bytes
        return sent and self.messages_per_mix <= self.request.max_mix_messages

    def facts(self) -> dict[str, Any]:
        """Return the candidate and its costs as one flat JSON object."""
        return {
            "name": self.name,
            "protocol": self.protocol,
            "cover": str(self.cover),
            **self.costs(),
            **self.errors(self.request.count),
        }


@dataclass(frozen=True, slots=True)
class Infeasible:
    """A protocol that is infeasible for the request, and the change that would make it feasible."""

    protocol: str
    needs: str


Result = Candidate | Infeasible | None
"""None if the protocol has no encoding for such a record."""


def own_bytes_excess(name: str, request: PlanRequest, parts: tuple[Part, ...]) -> Infeasible | None:
    """Return why the person's own messages alone exceed the limit of bytes; None if they do not.

    ``parts`` have the shortest messages of the protocol, almost without fakes. Callers check this
    condition before they search for noise, because the search takes far longer.
    """
    found = Candidate(request, request.question, parts)
    if found.fits_bytes:
        return None
    least = math.ceil(found.bytes_per_user)
    return Infeasible(name, f"--bytes-per-user of at least {least} for its own messages")


def check_limits(found: Candidate) -> Candidate | Infeasible:
    """Return the candidate, or the reason why its bytes or its error exceed the limits."""
    if not found.fits_bytes:
        return Infeasible(found.protocol, f"--bytes-per-user {math.ceil(found.bytes_per_user)}")
    return uninformative_reason(found) or found


def uninformative_reason(found: Candidate) -> Infeasible | None:
    """Return the reason why counts would not be informative; None if they are."""
    if found.is_informative:
        return None
    return Infeasible(
        found.protocol,
        f"more users or a larger epsilon: with a standard error of {found.standard_error:.3g} "
        f"counts, a 95 % interval would span all {found.users:,} people",
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen plan, the other candidates by increasing error, and the infeasible protocols.

    ``reason`` explains the choice in sentences. ``count`` is the number of people in the bin at
    which errors were compared.
    """

    plan: Plan
    others: tuple[Candidate, ...]
    infeasible: tuple[Infeasible, ...]
    reason: str
    count: int

    def facts(self) -> dict[str, Any]:
        """Return the choice as one JSON object; the facts of the plan are at its top level."""
        return {
            "name": self.plan.name,
            **self.plan.facts(),
            **self.plan.errors(self.count),
            "reason": self.reason,
            "alternatives": [option.facts() for option in self.others],
            "misfits": [{"protocol": m.protocol, "needs": m.needs} for m in self.infeasible],
            "fingerprint": self.plan.fingerprint,
            "plan": self.plan.to_plain(),
        }
