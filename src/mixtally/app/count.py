"""One simulated round: a crowd is prepared, checked, simulated and compared with the true counts.

``app.simulate`` calls ``prepare_round`` and then ``count``. ``mixtally batch randomize`` calls
``prepare_crowd``, because it writes the messages of a crowd to files.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.app.outcome import Outcome, Run, outcome_of_study
from mixtally.errors import PlanError, pluralize
from mixtally.lab.data.population import LABELS, Population
from mixtally.lab.simulation import plan_choice
from mixtally.lab.simulation.central import ONE_VALUE, compare_central_mechanisms
from mixtally.lab.simulation.counts_only import (
    Histogram,
    check_counts,
    collect_counts,
    histogram_of,
)
from mixtally.lab.simulation.lab import ContractReference, Lab, Provenance
from mixtally.lab.simulation.open_words import count_true_words, hash_words
from mixtally.lab.simulation.play import ALL_HONEST, DishonestHops
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.lab.simulation.run import check_population, simulate_release
from mixtally.lab.simulation.study import Release, Study
from mixtally.lab.simulation.truth import Truth, add_comparisons, truth_of
from mixtally.lab.simulation.winner.contest import Ballots, Contest, hold_contest
from mixtally.model.baseline import Central
from mixtally.model.contract import Plan, fingerprint_of, read_contract
from mixtally.model.question import Kind
from mixtally.model.result import Result
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode.hashed import look_up_words
from mixtally.protocol.estimate.analysis import Analysis


class GivenPlan(NamedTuple):
    """A plan that a user gives, in place of a request to the planner.

    Attributes
    ----------
    plan : Plan
        The plan.
    reason : str
        Why the plan is used, in a sentence.
    signed : ContractReference or None
        The contract that contains the plan; None for a plan by itself.
    """

    plan: Plan
    reason: str = ""
    signed: ContractReference | None = None


def load_signed_contract(data: bytes, subject: str) -> GivenPlan:
    """Return the plan of a contract with its reference; raise PlanError for any other file.

    Parameters
    ----------
    data : bytes
        The content of the file.
    subject : str
        The name of the file in messages.
    """
    found = read_contract(data, subject)
    return GivenPlan(
        found.plan, signed=ContractReference(found.name, found.serial, fingerprint_of(data))
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountResult:
    """The result of one simulated round.

    Attributes
    ----------
    about : Provenance
        Title, source and seed.
    release : Release
        The release of the collector, or the reason why nothing is released.
    truth : Truth
        The true counts.
    from_data : tuple of str
        Parts of the question that were taken from the data, as in ``Population``.
    contest : Contest or None
        The winner of a vote, if requested.
    """

    about: Provenance
    release: Release
    truth: Truth
    from_data: tuple[str, ...] = ()
    contest: Contest | None = None

    def study(self) -> Study:
        """Return the findings, compared with the central model unless they belong to a contract."""
        comparison: dict[str, Central] = {}
        truth = self.truth
        if self.about.signed is None:
            seeded = self.about.seed is not None
            comparison["central"], errors = _central(self.release.result, truth, seeded=seeded)
            truth = replace(truth, central=errors)
        return Study(
            provenance=self.about,
            releases=(self.release,),
            truth=truth,
            contest=self.contest,
            **comparison,
        )

    def outcome(self, top: int = 20) -> Outcome:
        """Return the findings as documents; a terminal shows the ``top`` largest bins."""
        return outcome_of_study(self.study(), top, self.from_data)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedRound:
    """A crowd in the form in which a round is simulated.

    Attributes
    ----------
    name : str
        Name of the question in titles.
    given : GivenPlan
        The plan, and why it is used.
    crowd : Population or Histogram
        The people, or the number of people with each value.
    sent : Population or Histogram
        The form of the crowd that is simulated. Words are hashed, and a crowd of which only tallies
        are drawn is a histogram.
    words : tuple of str or None
        Words to estimate if the question is open; None for a list of values.
    analysis : Analysis
        Numbers to estimate, with the words to look for.
    hops : DishonestHops
        Mixes that deviate from the protocol.
    """

    name: str
    given: GivenPlan
    crowd: Population | Histogram
    sent: Population | Histogram
    words: tuple[str, ...] | None
    analysis: Analysis
    hops: DishonestHops

    def check(self, accountant: Accountant) -> None:
        """Raise all errors that the simulation would raise, before the round is charged."""
        plan = self.given.plan
        if isinstance(self.sent, Histogram):
            check_counts(plan, self.sent, self.analysis, accountant)
            return
        check_population(plan, self.sent, self.analysis, accountant)
        self.hops.check(plan.hops)

    def play(self, lab: Lab) -> tuple[Release, Truth]:
        """Simulate the round; return the release and the true counts of its bins."""
        plan, crowd, analysis = self.given.plan, self.crowd, self.analysis
        if isinstance(self.sent, Histogram):
            played = collect_counts(plan, self.sent, lab, analysis)
        else:
            played = simulate_release(plan, self.sent, lab, analysis, self.hops)
        if isinstance(crowd, Histogram):
            return played, add_comparisons(Truth(crowd.truth), played.conclusion)
        if analysis.listed is not None:
            return played, add_comparisons(
                count_true_words(crowd, analysis.listed), played.conclusion
            )
        return played, truth_of(crowd, played.conclusion)


def prepare_round(
    name: str,
    given: GivenPlan,
    crowd: Population | Histogram,
    analysis: Analysis,
    *,
    words: tuple[str, ...] | None = None,
    hops: DishonestHops = ALL_HONEST,
    counts_only: bool = False,
) -> PreparedRound:
    """Return the crowd in the form in which a round is simulated.

    With ``counts_only``, tallies are drawn instead of messages, as they always are for a
    ``Histogram``. Raises PlanError for words if the question of the plan is not open.
    """
    sent, question = crowd, given.plan.question
    if isinstance(crowd, Population) and words is not None:
        analysis = replace(analysis, listed=look_up_words(question, words))
        sent = hash_words(crowd, question)
    elif isinstance(crowd, Population) and counts_only:
        sent = histogram_of(crowd)
    return PreparedRound(
        name=name,
        given=given,
        crowd=crowd,
        sent=sent,
        words=words,
        analysis=analysis,
        hops=hops,
    )


def prepare_crowd(crowd: Population, plan: Plan, chance: Chance) -> Population:
    """Return a crowd with the records that devices randomize: words hashed, and numbers rounded.

    Parameters
    ----------
    crowd : Population
        The people and their answers.
    plan : Plan
        The plan of the messages.
    chance : Chance
        Rounds numbers to the grid of the plan.

    Raises
    ------
    PlanError
        If the plan is for another number of people, or only one of plan and crowd has numbers.
    """
    # The certificate of the plan is for its number of users.
    if crowd.users != plan.users:
        raise PlanError(
            "plan",
            expected=f"a plan for {pluralize(crowd.users, 'user')}",
            got=f"one for {plan.users:,}",
            do="plan again for the people of this data",
        )
    if plan.question.hashed is not None:
        return hash_words(crowd, plan.question)
    return round_crowd(crowd, plan, chance)


def count(
    ready: PreparedRound, run: Run, *, sums: bool = False, ballots: Ballots | None = None
) -> CountResult:
    """Simulate one round.

    Parameters
    ----------
    ready : PreparedRound
        The prepared crowd.
    run : Run
        How the round is simulated.
    sums : bool
        Whether to certify also what is hidden from an observer of the sums only.
    ballots : Ballots or None
        Local ballots of the same crowd, if the winner of a vote is requested.

    Raises
    ------
    PlanError
        If the plan is for other people or another question.
    """
    crowd, signed = ready.crowd, ready.given.signed
    played, truth = ready.play(run.lab)
    if sums:
        seen = plan_choice.certify_sums(ready.given.plan, run.lab.planner.accountant)
        played = replace(played, sums=seen)
    contest = None
    if ballots is not None and isinstance(crowd, Population):
        contest = hold_contest(played.result, crowd, ballots, run.lab)
    given = LABELS not in crowd.from_data and not ready.words
    under = (
        "counted privately" if signed is None else f"counted under the contract {signed.contract}"
    )
    return CountResult(
        about=Provenance(
            title=f"{ready.name}, {under}",
            source=run.source,
            raw="" if isinstance(crowd, Histogram) else crowd.note,
            reason=ready.given.reason,
            seed=run.seed,
            ordered=signed is not None or given,
            signed=signed,
        ),
        release=played,
        truth=truth,
        from_data=crowd.from_data,
        contest=contest,
    )


def _central(result: Result, truth: Truth, *, seeded: bool) -> tuple[Central, dict[str, float]]:
    """Return the result of central mechanisms with the same guarantee, and their errors."""
    # The central mechanisms of the comparison count one value per person.
    if result.question.kind is not Kind.ONE:
        return Central(note=ONE_VALUE), {}
    level = result.estimate.individual.level
    return compare_central_mechanisms(
        result.plan.guarantee, truth.counts, level=level, seeded=seeded
    )
