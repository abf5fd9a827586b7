"""Binomial and Poisson probabilities in balls.

Single probabilities follow from ratios of neighbors. A window is chosen in floating point, since
its exact place does not matter. The probability outside the chosen window is bounded in balls.

Source: Chernoff's bound, P(X >= k) <= exp(-n KL(k/n || q)) for k >= nq, and its mirror image.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from mixtally.accounting.verification.balls import arb, enclosing_ball, exact_ball, negligible


@dataclass(frozen=True, slots=True)
class Binomial:
    """A random number X ~ Bin(trials, chance), with 0 < chance < 1."""

    trials: int
    chance: Fraction

    @property
    def deviation(self) -> float:
        """The approximate standard deviation of X."""
        return math.sqrt(self.trials * float(self.chance) * float(1 - self.chance))

    def window(self, nats: float) -> tuple[int, int]:
        """Return first and last integer; the probability on either side is about e^-nats."""
        mean = math.floor(self.trials * self.chance)
        reach = nats / 3.0 + math.sqrt(nats * nats / 9.0 + 2.0 * nats * self.deviation**2)
        room = math.ceil(reach) + 1
        return max(0, mean - room), min(self.trials, mean + room)

    def point(self, k: int) -> arb:
        """Return P(X = k) for 0 <= k <= trials."""
        q, p = exact_ball(self.chance), exact_ball(1 - self.chance)
        ways = _log_factorial(self.trials) - _log_factorial(k) - _log_factorial(self.trials - k)
        return (ways + q.log() * k + p.log() * (self.trials - k)).exp()

    def points(self, first: int, last: int) -> list[arb]:
        """Return P(X = k) for k = first..last, computed outwards from the mode."""
        start = min(max(math.floor((self.trials + 1) * self.chance), first), last)
        odds = exact_ball(self.chance / (1 - self.chance))

        def ratio(k: int) -> arb:
            return odds * (self.trials - k) / (k + 1)

        return _outwards(first, last, start, self.point(start), ratio)

    def at_least(self, k: int) -> arb:
        """Return P(X >= k).

        Terms are added until the rest, which is at most a geometric series, is negligible.
        """
        if k <= 0:
            return arb(1)
        if k > self.trials:
            return arb(0)
        if k < self.trials * self.chance:
            mirrored = Binomial(self.trials, 1 - self.chance)
            return 1 - mirrored.at_least(self.trials - k + 1)
        odds = exact_ball(self.chance / (1 - self.chance))
        here = total = self.point(k)
        nothing = negligible()
        for j in range(k, self.trials):
            ratio = odds * (self.trials - j) / (j + 1)  # falls as j rises
            here = here * ratio
            total = total + here
            if ratio < 1 and here < total * nothing * (1 - ratio):
                rest = here * ratio / (1 - ratio)
                return total + enclosing_ball(arb(0), rest)
        return total

    def upper_tail_bound(self, k: int) -> arb:
        """Return an upper bound of P(X >= k)."""
        if k > self.trials:
            return arb(0)
        if k <= self.trials * self.chance:
            return arb(1)
        return self._chernoff(k)

    def lower_tail_bound(self, k: int) -> arb:
        """Return an upper bound of P(X <= k)."""
        if k < 0:
            return arb(0)
        if k >= self.trials * self.chance:
            return arb(1)
        return self._chernoff(k)

    def _chernoff(self, k: int) -> arb:
        mean, rest = self.trials * self.chance, self.trials * (1 - self.chance)
        nats = arb(0)
        if k > 0:
            nats += exact_ball(k / mean).log() * k
        if k < self.trials:
            nats += exact_ball((self.trials - k) / rest).log() * (self.trials - k)
        return (-nats).exp()


@dataclass(frozen=True, slots=True)
class Poisson:
    """A random number X ~ Poisson(mean), with mean > 0."""

    mean: Fraction

    def window(self, nats: float) -> tuple[int, int]:
        """Return first and last integer; the probability on either side is about e^-nats."""
        middle, reach = math.floor(self.mean), nats / 3.0
        room = math.ceil(reach + math.sqrt(reach * reach + 2.0 * nats * float(self.mean))) + 1
        return max(0, middle - room), middle + room

    def points(self, first: int, last: int) -> list[arb]:
        """Return P(X = k) for k = first..last, computed outwards from the mode."""
        start, mean = min(max(math.floor(self.mean), first), last), exact_ball(self.mean)
        middle = (mean.log() * start - mean - _log_factorial(start)).exp()
        return _outwards(first, last, start, middle, lambda k: mean / (k + 1))

    def cdf(self, k: int) -> arb:
        """Return P(X <= k)."""
        return exact_ball(self.mean).gamma_upper(k + 1, regularized=1) if k >= 0 else arb(0)


def _outwards(
    first: int, last: int, start: int, middle: arb, ratio: Callable[[int], arb]
) -> list[arb]:
    """Return P(first), .., P(last) from P(start); ``ratio`` is P(k + 1) / P(k)."""
    rising, here = [middle], middle
    for k in range(start, last):
        here = here * ratio(k)
        rising.append(here)
    falling, here = [], middle
    for k in range(start - 1, first - 1, -1):
        here = here / ratio(k)
        falling.append(here)
    return falling[::-1] + rising


def _log_factorial(n: int) -> arb:
    return arb(n + 1).lgamma()
