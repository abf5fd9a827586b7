"""What the planner says: the plan, what it costs, the other options, and why."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from mixtally.ground.codec import fingerprint
from mixtally.records.certificate import Certificate
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism import FakeSource, Shuffled
from mixtally.records.plan import Plan
from mixtally.records.question import Question, collisions

CONFIDENCE = 1.96
"""Standard errors in a 95 % interval's half: when they span the whole crowd nothing is learned."""


@dataclass(frozen=True, slots=True)
class PlanOption:
    """Plans that together keep the guarantee within the budget: one, or one a message of a record.

    where
      plans              in the order of the record's messages
      guarantee          what was requested
      certificate        of all plans and all ``collections`` together
      collections        how often the question is asked
      minimum_crowd      people who surely take part, of the plan's users
      honest_fraction    share of their fakes and flips that is counted on
    """

    plans: tuple[Plan, ...]
    guarantee: Guarantee
    certificate: Certificate
    collections: int
    minimum_crowd: int
    honest_fraction: float

    @property
    def plan(self) -> Plan:
        """The plan, or the first of several."""
        return self.plans[0]

    @property
    def mechanism(self) -> Shuffled:
        """The mechanism, or the first message's."""
        return self.plan.mechanism

    @property
    def name(self) -> str:
        """The protocol and what is special about it."""
        return named([(plan.question, plan.mechanism) for plan in self.plans])

    @property
    def bins(self) -> int:
        """Bins of all messages of a record."""
        return sum(plan.question.bins for plan in self.plans)

    @property
    def noise(self) -> float:
        """Standard error of an empty bin by noise alone, in counts: the largest of all messages."""
        return max(plan.mechanism.standard_error(plan.users) for plan in self.plans)

    @property
    def collisions(self) -> float:
        """Standard error by other values in the same bin, at its worst, in counts."""
        return collisions(self.plan.users, self.plan.question)

    @property
    def standard_error(self) -> float:
        """Standard error of an empty bin, in counts, with the worst collisions there can be."""
        return math.hypot(self.noise, self.collisions)

    @property
    def messages_per_user(self) -> float:
        """Messages of the whole batch, a mix's fakes included, divided by the users."""
        return sum(sent for sent, _ in self._traffic())

    @property
    def bytes_per_user(self) -> float:
        """Bytes of these messages."""
        return sum(sent * size for sent, size in self._traffic())

    @property
    def cost(self) -> tuple[float, float, float]:
        """Standard error, messages and bytes a user."""
        return self.standard_error, self.messages_per_user, self.bytes_per_user

    @property
    def local_epsilon(self) -> float | None:
        """What is left of all messages and collections when all mixes collude; None for nothing."""
        local = self.collections * sum(plan.mechanism.local_epsilon for plan in self.plans)
        return local if math.isfinite(local) else None

    def _traffic(self) -> list[tuple[float, int]]:
        return [
            (
                plan.mechanism.repeats + plan.mechanism.fakes_promised / plan.users,
                plan.mechanism.layout.message_bytes,
            )
            for plan in self.plans
        ]

    def facts(self) -> dict[str, Any]:
        """The option as one flat JSON object."""
        facts, certificate = self.plan.facts(), self.certificate
        mechanisms = [plan.mechanism for plan in self.plans]
        mixed = self.mechanism.fake_source is FakeSource.MIX
        hashed = self.plan.question.hashed
        return {
            **facts,
            "epsilon": self.guarantee.epsilon,
            "delta": certificate.upper,
            "delta_lower": certificate.lower,
            "delta_target": self.guarantee.delta,
            "status": certificate.status,
            "source": certificate.source,
            "assumption": certificate.assumption,
            "collections": self.collections,
            "messages_of_a_record": len(self.plans),
            "bins": self.bins,
            "hashed_values": 0 if hashed is None else hashed.values,
            "fakes": sum(m.fakes_promised for m in mechanisms),
            "fakes_counted": sum(
                m.surely(self.plan.honest_fraction).fakes_promised for m in mechanisms
            ),
            "standard_error": self.standard_error,
            "collision_error": self.collisions,
            "messages_per_user": self.messages_per_user,
            "bytes_per_user": self.bytes_per_user,
            "honest_fraction": self.honest_fraction,
            "minimum_crowd": 1 if mixed else self.minimum_crowd,
            "local_epsilon": self.local_epsilon,
        }


def named(messages: Sequence[tuple[Question, Shuffled]]) -> str:
    """The protocol of a record that travels as ``messages``, and what is special about it."""
    question, mechanism = messages[0]
    notes = []
    if len(messages) > 1:
        notes.append("split")
    if question.hashed:
        notes.append("hashed")
    if mechanism.repeats > 1:
        notes.append(f"sent {mechanism.repeats} times")
    return ", ".join([mechanism.name, *notes])


@dataclass(frozen=True, slots=True)
class Infeasible:
    """A protocol that is infeasible for the request, and what would make it fit."""

    protocol: str
    needs: str


@dataclass(frozen=True, slots=True)
class Likely:
    """An option that there most likely is: enough for a search whose end is looked at again.

    where
      standard_error   as a plan option has it, about
    """

    name: str
    standard_error: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The most accurate option, the others from good to bad, and what is infeasible."""

    best: PlanOption
    others: tuple[PlanOption, ...]
    infeasible: tuple[Infeasible, ...]
    reason: str

    def facts(self) -> dict[str, Any]:
        """The choice as one JSON object: the best option flat, the rest beside it."""
        return {
            **self.best.facts(),
            "reason": self.reason,
            "alternatives": [{"name": option.name, **option.facts()} for option in self.others],
            "misfits": [{"protocol": m.protocol, "needs": m.needs} for m in self.infeasible],
            "fingerprint": fingerprint(self.best.plan),
            "plan": msgspec.to_builtins(self.best.plan),
            "plans": [msgspec.to_builtins(plan) for plan in self.best.plans],
        }
