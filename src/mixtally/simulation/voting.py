"""A vote played twice: ballots that nobody needs to be trusted with, and ballots through mixes.

Source: side notes 002 section 5 for the local version and the example.
"""

from dataclasses import replace

import numpy as np

from mixtally.data.population import Population
from mixtally.errors import ParameterError, PlanError
from mixtally.estimate.conclude import conclude_vote
from mixtally.estimate.intervals import checked_level
from mixtally.estimate.received import arrived
from mixtally.planner import PlanRequest, choose
from mixtally.planner.layouts import plain
from mixtally.privacy import local
from mixtally.privacy.terms import verify
from mixtally.records.certificate import Certificate
from mixtally.records.mechanism import BitFlips, Shuffled
from mixtally.records.mechanism.named import flip_blank
from mixtally.records.question import Question
from mixtally.records.result import Vote
from mixtally.records.results import Tally
from mixtally.simulation.election.votes import Election
from mixtally.simulation.lab import Lab, Provenance
from mixtally.simulation.offers import with_gains
from mixtally.simulation.play import play, play_parts

MOST_OPTIONS = 200

EXAMPLE_KEEP, EXAMPLE_DELTA = 0.63, 1e-6
EXAMPLE_SOURCE = (
    "The example of the side notes: 100,000 voters, marks kept with p = 0.63, candidate A at "
    "51.15 %. The shares of the other three candidates are made up."
)
_EXAMPLE_VOTES = (51_150, 28_400, 13_300, 7_150)


def example() -> Population:
    """The electorate of the seed's example.

    Source: side notes 002 section 5, n = 100,000 and 51.15 %; the rest of the votes is made up.
    """
    question = Question(name="candidate", bins=4, labels=("A", "B", "C", "D"))
    return Population(question, np.repeat(np.arange(4), _EXAMPLE_VOTES))


def local_ballots(options: int, *, epsilon: float | None, keep: float | None) -> BitFlips:
    """Ballots that hide themselves: bits kept with ``keep``, or as often as ``epsilon`` allows.

    Raises ParameterError when both are missing, or for one outside its range.
    """
    if keep is not None:
        return flip_blank(bins=options, fakes=0, threshold=local.threshold_keeping(keep))
    if epsilon is not None:
        return flip_blank(bins=options, fakes=0, threshold=local.least_threshold(epsilon))
    raise ParameterError(
        "vote",
        wanted="--epsilon or --keep-probability",
        got="neither",
        do="add --epsilon 1, for example",
    )


def checked_options(population: Population) -> int:
    """How many options there are; raises ParameterError for more than a ballot can hold."""
    options = population.question.bins
    if options > MOST_OPTIONS:
        raise ParameterError(
            "options",
            wanted=f"at most {MOST_OPTIONS}",
            got=f"{options:,} distinct values",
            do="check the column, or count it with `mixtally simulate`",
        )
    return options


def hold(
    population: Population,
    ballots: BitFlips,
    promise: Certificate,
    wish: PlanRequest,
    lab: Lab,
    *,
    level: float,
    about: Provenance,
    blank: str | None = None,
) -> Election:
    """Both versions, every ballot a real message.

    where
      ballots, promise   the local version and its certificate
      wish               for the plan of the shuffle version, asked of the same voters
      about              the vote; why its plan was chosen is added
      blank              the label of blank ballots, which are counted and elect nobody

    Raises ParameterError for a level outside (0, 1), PlanError when ballots or wish are for others
    than these voters, InfeasibleError when no plan meets the wish.
    """
    checked_level(level)  # before the work, not after it
    _check_voters(population, ballots, wish)
    wish = replace(wish, over_planes=False)  # who may have won follows from options in clear
    answer = choose(wish, lab.planner)
    plan, codes = answer.plan, [population.codes]
    verify(plan, lab.planner.accountant)
    ballot = plain(ballots.bins, 1, ballots.threshold)
    (alone,) = play_parts([ballot], 1, codes, lab.chance, lab.progress).tallies
    (shuffled,) = play(plan, codes, lab.chance, lab.progress).tallies

    labels = population.question.labels or ()
    nobody = labels.index(blank) if blank in labels else None

    def counted(how: Shuffled, shown: Certificate, tally: Tally) -> Vote:
        return conclude_vote(how, shown, tally, population.users, level, nobody)

    return Election(
        about=replace(about, reason=with_gains(wish, answer, lab.planner)),
        ballots=ballots,
        local=counted(ballots, promise, alone),
        plan=plan,
        shuffle=counted(arrived(plan, shuffled, population.users), plan.certificate, shuffled),
        truth=population.truth,
    )


def _check_voters(population: Population, ballots: BitFlips, wish: PlanRequest) -> None:
    users, options = population.users, population.question.bins
    if (wish.question, wish.users, ballots.bins) != (population.question, users, options):
        raise PlanError(
            "vote",
            wanted=f"ballots and a wish for {users:,} voters and {options:,} options",
            got=f"a wish for {wish.users:,} voters and {wish.question.bins:,} options of "
            f"{wish.question.name!r}, ballots with {ballots.bins:,}",
            do="make both for the population that votes",
        )
