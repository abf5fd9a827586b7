"""Design of a search over several rounds: who takes part in which round, under which plan.

``app.words`` calls `design_search`. There are two ways to divide R rounds among people.

`Participation.EVERY_ROUND`: each person takes part in all R rounds, and the rounds compose. Every
round uses the same plan, which is fixed in advance. Only the meaning of its bins depends on earlier
rounds. Adaptive composition, as in ``accounting.composition``, allows this dependence.

`Participation.ONE_ROUND`: the crowd is divided at random into R groups, independently of the words.
Each group takes part in one round under the whole guarantee. Suppose one person's word is replaced.
The rounds before that person's round have the same distribution. The person's round is (epsilon,
delta)-private, whatever its bins mean. Later rounds depend on the person only through the results
of this round, so they are post-processing. Hence the losses of the rounds do not add up.

The noise of a count does not depend on the size of the crowd. ``ONE_ROUND`` scales the count of one
group up to the whole crowd, and so multiplies the noise by R. ``EVERY_ROUND`` multiplies the noise
by about sqrt(R), because the privacy budget is divided among the rounds. ``ONE_ROUND`` also adds
the sampling error of a group with one R-th of the crowd. So ``ONE_ROUND`` has a smaller error only
with few rounds and for words that a small share of people hold. Its advantage is that each person
sends one R-th of the messages.
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
    """The way in which rounds divide people and budget. The values are stored in files."""

    EVERY_ROUND = "together"
    ONE_ROUND = "apart"


@dataclass(frozen=True, slots=True)
class Design:
    """The plan of every round, and the certificate of all rounds together.

    ``certificate`` covers everything that one person sends in the whole search. ``reason`` explains
    the choice of the participation in words.
    """

    search: Search
    participation: Participation
    plan: Plan
    certificate: Certificate
    reason: str = ""

    @property
    def people_a_round(self) -> int:
        """Least number of people in a round."""
        every_round = self.participation is Participation.EVERY_ROUND
        return self.search.users if every_round else self.search.users // self.search.rounds

    @property
    def messages_per_user(self) -> float:
        """Mean number of messages that one person sends in the whole search, fakes included."""
        rounds = self.search.rounds if self.participation is Participation.EVERY_ROUND else 1
        return rounds * self.plan.messages_per_user

    @property
    def bytes_per_user(self) -> float:
        """Mean number of bytes that one person sends in the whole search, fakes included."""
        rounds = self.search.rounds if self.participation is Participation.EVERY_ROUND else 1
        return rounds * self.plan.bytes_per_user

    @property
    def least_count(self) -> int:
        """Number of people who must hold a word so that its expected count reaches the threshold.

        The threshold is the smallest significant count of a round with the mean number of messages.
        If exactly this number of people hold a word, its count reaches the threshold in about half
        of all rounds.
        """
        plan, search, people = self.plan, self.search, self.people_a_round
        (part,) = plan.parts
        messages = round(people * part.mean_sent) + plan.hops * part.mean_added
        tally = Tally(np.zeros(part.layout.bins, dtype=np.int64), messages)
        mechanism = reconcile_mechanism(plan, tally, people)
        least = least_significant(mechanism, messages, search.bins_in_all_rounds, search.error_rate)
        count = float(mechanism.debias_counts(np.array([least]), messages)[0])
        # Rounded up, because fewer people than this would miss the threshold on average.
        return math.ceil(count * search.users / people)

    def standard_error(self, share: float) -> float:
        """Return the standard error of the count of a prefix, scaled up to the whole crowd.

        ``share`` is the share of the crowd that holds the prefix.
        """
        return population_error(
            self.plan.standard_error, self.search.users, self.people_a_round, share
        )


def design_search(
    search: Search, participation: Participation | None = None, planner: Planner | None = None
) -> Design:
    """Return the design of a search for the kind of participation with the smaller error.

    The errors compared are those of the count of a word that 1 / (10 top) of the crowd holds. In a
    natural language, the least frequent of the ``top`` most frequent words has about this share.

    Parameters
    ----------
    search : Search
        The parameters of the search.
    participation : Participation, optional
        The only kind that is considered.
    planner : Planner, optional
        Shares computed certificates between calls.

    Raises
    ------
    InfeasibleError
        If no plan has the guarantee within the allowed messages.
    """
    if participation is not None:
        return _design_one(search, participation, planner, f"The way was given: {participation}.")
    both, obstacles = [], []
    for each in Participation:
        try:
            both.append(_design_one(search, each, planner))
        except (InfeasibleError, ParameterError) as error:
            obstacles.append(error)
    # A kind of participation for which no plan exists is left out. If no kind has a plan, the error
    # of the first one is raised.
    if not both:
        raise obstacles[0]
    share = 0.1 / search.top
    best = min(both, key=lambda one: one.standard_error(share))
    return replace(best, reason=_reason(both, share))


def _design_one(
    search: Search, participation: Participation, planner: Planner | None, reason: str = ""
) -> Design:
    every_round = participation is Participation.EVERY_ROUND
    request = PlanRequest(
        question=search.question,
        guarantee=search.guarantee,
        users=search.users if every_round else search.users // search.rounds,
        messages_per_user=search.messages_per_user,
        collections=search.rounds if every_round else 1,
        mix_fakes=search.mix_fakes,
    )
    plan = choose(request, planner).plan
    whole = plan.certificate
    if not every_round:
        whole = structs.replace(whole, assumption=f"{whole.assumption}; {ONE_ROUND_ASSUMPTION}")
    return Design(search, participation, plan, whole, reason)


def _reason(both: list[Design], share: float) -> str:
    described = {
        Participation.EVERY_ROUND: "everybody in every round on a share of the budget",
        Participation.ONE_ROUND: "everybody in one round on the whole budget",
    }
    errors = "; ".join(
        f"{described[one.participation]} errs by {number(one.standard_error(share))} counts where "
        f"{share:.2g} of the crowd hold a prefix, at {one.messages_per_user:.3g} messages a person"
        for one in sorted(both, key=lambda one: one.standard_error(share))
    )
    return f"Chosen by error: {errors}."


def describe_promise(design: Design) -> list[str]:
    """Return the promise of the whole search, in sentences."""
    shown = design.certificate
    return [
        f"All {design.search.rounds} rounds together: epsilon = {at_most(shown.epsilon, 6)}, "
        f"delta <= {at_most(shown.upper, 6)}, one person's word substituted, observer: "
        f"{shown.observer}.",
        f"Status: {shown.status}. Source: {shown.source}.",
        f"{assumption_text(shown.assumption)}.",
    ]
