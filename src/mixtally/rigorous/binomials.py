"""Binomial chances in balls: points by the ratio of neighbors, tails, and bounds of what is cut.

A window is chosen in floating point, where its exact place is of no consequence: what lies outside
is bounded in balls for the window as it was chosen.

Source: Chernoff's bound, P(X >= k) <= exp(-n KL(k/n || q)) for k >= nq, and its mirror image.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from mixtally.rigorous.balls import arb, between, exactly, negligible


@dataclass(frozen=True, slots=True)
class Binomial:
    """X ~ Bin(trials, chance), 0 < chance < 1."""

    trials: int
    chance: Fraction

    @property
    def deviation(self) -> float:
        """The standard deviation of X, about."""
        return math.sqrt(self.trials * float(self.chance) * float(1 - self.chance))

    def window(self, nats: float) -> tuple[int, int]:
        """Integers first..last outside which a chance of about e^-nats is left on either side."""
        mean = math.floor(self.trials * self.chance)
        reach = nats / 3.0 + math.sqrt(nats * nats / 9.0 + 2.0 * nats * self.deviation**2)
        room = math.ceil(reach) + 1
        return max(0, mean - room), min(self.trials, mean + room)

    def point(self, k: int) -> arb:
        """P(X = k) for 0 <= k <= trials."""
        q, p = exactly(self.chance), exactly(1 - self.chance)
        ways = _log_factorial(self.trials) - _log_factorial(k) - _log_factorial(self.trials - k)
        return (ways + q.log() * k + p.log() * (self.trials - k)).exp()

    def points(self, first: int, last: int) -> list[arb]:
        """P(X = k) for k = first..last, outwards from the likeliest."""
        start = min(max(math.floor((self.trials + 1) * self.chance), first), last)
        odds = exactly(self.chance / (1 - self.chance))
        middle = self.point(start)
        rising, here = [middle], middle
        for k in range(start, last):
            here = here * (self.trials - k) * odds / (k + 1)
            rising.append(here)
        falling, here, against = [], middle, 1 / odds
        for k in range(start, first, -1):
            here = here * k * against / (self.trials - k + 1)
            falling.append(here)
        return falling[::-1] + rising

    def at_least(self, k: int) -> arb:
        """P(X >= k): points added up until the rest, a geometric series at most, is nothing."""
        if k <= 0:
            return arb(1)
        if k > self.trials:
            return arb(0)
        if k < self.trials * self.chance:
            mirrored = Binomial(self.trials, 1 - self.chance)
            return 1 - mirrored.at_least(self.trials - k + 1)
        odds = exactly(self.chance / (1 - self.chance))
        here = total = self.point(k)
        nothing = negligible()
        for j in range(k, self.trials):
            ratio = odds * (self.trials - j) / (j + 1)  # falls as j rises
            here = here * ratio
            total = total + here
            if ratio < 1 and here < total * nothing * (1 - ratio):
                rest = here * ratio / (1 - ratio)
                return total + between(arb(0), rest)
        return total

    def most_above(self, k: int) -> arb:
        """At least P(X >= k)."""
        if k > self.trials:
            return arb(0)
        if k <= self.trials * self.chance:
            return arb(1)
        return self._chernoff(k)

    def most_below(self, k: int) -> arb:
        """At least P(X <= k)."""
        if k < 0:
            return arb(0)
        if k >= self.trials * self.chance:
            return arb(1)
        return self._chernoff(k)

    def _chernoff(self, k: int) -> arb:
        mean, rest = self.trials * self.chance, self.trials * (1 - self.chance)
        nats = arb(0)
        if k > 0:
            nats += exactly(k / mean).log() * k
        if k < self.trials:
            nats += exactly((self.trials - k) / rest).log() * (self.trials - k)
        return (-nats).exp()


def _log_factorial(n: int) -> arb:
    return arb(n + 1).lgamma()
