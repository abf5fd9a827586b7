"""Simulated collection: choose a plan for a crowd, simulate a round, and estimate the counts.

The command line and Python read the crowd and pass it to this module. This module decides which
options exclude each other, which plan is used, and how the round is simulated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.analysis import AnalysisOptions, Candidates
from mixtally.app.count import CountResult, GivenPlan, count, prepare_round
from mixtally.app.limits import BudgetOptions, budget_for_repeats, plan_request
from mixtally.app.options import (
    CountsOnly,
    HopNumbers,
    MaybePromise,
    check_one_of,
    list_used_flags,
    option,
    whole_option,
)
from mixtally.app.outcome import Run
from mixtally.app.plans import refuse_extra_flags
from mixtally.app.question import HashingOptions
from mixtally.app.winner import VoteSetup, WinnerOptions, make_vote_setup
from mixtally.errors import ParameterError, PlanError, join_words, not_together
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import plan_choice
from mixtally.lab.simulation.counts_only import Histogram
from mixtally.lab.simulation.play import ALL_HONEST, DishonestHops, HopConduct
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.model.contract import Plan
from mixtally.model.question import Kind, Question, make_open_question
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode.hashed import encode
from mixtally.protocol.encode.numbers import Range

OBSERVERS = ("messages", "sums")


@dataclass(frozen=True, slots=True, kw_only=True)
class HopOptions:
    """Mixes of a contract that deviate from the protocol."""

    dishonest: Annotated[
        HopNumbers | None,
        option("--dishonest", "Positions of dishonest hops: 1,3; they draw no fakes.", "H,.."),
    ] = None
    leave_out: Annotated[
        float | None,
        option(
            "--leave-out",
            "Share of other people's messages that they drop, 0 to 1 (default 1).",
            "S",
        ),
    ] = None

    def hops(self) -> DishonestHops:
        """Return the dishonest mixes; raise ParameterError for a share outside [0, 1]."""
        conduct = HopConduct(leaves_out=1.0 if self.leave_out is None else self.leave_out)
        return DishonestHops(self.dishonest, conduct) if self.dishonest else ALL_HONEST


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """All options of a simulated collection."""

    promise: MaybePromise
    derived: AnalysisOptions
    repeats: Annotated[
        int | None, whole_option("--repeats", "Send vectors of bits N times (flip).")
    ] = None
    candidates: Candidates = None
    observer: Annotated[
        str, option("--observer", "sums: also certify an observer of sums only.", "WHO")
    ] = "messages"
    budget: BudgetOptions
    hashing: HashingOptions
    cheats: HopOptions
    counts_only: CountsOnly = False
    vote: WinnerOptions

    @property
    def asks_winner(self) -> bool:
        """Whether the options ask for the winner of a vote, so that each record is a ballot."""
        return bool(list_used_flags(self.vote))


def check_vote(options: SimulateOptions, also_given: Sequence[str]) -> None:
    """Raise ParameterError for options that exclude ``--winner``.

    This is checked before any file is read.

    Parameters
    ----------
    options : SimulateOptions
        The options to check.
    also_given : sequence of str
        Further options that the user set, on plans, contracts, charges or counts. They exclude
        ``--winner``, too.
    """
    if not options.asks_winner:
        return
    more = list_used_flags(
        options, "repeats", "candidates", "observer", "hashing", "cheats", "counts_only"
    )
    if more := [*more, *also_given]:
        raise not_together("--winner", "--winner", more)


def check_options(
    options: SimulateOptions,
    given: GivenPlan | None,
    also_given: Sequence[str] = (),
    *,
    counts: bool = False,
) -> None:
    """Raise an error for options that exclude each other, before any data are read.

    Parameters
    ----------
    options : SimulateOptions
        The options to check.
    given : GivenPlan or None
        The plan or contract to simulate; None if the planner chooses a plan.
    also_given : sequence of str
        Further options that the user set, and that a plan already fixes.
    counts : bool
        Whether the data are numbers of people for each value.

    Raises
    ------
    ParameterError
        If options exclude each other, or the guarantee is missing or out of range.
    PlanError
        If words are listed for a plan whose question is not open.
    """
    check_one_of("observer", options.observer, OBSERVERS)
    _check_words(options, given)
    if given is not None:
        made = list_used_flags(options.promise) + list_used_flags(options, "repeats")
        made = [*also_given, *made]
        made += list_used_flags(options.hashing) + list_used_flags(options.budget)
        if given.signed is not None:
            made += list_used_flags(options, "observer", "counts_only") + ["--counts"] * counts
        refuse_extra_flags(made, "plan" if given.signed is None else "contract")
    if given is None or given.signed is None:
        for flag in list_used_flags(options.cheats):
            raise ParameterError(
                flag, expected="--contract with it", got="none", do="leave it out, or add one"
            )
    options.cheats.hops()
    if counts or options.counts_only:
        _check_tally(options, "--counts" if counts else "--counts-only")
    if given is None and not options.asks_winner:
        options.promise.guarantee()


def _check_words(options: SimulateOptions, given: GivenPlan | None) -> None:
    """Raise an error for a hash key without words, and for options that exclude words."""
    if options.candidates is None:
        if used := list_used_flags(options.hashing):
            raise ParameterError(
                "--candidates",
                expected=f"words with {' and '.join(used)}",
                got="none",
                do="list the words to look for, one per line",
            )
        if given is not None and given.plan.question.hashed is not None:
            raise PlanError(
                "plan",
                expected="--candidates with a plan of an open question",
                got="none",
                do="list the words to look for, one per line",
            )
        return
    plain = list_used_flags(options.derived, "project", "pairs") + list_used_flags(
        options, "repeats"
    )
    if plain:
        raise not_together("--candidates", "--candidates", plain)
    if given is not None:
        encode(given.plan.question, ())  # raises unless the question is open


def _check_tally(options: SimulateOptions, subject: str) -> None:
    """Raise ParameterError for options that need messages or individual people, not only counts.

    ``subject`` is the option that requests a simulation by counts, for the message.
    """
    other = (
        list_used_flags(options.derived, "pairs")
        + list_used_flags(options, "candidates")
        + list_used_flags(options.hashing)
    )
    if other:
        raise not_together(
            subject,
            subject,
            other,
            f"leave {join_words(other)} out, or simulate messages: a tally does not contain "
            "combinations of values",
        )


def simulate(
    options: SimulateOptions,
    crowd: Population | Histogram,
    run: Run,
    given: GivenPlan | None = None,
    *,
    name: str | None = None,
    scale: Range | None = None,
    blank: str | None = None,
    charge: Callable[[Plan], None] | None = None,
) -> CountResult:
    """Choose a plan, unless the caller passes one, and simulate one round.

    Parameters
    ----------
    options : SimulateOptions
        The options, checked by ``check_options``.
    crowd : Population or Histogram
        The people, or the number of people with each value. If words are requested, the bins are
        words.
    run : Run
        The settings of the simulation.
    given : GivenPlan or None
        The plan or contract to simulate; None to choose a plan.
    name : str or None
        Name of the question in titles; by default the name in the plan.
    scale : Range or None
        The bins of numbers, or the points to which they are rounded; None for other values.
    blank : str or None
        The label of blank ballots, which cannot win.
    charge : callable or None
        Called with the plan after all checks and before any message is drawn, to charge a budget.

    Returns
    -------
    CountResult
        The release and the true counts.

    Raises
    ------
    InfeasibleError
        If no plan meets the request.
    ParameterError
        If the records do not allow a requested number, or a dishonest hop does not exist.
    PlanError
        If the given plan is for other people or another question.
    """
    vote = None
    if options.asks_winner:
        vote = make_vote_setup(options.vote, options.promise, crowd.question, blank)
    given = given or _plan_for(options, crowd, run, scale, vote)
    plan = given.plan
    if isinstance(crowd, Population):
        crowd = round_crowd(crowd, plan, run.lab.chance)
    ready = prepare_round(
        plan.question.name if name is None else name,
        given,
        crowd,
        options.derived.analysis(run.level),
        words=options.candidates,
        hops=options.cheats.hops(),
        counts_only=options.counts_only,
    )
    if charge is not None:
        # A charge cannot be undone, so everything that may fail is checked before it.
        ready.check(run.lab.planner.accountant)
        charge(plan)
    return count(
        ready, run, sums=options.observer == "sums", ballots=None if vote is None else vote.ballots
    )


def _plan_for(
    options: SimulateOptions,
    crowd: Population | Histogram,
    run: Run,
    scale: Range | None,
    vote: VoteSetup | None,
) -> GivenPlan:
    """Return the plan with the smallest error for a crowd, and why it was chosen."""
    planner, times = run.lab.planner, options.repeats
    question = crowd.question
    if options.candidates is not None:
        question = _open_question_of(question, options.hashing, run.lab.chance)
    request = plan_request(
        budget_for_repeats(options.budget, times),
        question,
        options.promise.guarantee() if vote is None else vote.guarantee,
        crowd.users,
        scale=scale,
        planner=planner,
        # The number of people in each bin does not show which bins belong to one person.
        whole_records=options.counts_only or isinstance(crowd, Histogram),
    )
    if vote is not None:
        # The analysis of votes assumes independent errors of the bins, which planes do not have.
        return GivenPlan(*plan_choice.choose_plan(replace(request, over_planes=False), planner))
    return GivenPlan(
        *plan_choice.choose_plan(request, planner, repeats=times, pairs=options.derived.pairs)
    )


def _open_question_of(words: Question, hashing: HashingOptions, chance: Chance) -> Question:
    """Return the open question for simulated words; its hash key is random unless options set it.

    Raises ParameterError for a question about sets of at most one word.
    """
    if words.kind is Kind.SET and words.max_set == 1:
        raise ParameterError(
            "max set",
            expected="two texts or more from an open domain",
            got="sets of one",
            do="leave --set out, or add --max-set 2",
        )
    return make_open_question(words.name, hashing.seed(chance), words.max_set)
