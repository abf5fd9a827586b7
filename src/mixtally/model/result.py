"""What a collector concludes from a plan and tallies of messages, and nothing else."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan
from mixtally.model.estimates import Change, Estimate, Figures, Row, Tally
from mixtally.model.question import Question
from mixtally.model.received import Received
from mixtally.model.word_list import WordList


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The counts of one round under a plan, out of what was received.

    where
      question      what people were asked, however their records travelled
      certificate   of everything that a person sent
      messages      tallied, fakes included
      figures       what else was derived from the messages
      doubts    what honest messages hardly ever come to
      tallies   one a part, of which totals of groups are computed; empty where they were not kept
      bin_tallies   one a part: how many messages name each bin, or each word that was looked for
      listed    the words that were looked for, where the question is open
      summed    of how many consecutive bins each the counts of a part use a known total
    """

    plan: Plan
    received: Received
    question: Question
    certificate: Certificate
    messages: int
    estimate: Estimate
    figures: tuple[Figures, ...] = ()
    warnings: tuple[str, ...] = ()
    tallies: tuple[Tally, ...] = ()
    bin_tallies: tuple[Tally, ...] = ()
    listed: WordList | None = None
    known_total_sizes: tuple[tuple[int, ...], ...] = ()

    def row(self, bin_index: int) -> Row:
        """One bin's count as it is shown."""
        return self.estimate.row(bin_index, self.question.label(bin_index))

    def rank_bins(self) -> NDArray[np.intp]:
        """Bins from the largest estimate down."""
        return np.argsort(-self.estimate.counts, kind="stable")

    @property
    def name(self) -> str:
        """The mechanism, and what is special about it."""
        return self.plan.name


@dataclass(frozen=True, slots=True)
class Step:
    """The change from round number ``first`` to round number ``last``."""

    first: int
    last: int
    change: Change


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One question asked in one round after another, under one plan.

    where
      names     of the rounds
      results   one a round
      steps     from each round to the next and, with three or more, from the first to the last
      figures   what else was derived from the messages of all rounds
    """

    names: tuple[str, ...]
    results: tuple[Result, ...]
    steps: tuple[Step, ...]
    figures: tuple[Figures, ...] = ()

    @property
    def plan(self) -> Plan:
        """The one plan of all rounds."""
        return self.results[0].plan

    @property
    def counts(self) -> NDArray[np.float64]:
        """Estimates, shape (rounds, bins)."""
        return np.array([result.estimate.counts for result in self.results])

    def rank_bins(self) -> NDArray[np.intp]:
        """Bins from the largest estimate of all rounds together down."""
        total = sum(result.estimate.counts for result in self.results)
        return np.argsort(-np.asarray(total), kind="stable")

    @property
    def is_significant(self) -> NDArray[np.bool_]:
        """Bins whose change is distinguishable from zero in some step, all taken together."""
        found = np.zeros(self.plan.question.bins, dtype=np.bool_)
        for step in self.steps:
            found |= step.change.significant
        return found

    @property
    def changed_count(self) -> int:
        """How many bins have a change that is ``significant``."""
        return int(self.is_significant.sum())


def find_leaders(
    votes: NDArray[np.float64] | NDArray[np.int64], blank: int | None = None
) -> list[int]:
    """The options with the most votes but ``blank``, which nobody can elect: several in a tie."""
    found = np.array(votes, dtype=np.float64)
    if blank is not None:
        found[blank] = -np.inf
    return [int(place) for place in np.flatnonzero(found == found.max())]


@dataclass(frozen=True, slots=True, eq=False)
class Vote:
    """The votes of one way of counting, and who may have won.

    where
      certificate   of a ballot
      estimate      in votes
      chances       shape (options,), the chance that each option truly won
      may_win       shape (options,), whether the intervals of all options leave it possible
      blank         the option of blank ballots, which are counted and elect nobody; None for none
    """

    certificate: Certificate
    messages: int
    estimate: Estimate
    chances: NDArray[np.float64]
    may_win: NDArray[np.bool_]
    blank: int | None = None

    @property
    def leaders(self) -> list[int]:
        """The options with the largest estimate: several in a tie."""
        return find_leaders(self.estimate.counts, self.blank)
