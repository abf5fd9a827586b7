"""What is attacked: a plan with its certificate, or parameters with a claim."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, verify
from mixtally.errors import PlanError
from mixtally.lab.attacks.senders import Senders
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Cover, Part, Plan
from mixtally.model.guarantee import LEAST_DELTA, LEAST_USERS, Guarantee


class HidingPeople(NamedTuple):
    """Who hides a person, the person among them.

    where
      fakes   people whose fakes are among the messages
      flips   people whose flips are
    """

    fakes: int
    flips: int

    def halve(self) -> "HidingPeople":
        """If every second one tells what they sent."""
        return HidingPeople(self.fakes // 2, self.flips // 2)


NOBODY = HidingPeople(0, 0)
"""Nobody, nor any fake."""


@dataclass(frozen=True, slots=True)
class Target:
    """A collection and what is promised about it.

    where
      parts              the streams of messages of a record
      epsilon, delta     the promise, for every dataset, against who receives all messages
      users              people expected to take part
      expected, certain  who brings what hides a person: as many as are expected, and those whom the
                         promise counts on; of these nobody where every hop draws the cover
      collections        how often a person may be asked under the promise
      hops               mixes in a row
      exact              what is computed of it
      verified           whether that is what is promised
    """

    parts: tuple[Part, ...]
    epsilon: float
    delta: float
    users: int
    expected: HidingPeople
    certain: HidingPeople
    title: str
    exact: Certificate
    collections: int = 1
    hops: int = 1
    verified: bool = False

    def __post_init__(self) -> None:
        Guarantee(epsilon=self.epsilon, delta=self.delta)

    @property
    def by_mixes(self) -> bool:
        """Whether every hop draws the cover."""
        return self.parts[0].by_mixes

    @property
    def local_epsilon(self) -> float:
        """What is left of all messages of a collection that are known to be someone's."""
        return sum(part.local_epsilon for part in self.parts)

    def facts(self) -> dict[str, Any]:
        """What is promised, and what is exactly so, flat."""
        first, exact = self.parts[0], self.exact
        drawn = self.hops * sum(part.mean_added for part in self.parts)
        own = sum(part.own.mean_for(self.expected.fakes) for part in self.parts if part.own)
        crowd = max(LEAST_USERS, self.certain.flips) if self.certain.flips else 0
        made = first.mechanism(fakes=0, crowd=crowd, mixes=self.hops)
        return {
            "protocol": first.protocol,
            "cover": str(Cover.MIXES if self.by_mixes else Cover.PEOPLE),
            "hops": self.hops,
            "users": self.users,
            "collections": self.collections,
            **made.facts(),
            "fakes": drawn + own,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "certified": self.verified,
            "exact_delta": exact.upper,
            "exact_delta_lower": exact.lower,
            **exact.terms(),
        }

    def distinct_parts(self) -> dict[str, Part]:
        """Every different part, by what it is called among others."""
        several = len(self.parts) > 1
        return {
            f" of part {self.parts.index(part) + 1}" if several else "": part
            for part in dict.fromkeys(self.parts)
        }

    def senders_among(
        self, people: HidingPeople, mixes: int = 1, collections: int | None = None
    ) -> dict[Senders, int]:
        """Who sends among so many people's and mixes' noise, and how often a person does so."""
        asked = self.collections if collections is None else collections
        return {
            Senders(part, max(0, people.flips - 1) * part.is_randomized, people.fakes, mixes): (
                asked * times
            )
            for part, times in Counter(self.parts).items()
        }


def target_of_plan(
    plan: Plan, *, unverified: bool = False, accountant: Accountant | None = None
) -> Target:
    """The target that ``plan`` is.

    Raises PlanError for a plan whose certificate is false, unless it is to be attacked all the same
    with ``unverified``.
    """
    verified = True
    try:
        exact = verify(plan, accountant)
    except PlanError as error:
        if not unverified:
            raise PlanError(
                "plan",
                expected="one whose certificate holds",
                got=f"another ({error})",
                do="do not use it; add --unverified to attack it all the same",
            ) from error
        exact, verified = certify_terms(PrivacyTerms.of(plan), accountant), False
    stated, certain = plan.certificate, plan.honest_people
    return Target(
        plan.parts,
        stated.epsilon,
        max(LEAST_DELTA, stated.upper),
        plan.users,
        HidingPeople(plan.users, plan.users),
        NOBODY if plan.parts[0].by_mixes else HidingPeople(certain, plan.crowd),
        f"{plan.name} for {plan.question.name!r}, {plan.users:,} users and "
        f"{plan.question.bins:,} bins",
        exact,
        plan.collections,
        plan.hops,
        verified,
    )
