"""Mean and quantiles of numbers, out of the noisy counts of their bins.

How many people there are is known, so what the counts lack or exceed it by is pure noise: it is
shared out evenly, c_j - (sum c - n) / d. What is left has the covariance a (I - 1 1'/d) with the
same a for every protocol (uniform fakes already add up; their share of a is K / d; where values are
replaced each bin has an a_j of its own, and the squares below are weighed by it). Hence

    Var mean       = a / n^2 * sum_j (m_j - mean of m)^2        m_j the middles of the bins
    Var (C_1 + ... + C_j) = a * j (d - j) / d                    the counts up to bin j

and both are sums whose weights add up to nothing, of which ``cumulants`` knows the tails. A value
is known up to its bin: the interval of the mean is wider by half a bin on each side. The quantile's
interval holds every bin in which the noise allows it to lie, from end to end: it misses only when
the count up to one of two edges does, each of which has half the error allowed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.estimate.cumulants import Cumulants, ends
from mixtally.records.results import Row

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Noisy counts of ``users`` people in equal bins between ``edges``.

    where
      counts   shape (bins,), unbiased
      edges    shape (bins + 1,)
      noise    of the counts
    """

    counts: _Floats
    edges: _Floats
    users: int
    noise: Cumulants

    @property
    def evened(self) -> _Floats:
        """Counts that add up to the users, shape (bins,)."""
        even: _Floats = self.counts - (self.counts.sum() - self.users) / self.counts.size
        return even

    @property
    def bin_width(self) -> float:
        """What a value is known up to."""
        return float(self.edges[1] - self.edges[0])

    def mean(self, level: float) -> Row:
        """The mean with its standard error by noise; its resolution is half a bin."""
        value, noise, half = self._mean(), self._mean_noise(), self.bin_width / 2.0
        least, most = ends(*noise, (1.0 - level) / 2.0)
        lower, upper = np.clip(
            [value - most - half, value - least + half], self.edges[0], self.edges[-1]
        ).tolist()
        return Row(
            "mean", value, lower, upper, standard_error=float(np.sqrt(noise[0])), resolution=half
        )

    def rise_to(self, later: "Cuts", level: float) -> Row:
        """By how much the mean of ``later``, of the same bins, exceeds this one.

        Both collections' noise is in it, and half a bin of each of them is its resolution.
        """
        value, whole = later._mean() - self._mean(), self.bin_width
        before, after = self._mean_noise(), later._mean_noise()
        noise = (before[0] + after[0], after[1] - before[1], before[2] + after[2])
        least, most = ends(*noise, (1.0 - level) / 2.0)
        range_ = float(self.edges[-1] - self.edges[0])
        lower, upper = np.clip(
            [value - most - whole, value - least + whole], -range_, range_
        ).tolist()
        return Row(
            "change",
            value,
            lower,
            upper,
            standard_error=float(np.sqrt(noise[0])),
            resolution=whole,
        )

    def _mean(self) -> float:
        middles = (self.edges[:-1] + self.edges[1:]) / 2.0
        return float(middles.mean() + self.evened @ (middles - middles.mean()) / self.users)

    def _mean_noise(self) -> tuple[_Floats, _Floats, _Floats]:
        """The second to the fourth cumulant of the mean."""
        middles = (self.edges[:-1] + self.edges[1:]) / 2.0
        weights = (middles - middles.mean()) / self.users
        return (
            np.asarray(np.sum(weights**2 * self.noise.variance)),
            np.asarray(weights**3 @ self.noise.third),
            np.asarray(np.sum(weights**4 * self.noise.fourth)),
        )

    def quantiles(self, shares: Iterable[float], level: float) -> list[Row]:
        """The values below which ``shares`` of the people lie, and where they may be."""
        passed, low, high = self.running(level)
        found = []
        for share in shares:
            wanted = share * self.users
            inside = np.flatnonzero((high[1:] >= wanted) & (low[:-1] <= wanted))
            lower, upper = self.edges[inside[0]], self.edges[inside[-1] + 1]
            found.append(
                Row(
                    f"{100 * share:g} % quantile",
                    self._crossing(passed, wanted),
                    float(lower),
                    float(upper),
                    resolution=self.bin_width,
                )
            )
        return found

    def running(self, level: float) -> tuple[_Floats, _Floats, _Floats]:
        """Counts up to every edge with the ends of their intervals, shape (bins + 1,) each.

        Nobody is below the first edge and all are below the last: there they are certain.
        """
        bins = self.counts.size
        passed = np.concatenate([[0.0], np.cumsum(self.evened)])
        passed[-1] = self.users
        left = np.arange(bins + 1) / bins
        right = 1.0 - left

        def summed(each: _Floats | float, order: int) -> _Floats:
            """Of bins up to an edge with the weight ``right``, of all others with -``left``."""
            before = np.concatenate([[0.0], np.cumsum(np.broadcast_to(each, bins))])
            sign = -1.0 if order % 2 else 1.0
            found: _Floats = before * right**order + sign * (before[-1] - before) * left**order
            return found

        noise = self.noise.variance, self.noise.third, self.noise.fourth
        sums = [summed(each, order) for order, each in enumerate(noise, 2)]
        least, most = ends(sums[0], sums[1], sums[2], (1.0 - level) / 2.0)
        return passed, passed - most, passed - least

    def _crossing(self, passed: _Floats, wanted: float) -> float:
        """Where the rising middle of all running sums passes ``wanted``, straight inside a bin."""
        rising = np.maximum.accumulate(passed)
        falling = np.minimum.accumulate(passed[::-1])[::-1]
        middle = np.clip((rising + falling) / 2.0, 0.0, self.users)
        at = int(np.searchsorted(middle, wanted))
        if at == 0:
            return float(self.edges[0])
        step = middle[at] - middle[at - 1]
        inside = (wanted - middle[at - 1]) / step
        return float(self.edges[at - 1] + inside * (self.edges[at] - self.edges[at - 1]))


def summary(cuts: Cuts, level: float, shares: tuple[float, ...] = QUANTILES) -> list[Row]:
    """The mean and the quantiles at ``shares`` with intervals at ``level``, each for itself."""
    return [cuts.mean(level), *cuts.quantiles(shares, level)]
