"""(1/N) E[(W_1 + .. + W_N)_+] for independent copies of a number W that takes few values.

The master identity makes every divergence of one record among N an expectation of this form. It is
the integral of M(z)^N / z^2 along a vertical line through the saddle point, M(z) = E e^{zW}; the
trapezoid rule on that line converges geometrically. Every approximation made here errs upwards:

- a Gaussian of standard deviation ``SMOOTHING`` times that of the tilted sum is added to it: by
  Jensen's inequality the expectation of a convex function only grows, and the integrand dies out
  where a lattice would have kept it alive;
- the trapezoid rule with period P adds the aliases e^{-tkP} E[(S + kP)_+], all positive;
- what lies beyond the last frequency is bounded by its modulus and added.

For the lower end the Gaussian's effect is taken off again: it is at most E[g(S)] with
g(s) = spread phi(s / spread), whose integral has the same form without 1 / z^2.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.ground.tails import Floats
from mixtally.privacy.bracket import Bracket, bracket

SMOOTHING = 0.004
_TAIL_SMOOTHING = 5e-4
_SHIFT = 5.0
_LAST_DEVIATION = 9.0
_ALIAS_NATS = 30.0
_BLOCK = 1 << 21
_MOST_FREQUENCIES = 1 << 23
_MOST_SMOOTHED = 1e-3
_WORTH_IT = 1 << 24
_MOST_NATS = 600.0


class Law(NamedTuple):
    """Values of W and their probabilities, which sum to one."""

    values: Floats
    probabilities: Floats


def hinge(law: Law, count: int) -> Bracket:
    """Both ends of (1/count) E[(sum of ``count`` draws)_+], for a law whose mean is negative.

    Raises AccountingError when the law is no law or the work would not end.
    """
    values, chances = _merged(law)
    if not len(values) or values[-1] <= 0.0:
        return Bracket(0.0, 0.0)
    saddle = _Saddle(values, chances, count)
    spread = saddle.spread(SMOOTHING)
    value, smoothed, cut = saddle.integral(spread)
    # Rare heavy values stretch the saddle's scale far past the bulk of the sum: smooth less.
    while smoothed > _MOST_SMOOTHED * value and saddle.work(spread / 8.0) < _WORTH_IT:
        spread /= 8.0
        value, smoothed, cut = saddle.integral(spread)
    added = smoothed + cut + saddle.aliases(value)
    if value >= 1.0:  # no divergence is larger, whatever was added
        return Bracket(max(0.0, min(1.0, value - added)), 1.0)
    ends = bracket(value, cut=cut)
    return Bracket(max(0.0, ends.lower - added), ends.upper)


def chance_positive(law: Law, count: int) -> Bracket:
    """Both ends of P(sum of ``count`` draws > 0), for a law whose mean is negative.

    With a Gaussian E of standard deviation e added and the sum shifted by 5 e either way,
    P(S > 0) <= P(S + E > -5e) / P(E <= 5e) and 1 - P(S > 0) <= P(S + E <= 5e) / P(E <= 5e).
    """
    values, chances = _merged(law)
    if not len(values) or values[-1] <= 0.0:
        return Bracket(0.0, 0.0)
    spread = _Saddle(values, chances, count, order=1).spread(_TAIL_SMOOTHING)
    found = []
    for shift in (-_SHIFT * spread, _SHIFT * spread):
        saddle = _Saddle(values + shift / count, chances, count, order=1)
        value, _, cut = saddle.integral(spread)
        found += [count * (value - cut - saddle.aliases(value)), count * (value + cut)]
    miss = 0.5 * math.erfc(_SHIFT / math.sqrt(2.0))
    lower = (found[0] - miss) / (1.0 - miss)
    return Bracket(max(0.0, min(1.0, lower)), max(0.0, min(1.0, found[3] / (1.0 - miss))))


def _merged(law: Law) -> Law:
    """Ascending distinct values with positive probability."""
    total = float(np.sum(law.probabilities))
    if not (
        np.isfinite(law.values).all()
        and np.all(law.probabilities >= 0.0)
        and abs(total - 1.0) < 1e-9
    ):
        raise AccountingError(f"hinge: wanted finite values and a law that sums to 1, got {total}")
    values, place = np.unique(law.values, return_inverse=True)
    chances: Floats = np.zeros(len(values))
    np.add.at(chances, place, law.probabilities)
    keep = chances > 0.0
    return Law(values[keep], chances[keep])


class _Saddle:
    """The line through the saddle point of M(z)^N / z^2 and the integral along it."""

    def __init__(self, values: Floats, chances: Floats, count: int, order: int = 2) -> None:
        self.values, self.chances, self.count, self.order = values, chances, count, order
        self.point = self._find()
        self.exponents = self.point * values
        self.log_m, tilted = self._tilt(self.point)
        self.tilted = tilted
        mean = float(np.dot(tilted, values))
        variance = count * float(np.dot(tilted, (values - mean) ** 2))
        self.deviation = math.sqrt(max(variance, 1e-300))
        self.period = self._period()

    def _tilt(self, t: float) -> tuple[float, Floats]:
        """Logarithm of M(t), and the tilted probabilities."""
        exponent = t * self.values
        top = float(exponent.max())
        if top < _MOST_NATS:  # log M is often a tiny difference: keep its digits
            growth = float(np.dot(self.chances, np.expm1(exponent)))
            return math.log1p(growth), self.chances * np.exp(exponent) / (1.0 + growth)
        weights = self.chances * np.exp(exponent - top)
        total = float(weights.sum())
        return top + math.log(total), weights / total

    def _slope(self, t: float) -> float:
        _, tilted = self._tilt(t)
        return self.count * float(np.dot(tilted, self.values)) - self.order / t

    def _find(self) -> float:
        """The minimum of N log M(t) - order log t over t > 0, which is convex."""
        low = high = 1.0 / float(np.abs(self.values).max())
        for _ in range(2000):
            if self._slope(low) < 0.0:
                break
            low /= 2.0
        for _ in range(2000):
            if self._slope(high) > 0.0:
                break
            high *= 2.0
        for _ in range(60):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._slope(middle) < 0.0 else (low, middle)
        return high

    def _period(self) -> float:
        """So long that no alias matters: of the shifted-up sums and, by Chernoff, of the others."""
        period = (_ALIAS_NATS - self.count * self.log_m) / self.point
        bounds = []
        for factor in (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0):
            t = factor * self.point
            log_m, _ = self._tilt(t)
            excess = self.count * (log_m - self.log_m) + _ALIAS_NATS
            bounds.append(max(0.0, excess) / (t - self.point))
        return max(period, min(bounds))

    def frequencies(self, spread: float) -> int:
        """How many frequencies the integral takes with a Gaussian this wide."""
        return math.ceil(_LAST_DEVIATION / spread * self.period / (2.0 * math.pi)) + 1

    def work(self, spread: float) -> int:
        """Sines that the integral takes."""
        return self.frequencies(spread) * len(self.values)

    def spread(self, smoothing: float) -> float:
        """The Gaussian's standard deviation."""
        return smoothing * max(self.deviation, 1.0 / self.point)

    def integral(self, spread: float) -> tuple[float, float, float]:
        """The expectation with a Gaussian added, the most that added, and a bound on what was cut.

        All divided by N. Of order 1 it is the chance of a positive sum instead.
        """
        step, last = 2.0 * math.pi / self.period, _LAST_DEVIATION / spread
        frequencies = self.frequencies(spread)
        if frequencies > _MOST_FREQUENCIES:
            raise AccountingError(
                f"hinge: wanted at most {_MOST_FREQUENCIES} frequencies, got {frequencies}"
            )
        total, density, block = 0.0, 0.0, max(1, _BLOCK // len(self.values))
        for start in range(0, frequencies, block):
            stop = min(start + block, frequencies)
            omega = step * np.arange(start, stop, dtype=np.float64)
            power = self._power(omega, spread)
            if start == 0:
                power[0] *= 0.5
            total += float((power / (self.point + 1j * omega) ** self.order).real.sum())
            density += float(power.real.sum())
        scale = self.count * self.log_m + 0.5 * (self.point * spread) ** 2
        if scale > 700.0:
            raise AccountingError("hinge: the expectation exceeds all bounds")
        height = math.exp(scale) / (math.pi * self.count)
        grain = float(np.dot(self.chances, np.abs(np.expm1(np.minimum(self.exponents, 1.0)))))
        slack = 1.0 + 64.0 * 2.0**-52 * (1.0 + abs(self.count * self.log_m) + self.count * grain)
        rest = math.exp(-0.5 * _LAST_DEVIATION**2) * last ** (1 - self.order)
        smoothed = spread**2 * height * step * max(0.0, density) * (1.0 + 1e-6)
        return slack * height * step * total, smoothed, height * rest * (1.0 + step / last)

    def aliases(self, value: float) -> float:
        """A bound on what the trapezoid rule added to ``value``, divided by N as it is.

        Shifted up by k periods: e^{-tkP} E[(S + kP)_+]. Shifted down: by Chernoff at the tilt that
        set the period. Of order 1 chances stand in the place of the expectations.
        """
        height = math.exp(self.count * self.log_m)
        up = math.exp(-min(700.0, self.point * self.period))
        if self.order == 2:
            up *= self.period + self.count * value
            height /= self.point
        return 1.2 / self.count * (up + math.exp(-_ALIAS_NATS) * height)

    def _power(self, omega: Floats, spread: float) -> NDArray[np.complex128]:
        """(M(t + i omega) / M(t))^N times the Gaussian's transform, one at omega = 0."""
        phase = np.multiply.outer(omega, self.values)
        real = -2.0 * (np.sin(0.5 * phase) ** 2 @ self.tilted)
        imaginary = np.sin(phase) @ self.tilted
        # Not log1p of the complex number, which rounds at 1e-16: it is taken N times.
        modulus = 0.5 * np.log1p(2.0 * real + real * real + imaginary * imaginary)
        power = self.count * (modulus + 1j * np.arctan2(imaginary, 1.0 + real))
        gauss = -0.5 * (omega * spread) ** 2 + 1j * omega * self.point * spread**2
        return np.asarray(np.exp(power + gauss), dtype=np.complex128)
