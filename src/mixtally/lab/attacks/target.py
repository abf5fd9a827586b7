"""The target of attacks: a plan with its certificate, or parameters with a claim.

``mixtally check attack`` makes a ``Target`` from a plan's file or a contract. ``lab.attacks.claim``
makes one from parameters.
"""

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
    """The numbers of people, the person included, whose messages hide this person.

    Attributes
    ----------
    fakes : int
        The number of people whose fakes are among the messages.
    flips : int
        The number of people whose flipped records are among the messages.
    """

    fakes: int
    flips: int

    def halve(self) -> "HidingPeople":
        """Return the numbers if every second person reveals their messages to the attacker."""
        return HidingPeople(self.fakes // 2, self.flips // 2)


NOBODY = HidingPeople(0, 0)
"""No people hide the person. A guarantee that relies only on fakes of mixes assumes this."""


@dataclass(frozen=True, slots=True)
class Target:
    """A collection, and the guarantee that is claimed for it.

    Attributes
    ----------
    parts : tuple of Part
        The streams of messages of a record.
    epsilon, delta : float
        The guarantee, for every dataset, against an attacker who receives all messages.
    users : int
        The number of people expected to take part.
    expected, certain : HidingPeople
        The expected numbers of people who hide a person, and the numbers that the guarantee
        assumes. If every hop draws fakes, the guarantee assumes no other people.
    exact : Certificate
        The delta that this library computes for the target.
    collections : int
        The number of collections in which a person may take part under the guarantee.
    hops : int
        The number of mixes in a row.
    verified : bool
        Whether the plan's certificate was computed again and confirmed.
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
        """Whether every hop draws fakes."""
        return self.parts[0].by_mixes

    @property
    def local_epsilon(self) -> float:
        """The privacy loss if all messages of a collection can be traced to their senders."""
        return sum(part.local_epsilon for part in self.parts)

    def facts(self) -> dict[str, Any]:
        """Return the claimed guarantee and the computed one as a flat dictionary."""
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
        """Return every different part, by the suffix that the names of its tests have."""
        several = len(self.parts) > 1
        return {
            f" of part {self.parts.index(part) + 1}" if several else "": part
            for part in dict.fromkeys(self.parts)
        }

    def senders_among(
        self, people: HidingPeople, mixes: int = 1, collections: int | None = None
    ) -> dict[Senders, int]:
        """Return the senders of each part, and how often a person sends each part.

        Only the messages of ``people`` and the fakes of ``mixes`` hop(s) hide the person. The
        default of ``collections`` is the number of collections in the guarantee.
        """
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
    """Return the target for a plan.

    With ``unverified``, a plan with a false certificate is accepted.

    Raises
    ------
    PlanError
        If the certificate is false and ``unverified`` is not set.
    """
    verified = True
    try:
        exact = verify(plan, accountant)
    except PlanError as error:
        if not unverified:
            raise PlanError(
                "plan",
                expected="a plan whose certificate holds",
                got=f"a false certificate ({error})",
                do="do not use it; add --unverified to attack it in spite of that",
            ) from error
        exact, verified = certify_terms(PrivacyTerms.of(plan), accountant), False
    stated, certain = plan.certificate, plan.honest_people
    return Target(
        plan.parts,
        stated.epsilon,
        # A guarantee needs a positive delta; the certificate's may be 0.
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
