"""What a vote's report is made from: the same ballots counted in two ways."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.tails import Floats
from mixtally.records.certificate import Certificate
from mixtally.records.mechanism import BitFlips
from mixtally.records.question import Question
from mixtally.records.results import Estimate
from mixtally.report.study import Release


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """One way of counting, and what came out.

    where
      estimate   in votes
      chances    shape (options,), the chance that each option truly won
      may_win    shape (options,), whether the intervals of all options leave it possible
    """

    certificate: Certificate
    messages: int
    estimate: Estimate
    chances: Floats
    may_win: NDArray[np.bool_]

    @property
    def leader(self) -> int:
        """The option with the largest estimate."""
        return int(np.argmax(self.estimate.counts))


@dataclass(frozen=True, slots=True, eq=False)
class Election:
    """The ballots of ``users`` voters, counted without any trust and through mixes.

    where
      ballots   the local version's mechanism: flips without fakes
      local     its result
      shuffle   the result through mixes, of ``release``
      truth     votes for each option, shape (options,): known, for these ballots are played
      seed      of the randomness, None when it came from the operating system
    """

    title: str
    source: str
    ballots: BitFlips
    local: Count
    release: Release
    shuffle: Count
    truth: NDArray[np.int64]
    reason: str
    seed: int | None = None

    @property
    def question(self) -> Question:
        """What was voted on."""
        return self.release.plan.question

    @property
    def users(self) -> int:
        """Voters."""
        return self.release.plan.users

    @property
    def level(self) -> float:
        """Confidence level of all intervals."""
        return self.local.estimate.each.level

    def radius(self, count: Count, *, at_once: bool = False) -> float:
        """Half the width of the normal interval of one option's share, or of all at once.

        For the local version this is the radius of side notes 002 section 5.
        """
        outside = (1.0 - self.level) / (self.question.bins if at_once else 1)
        quantile = abs(NormalDist().inv_cdf(outside / 2.0))
        return quantile * count.estimate.standard_error / self.users

    def counts(self) -> dict[str, Count]:
        """Both versions by name."""
        return {"local": self.local, "shuffle": self.shuffle}

    def ranked(self) -> NDArray[np.intp]:
        """Options by true votes, most first."""
        return np.argsort(-self.truth, kind="stable")
