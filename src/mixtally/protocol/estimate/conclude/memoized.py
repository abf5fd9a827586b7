"""Counts out of reports of memoized answers: of bins, or of candidate words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Estimate, Row
from mixtally.model.memoized_plan import MemoizedPlan
from mixtally.protocol.estimate.memoized import estimate_memoized
from mixtally.protocol.estimate.words import WordEstimates, estimate_words


@dataclass(frozen=True, slots=True, eq=False)
class MemoizedResult:
    """The counts of a crowd that reported ``reports`` times.

    where
      labels         of the bins, or the candidate words
      estimate       a word that was not chosen has the count 0 and the error NaN
      first_report   counts from everybody's first report alone, shape (bins,); None for words
      words          how well the candidates explain the reports; None for bins
    """

    plan: MemoizedPlan
    people: int
    reports: int
    labels: tuple[str, ...]
    estimate: Estimate
    first_report: NDArray[np.float64] | None = None
    words: WordEstimates | None = None

    def rows(self) -> list[Row]:
        """Every count, in the order of the labels."""
        return [self.estimate.row(i, label) for i, label in enumerate(self.labels)]

    @property
    def method(self) -> str:
        """How the counts were found."""
        return self.estimate.individual.method if self.words is None else self.words.method


def conclude_memoized(
    plan: MemoizedPlan,
    ones: NDArray[np.int64],
    sizes: NDArray[np.int64],
    labels: Sequence[str],
    design: NDArray[np.bool_] | None = None,
    *,
    level: float = 0.95,
) -> MemoizedResult:
    """Counts with intervals at ``level``.

    where
      ones     how many people showed a 1, shape (cohorts, reports, bits)
      sizes    people in each cohort, shape (cohorts,)
      labels   of the bins, or the candidate words where values are hashed
      design   which bits each word sets, as ``protocol.encode.bloom.design`` has it; None without
      hashing

    Raises ParameterError for a level outside (0, 1), InfeasibleError as ``estimate_words`` does.
    """
    people, reports = int(sizes.sum()), ones.shape[1]
    if design is None:
        bins = estimate_memoized(plan.mechanism, ones[0], people, level=level)
        estimate = Estimate(
            bins.counts,
            bins.all_reports,
            bins.individual,
            bins.simultaneous,
            errors=bins.standard_errors,
        )
        return MemoizedResult(
            plan, people, reports, tuple(labels), estimate, first_report=bins.by_report[0]
        )
    words = estimate_words(plan.mechanism, ones.mean(axis=1), sizes, design, reports, level=level)
    estimate = Estimate(
        words.counts,
        plan.mechanism.standard_error(people, reports),
        words.individual,
        words.simultaneous,
        errors=words.standard_errors,
    )
    return MemoizedResult(plan, people, reports, tuple(labels), estimate, words=words)
