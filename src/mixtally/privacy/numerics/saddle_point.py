"""(1/N) E[(W_1 + .. + W_N)_+] for independent copies of a number W that takes few values.

The master identity makes every divergence of one record among N an expectation of this form; N is
fixed, or random as in ``draws``. It is the integral of M(z)^N / z^2 along a vertical line through
the saddle point, M(z) = E e^{zW}; the trapezoid rule on that line converges geometrically. Every
approximation made here is an upper bound:

- a Gaussian of standard deviation ``SMOOTHING`` times that of the tilted sum is added to it: by
  Jensen's inequality the expectation of a convex function only grows, and the integrand dies out
  where a lattice would have kept it alive;
- the trapezoid rule with period P adds the aliases e^{-tkP} E[(S + kP)_+], all positive;
- what lies beyond the last frequency, what is skipped before it and what values too rare to matter
  change is bounded and added.

For the lower bound the Gaussian's effect is taken off again: it is at most E[g(S)] with
g(s) = spread phi(s / spread), whose integral has the same form without 1 / z^2. Where that is too
much, because rare heavy values keep the sum's atoms apart, their counts are gone through instead.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mixtally.errors import AccountingError
from mixtally.ground.tails import Floats
from mixtally.privacy.numerics import few_atoms
from mixtally.privacy.numerics.bracket import RELATIVE_SLACK, Bracket, stated
from mixtally.privacy.numerics.draws import Draws
from mixtally.privacy.numerics.few_valued import Distribution, merged, tilted, too_large
from mixtally.privacy.numerics.frequencies import Wave
from mixtally.privacy.numerics.saddle import saddle, summed
from mixtally.privacy.numerics.smoothing import Added, falls

SMOOTHING = 0.004
NOTHING = 1e-50
"""Nothing below this is distinguishable from zero: it is the least upper bound."""
WORTH_IT = 1 << 24
"""Products that may be spent on bounds which lie nearer to each other."""

_LAST_DEVIATION = 9.0
_ALIAS_NATS = 30.0
_MOST_FREQUENCIES = 1 << 23
_MOST_SMOOTHED = 1e-3
ROUGH, NEAR = 1e-2, 3e-3
"""What a Gaussian may add, relatively, where a search asks and where points are composed."""
_LITTLE_SMOOTHED = 3e-4
"""What a Gaussian may add, relatively, where much of it would be to sums of nothing but zeros."""
_MOST_COUNTS = 1 << 20
_RARE = 1e-13
_LOST = 2.0**-50
_AIMED = 0.85
_LITTLE_MORE = 4.0
_ROUGHLY = 0.1
"""A Gaussian this wide rules most sums out in a twentieth of the frequencies."""


def saddle_point_bounds(distribution: Distribution, count: int) -> Bracket:
    """Both bounds of (1/count) E[(sum of ``count`` draws)_+], for a distribution whose mean is
    negative.

    Raises AccountingError when the distribution is no distribution or the work would not end.
    """
    return _bounds(prepared(distribution, Draws(count)), 0.0)


def ceiling(distribution: Distribution, count: int) -> float:
    """A quick upper bound: Chernoff's bound, or the sum of the positive parts."""
    return prepared(distribution, Draws(count)).ceiling


class Prepared(NamedTuple):
    """What is known of an expectation without an integral.

    where
      ceiling   Chernoff's bound, or E[W_+]: (sum of W)_+ <= sum of W_+
      saddle    None where nothing closer is looked for
      values    how many different ones there are
    """

    ceiling: float
    saddle: "Saddle | None"
    values: int


def prepared(distribution: Distribution, draws: Draws) -> Prepared:
    """Raises AccountingError when the distribution is no distribution."""
    values, chances = merged(distribution)
    single = float((chances * np.maximum(values, 0.0)).sum()) * (1.0 + RELATIVE_SLACK)
    if single <= NOTHING:
        return Prepared(NOTHING if single else 0.0, None, len(values))
    if too_large(values):
        return Prepared(single, None, len(values))
    saddle = Saddle(values, chances, draws)
    return Prepared(min(single, max(NOTHING, saddle.ceiling())), saddle, len(values))


def prepared_upper(one: Prepared, least: float, smoothed: float = 0.0) -> float:
    """The upper bound, or a cheaper one that is at most ``least``.

    Where more is ``smoothed``, relatively, than otherwise it may be that much larger.
    """
    return _bounds(one, least, smoothed).upper


def roughly(one: Prepared, least: float) -> float:
    """A quick upper bound, the closer where it might be at most ``least``."""
    if one.saddle is None or not NOTHING < least < one.ceiling:
        return one.ceiling
    value, _, cut = one.saddle.integral(one.saddle.spread(_ROUGHLY))
    return min(one.ceiling, max(NOTHING, stated(value, cut).upper))


def _bounds(one: Prepared, least: float, enough: float = 0.0) -> Bracket:
    """Both bounds; from an upper bound of at most ``least`` on they may be wide."""
    most, saddle = one.ceiling, one.saddle
    enough = max(enough, _MOST_SMOOTHED)
    if saddle is None or most <= max(NOTHING, least):
        return Bracket(0.0, min(1.0, max(NOTHING, most)) if most else 0.0)
    first, usual, fall = saddle.first(enough), saddle.spread(SMOOTHING), 2.0
    spread = max(first, saddle.spread(_ROUGHLY)) if least > NOTHING else first
    value, smoothed, cut = saddle.integral(spread)
    # Rare heavy values stretch the saddle's scale far past the bulk of the sum.
    while value + cut > least:
        added = Added(smoothed, saddle.zeros(spread), enough * value, _LITTLE_SMOOTHED * value)
        if not added.too_much:
            break
        if spread <= min(first, usual) and (counted := saddle.counted(WORTH_IT)) is not None:
            value, smoothed, cut = counted
            break
        narrower = first if first < spread else spread / added.narrowing(fall)
        left = saddle.work(spread) / WORTH_IT  # of the width, when all work is spent
        if saddle.work(narrower) >= WORTH_IT or value * left * left > most:
            break
        before, spread, wider = smoothed, narrower, spread
        value, smoothed, cut = saddle.integral(spread)
        fall = falls(smoothed / before, spread / wider)
    bounds, more = stated(value, cut), smoothed + cut + saddle.aliases(value)
    upper = max(NOTHING, min(bounds.upper, most))
    return Bracket(max(0.0, min(bounds.lower - more, upper)), upper)


class Saddle:
    """The line through the saddle point of M(z)^N / z^2 and the integral along it."""

    def __init__(self, values: Floats, chances: Floats, draws: Draws, order: int = 2) -> None:
        self.values, self.chances, self.draws, self.order = values, chances, draws, order
        self.point = saddle(values, chances, draws, order)
        self.log_m, weights = tilted(values, chances, self.point)
        self.nats = draws.nats(self.log_m)
        self.deviation = math.sqrt(max(summed(draws, self.log_m, weights, values).variance, 1e-300))
        # The others are too rare to matter and take part as if they were zero: see ``_dropped``.
        ranks = np.argsort(weights)
        rare = np.cumsum(weights[ranks]) <= _RARE / draws.most
        self.live, self.rest = np.sort(ranks[~rare]), float(weights[ranks[rare]].sum())
        kept = values[self.live], weights[self.live]
        self.wave = Wave(*kept, draws.power(self.log_m), apart=order == 2)

    @cached_property
    def period(self) -> float:
        """So long that no alias matters: of the shifted-up sums and, by Chernoff, of the others."""
        period = (_ALIAS_NATS - self.nats) / self.point
        bounds = []
        for factor in (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0):
            t = factor * self.point
            log_m, _ = tilted(self.values, self.chances, t)
            excess = self.draws.rise(self.log_m, log_m) + _ALIAS_NATS
            bounds.append(max(0.0, excess) / (t - self.point))
        return max(period, min(bounds))

    def frequencies(self, spread: float) -> int:
        """How many frequencies the integral takes with a Gaussian this wide."""
        return math.ceil(_LAST_DEVIATION / spread * self.period / (2.0 * math.pi)) + 1

    def work(self, spread: float) -> int:
        """Products that the integral takes at most."""
        return self.frequencies(spread) * len(self.live)

    def spread(self, smoothing: float) -> float:
        """The Gaussian's standard deviation."""
        return smoothing * max(self.deviation, 1.0 / self.point)

    def first(self, enough: float) -> float:
        """A standard deviation that likely adds no more than ``enough``, relatively.

        Where much is enough a wide one, which a smooth sum bears, or one so wide that it costs
        little beside the usual; otherwise a narrower one, where that takes little more work.
        """
        usual, likely = self.spread(SMOOTHING), self._likely(enough)
        if likely > usual:
            heavy = max(-float(self.values[self.live[0]]), float(self.values[self.live[-1]]))
            wide = min(likely, self.spread(_ROUGHLY))
            tried = heavy < self.deviation or wide > _LITTLE_MORE * usual
            return wide if enough > _MOST_SMOOTHED and tried else usual
        return likely if enough < ROUGH and likely > usual / _LITTLE_MORE else usual

    def _likely(self, enough: float) -> float:
        """It adds at most its square times the density of the sum at zero; where this is nearly a
        Gaussian's, the expectation is this density over the square of the point.
        """
        return _AIMED * math.sqrt(enough) / self.point

    def zeros(self, spread: float) -> float:
        """What a Gaussian this wide adds to sums of nothing but zeros."""
        chance = math.exp(self.wave.log_zeros + self.nats)
        return chance * spread / (math.sqrt(2.0 * math.pi) * self.draws.over)

    def integral(self, spread: float) -> tuple[float, float, float]:
        """The expectation with a Gaussian added, the most that added, and a bound on what was cut.

        All divided by N. Of order 1 it is the chance of a positive sum instead.
        """
        step, last = 2.0 * math.pi / self.period, _LAST_DEVIATION / spread
        frequencies = self.frequencies(spread)
        if frequencies > _MOST_FREQUENCIES:
            raise AccountingError(
                f"saddle point: wanted at most {_MOST_FREQUENCIES:,} frequencies, got "
                f"{frequencies:,}; there is an answer for fewer people, or for flips that leave a "
                "delta nearer to 1e-6"
            )
        scale = self.nats + 0.5 * (self.point * spread) ** 2
        if scale > 700.0:
            raise AccountingError("saddle point: the expectation exceeds all bounds")
        own = -math.expm1(self.wave.log_zeros)  # at omega = 0, of which half is counted
        total, density, dead = -0.5 * own / self.point**self.order, -0.5 * own, 0.0
        for row in self.wave.rows(step, frequencies, spread, self.point * spread**2):
            within = row.omega < last + step
            total += float(row.over(self.point, self.order)[within].sum())
            density += float(row.real[within].sum())
            dead += row.dead
        height = math.exp(scale) / (math.pi * self.draws.over)
        rest = math.exp(-0.5 * _LAST_DEVIATION**2) * last ** (1 - self.order)
        smoothed = spread**2 * height * step * (max(0.0, density) + dead) * (1.0 + 1e-6)
        cut = height * (rest * (1.0 + step / last) + dead * step * self.point**-self.order)
        cut += self._dropped(scale) + self._lost()
        value = self._slack() * height * step * total
        # What was left out may be all there is.
        return 0.0 if -cut <= value < 0.0 else value, smoothed, cut

    def _lost(self) -> float:
        """What rounding may take off where sums of nothing but zeros stand apart.

        What is left of a transform that moves little is then small against its terms, whose size
        Chernoff's bound has.
        """
        return _LOST * self.ceiling() if self.wave.log_zeros > -math.inf else 0.0

    def counted(self, work: int) -> tuple[float, float, float] | None:
        """As ``integral`` without a Gaussian, None where that takes more than ``work``."""
        count = self.draws.sure
        if self.draws.trials:
            return None
        most = min(_MOST_COUNTS, (work - 1) // len(self.live))
        counts = few_atoms.counts(self.wave.weights, count, most)
        if counts is None:
            return None
        usual, chances = int(self.live[counts.usual]), self.chances
        rare = float(np.delete(chances, usual).sum())
        log_usual = math.log1p(-rare) if rare < 0.5 else math.log(float(chances[usual]))
        value, rounding = few_atoms.expectation(
            counts, self.wave.values, chances[self.live], log_usual, count
        )
        cut = self._dropped(self.nats) + self.ceiling() * few_atoms.cut_share(counts)
        return value / count, 0.0, cut + rounding / count

    def ceiling(self) -> float:
        """Chernoff's bound, for s_+ <= e^{ts} / (e t); of order 1 that of the chance."""
        log = self.nats
        log -= 1.0 + math.log(self.point * self.draws.over) if self.order == 2 else 0.0
        return self._slack() * math.exp(min(700.0, log))

    def _dropped(self, scale: float) -> float:
        """A bound on what the values too rare to matter change.

        The sum is another only where one of them occurs, and e^{-ts} s_+ is at most 1 / (e t).
        """
        most = 1.0 / (math.e * self.point) if self.order == 2 else 1.0
        return 1.01 * math.exp(scale) * self.rest * most * self.draws.occurring(self.log_m)

    def _slack(self) -> float:
        """What rounding can take off, as a factor."""
        exponents = np.minimum(self.point * self.values, 1.0)
        grain = float((self.chances * np.abs(np.expm1(exponents))).sum())
        rounded = 1.0 + abs(self.nats) + self.draws.most * grain + self.draws.cancels(self.log_m)
        return 1.0 + 64.0 * 2.0**-52 * rounded

    def aliases(self, value: float) -> float:
        """A bound on what the trapezoid rule added to ``value``, divided by N as it is.

        Shifted up by k periods: e^{-tkP} E[(S + kP)_+]. Shifted down: by Chernoff at the tilt that
        set the period. Of order 1 chances stand in the place of the expectations.
        """
        height = math.exp(self.nats)
        up = math.exp(-min(700.0, self.point * self.period))
        if self.order == 2:
            up *= self.period + self.draws.over * value
            height /= self.point
        return 1.2 / self.draws.over * (up + math.exp(-_ALIAS_NATS) * height)
