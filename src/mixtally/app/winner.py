"""Who won a vote: options, and the vote as a use of its own for programs."""

from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.count import Asked, count
from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.app.options import MaybePromise, option
from mixtally.app.outcome import Outcome, Run
from mixtally.app.study import outcome
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import offers
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.winner.contest import Ballots, ballots_for
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.estimate.analysis import Analysis

KeepProbability = Annotated[
    float | None,
    option(
        "--keep-probability",
        "Chance that a local ballot keeps a mark (default: what --epsilon allows).",
        "P",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteOptions:
    """What a vote promises, and how local ballots keep the promise without mixes.

    Epsilon may be left out where ``keep_probability`` is given, from which it follows.
    """

    promise: MaybePromise
    keep_probability: KeepProbability = None


def _promised(options: VoteOptions, ballots: Ballots) -> Guarantee:
    """Return the guarantee of the release: the epsilon of the local ballots if none was given.

    Raises
    ------
    ParameterError
        If delta is missing, or a number is out of range.
    """
    promise = options.promise
    if promise.delta is None:
        raise ParameterError(
            "--winner", wanted="--delta", got="none", do="add --delta 1e-6, for example"
        )
    epsilon = ballots.promise.epsilon if promise.epsilon is None else promise.epsilon
    return Guarantee(epsilon=epsilon, delta=promise.delta)


def votes(
    crowd: Population,
    options: VoteOptions,
    run: Run,
    *,
    budget: BudgetOptions,
    analysis: Analysis,
    blank: str | None = None,
) -> Outcome:
    """Hold a vote of a crowd of ballots, and show what came of it; as ``vote_of``."""
    study = vote_of(crowd, options, run, budget=budget, analysis=analysis, blank=blank)
    return outcome(study, run.top, crowd.from_data)


def vote_of(
    crowd: Population,
    options: VoteOptions,
    run: Run,
    *,
    budget: BudgetOptions,
    analysis: Analysis,
    blank: str | None = None,
) -> Study:
    """Hold a vote of a crowd of ballots.

    Parameters
    ----------
    crowd : Population
        A choice a person.
    options : VoteOptions
        What is promised.
    run : Run
        How the crowd is played.
    budget : BudgetOptions
        What the release may cost and whom it may trust.
    analysis : Analysis
        What else is derived from the tally.
    blank : str or None
        The label of blank ballots, which cannot win.

    Raises
    ------
    ParameterError
        If a promise is missing or out of range.
    InfeasibleError
        If no plan meets the request.
    """
    question, keep = crowd.question, options.keep_probability
    ballots = ballots_for(question, epsilon=options.promise.epsilon, keep=keep, blank=blank)
    guarantee = _promised(options, ballots)
    wish = wish_of(budget, question, guarantee, crowd.users)
    # Counts over planes err together, and who won needs their errors to be independent.
    plan, reason = offers.best(replace(wish, over_planes=False), run.lab.planner)
    asked = Asked(question.name, plan, reason)
    return count(asked, crowd, analysis, run, ballots=ballots).study()
