"""Winner of a vote: options, and the local ballots with which a release is compared.

The noise of a *local ballot* protects a voter who trusts nobody. ``simulate`` calls these functions
for ``--winner``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mixtally.app.options import MaybePromise, option
from mixtally.errors import ParameterError, join_words, not_together
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.winner import contest
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class WinnerOptions:
    """Whether to name the winner, and the noise of local ballots, which need no mix.

    Epsilon may be left out if ``keep_probability`` is given, because epsilon follows from it.
    """

    winner: Annotated[
        bool,
        option(
            "--winner", "Name the winner of a vote; blank ballots (--missing LABEL) cannot win."
        ),
    ] = False
    keep_probability: Annotated[
        float | None,
        option(
            "--keep-probability",
            "Probability that a local ballot keeps a mark (default: from --epsilon).",
            "P",
        ),
    ] = None
    example: Annotated[
        bool, option("--example", "Simulate the 100,000 voters of the Notes, p = 0.63.")
    ] = False


class VoteSetup(NamedTuple):
    """The guarantee of a release, and the local ballots of the same voters."""

    guarantee: Guarantee
    ballots: contest.Ballots


def make_vote_setup(
    options: WinnerOptions, promise: MaybePromise, question: Question, blank: str | None
) -> VoteSetup:
    """Return the guarantee and the local ballots of a vote.

    Parameters
    ----------
    options : WinnerOptions
        The noise of local ballots.
    promise : MaybePromise
        The guarantee of the release. If its epsilon is missing, that of the local ballots is used.
    question : Question
        The question of the vote, with one choice per voter.
    blank : str or None
        The label of blank ballots, which cannot win.

    Raises
    ------
    ParameterError
        If the question is not one choice, delta is missing, or a number is out of range.
    """
    keep, epsilon, delta = options.keep_probability, promise.epsilon, promise.delta
    if options.example:
        keep = contest.EXAMPLE_KEEP if keep is None and epsilon is None else keep
        delta = contest.EXAMPLE_DELTA if delta is None else delta
    ballots = contest.ballots_for(question, epsilon=epsilon, keep=keep, blank=blank)
    if delta is None:
        raise ParameterError(
            "--winner", expected="--delta", got="none", do="add --delta 1e-6, for example"
        )
    epsilon = ballots.promise.epsilon if epsilon is None else epsilon
    return VoteSetup(Guarantee(epsilon=epsilon, delta=delta), ballots)


def example_voters(given: Sequence[str]) -> tuple[Population, str]:
    """Return the voters of the example, and a sentence about their origin.

    Raises
    ------
    ParameterError
        If ``given`` names options of data, because the example has its own voters.
    """
    if given:
        raise not_together(
            "--example", "--example", given, f"leave out --example, or {join_words(given)}"
        )
    return contest.example_electorate(), contest.EXAMPLE_SOURCE
