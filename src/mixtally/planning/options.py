"""What the planner says: candidates, the plan that is taken, what it costs, and why."""

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
"""Standard errors in a 95 % interval's half: when they span the whole crowd nothing is learned."""
_ROUNDING_FACTOR = 1.0 + 1e-12


@dataclass(frozen=True, slots=True)
class Candidate(Costs):
    """A way to keep a request's promise, with about the noise that takes; nothing is proved yet.

    where
      question      the request's; of an open one the points are fixed
      cover         who brings what hides a person
      count_flips   whether people's flips are part of it
    """

    request: PlanRequest
    question: Question
    parts: tuple[Part, ...]
    cover: Cover = Cover.PEOPLE
    count_flips: bool = False

    @property
    def users(self) -> int:  # type: ignore[override]
        """People expected to take part."""
        return self.request.users

    @property
    def hops(self) -> int:  # type: ignore[override]
        """Mixes in a row."""
        return self.request.mix_count

    @property
    def crowd(self) -> int:
        """People whose flips are counted on."""
        return (self.request.people or 0) if self.count_flips else 0

    @property
    def privacy_terms(self) -> PrivacyTerms:
        """What its price depends on."""
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
        """Standard error at the count that the request compares."""
        return self.error_of(self.request.count)

    @property
    def cost(self) -> tuple[float, float, float]:
        """Standard error at that count, messages and bytes a user."""
        return self.error, self.messages_per_user, self.bytes_per_user

    @property
    def is_informative(self) -> bool:
        """Whether somebody could be told from all people."""
        return CONFIDENCE * self.standard_error < self.users

    @property
    def fits_bytes(self) -> bool:
        """Whether a device sends no more bytes than it may."""
        limit = self.request.bytes_per_user
        return limit is None or self.bytes_per_user <= limit

    @property
    def is_affordable(self) -> bool:
        """Whether a device and a mix send no more than they may."""
        most = float(self.request.messages_per_user)
        sent = self.messages_per_user <= most * _ROUNDING_FACTOR and self.fits_bytes
        return sent and self.messages_per_mix <= self.request.max_mix_messages

    def facts(self) -> dict[str, Any]:
        """What it is and what it costs, as one flat JSON object."""
        return {
            "name": self.name,
            "protocol": self.protocol,
            "cover": str(self.cover),
            **self.costs(),
            **self.errors(self.request.count),
        }


@dataclass(frozen=True, slots=True)
class Infeasible:
    """A protocol that is infeasible for the request, and what would make it fit."""

    protocol: str
    needs: str


Result = Candidate | Infeasible | None
"""None when the protocol cannot hold such a record at all."""


def own_bytes_excess(name: str, request: PlanRequest, parts: tuple[Part, ...]) -> Infeasible | None:
    """Return why no noise helps: a person's own messages alone take more bytes than are allowed.

    It is asked before any noise is searched for, which takes far longer.

    Parameters
    ----------
    name : str
        The protocol.
    request : PlanRequest
        Whose limit of bytes holds.
    parts : tuple of Part
        Parts whose messages are as short as the protocol's can be, almost without fakes.
    """
    found = Candidate(request, request.question, parts)
    if found.fits_bytes:
        return None
    least = math.ceil(found.bytes_per_user)
    return Infeasible(name, f"--bytes-per-user of at least {least} for its own messages")


def check_limits(found: Candidate) -> Candidate | Infeasible:
    """``found``, or why it is no candidate: too many bytes, or counts that would say nothing."""
    if not found.fits_bytes:
        return Infeasible(found.protocol, f"--bytes-per-user {math.ceil(found.bytes_per_user)}")
    return uninformative_reason(found) or found


def uninformative_reason(found: Candidate) -> Infeasible | None:
    """Why ``found`` is no candidate, where its counts would say nothing; None otherwise."""
    if found.is_informative:
        return None
    return Infeasible(
        found.protocol,
        f"more users or a larger epsilon: with a standard error of {found.standard_error:.3g} "
        f"counts nobody could be told from all {found.users:,} people",
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The plan to take, the other candidates from good to bad, and what is infeasible.

    where
      count   how many people hold the bin whose errors were compared
    """

    plan: Plan
    others: tuple[Candidate, ...]
    infeasible: tuple[Infeasible, ...]
    reason: str
    count: int

    def facts(self) -> dict[str, Any]:
        """The choice as one JSON object: the plan flat, the rest beside it."""
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
