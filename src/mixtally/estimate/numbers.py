"""Mean and quantiles of numbers, out of the noisy counts of their bins.

How many people there are is known, so what the counts lack or exceed it by is pure noise: it is
shared out evenly, c_j - (sum c - n) / d. What is left has the covariance a (I - 1 1'/d) with the
same a for every protocol (uniform fakes already add up; their share of a is K / d). Hence

    Var mean       = a / n^2 * sum_j (m_j - mean of m)^2        m_j the middles of the bins
    Var (C_1 + ... + C_j) = a * j (d - j) / d                    the counts up to bin j

A value is known up to its bin: the interval of the mean is wider by half a bin on each side. The
quantile's interval holds every bin in which the noise allows it to lie, from end to end.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.protocols.base import Protocol
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.records.results import Figure

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Noisy counts of ``users`` people in equal bins between ``edges``.

    where
      counts   shape (bins,), unbiased
      edges    shape (bins + 1,)
      spread   a, the variance of one count but for what the sum takes away
    """

    counts: NDArray[np.float64]
    edges: NDArray[np.float64]
    users: int
    spread: float

    @property
    def evened(self) -> NDArray[np.float64]:
        """Counts that add up to the users, shape (bins,)."""
        even: NDArray[np.float64] = (
            self.counts - (self.counts.sum() - self.users) / self.counts.size
        )
        return even

    def mean(self, level: float) -> Figure:
        """The mean with its standard error by noise; the interval allows for the bins' width."""
        middles = (self.edges[:-1] + self.edges[1:]) / 2.0
        apart = middles - middles.mean()
        value = float(middles.mean() + self.evened @ apart / self.users)
        error = float(np.sqrt(self.spread * (apart @ apart))) / self.users
        width = _deviations(level) * error + float(self.edges[1] - self.edges[0]) / 2.0
        lower, upper = np.clip([value - width, value + width], self.edges[0], self.edges[-1])
        return Figure("mean", value, float(lower), float(upper), standard_error=error)

    def quantile(self, share: float, level: float) -> Figure:
        """The value below which ``share`` of the people lie, and where it may be."""
        bins = self.counts.size
        passed = np.concatenate([[0.0], np.cumsum(self.evened)])
        passed[-1] = self.users
        j = np.arange(bins + 1)
        width = _deviations(level) * np.sqrt(self.spread * j * (bins - j) / bins)
        wanted = share * self.users
        may = (passed[1:] + width[1:] >= wanted) & (passed[:-1] - width[:-1] <= wanted)
        inside = np.flatnonzero(may)
        lower, upper = self.edges[inside[0]], self.edges[inside[-1] + 1]
        return Figure(
            f"{100 * share:g} % quantile", self._crossing(passed, wanted), float(lower),
            float(upper),
        )  # fmt: skip

    def _crossing(self, passed: NDArray[np.float64], wanted: float) -> float:
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


def spread_of(protocol: Protocol, messages: int) -> float:
    """The a of the module's covariance, in counts squared."""
    if isinstance(protocol, (ClearUniform, FlipUniform)):
        return protocol.variance(messages) + protocol.fakes / protocol.bins**2
    return protocol.variance(messages)


def summary(cuts: Cuts, level: float, shares: tuple[float, ...] = QUANTILES) -> list[Figure]:
    """The mean and the quantiles at ``shares`` with intervals at ``level``, each for itself."""
    return [cuts.mean(level), *(cuts.quantile(share, level) for share in shares)]


def _deviations(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + 0.5 * level)
