"""How far off estimates are where the truth is known: coverage of intervals, and the error."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Coverage(NamedTuple):
    """How many of several intervals cover the true value.

    Attributes
    ----------
    held, of : int
        Intervals that cover the true value, and all intervals.
    """

    held: int
    of: int

    @property
    def share(self) -> float | None:
        """The share of the intervals that cover; None without an interval."""
        return self.held / self.of if self.of else None

    def text(self, level: float, what: str = "true count") -> str:
        """Return sentences that say how many of the intervals cover, and how rare as few are.

        Parameters
        ----------
        level : float
            Confidence level of each interval alone.
        what : str
            The name of the true value.
        """
        held, of = self
        said = f"{held:,} of the {of:,} intervals cover the {what}; {level * of:.4g} are expected"
        most = bound_chance(held, of, level)
        if most >= 1.0:
            return f"{said}."
        return (
            f"{said}. As few or fewer happen in at most {_percent(most)} of cases, however the "
            "numbers depend on each other."
        )


def coverage(*intervals: tuple[ArrayLike, ArrayLike, ArrayLike]) -> Coverage:
    """Count the places at which intervals cover the truth.

    Parameters
    ----------
    *intervals : tuple of array_like
        Lower ends, true values and upper ends, all of one shape. Where several intervals are
        given, a place counts if every one of them covers.
    """
    inside = np.logical_and.reduce(
        [
            (np.asarray(lower) <= np.asarray(truth)) & (np.asarray(truth) <= np.asarray(upper))
            for lower, truth, upper in intervals
        ]
    )
    return Coverage(int(inside.sum()), int(inside.size))


def measured_error(*errors: NDArray[np.float64]) -> float:
    """Return the root mean square of errors; several arrays of one size are taken one by one."""
    return float(np.sqrt(np.mean([np.mean(one**2) for one in errors])))


def bound_chance(held: int, of: int, level: float) -> float:
    """Bound the chance that ``held`` or fewer intervals cover, by Markov's inequality.

    Each of ``of`` intervals misses with a chance of at most 1 - level, so of (1 - level) miss on
    average at most. The chance that m or more miss is at most that average over m, whatever the
    dependence between intervals: counts over planes, for example, share their messages.
    """
    missed = of - held
    return min(1.0, (1.0 - level) * of / missed) if missed else 1.0


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
