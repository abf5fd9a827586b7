"""Everybody in every round on a share of the budget, or everybody in one round on all of it.

*together*: each person takes part in all R rounds; the rounds compose. Every round uses one and the
same plan, fixed beforehand, and only what its bins stand for depends on earlier rounds, which is
what the composition of ``privacy.compose`` covers.

*apart*: the crowd is dealt into R groups by a draw that knows nothing of their words; each takes
part in one round under the whole guarantee. Replace one person's word: the rounds before theirs
have the same distribution, their own round keeps (epsilon, delta) whatever it asks, and the rounds
after it are computed from what was seen and from other people's words, which is post-processing. So
nothing composes.

The noise of a count does not depend on the size of the crowd, so *apart* multiplies it by R where
*together* pays about sqrt(R), and it adds the error of judging the crowd by one R-th of it. It errs
less only at few rounds and tiny shares; what speaks for it is one R-th of the messages.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from msgspec import structs

from mixtally.errors import InfeasibleError, ParameterError
from mixtally.lab.simulation.heavy.search import Search
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan
from mixtally.model.estimates import Tally
from mixtally.planning import Planner, PlanRequest, choose
from mixtally.protocol.estimate.conclude.extensions import population_error
from mixtally.protocol.estimate.noise import least_significant
from mixtally.protocol.estimate.received import reconcile_mechanism
from mixtally.report.numbers import at_most, number
from mixtally.report.words import assumption_text

ONE_ROUND_ASSUMPTION = (
    "every person takes part in exactly one round, dealt to it without looking at their word; "
    "later rounds see their group's messages only through what was published"
)


class Participation(StrEnum):
    """How rounds share people and budget."""

    EVERY_ROUND = "together"
    ONE_ROUND = "apart"


@dataclass(frozen=True, slots=True)
class Design:
    """The plan of every round, and what all rounds promise together.

    where
      certificate   of everything one person sends in the whole search
      reason        why this way, in words
    """

    search: Search
    way: Participation
    plan: Plan
    certificate: Certificate
    reason: str = ""

    @property
    def people_a_round(self) -> int:
        """People in a round, at least."""
        together = self.way is Participation.EVERY_ROUND
        return self.search.users if together else self.search.users // self.search.rounds

    @property
    def messages_per_user(self) -> float:
        """Messages one person sends in the whole search, fakes included, on average."""
        rounds = self.search.rounds if self.way is Participation.EVERY_ROUND else 1
        return rounds * self.plan.messages_per_user

    @property
    def bytes_per_user(self) -> float:
        """Bytes of these messages."""
        rounds = self.search.rounds if self.way is Participation.EVERY_ROUND else 1
        return rounds * self.plan.bytes_per_user

    @property
    def least_count(self) -> int:
        """People who must hold a word so that its expected count reaches the threshold.

        The threshold is that of a round with the average number of messages. A word of exactly so
        many people passes it about every second time.
        """
        plan, search, people = self.plan, self.search, self.people_a_round
        (part,) = plan.parts
        messages = round(people * part.mean_sent) + plan.hops * part.mean_added
        tally = Tally(np.zeros(part.layout.bins, dtype=np.int64), messages)
        mechanism = reconcile_mechanism(plan, tally, people)
        least = least_significant(mechanism, messages, search.bins_in_all_rounds, search.error_rate)
        count = float(mechanism.debias_counts(np.array([least]), messages)[0])
        return math.ceil(count * search.users / people)

    def standard_error(self, share: float) -> float:
        """Of the crowd's count of a prefix that ``share`` of it holds, in counts."""
        return population_error(
            self.plan.standard_error, self.search.users, self.people_a_round, share
        )


def design_search(
    search: Search, way: Participation | None = None, planner: Planner | None = None
) -> Design:
    """The way of less error, or the ``way`` that is asked for.

    Errors are compared at a share of 1 / (10 top) of the crowd, about where the last expected word
    of a language lies. Raises InfeasibleError when no plan meets the guarantee within the messages.
    """
    if way is not None:
        return _design_one(search, way, planner, f"The way was given: {way}.")
    both, obstacles = [], []
    for each in Participation:
        try:
            both.append(_design_one(search, each, planner))
        except (InfeasibleError, ParameterError) as error:
            obstacles.append(error)
    if not both:
        raise obstacles[0]
    share = 0.1 / search.top
    best = min(both, key=lambda one: one.standard_error(share))
    return replace(best, reason=_reason(both, share))


def _design_one(
    search: Search, way: Participation, planner: Planner | None, reason: str = ""
) -> Design:
    together = way is Participation.EVERY_ROUND
    wish = PlanRequest(
        question=search.question,
        guarantee=search.guarantee,
        users=search.users if together else search.users // search.rounds,
        messages_per_user=search.messages_per_user,
        collections=search.rounds if together else 1,
        mix_fakes=search.mix_fakes,
    )
    plan = choose(wish, planner).plan
    whole = plan.certificate
    if not together:
        whole = structs.replace(whole, assumption=f"{whole.assumption}; {ONE_ROUND_ASSUMPTION}")
    return Design(search, way, plan, whole, reason)


def _reason(both: list[Design], share: float) -> str:
    described = {
        Participation.EVERY_ROUND: "everybody in every round on a share of the budget",
        Participation.ONE_ROUND: "everybody in one round on the whole budget",
    }
    errors = "; ".join(
        f"{described[one.way]} errs by {number(one.standard_error(share))} counts where "
        f"{share:.2g} of the crowd hold a prefix, at {one.messages_per_user:.3g} messages a person"
        for one in sorted(both, key=lambda one: one.standard_error(share))
    )
    return f"Chosen by error: {errors}."


def describe_promise(design: Design) -> list[str]:
    """What the whole search promises, for people."""
    shown = design.certificate
    return [
        f"All {design.search.rounds} rounds together: epsilon = {at_most(shown.epsilon, 6)}, "
        f"delta <= {at_most(shown.upper, 6)}, one person's word substituted, observer: "
        f"{shown.observer}.",
        f"Status: {shown.status}. Source: {shown.source}.",
        f"{assumption_text(shown.assumption)}.",
    ]
