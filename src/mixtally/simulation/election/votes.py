"""What a vote's report is made from: the same ballots counted in two ways."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.records.contract import Plan
from mixtally.records.mechanism import BitFlips
from mixtally.records.question import Question
from mixtally.records.result import Vote
from mixtally.simulation.findings import Findings


@dataclass(frozen=True, eq=False, kw_only=True)
class Election(Findings[NDArray[np.int64]]):
    """The ballots of ``users`` voters, counted without any trust and through mixes.

    The truth is how many votes each option has, shape (options,).

    where
      ballots   the local version's mechanism: flips without fakes
      local     its result
      plan      of the shuffle version
      shuffle   its result
    """

    ballots: BitFlips
    local: Vote
    plan: Plan
    shuffle: Vote

    @property
    def question(self) -> Question:
        """What was voted on."""
        return self.plan.question

    @property
    def blank(self) -> int | None:
        """The option of blank ballots, which elect nobody; None for none."""
        return self.local.blank

    @property
    def candidates(self) -> int:
        """Options that can win."""
        return self.question.bins - (self.blank is not None)

    @property
    def users(self) -> int:
        """Voters."""
        return self.plan.users

    @property
    def level(self) -> float:
        """Confidence level of all intervals."""
        return self.local.estimate.each.level

    def radius(self, count: Vote, *, at_once: bool = False) -> float:
        """Half the width of the normal interval of one option's share, or of all at once.

        For the local version this is the radius of side notes 002 section 5.
        """
        outside = (1.0 - self.level) / (self.question.bins if at_once else 1)
        quantile = abs(NormalDist().inv_cdf(outside / 2.0))
        return quantile * count.estimate.standard_error / self.users

    def counts(self) -> dict[str, Vote]:
        """Both versions by name."""
        return {"local": self.local, "shuffle": self.shuffle}

    def ranked(self) -> list[int]:
        """Options in their order where it was given, otherwise by the shuffle version's votes."""
        if self.about.ordered:
            return list(range(self.question.bins))
        votes: list[float] = self.shuffle.estimate.counts.tolist()
        return sorted(range(len(votes)), key=lambda i: -votes[i])
