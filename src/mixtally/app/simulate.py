"""A simulated collection: options of a request and a crowd in, its counts out.

The command line and Python read the crowd, each in its way. Which options go together, which plan
is played and how is decided here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.analysis import AnalysisOptions, Candidates
from mixtally.app.count import CountRequest, CountResult, GivenPlan, count, prepare_round
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
from mixtally.errors import ParameterError, PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import plan_choice
from mixtally.lab.simulation.counts_only import Histogram
from mixtally.lab.simulation.hop_conduct import ALL_HONEST, DishonestHops, HopConduct
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.model.contract import Plan
from mixtally.model.question import Kind, Question, make_open_question
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode.hashed import encode
from mixtally.protocol.encode.numbers import Range

OBSERVERS = ("messages", "sums")


@dataclass(frozen=True, slots=True, kw_only=True)
class HopOptions:
    """Mixes of a contract that do not keep it."""

    dishonest: Annotated[
        HopNumbers | None,
        option("--dishonest", "Hops that cheat, by their place: 1,3; draw no fakes.", "H,.."),
    ] = None
    leave_out: Annotated[
        float | None,
        option(
            "--leave-out",
            "Share of other people's messages that they leave out, 0 to 1 (default 1).",
            "S",
        ),
    ] = None

    def hops(self) -> DishonestHops:
        """Return the mixes that cheat; raise ParameterError for a share outside [0, 1]."""
        conduct = HopConduct(leaves_out=1.0 if self.leave_out is None else self.leave_out)
        return DishonestHops(self.dishonest, conduct) if self.dishonest else ALL_HONEST


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """What is promised or planned, what is counted beside the bins, and how the crowd is played."""

    promise: MaybePromise
    derived: AnalysisOptions
    repeats: Annotated[
        int | None, whole_option("--repeats", "Send vectors of bits so many times (flip).")
    ] = None
    candidates: Candidates = None
    observer: Annotated[
        str, option("--observer", "sums: also say what is hidden from sums alone.", "WHO")
    ] = "messages"
    budget: BudgetOptions
    hashing: HashingOptions
    cheats: HopOptions
    counts_only: CountsOnly = False
    vote: WinnerOptions

    @property
    def asks_winner(self) -> bool:
        """Whether the record is a ballot, of which it is asked who won."""
        return bool(list_used_flags(self.vote))


def check_vote(options: SimulateOptions, beside: Sequence[str]) -> None:
    """Raise ParameterError for options that do not go with ``--winner``.

    ``beside`` are such options besides the request: a plan, a contract, and what else is charged or
    counted. They are looked at before any file is read.
    """
    if not options.asks_winner:
        return
    more = list_used_flags(
        options, "repeats", "candidates", "observer", "hashing", "cheats", "counts_only"
    )
    if more := [*more, *beside]:
        raise ParameterError(
            "--winner",
            expected="a vote, planned and played",
            got="also " + ", ".join(more),
            do="leave these out",
        )


def check_options(
    options: SimulateOptions,
    given: GivenPlan | None,
    beside: Sequence[str] = (),
    *,
    counts: bool = False,
) -> None:
    """Raise for options that do not go together, before anything is read.

    Parameters
    ----------
    options : SimulateOptions
        The request.
    given : Given or None
        The plan, or the contract, that is played; None to plan.
    beside : sequence of str
        Options besides the request that a plan holds itself.
    counts : bool
        Whether people come counted, with a number of them for each value.

    Raises
    ------
    ParameterError
        For options that do not go together, a promise that is missing or out of range.
    PlanError
        For words that are looked for under a plan whose question is not open.
    """
    check_one_of("observer", options.observer, OBSERVERS)
    _check_words(options, given)
    if given is not None:
        made = [*beside, *list_used_flags(options.promise), *list_used_flags(options, "repeats")]
        made += list_used_flags(options.hashing) + list_used_flags(options.budget)
        if given.signed is not None:
            made += list_used_flags(options, "observer", "counts_only") + ["--counts"] * counts
        refuse_extra_flags(made, "plan" if given.signed is None else "contract")
    if given is None or given.signed is None:
        for flag in list_used_flags(options.cheats):
            raise ParameterError(
                flag, expected="--contract beside it", got="none", do="leave it out, or add one"
            )
    options.cheats.hops()
    if counts or options.counts_only:
        _check_tally(options, "--counts" if counts else "--counts-only")
    if given is None and not options.asks_winner:
        options.promise.guarantee()


def _check_words(options: SimulateOptions, given: GivenPlan | None) -> None:
    """Raise for a key without words to look for, and for what does not go with such words."""
    if options.candidates is None:
        if used := list_used_flags(options.hashing):
            raise ParameterError(
                "--candidates",
                expected=f"words beside {' and '.join(used)}",
                got="none",
                do="list the words to look for, one a line",
            )
        if given is not None and given.plan.question.hashed is not None:
            raise PlanError(
                "plan",
                expected="--candidates beside a plan of an open question",
                got="none",
                do="list the words to look for, one a line",
            )
        return
    plain = list_used_flags(options.derived, "project", "pairs") + list_used_flags(
        options, "repeats"
    )
    if plain:
        raise ParameterError(
            "--candidates",
            expected="counts of words as they are",
            got=", ".join(plain) + " beside it",
            do="leave these out",
        )
    if given is not None:
        encode(given.plan.question, ())  # raises unless the question is open


def _check_tally(options: SimulateOptions, subject: str) -> None:
    """Raise ParameterError for what needs whole messages, or people one by one."""
    other = (
        list_used_flags(options.derived, "pairs")
        + list_used_flags(options, "candidates")
        + list_used_flags(options.hashing)
    )
    if other:
        raise ParameterError(
            subject,
            expected="counts of bins",
            got="also " + ", ".join(other),
            do="leave these out, or play the whole simulation: a tally does not say who holds "
            "what together",
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
    """Plan, unless a plan is given, and play one round.

    Parameters
    ----------
    options : SimulateOptions
        The request, which ``check`` let pass.
    crowd : Population or Histogram
        The people, or how many hold each value. Where words are looked for, the bins are the words.
    run : Run
        How the crowd is played.
    given : Given or None
        The plan, or the contract, that is played.
    name : str or None
        What the question is called in titles; as the plan has it if left out.
    scale : Range or None
        How numbers are read.
    blank : str or None
        The label of blank ballots of a vote, which cannot win.
    charge : callable or None
        Called with the plan before anything is drawn, once nothing speaks against playing it.

    Raises
    ------
    InfeasibleError
        If no plan meets the request.
    ParameterError
        For what cannot be told of these records, or hops that there are not.
    PlanError
        For a plan for others.
    """
    vote = None
    if options.asks_winner:
        vote = make_vote_setup(options.vote, options.promise, crowd.question, blank)
    given = given or _plan_for(options, crowd, run, scale, vote)
    plan = given.plan
    if isinstance(crowd, Population):
        crowd = round_crowd(crowd, plan, run.lab.chance)
    asked = CountRequest(
        plan.question.name if name is None else name,
        plan,
        given.reason,
        options.candidates,
        given.signed,
        options.cheats.hops(),
    )
    analysis, only = options.derived.analysis(run.level), options.counts_only
    ballots = None if vote is None else vote.ballots
    ready = prepare_round(asked, crowd, analysis, counts_only=only)
    if charge is not None:
        ready.check(run.lab.planner.accountant)
        charge(plan)
    return count(ready, run, sums=options.observer == "sums", ballots=ballots)


def _plan_for(
    options: SimulateOptions,
    crowd: Population | Histogram,
    run: Run,
    scale: Range | None,
    vote: VoteSetup | None,
) -> GivenPlan:
    """Return the plan of least error for a crowd, and why it was chosen."""
    planner, times = run.lab.planner, options.repeats
    question = crowd.question
    if options.candidates is not None:
        question = _open_question_of(question, options.hashing, run.lab.chance)
    wish = plan_request(
        budget_for_repeats(options.budget, times),
        question,
        options.promise.guarantee() if vote is None else vote.guarantee,
        crowd.users,
        scale=scale,
        planner=planner,
    )
    if vote is not None:  # errors over planes are not independent, as those of ballots must be
        return GivenPlan(*plan_choice.choose_plan(replace(wish, over_planes=False), planner))
    return GivenPlan(
        *plan_choice.choose_plan(wish, planner, repeats=times, pairs=options.derived.pairs)
    )


def _open_question_of(words: Question, hashing: HashingOptions, chance: Chance) -> Question:
    """Return the open question that a crowd of words is asked; its key is drawn if none is given.

    Raises ParameterError for sets of one word.
    """
    if words.kind is Kind.SET and words.max_set == 1:
        raise ParameterError(
            "max set",
            expected="two texts or more, of an open domain",
            got="sets of one",
            do="leave --set out, or add --max-set 2",
        )
    return make_open_question(words.name, hashing.seed(chance), words.max_set)
