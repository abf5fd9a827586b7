"""Results: everything that a collector concludes from a plan and its tallies."""

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
    """The estimated counts of one round under a plan.

    Attributes
    ----------
    question : Question
        The question that people answered, before it was split into parts.
    certificate : Certificate
        The guarantee for everything that a person sent.
    messages : int
        The number of tallied messages, fakes (dummy messages) included.
    figures : tuple of Figures
        Further numbers derived from the messages.
    warnings : tuple of str
        Observations that are very unlikely if all messages are honest.
    tallies : tuple of Tally
        The tally of each part, from which totals of groups of bins can be computed. Empty if the
        tallies were not stored.
    bin_tallies : tuple of Tally
        For each part, the number of messages that name each bin, or each word that was looked up.
    listed : WordList or None
        The words that were looked up in an open domain.
    known_total_sizes : tuple of tuples of int
        For each part, the sizes of groups of consecutive bins whose true total is known
        (``model.known_total``).
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
        """Return the row of one bin: the count with its standard error and its intervals."""
        return self.estimate.row(bin_index, self.question.label(bin_index))

    def rank_bins(self) -> NDArray[np.intp]:
        """Return the bins from the largest estimate to the smallest."""
        return np.argsort(-self.estimate.counts, kind="stable")  # ties in the order of bins

    @property
    def name(self) -> str:
        """The protocol of the plan and its variants, such as "flip-blank, split"."""
        return self.plan.name


@dataclass(frozen=True, slots=True)
class Step:
    """The change from round number ``first`` to round number ``last``."""

    first: int
    last: int
    change: Change


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Results of several rounds of one question under one plan.

    Attributes
    ----------
    names : tuple of str
        The names of the rounds.
    results : tuple of Result
        One per round.
    steps : tuple of Step
        The change from each round to the next. For three or more rounds, the change from the first
        to the last round follows.
    figures : tuple of Figures
        Further numbers derived from the messages of all rounds.
    """

    names: tuple[str, ...]
    results: tuple[Result, ...]
    steps: tuple[Step, ...]
    figures: tuple[Figures, ...] = ()

    @property
    def plan(self) -> Plan:
        """The plan of all rounds."""
        return self.results[0].plan

    @property
    def counts(self) -> NDArray[np.float64]:
        """The estimates, shape (rounds, bins)."""
        return np.array([result.estimate.counts for result in self.results])

    def rank_bins(self) -> NDArray[np.intp]:
        """Return the bins from the largest to the smallest sum of estimates over all rounds."""
        total = sum(result.estimate.counts for result in self.results)
        return np.argsort(-np.asarray(total), kind="stable")

    @property
    def is_significant(self) -> NDArray[np.bool_]:
        """Whether each bin changes significantly in any step, shape (bins,).

        The confidence level covers all bins and steps simultaneously.
        """
        found = np.zeros(self.plan.question.bins, dtype=np.bool_)
        for step in self.steps:
            found |= step.change.significant
        return found

    @property
    def changed_count(self) -> int:
        """The number of bins with a significant change."""
        return int(self.is_significant.sum())


def find_leaders(
    votes: NDArray[np.float64] | NDArray[np.int64], blank: int | None = None
) -> list[int]:
    """Return the indices of the options with the most votes; in a tie, there are several.

    Parameters
    ----------
    votes : ndarray of float64 or ndarray of int64
        The votes of each option, in order of the options.
    blank : int or None
        The option of blank ballots, which cannot be elected; None without one.
    """
    found = np.array(votes, dtype=np.float64)
    if blank is not None:
        found[blank] = -np.inf
    return [int(place) for place in np.flatnonzero(found == found.max())]


@dataclass(frozen=True, slots=True, eq=False)
class Vote:
    """The votes under one counting rule, and the possible winners.

    Attributes
    ----------
    certificate : Certificate
        The guarantee for a ballot.
    estimate : Estimate
        The estimated votes.
    chances : array of float, shape (options,)
        The probability that each option is the true winner.
    may_win : array of bool, shape (options,)
        Whether each option may be the winner, according to the simultaneous intervals.
    blank : int or None
        The option of blank ballots, which are counted but elect no one.
    """

    certificate: Certificate
    messages: int
    estimate: Estimate
    chances: NDArray[np.float64]
    may_win: NDArray[np.bool_]
    blank: int | None = None

    @property
    def leaders(self) -> list[int]:
        """The indices of the options with the largest estimate; in a tie, there are several."""
        return find_leaders(self.estimate.counts, self.blank)
