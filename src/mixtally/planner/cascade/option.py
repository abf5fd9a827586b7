"""What a cascade can be: terms that keep the guarantee, and what they cost."""

import math
from dataclasses import dataclass
from typing import Any

from mixtally.planner.options import CONFIDENCE, Infeasible
from mixtally.records.contract import BlanksRecipe, Cover, Part, ShapedRecipe, Terms, envelope_bytes
from mixtally.records.question import collisions


@dataclass(frozen=True, slots=True)
class CascadeOption:
    """Terms that keep the guarantee within the budget, and what they cost."""

    terms: Terms

    @property
    def name(self) -> str:
        """The protocol, whether it is split, and who brings the cover."""
        split = ", split" if len(self.terms.parts) > 1 else ""
        by = "every mix" if self.terms.cover is Cover.MIXES else "people"
        return f"{self.terms.parts[0].protocol}{split}, by {by}"

    @property
    def standard_error(self) -> float:
        """Of an empty bin in counts, the largest of all parts, when all users take part."""
        return math.hypot(self.terms.noise, collisions(self.terms.users, self.terms.question))

    @property
    def messages_per_user(self) -> float:
        """Messages that a device sends on average."""
        return sum(_sent(part) for part in self.terms.parts)

    @property
    def bytes_per_user(self) -> float:
        """Bytes of envelopes that a device sends on average."""
        sizes = [row[0] for row in envelope_bytes(self.terms)]
        pairs = zip(self.terms.parts, sizes, strict=True)
        return sum(size * _sent(part) for part, size in pairs)

    @property
    def messages_per_mix(self) -> float:
        """Messages that a mix adds to all parts on average."""
        return float(sum(_drawn(part) for part in self.terms.parts))

    @property
    def tells(self) -> bool:
        """Whether somebody could be told from all people."""
        return CONFIDENCE * self.standard_error < self.terms.users

    def facts(self) -> dict[str, Any]:
        """The option as one flat JSON object."""
        terms, stated = self.terms, self.terms.certificate
        return {
            "name": self.name,
            "protocol": terms.parts[0].protocol,
            "cover": str(terms.cover),
            "epsilon": stated.epsilon,
            "delta": stated.upper,
            "delta_lower": stated.lower,
            "delta_target": terms.guarantee.delta,
            **stated.terms(),
            "local_epsilon": terms.local_epsilon,
            "users": terms.users,
            "minimum_crowd": terms.minimum_crowd,
            "honest_share": terms.honest_share,
            "hops": terms.hops,
            "collections": terms.collections,
            "messages_of_a_record": len(terms.parts),
            "standard_error": self.standard_error,
            "messages_per_user": self.messages_per_user,
            "bytes_per_user": self.bytes_per_user,
            "messages_per_mix": self.messages_per_mix,
            "bytes_per_message": list(terms.message_bytes),
        }


@dataclass(frozen=True, slots=True)
class CascadeChoice:
    """The option to take, the others from good to bad, and what is infeasible."""

    best: CascadeOption
    others: tuple[CascadeOption, ...]
    infeasible: tuple[Infeasible, ...]

    @property
    def reason(self) -> str:
        """Why this one."""
        if self.best.terms.cover is Cover.MIXES:
            return (
                "Fakes that every mix draws hide a person if any one mix is honest, whatever "
                "people and the other mixes do: taken wherever they can be had."
            )
        return (
            "No fakes that every mix draws can be had here, so people bring the cover: their "
            "messages must reach an honest mix."
        )

    def facts(self) -> dict[str, Any]:
        """The choice as one JSON object: the best option flat, the rest beside it."""
        return {
            **self.best.facts(),
            "reason": self.reason,
            "alternatives": [option.facts() for option in self.others],
            "misfits": [{"protocol": m.protocol, "needs": m.needs} for m in self.infeasible],
        }


def _sent(part: Part) -> float:
    return 1.0 if part.own is None else 1.0 + part.own.mean


def _drawn(part: Part) -> int:
    if isinstance(part.recipe, BlanksRecipe):
        return part.recipe.count
    return part.recipe.shift * part.bins if isinstance(part.recipe, ShapedRecipe) else 0
