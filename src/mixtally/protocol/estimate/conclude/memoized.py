"""The result of a memoized collection: counts of bins or of candidate words.

``app.memoized`` calls ``conclude_memoized``.
"""

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
    """The counts of a crowd in which each person reported ``reports`` times.

    ``labels`` are the labels of the bins, or the candidate words. If there are more words than the
    bits can distinguish, a fit chooses some of them; the others have the count 0 and the error NaN.
    ``first_report``, shape (bins,), has the counts from everybody's first report alone; it is None
    for words. ``words`` has the details of the fit of words; it is None for bins.
    """

    plan: MemoizedPlan
    people: int
    reports: int
    labels: tuple[str, ...]
    estimate: Estimate
    first_report: NDArray[np.float64] | None = None
    words: WordEstimates | None = None

    def rows(self) -> list[Row]:
        """Return a row with the count of every label, in the order of the labels."""
        return [self.estimate.row(i, label) for i, label in enumerate(self.labels)]

    @property
    def method(self) -> str:
        """The name of the method by which the counts were estimated."""
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
    """Estimate counts with intervals at ``level``.

    Parameters
    ----------
    plan : MemoizedPlan
        The plan of the reports.
    ones : array of int
        The number of people who reported a 1, shape (cohorts, reports, bits).
    sizes : array of int
        The number of people in each cohort, shape (cohorts,).
    labels : sequence of str
        The labels of the bins, or the candidate words if values are hashed.
    design : array of bool, optional
        The result of ``protocol.encode.bloom.build_design``; None if values are not hashed.
    level : float
        The confidence level, in (0, 1); otherwise ParameterError is raised.

    Raises
    ------
    InfeasibleError
        If the bits cannot distinguish the candidates and no fit converges.
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
