"""The line through the saddle point of M(z)^N / z^2, and the integral along it.

``saddle_point`` and ``positive`` use this module. The approximations listed in ``saddle_point`` are
made and bounded here.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics import count_enumeration
from mixtally.accounting.numerics.bracket import RELATIVE_SLACK
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.frequencies import Wave
from mixtally.accounting.numerics.saddle import find_saddle, sum_moments
from mixtally.accounting.numerics.small_support import tilt_distribution
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.tails import Floats

_MOST_FREQUENCIES = 1 << 23
"""Largest number of frequencies and of count vectors, for time and memory."""
_MOST_COUNTS = 1 << 20
_RARE = 1e-13
"""Tilted probability of all values that together are treated as zero."""
_LOST = 2.0**-50
"""Relative rounding error of a sum from which the zeros were subtracted."""
_WITHIN_SLACK = 0.1 * RELATIVE_SLACK
"""Relative rounding error that the slack of a bracket covers, with a margin."""


class IntegralAccuracy(NamedTuple):
    """How closely an integral is computed before its errors are bounded.

    The Gaussian is cut off at ``deviations`` standard deviations in frequency. Aliases are smaller
    than Chernoff's bound by the factor e^-nats.
    """

    deviations: float
    nats: float


EXACT, ENOUGH = IntegralAccuracy(9.0, 30.0), IntegralAccuracy(5.0, 16.0)
"""Accuracy at the level of rounding, and one with half as many frequencies that often suffices."""
_ENOUGH, _SOME_MORE = 1e-3, 1.0
"""Relative size of the bounded errors that suffices, and nats added when they are larger."""


class Saddle:
    """The line through the saddle point of M(z)^N / z^order, prepared for integrals of any width.

    Order 2 gives the expectation of the positive part, order 1 the probability of a positive sum.
    """

    def __init__(
        self,
        values: Floats,
        chances: Floats,
        draws: Draws,
        order: int = 2,
        care: IntegralAccuracy = EXACT,
    ) -> None:
        self.values, self.chances, self.draws, self.order = values, chances, draws, order
        self.care = care
        self.point = find_saddle(values, chances, draws, order)
        self.log_m, weights = tilt_distribution(values, chances, self.point)
        self.nats = draws.nats(self.log_m)
        self.deviation = math.sqrt(
            max(sum_moments(draws, self.log_m, weights, values).variance, 1e-300)
        )
        # The other values are too rare to matter and are treated as zero; ``_rare_values_bound``
        # bounds the error.
        ranks = np.argsort(weights)
        rare = np.cumsum(weights[ranks]) <= _RARE / draws.most
        self.live, self.rest = np.sort(ranks[~rare]), float(weights[ranks[rare]].sum())
        kept = values[self.live], weights[self.live]
        self.wave = Wave(*kept, draws.power(self.log_m), separates_zeros=order == 2)

    def refine(self, value: float, cut: float) -> "Saddle | None":
        """Return a line of higher accuracy, or None if the bounded errors are small.

        ``value`` is the computed expectation and ``cut`` the bound on its errors.
        """
        error = cut + self.alias_bound(value)
        if self.care == EXACT or error <= _ENOUGH * value:
            return None
        more = _SOME_MORE + math.log(error / value / _ENOUGH) if value > 0.0 else math.inf
        care = IntegralAccuracy(
            math.sqrt(self.care.deviations**2 + 2.0 * more), self.care.nats + more
        )
        care = EXACT if care.nats > EXACT.nats else care
        return Saddle(self.values, self.chances, self.draws, self.order, care)

    @property
    def heaviest(self) -> float:
        """The largest modulus of a value that is not treated as zero."""
        return max(-float(self.values[self.live[0]]), float(self.values[self.live[-1]]))

    @cached_property
    def period(self) -> float:
        """Return a period so long that no alias matters.

        The aliases shifted up are bounded by the tilt, those shifted down by Chernoff at a larger
        tilt.
        """
        period = (self.care.nats - self.nats) / self.point
        bounds = []
        # Each tilt above the saddle point gives a valid period; the shortest one is used.
        for factor in (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0):
            t = factor * self.point
            log_m, _ = tilt_distribution(self.values, self.chances, t)
            excess = self.draws.rise(self.log_m, log_m) + self.care.nats
            bounds.append(max(0.0, excess) / (t - self.point))
        return max(period, min(bounds))

    def frequencies(self, spread: float) -> int:
        """Return the number of frequencies that a Gaussian of this width takes."""
        return math.ceil(self.care.deviations / spread * self.period / (2.0 * math.pi)) + 1

    def work(self, spread: float) -> int:
        """Return the largest number of products that the integral takes."""
        return self.frequencies(spread) * len(self.live)

    def spread(self, smoothing: float) -> float:
        """Return the standard deviation of the Gaussian for a relative width ``smoothing``."""
        return smoothing * max(self.deviation, 1.0 / self.point)

    def smoothing_of_zeros(self, spread: float) -> float:
        """Return the increase that a Gaussian of this width causes for sums of zeros only."""
        chance = math.exp(self.wave.log_zeros + self.nats)
        return chance * spread / (math.sqrt(2.0 * math.pi) * self.draws.divisor)

    def integral(self, spread: float) -> tuple[float, float, float]:
        """Return the smoothed expectation, a bound on the smoothing, and a bound on the cut part.

        All three numbers are divided by N. For order 1 they refer to the probability of a positive
        sum instead of the expectation.
        """
        step, last = 2.0 * math.pi / self.period, self.care.deviations / spread
        frequencies = self.frequencies(spread)
        if frequencies > _MOST_FREQUENCIES:
            raise AccountingError(
                f"saddle point: expected at most {_MOST_FREQUENCIES:,} frequencies, got "
                f"{frequencies:,}; use fewer people, or flips that give a "
                "delta nearer to 1e-6"
            )
        scale = self.nats + 0.5 * (self.point * spread) ** 2
        if scale > 700.0:
            raise AccountingError("saddle point: the expectation is too large, above e^700")
        own = -math.expm1(self.wave.log_zeros)  # the trapezoid rule counts half of omega = 0
        total, density, dead = -0.5 * own / self.point**self.order, -0.5 * own, 0.0
        for row in self.wave.rows(step, frequencies, spread, self.point * spread**2):
            within = row.omega < last + step
            total += float(row.divide_by_power(self.point, self.order)[within].sum())
            density += float(row.real[within].sum())
            dead += row.omitted_bound
        height = math.exp(scale) / (math.pi * self.draws.divisor)
        end = math.exp(-0.5 * self.care.deviations**2)
        rest = end * last ** (1 - self.order) * (1.0 + step / last)
        # Beyond the last frequency the Gaussian alone bounds the integrand.
        beyond = end * (1.0 + 1.0 / (step * spread * self.care.deviations))
        smoothed = spread**2 * height * step * (max(0.0, density) + dead + beyond) * (1.0 + 1e-6)
        cut = height * (rest + dead * step * self.point**-self.order)
        slack = self._slack()
        value = slack * height * step * total
        cut += self._rare_values_bound(scale) + self._rounding_loss(value, slack)
        # A negative value within the errors is zero.
        return 0.0 if -cut <= value < 0.0 else value, smoothed, cut

    def _rounding_loss(self, value: float, slack: float) -> float:
        """Bound the error of rounding where the terms of the integral cancel.

        Chernoff's bound limits the size of the terms. Rare heavy values make it far larger than
        ``value``. A loss far below the relative slack of every bracket is part of this slack.
        ``slack`` is the factor that covers the rounding of a term.
        """
        ceiling = self.ceiling()
        loss = (slack - 1.0) * ceiling
        found = loss if loss > _WITHIN_SLACK * abs(value) else 0.0
        # If sums of zeros only are subtracted, the rest is small compared with its terms.
        return found + (_LOST * ceiling if self.wave.log_zeros > -math.inf else 0.0)

    def sum_by_counts(self, work: int) -> tuple[float, float, float] | None:
        """Return ``integral`` without a Gaussian, or None if it takes more than ``work``.

        For a random number of draws each possible number is enumerated, if there are few.
        """
        numbers = self.draws.numbers
        most = min(_MOST_COUNTS, (work - 1) // (len(self.live) * max(1, len(numbers))))
        every = [
            count_enumeration.find_count_windows(self.wave.weights, number, most)
            for number, _ in numbers
        ]
        if not every or None in every:
            return None
        usual, chances = int(self.live[self.wave.weights.argmax()]), self.chances
        rare = float(np.delete(chances, usual).sum())
        log_usual = math.log1p(-rare) if rare < 0.5 else math.log(float(chances[usual]))
        value, cut, share = (
            0.0,
            self._rare_values_bound(self.nats) + self._unusual_draws_bound(),
            0.0,
        )
        for (number, chance), counts in zip(numbers, filter(None, every), strict=True):
            found, rounding = count_enumeration.expectation(
                counts, self.wave.values, chances[self.live], log_usual, number
            )
            value += chance * found / number
            cut += chance * rounding / number
            share = max(share, count_enumeration.cut_share(counts))
        return value, 0.0, cut + self.ceiling() * share

    def _unusual_draws_bound(self) -> float:
        """Bound the contribution of the numbers N of draws that were omitted.

        Divided by N, the positive part of a sum of N draws is at most E[W_+] on average.
        """
        if not self.draws.trials:
            return 0.0
        return 2.0 * tails.CUT_TAIL * float((self.chances * np.maximum(self.values, 0.0)).sum())

    def ceiling(self) -> float:
        """Return Chernoff's bound of the expectation, which follows from s_+ <= e^{ts} / (e t).

        For order 1, return Chernoff's bound of the probability of a positive sum.
        """
        log = self.nats
        log -= 1.0 + math.log(self.point * self.draws.divisor) if self.order == 2 else 0.0
        return self._slack() * math.exp(min(700.0, log))

    def _rare_values_bound(self, scale: float) -> float:
        """Return a bound on the change from values that are treated as zero.

        The sum changes only if one of them occurs, and e^{-ts} s_+ is at most 1 / (e t).
        """
        most = 1.0 / (math.e * self.point) if self.order == 2 else 1.0
        return 1.01 * math.exp(scale) * self.rest * most * self.draws.relative_frequency(self.log_m)

    def _slack(self) -> float:
        """Return a factor that covers the rounding of the integral."""
        exponents = np.minimum(self.point * self.values, 1.0)
        grain = float((self.chances * np.abs(np.expm1(exponents))).sum())
        rounded = (
            1.0 + abs(self.nats) + self.draws.most * grain + self.draws.cancellation(self.log_m)
        )
        return 1.0 + 64.0 * 2.0**-52 * rounded

    def alias_bound(self, value: float) -> float:
        """Bound the excess of ``value`` due to the trapezoid rule; both are divided by N.

        The alias shifted up by k periods is e^{-tkP} E[(S + kP)_+]. The aliases shifted down are
        bounded by Chernoff at the tilt that set the period. For order 1, probabilities replace the
        expectations.
        """
        height = math.exp(self.nats)
        up = math.exp(-min(700.0, self.point * self.period))
        if self.order == 2:
            up *= self.period + self.draws.divisor * value
            height /= self.point
        return 1.2 / self.draws.divisor * (up + math.exp(-self.care.nats) * height)
