"""What the planner says: the plan, what it costs, what else there is, and why."""

from dataclasses import dataclass
from typing import Any

import msgspec

from mixtally.ground.codec import fingerprint
from mixtally.protocols.base import Protocol
from mixtally.protocols.facts import plan_facts
from mixtally.records.plan import Plan


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan that keeps the guarantee within the budget."""

    plan: Plan
    protocol: Protocol

    @property
    def standard_error(self) -> float:
        """Standard error of an empty bin, in counts."""
        return self.protocol.standard_error(self.plan.users)

    def facts(self) -> dict[str, Any]:
        """The offer as one flat JSON object."""
        return plan_facts(self.plan, self.protocol)


@dataclass(frozen=True, slots=True)
class Misfit:
    """A protocol that does not fit the wish, and what would make it fit."""

    protocol: str
    needs: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The least-error offer, the other offers from good to bad, and what does not fit."""

    best: Offer
    others: tuple[Offer, ...]
    misfits: tuple[Misfit, ...]
    reason: str

    def facts(self) -> dict[str, Any]:
        """The answer as one JSON object: the best offer flat, the rest beside it."""
        return {
            **self.best.facts(),
            "reason": self.reason,
            "alternatives": [offer.facts() for offer in self.others],
            "misfits": [{"protocol": m.protocol, "needs": m.needs} for m in self.misfits],
            "fingerprint": fingerprint(self.best.plan),
            "plan": msgspec.to_builtins(self.best.plan),
        }
