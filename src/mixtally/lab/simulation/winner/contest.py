"""A vote that is counted in two ways: by *local ballots* and by the messages of a release.

The noise of a local ballot protects a voter who trusts nobody. ``app.count`` and ``app.winner``
call this module if a winner is requested.

Source: side notes 002, section 5, for the local ballots and the example.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from mixtally.accounting.budget import local
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.play import play_parts
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan
from mixtally.model.mechanism import BitFlips
from mixtally.model.mechanism.presets import flip_blank
from mixtally.model.question import Kind, Question
from mixtally.model.result import Result, Vote
from mixtally.planning.layouts import plain_part
from mixtally.protocol.estimate.conclude import conclude_vote
from mixtally.protocol.estimate.received import reconcile_mechanism
from mixtally.protocol.estimate.winner import may_have_won, winner_chances

MOST_OPTIONS = 200
"""Largest number of options of a vote."""

EXAMPLE_KEEP, EXAMPLE_DELTA = 0.63, 1e-6
EXAMPLE_SOURCE = (
    "The example of the side notes: 100,000 voters, marks kept with p = 0.63, candidate A at "
    "51.15 %. The shares of the other three candidates are made up."
)
_EXAMPLE_VOTES = (51_150, 28_400, 13_300, 7_150)


def example_electorate() -> Population:
    """Return the electorate of the side notes: 100,000 voters, 51.15 % of them for A.

    The shares of the other candidates are made up.
    """
    question = Question(name="candidate", bins=4, labels=("A", "B", "C", "D"))
    return Population(question, np.repeat(np.arange(4), _EXAMPLE_VOTES))


@dataclass(frozen=True, slots=True)
class Ballots:
    """Local ballots, whose noise protects voters who trust nobody.

    ``flips`` is the mechanism: a ballot has one bit (*mark*) for each option, and each mark is
    flipped with some probability. There are no fakes. ``promise`` is the certificate of one ballot
    against an observer who knows its voter. ``blank`` is the label of blank ballots, which are
    counted but elect nobody; None if there are none.
    """

    flips: BitFlips
    promise: Certificate
    blank: str | None = None


def ballots_for(
    question: Question, *, epsilon: float | None, keep: float | None, blank: str | None = None
) -> Ballots:
    """Return local ballots for a question, with a required epsilon or flip probability.

    Parameters
    ----------
    question : Question
        One choice among at most 200 options.
    epsilon : float or None
        The largest epsilon of a ballot against an observer who knows its voter.
    keep : float or None
        The probability that a mark is not flipped, in (0.5, 1); None to derive it from ``epsilon``.
    blank : str, optional
        The label of blank ballots, which are counted but elect nobody.

    Raises
    ------
    ParameterError
        If the question has another kind or too many options, if both numbers are missing, or if one
        is out of range.
    """
    if question.kind is not Kind.ONE or question.hashed is not None:
        raise ParameterError(
            "--winner", expected="one choice per ballot", got="records of another kind",
            do="leave it out, or name one column of choices",
        )  # fmt: skip
    if question.bins > MOST_OPTIONS:
        raise ParameterError(
            "options",
            expected=f"at most {MOST_OPTIONS}",
            got=f"{question.bins:,} distinct values",
            do="check the column, or leave out --winner",
        )
    if keep is not None:
        threshold = local.threshold_for_keep(keep)
    elif epsilon is not None:
        threshold = local.least_threshold(epsilon)
    else:
        raise ParameterError(
            "--winner",
            expected="--epsilon or --keep-probability",
            got="neither",
            do="add an option, such as --epsilon 1",
        )
    flips = flip_blank(bins=question.bins, fakes=0, threshold=threshold)
    return Ballots(flips, local.certificate(flips, epsilon if keep is None else None), blank)


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """The estimated votes of both ways of counting, and who may have won.

    ``plan`` is the plan of the release, and ``shuffle`` are the votes that the release counted.
    ``ballots`` is the mechanism of the local ballots, and ``local`` are the votes counted by them.
    """

    plan: Plan
    ballots: BitFlips
    local: Vote
    shuffle: Vote

    @property
    def question(self) -> Question:
        """The question of the vote."""
        return self.plan.question

    @property
    def candidates(self) -> int:
        """Number of options that can win."""
        return self.question.bins - (self.local.blank is not None)

    @property
    def level(self) -> float:
        """Confidence level of all intervals."""
        return self.local.estimate.individual.level

    def radius(self, count: Vote, *, at_once: bool = False) -> float:
        """Return half the width of an option's interval, by the normal approximation, as a share.

        With ``at_once`` the intervals of all options are valid simultaneously. For local ballots
        this is the radius of side notes 002, section 5.
        """
        # Bonferroni: the error probability is divided among the options.
        outside = (1.0 - self.level) / (self.question.bins if at_once else 1)
        quantile = abs(NormalDist().inv_cdf(outside / 2.0))
        return quantile * count.estimate.standard_error / self.plan.users

    def counts(self) -> Mapping[str, Vote]:
        """Return the votes that local ballots counted and those of the release, by name."""
        return {"local": self.local, "shuffle": self.shuffle}


def hold_contest(result: Result, crowd: Population, ballots: Ballots, lab: Lab) -> Contest:
    """Determine the winner of a release, and of simulated local ballots of the same crowd.

    Every local ballot is drawn as a message. Raises ParameterError if devices send several messages
    per record in the release, or messages that name planes.
    """
    plan, users, labels = result.plan, crowd.users, crowd.question.labels or ()
    if len(plan.parts) > 1 or plan.parts[0].planes is not None:
        raise ParameterError(
            "--winner",
            expected="messages that name options, one per record",
            got=plan.protocol,
            do="plan with another --protocol",
        )
    blank = labels.index(ballots.blank) if ballots.blank in labels else None
    flips, level = ballots.flips, result.estimate.individual.level
    sent = plain_part(flips.bins, 1, flips.threshold)
    # One mix suffices, because local ballots do not rely on shuffling.
    (local_tally,) = play_parts([sent], 1, [crowd.codes], lab.chance, lab.progress).tallies
    (tally,) = result.tallies
    return Contest(
        plan=plan,
        ballots=flips,
        local=conclude_vote(flips, ballots.promise, local_tally, users, level, blank),
        shuffle=Vote(
            certificate=result.certificate,
            messages=result.messages,
            estimate=result.estimate,
            chances=winner_chances(reconcile_mechanism(plan, tally, users), tally, users, blank),
            may_win=may_have_won(result.estimate, blank),
            blank=blank,
        ),
    )
