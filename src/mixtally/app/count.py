"""One simulated round: prepare a crowd, check it, simulate its messages, and compare the counts.

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
    """A plan that is used as it is, with the reason for its use.

    Attributes
    ----------
    plan : Plan
        The plan of the round.
    reason : str
        Why the plan was chosen, in a sentence; empty if the user chose it.
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
        Title, source of the data, and seed.
    release : Release
        The estimates of the collector, or the reason why nothing is released.
    truth : Truth
        The true counts, which only a simulation knows.
    from_data : tuple of str
        Names of the facts of the question that were read from the data, as in ``Population``.
    contest : Contest or None
        The votes and the winner, if the winner of a vote was requested.
    """

    about: Provenance
    release: Release
    truth: Truth
    from_data: tuple[str, ...] = ()
    contest: Contest | None = None

    def study(self) -> Study:
        """Return the findings of the round.

        Unless a contract was simulated, they include central mechanisms for comparison.
        """
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
        The plan, and the reason for its use.
    crowd : Population or Histogram
        The people, or the number of people with each value, as they were read.
    sent : Population or Histogram
        The same crowd in the form that is simulated. Words are replaced by their hashes. If only
        tallies are drawn, it is a histogram.
    words : tuple of str or None
        The words whose counts are estimated if the question is open; None if the question has a
        list of values.
    analysis : Analysis
        Numbers to estimate, including the counts of ``words``.
    hops : DishonestHops
        The mixes that deviate from the protocol, and how.
    """

    name: str
    given: GivenPlan
    crowd: Population | Histogram
    sent: Population | Histogram
    words: tuple[str, ...] | None
    analysis: Analysis
    hops: DishonestHops

    def check(self, accountant: Accountant) -> None:
        """Raise every error that the simulation would raise.

        Callers charge a round to a ledger only after this check.
        """
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

    With ``counts_only``, tallies are drawn instead of messages. This is always the case for a
    ``Histogram``. Raises PlanError if ``words`` is not None and the question of the plan is not
    open.
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
    """Return a crowd with the records that devices randomize.

    Words are replaced by their hashes if the question is open. Numbers are rounded to the grid of
    the plan.

    Parameters
    ----------
    crowd : Population
        The people and their answers.
    plan : Plan
        The plan under which the messages are sent.
    chance : Chance
        The source of randomness for the rounding of numbers.

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
        The crowd and the plan, as ``prepare_round`` returns them.
    run : Run
        The settings of the simulation.
    sums : bool
        Whether to compute also the certificate against an observer who sees only the sums of all
        messages.
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
    """Return the central mechanisms with the guarantee of a result, and their measured errors.

    The measured errors are a dict by the name of the mechanism. If records are not single
    values, there are no mechanisms, and a note says so.
    """
    # The central mechanisms of the comparison count one value per person.
    if result.question.kind is not Kind.ONE:
        return Central(note=ONE_VALUE), {}
    level = result.estimate.individual.level
    return compare_central_mechanisms(
        result.plan.guarantee, truth.counts, level=level, seeded=seeded
    )
