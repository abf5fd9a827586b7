"""The error of estimates where true values are known: coverage of intervals, and measured error.

``counts_view`` and ``lab.simulation`` call these functions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Coverage(NamedTuple):
    """How many of several intervals cover the true value.

    Attributes
    ----------
    covered, total : int
        The number of intervals that cover the true value, and the number of all intervals.
    """

    covered: int
    total: int

    @property
    def share(self) -> float | None:
        """The share of the intervals that cover; None if there is no interval."""
        return self.covered / self.total if self.total else None

    def text(self, level: float, what: str = "true count") -> str:
        """Return a sentence on the number of intervals that cover the true value.

        If the number is small, the sentence has a bound of the probability of so few. ``level`` is
        the confidence level of each interval, and ``what`` is the noun for the true value.
        """
        covered, total = self
        said = (
            f"{covered:,} of the {total:,} intervals cover the {what}; "
            f"{level * total:.4g} are expected"
        )
        most = bound_chance(covered, total, level)
        if most >= 1.0:
            return f"{said}."
        return (
            f"{said}. This few or fewer cover in at most {_percent(most)} of cases, whatever the "
            "dependence between the numbers is."
        )


def coverage(*intervals: tuple[ArrayLike, ArrayLike, ArrayLike]) -> Coverage:
    """Return how many true values are covered by their intervals.

    Parameters
    ----------
    *intervals : tuple of array_like
        Lower ends, true values and upper ends, all of the same shape. With several such tuples, an
        index counts as covered only if the intervals of all tuples cover at this index.
    """
    inside = np.logical_and.reduce(
        [
            (np.asarray(lower) <= np.asarray(truth)) & (np.asarray(truth) <= np.asarray(upper))
            for lower, truth, upper in intervals
        ]
    )
    return Coverage(int(inside.sum()), int(inside.size))


def measured_error(*errors: NDArray[np.float64]) -> float:
    """Return the root mean square of all errors in several arrays of equal size."""
    return float(np.sqrt(np.mean([np.mean(one**2) for one in errors])))


def bound_chance(covered: int, total: int, level: float) -> float:
    """Return an upper bound of the probability that so few intervals cover the true value.

    This is the probability that at most ``covered`` of ``total`` intervals cover it, by Markov's
    inequality.

    Each of ``total`` intervals misses with probability at most 1 - level. So at most total (1 -
    level) intervals miss on average. The probability that m or more miss is at most this average
    divided by m. The intervals need not be independent: several counts may be computed from the
    same messages.
    """
    missed = total - covered
    return min(1.0, (1.0 - level) * total / missed) if missed else 1.0


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
