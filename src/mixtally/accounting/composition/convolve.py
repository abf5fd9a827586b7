"""delta(epsilon) of a sum of independent privacy losses, by one tilted Fourier transform.

The result is an upper bound that is tight to nearly all digits for any number of losses. The
composition of messages, of a mix's table and of memoized answers uses it.

*Formula.* Let K(t) be the sum of the log moment generating functions of the finite losses. Let c_l
be the probability that their sum is l, *tilted* by the factor e^{tl} and normalized. The tilt t is
the saddle point: the mean of c is epsilon. Then

    delta(epsilon) = P[some loss infinite] + e^{K(t) - t epsilon} sum_{l > epsilon} c_l g(l),
    g(l) = e^{-t (l - epsilon)} (1 - e^{epsilon - l}).

*Rounding.* One Fourier transform over a *cycle* of lattice points computes c with an absolute
rounding error. Tilting makes this error small compared with the answer even if delta is 1e-15.
Without tilting, computed deltas of this size can be negative. Everything that is left out is added:

- Sums below the cycle wrap around and are added to some c_l >= 0, so they only increase the result.
- Sums above the cycle are bounded by Chernoff's inequality.
- The rounding of the transform is bounded in the Euclidean norm (Higham, Accuracy and Stability of
  Numerical Algorithms (2002), theorem 24.2), propagated through the powers, and added.

Source: Koskela, Jaelkoe, Honkela, Computing Tight Differential Privacy Guarantees Using FFT (2020);
tilting: saddle point method, Alghamdi et al. (2023).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.numerics.bracket import RELATIVE_SLACK, keep_positive
from mixtally.errors import AccountingError
from mixtally.primitives.tails import Floats

_UNIT = 2.0**-53
_WINDOW_DEVIATIONS = 12.0
"""Half length of the first cycle, in standard deviations of the tilted sum."""
_MOST_CELLS = 1 << 22
"""Largest and smallest length of a cycle."""
_LEAST_CELLS = 1 << 10
_NEGLIGIBLE = 1e-6
"""Share of the sum that losses above the cycle may add before the cycle is doubled."""
_MOST_TILTS = 12
_LATTICE_VARIANCE_SHARE = 1e-4
"""Relative increase of a sum's variance that a common lattice may cause."""
_MOST_EXPONENT = 512.0
"""Largest exponent of a tilt."""
_EXPONENT_ERROR = 2e-13
"""Relative error of one tilted probability, whose exponent is a sum of numbers below 1000."""


class _SummedLosses(NamedTuple):
    """The finite losses of one distribution, their log probabilities, and how often it is drawn."""

    places: NDArray[np.int64]
    logs: Floats
    times: int


class LossSum:
    """The sum of independent privacy losses.

    Parameters
    ----------
    parts : sequence of (LossDistribution, int)
        Distributions, each with the number of losses that are drawn from it.
    """

    def __init__(self, parts: Sequence[tuple[LossDistribution, int]]) -> None:
        self.step = _common_step(parts)
        fitted = [(losses.coarsen(self.step), times) for losses, times in parts]
        self.sides, log_total, log_finite = [], 0.0, 0.0
        for losses, times in fitted:
            places, chances = losses.expand_both_sides(self.step)
            keep = chances > 0.0
            self.sides.append(_SummedLosses(places[keep], np.log(chances[keep]), times))
            total = float(chances.sum()) + losses.infinite
            lost = losses.infinite / total  # rounds to 1 if the finite losses are tiny
            log_total += times * math.log(total)
            log_finite += times * (math.log1p(-lost) if lost < 1.0 and keep.any() else -math.inf)
        self.infinite = -math.expm1(log_finite) * math.exp(log_total)
        self.draws = sum(times for _, times in fitted)
        self.most, self.steepest = 0, 0.0
        if log_finite > -math.inf:
            tops = [int(side.places[-1]) for side in self.sides]
            self.most = sum(side.times * top for side, top in zip(self.sides, tops, strict=True))
            self.steepest = _MOST_EXPONENT / max(self.step, self.step * max(tops))

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        return sum(side.places.nbytes + side.logs.nbytes for side in self.sides)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of the divergence at ``epsilon``.

        Raises AccountingError if the result cannot be a divergence.
        """
        finite = 0.0
        if self.most * self.step > epsilon:
            t = self._saddle(epsilon)
            height, mean, variance = self._cumulants(t)
            finite = self._tail(epsilon, t, math.exp(height - t * epsilon), mean, variance)
        slack = RELATIVE_SLACK + self.draws * _EXPONENT_ERROR
        value = self.infinite + finite
        if not 0.0 <= value < math.inf:
            raise AccountingError(
                f"composition: expected a finite delta of at least 0, got {value}"
            )
        return min(1.0, keep_positive(value * (1.0 + slack), epsilon, self.most * self.step))

    def lower(self, epsilon: float) -> float:
        """Return a lower bound of the divergence of the losses on their lattice.

        The sum is taken over the half of the cycle that lies above ``epsilon``. Losses from outside
        the cycle wrap around into this half, from either end. Their probability is bounded by
        Chernoff's inequality and subtracted.
        """
        slack = RELATIVE_SLACK + self.draws * _EXPONENT_ERROR
        if self.most * self.step <= epsilon:
            return self.infinite * (1.0 - slack)
        t = self._saddle(epsilon)
        height, mean, variance = self._cumulants(t)
        cells = self._cells(epsilon, mean, variance)
        found, error = self._sum(epsilon, t, cells)
        first = math.floor(epsilon / self.step) + 1
        wrapped = self._chernoff_tail(t, (first + cells - 1) * self.step)
        wrapped += self._chernoff_tail(t, (first - cells // 2 + 1) * self.step, above=False)
        finite = max(0.0, found - error - wrapped) * math.exp(height - t * epsilon)
        return (self.infinite + finite) * (1.0 - slack)

    def _cumulants(self, t: float) -> tuple[float, float, float]:
        """Return the cumulant generating function K at t, and its first and second derivative."""
        height = mean = variance = 0.0
        for side in self.sides:
            exponents = side.logs + t * self.step * side.places
            top = float(exponents.max())
            weights = np.exp(exponents - top)
            total = float(weights.sum())
            losses = self.step * side.places
            center = _dot(weights, losses) / total
            height += side.times * (top + math.log(total))
            mean += side.times * center
            variance += side.times * _dot(weights, (losses - center) ** 2) / total
        return height, mean, variance

    def _saddle(self, epsilon: float) -> float:
        """Return a tilt >= 0 at which the mean of the tilted sum is near ``epsilon``.

        Every tilt gives a valid bound.
        """
        low, high = 0.0, min(1.0, self.steepest)
        if self._cumulants(low)[1] >= epsilon:
            return low
        while self._cumulants(high)[1] < epsilon and high < self.steepest:
            low, high = high, min(2.0 * high, self.steepest)
        for _ in range(14):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self._cumulants(middle)[1] < epsilon else (low, middle)
        return high

    def _tail(self, epsilon: float, t: float, scale: float, mean: float, variance: float) -> float:
        """Return ``scale`` times the sum of c_l g(l), plus a bound on the omitted terms."""
        cells = self._cells(epsilon, mean, variance)
        while True:
            last = math.floor(epsilon / self.step) + cells // 2
            lost = 0.0 if self.most <= last else self._chernoff_tail(t, last * self.step)
            lost *= math.exp(-t * max(0.0, last * self.step - epsilon))
            found, error = self._sum(epsilon, t, cells)
            if lost <= _NEGLIGIBLE * found or 2 * cells > _MOST_CELLS:
                return scale * (found + error + lost)
            cells *= 2

    def _cells(self, epsilon: float, mean: float, variance: float) -> int:
        """Return the length of a cycle that contains nearly all of the tilted sum."""
        spread = abs(mean - epsilon) + _WINDOW_DEVIATIONS * math.sqrt(variance) + 64.0 * self.step
        # All sums lie within 2 most + 1 cells, so a longer cycle is never needed.
        half = min(math.ceil(spread / self.step), self.most + 1)
        return _fast_length(max(_LEAST_CELLS, 2 * half))

    def _chernoff_tail(self, t: float, end: float, *, above: bool = True) -> float:
        """Return Chernoff's bound on the tilted probability of a sum above, or below, ``end``.

        Chernoff's inequality is valid for every change of the tilt t. If single losses are large,
        the best change is far smaller than for a Gaussian sum, so smaller and smaller changes are
        tried.
        """
        height, mean, variance = self._cumulants(t)
        away = 1.0 if above else -1.0
        more = away * 2.0 * max(away * (end - mean), self.step) / max(variance, self.step**2)
        best = 0.0
        for _ in range(_MOST_TILTS):
            bound = self._cumulants(t + more)[0] - height - more * end
            if best < min(bound, 0.0):
                break
            best, more = min(best, bound), 0.5 * more
        return math.exp(best)

    def _sum(self, epsilon: float, t: float, cells: int) -> tuple[float, float]:
        """Return the sum of c_l g(l) over the half cycle above epsilon, with its rounding bound."""
        transform_error = 16.0 * _UNIT * math.log2(cells)
        product = np.ones(cells // 2 + 1, dtype=np.complex128)
        log_bound = np.zeros(cells // 2 + 1)
        rates = np.zeros(cells // 2 + 1)
        for side in self.sides:
            exponents = side.logs + t * self.step * side.places
            weights = np.exp(exponents - exponents.max())
            weights /= weights.sum()
            cycle = np.bincount(side.places % cells, weights=weights, minlength=cells)
            spectrum = np.fft.rfft(cycle)
            error = transform_error * math.sqrt(cells) * _norm(cycle) + 16 * _UNIT
            product *= _power(spectrum, side.times)
            size = np.abs(spectrum) + error
            log_bound += side.times * np.log(size)
            rates += side.times * error / size
        lapse = np.exp(np.minimum(log_bound, 700.0)) * rates
        pmf = np.fft.irfft(product, cells)
        first = math.floor(epsilon / self.step) + 1
        # Above the largest sum the cycle contains only wrapped losses.
        places = np.arange(first, min(first + cells // 2, self.most + 1))
        gap = np.maximum(places * self.step - epsilon, 0.0)
        weigh = np.exp(-t * gap) * -np.expm1(-gap)
        found = _dot(pmf[places % cells], weigh)
        norm = math.sqrt(2.0 / cells) * _norm(lapse)
        norm += 2.0 * transform_error * _norm(pmf)
        error = norm * _norm(weigh)
        return max(found, 0.0), error


def _fast_length(least: int) -> int:
    """Return the least number >= ``least`` with no prime factors except 2, 3 and 5."""
    best = 1 << (least - 1).bit_length()
    fives = 1
    while fives < best:
        odd = fives
        while odd < best:
            best = min(best, odd << max(0, -(-least // odd) - 1).bit_length())
            odd *= 3
        fives *= 5
    return best


def _power(values: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """Return values^times by squaring, with 2 log2(times) roundings."""
    out = np.ones_like(values)
    while times:
        if times & 1:
            out *= values
        values, times = values * values, times >> 1
    return out


def _dot(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the sum of products; np.dot would start threads and wait for them."""
    return float((a * b).sum())


def _norm(a: NDArray[Any]) -> float:
    """Return the Euclidean norm."""
    return math.sqrt(_dot(a, a))


def _common_step(parts: Sequence[tuple[LossDistribution, int]]) -> float:
    """Return the step of a lattice for all losses.

    The search begins with the finest step of ``parts``. A coarser step is used if it adds little to
    the variance of the sum: rounding a loss to a lattice adds at most a quarter of the squared
    step. A step that is coarser than all steps of ``parts`` is used only if the sum would otherwise
    have too many lattice points.
    """
    step = min(losses.step for losses, _ in parts)
    real = [(losses, times) for losses, times in parts if len(losses.places)]
    if not real:
        return step
    variance = 0.0
    for losses, times in real:
        variance += times * 2.0 * _dot(losses.chances, (losses.step * losses.places) ** 2)
    coarsest = max(losses.step for losses, _ in real)
    while step < coarsest:
        finer = sum(times for losses, times in real if losses.step <= step)
        if finer * step * step > _LATTICE_VARIANCE_SHARE * variance:
            break
        step *= 2.0
    widest = max(losses.step * int(losses.places[-1]) for losses, _ in real)
    need = (4.0 * _WINDOW_DEVIATIONS * math.sqrt(variance) + 2.0 * widest) / _MOST_CELLS
    return max(step, 2.0 ** math.ceil(math.log2(need)))
