"""The least error that each known mechanism can have for a wish, by its published formula.

Nothing here uses the project's divergences or its planner: fakes of a bin are Poisson, losses are
laid on a grid and convolved, and what is sought is bisected. That is right to about two per cent
of an error, for crowds of hundreds of messages.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import norm, poisson

_STEP = 2e-3
_MOST_COUNTS = 1500
_MOST_DRAWN = 1e10
"""By one mix."""
_POINTS = 1 << 62
"""Of an open domain, about."""


@dataclass(frozen=True)
class Wish:
    """What is asked, as ``PlanRequest`` has it; ``bins`` None where the domain is open."""

    epsilon: float
    delta: float
    users: int
    bins: int | None
    budget: float
    most: int = 1
    collections: int = 1
    honest: float = 1.0
    minimum: int | None = None
    count: int = 0
    hops: int | None = None

    @property
    def people(self) -> float:
        """Of whom something is counted on."""
        return self.honest * (self.minimum or self.users)

    @property
    def fakes(self) -> float:
        """That people's budget has."""
        return (self.budget - self.most) * self.users

    @property
    def sure(self) -> float:
        """Of these, those that certainly come."""
        return (self.budget - self.most) * self.people


def _divergence(losses: np.ndarray, chances: np.ndarray, never: float, epsilon: float) -> float:
    return never + float((chances * -np.expm1(np.minimum(epsilon - losses, 0.0))).sum())


def _composed(losses: np.ndarray, chances: np.ndarray, times: int, epsilon: float) -> float:
    """The divergence at ``epsilon`` of a loss that is drawn so often."""
    never = max(0.0, 1.0 - float(chances.sum()))
    if times == 1:
        return _divergence(losses, chances, never, epsilon)
    spread = float(np.sqrt((chances * losses**2).sum() * times))
    step = max(1e-9, min(_STEP * math.sqrt(times), spread / 200))
    low = losses.min()
    place = np.rint((losses - low) / step).astype(np.int64)
    law = np.bincount(place, weights=chances)
    wide = 1 << math.ceil(math.log2(len(law) * times + 1))
    total = np.fft.irfft(np.fft.rfft(law, wide) ** times, wide)
    some = low * times + step * np.arange(wide)
    return _divergence(some, np.maximum(total, 0.0), 1.0 - (1.0 - never) ** times, epsilon)


def _window(mean: float) -> np.ndarray:
    half = 9.0 * math.sqrt(mean) + 25.0
    return np.arange(max(0, math.floor(mean - half)), math.ceil(mean + half) + 1)


def _delta_of_cover(mean: float, times: int, epsilon: float) -> float:
    """Of ``times`` records that go from one bin to another among Poisson fakes of this mean."""
    seen = _window(mean)
    chance = poisson.pmf(seen, mean)
    one_more, loss = chance * seen / mean, np.log(np.maximum(seen, 1e-300) / mean)
    if times == 1:
        over = np.floor(math.exp(epsilon) * seen)
        told = mean * poisson.sf(over - 1, mean) - math.exp(epsilon) * seen * poisson.sf(over, mean)
        return float((chance * told).sum()) / mean
    held = seen > 0
    up = _law(loss[held], one_more[held])
    down = _law(-loss[held], chance[held])
    return _composed(*_sum(up, down), times, epsilon)


def _law(losses: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    place = np.rint(losses / _STEP).astype(np.int64)
    low = int(place.min())
    law = np.bincount(place - low, weights=chances)
    return _STEP * (low + np.arange(len(law))), law


def _sum(
    a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    law = np.convolve(a[1], b[1])
    return a[0][0] + b[0][0] + _STEP * np.arange(len(law)), law


def _least(able: Callable[[float], bool], low: float, high: float) -> float:
    """The least number that is ``able``, or infinity."""
    if not able(high):
        return math.inf
    while high > low * 1.002:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if able(middle) else (middle, high)
    return high


@lru_cache(maxsize=512)
def cover(epsilon: float, delta: float, times: int = 1) -> float:
    """Uniform fakes that every bin needs, when ``times`` values are exchanged for others."""
    return _least(lambda mean: _delta_of_cover(mean, times, epsilon) <= delta, 0.5, 1e7)


def clear(wish: Wish) -> float:
    """People's uniform fakes over all bins, a message a value (Cheu and Zhilyaev 2022)."""
    if wish.bins is None:
        return math.inf
    cells = wish.bins + (wish.most if wish.most > 1 else 0)
    need = cover(wish.epsilon, wish.delta, wish.most * wish.collections)
    return math.sqrt(need * wish.users / wish.people) if need * cells <= wish.sure else math.inf


def _prime(most: float) -> int:
    one = math.floor(most)
    while one > 1 and any(one % other == 0 for other in range(2, math.isqrt(one) + 1)):
        one -= 1
    return max(one, 0)


def _meeting(bins: int, prime: int) -> float:
    digits = math.ceil(math.log(bins) / math.log(prime) - 1e-9)
    return (float(prime) ** (digits - 1) - 1.0) / (float(prime) ** digits - 1.0)


def over_planes(wish: Wish, fakes: float, sure: float, mixes: int = 1) -> float:
    """The same over planes, of as many cells as the fakes cover."""
    most = wish.most
    cells = sure / cover(wish.epsilon, wish.delta, most * wish.collections)
    # A cell of a set's p has (1 - (k-1)/p)/p of all fakes: p^2 - c p + c (k-1) = 0
    cells = 0.5 * (cells + math.sqrt(max(0.0, cells * (cells - 4.0 * (most - 1)))))
    bins = wish.bins or _POINTS
    if most > 1:
        return _sets_over_planes(wish, _prime(min(cells, 2.0 ** (63 / (most + 1)))), mixes * fakes)
    prime = _prime(min(cells, 1e7))
    if prime < 2 or prime >= bins:
        return math.inf
    meet = _meeting(bins, prime)
    spread = wish.users * meet * (1.0 - meet) + mixes * fakes / prime * (1.0 - 1.0 / prime)
    return math.sqrt(spread) / (1.0 - meet)


def _sets_over_planes(wish: Wish, prime: int, fakes: float) -> float:
    """Of messages of which all but a value's holders' point at it with one in p: more digits than
    members in 63 bits.
    """
    if prime < 2 * wish.most or prime >= (wish.bins or _POINTS):
        return math.inf
    drawn = wish.most * wish.users + fakes
    return math.sqrt(drawn / prime * (1.0 - 1.0 / prime)) / (1.0 - wish.most / prime)


def _delta_of_replaced(gone: float, cells: int, sure: float, wish: Wish) -> float:
    """Values replaced with chance ``gone``, among fakes, by the cells' Poisson counts."""
    drawn = gone * (wish.people - 1.0) + sure + 1.0
    mean = drawn / cells
    own, rest = gone / (1.0 - gone) * mean, (1.0 - gone) / mean
    seen = _window(mean)
    chance = poisson.pmf(seen, mean)
    if wish.collections == 1:
        # (A - e A' - (e - 1) c)_+
        e = math.exp(wish.epsilon)
        least = e * seen + (e - 1.0) * own
        over = np.floor(least)
        told = mean * poisson.sf(over - 1, mean) - least * poisson.sf(over, mean)
        return rest * float((chance * told).sum())
    if len(seen) > _MOST_COUNTS:
        return 1.0  # which takes long: nothing is said
    a, b = np.meshgrid(seen, seen, indexing="ij")
    both = np.outer(chance, chance)
    likely = both * rest * (a + own)
    some = likely > 0.0
    loss = np.log((a[some] + own) / (b[some] + own))
    return _composed(*_law(loss, likely[some]), wish.collections, wish.epsilon)


def _replaced(wish: Wish, cells: int, meet: float, fakes: float, sure: float) -> float:
    """The error at the count that is asked, of the least chance that keeps the promise."""
    gone = _least(lambda g: _delta_of_replaced(g, cells, sure, wish) <= wish.delta, 1e-6, 0.999)
    if gone == math.inf:
        return math.inf
    share, kept = 1.0 / cells, 1.0 - gone
    points = kept * meet + gone * share
    mine = kept + gone * share
    spread = wish.count * mine * (1.0 - mine) + fakes * share * (1.0 - share)
    spread += (wish.users - wish.count) * points * (1.0 - points)
    return math.sqrt(spread) / (kept * (1.0 - meet))


def replaced(wish: Wish) -> float:
    """Values that are replaced at random, beside what fakes the budget has."""
    if wish.most > 1:
        return _replaced_sets(wish)
    found = [math.inf]
    if wish.bins is not None:
        found.append(_replaced(wish, wish.bins, 0.0, wish.fakes, wish.sure))
    need = cover(wish.epsilon, wish.delta, wish.collections)
    bins = wish.bins or _POINTS
    most = min(bins / 1.5, 1e6, (wish.people + wish.sure) / need * 2.0)
    primes = {_prime(one) for one in np.geomspace(2.0, max(2.0, most), 25)}
    found += [
        _replaced(wish, cells, _meeting(bins, cells), wish.fakes, wish.sure)
        for cells in primes
        if 2 <= cells < bins
    ]
    return min(found)


def _replaced_sets(wish: Wish) -> float:
    """Sets of which each message is replaced, by chances that bring what a set's cells need."""
    most, need = wish.most, cover(wish.epsilon, wish.delta, wish.most * wish.collections)
    sent = most * wish.users + wish.fakes
    found = [math.inf]
    for gone in np.geomspace(1e-4, 0.95, 60):
        cells = (gone * most * (wish.people - 1.0) + wish.sure) / need
        lost = wish.count * gone / (1.0 - gone)
        own = math.inf if wish.bins is None else wish.bins + most
        if own <= cells:
            drawn = (gone * most * wish.users + wish.fakes) / own
            found.append(math.sqrt(drawn / (1.0 - gone) ** 2 + lost))
        cells = 0.5 * (cells + math.sqrt(max(0.0, cells * (cells - 4.0 * (most - 1)))))
        prime = _prime(min(cells, 2.0 ** (63 / (most + 1))))
        if 2 * most <= prime < (wish.bins or _POINTS):
            kept = (1.0 - gone) * (1.0 - most / prime)
            found.append(math.sqrt(sent / prime / kept**2 + lost))
    return min(found)


def shaped(wish: Wish) -> float:
    """A mix's Laplace or Gaussian shape in every bin."""
    if wish.bins is None:
        return math.inf
    times, rows = wish.most * wish.collections, wish.hops or 1
    rate = wish.epsilon / 2.0 / times  # every loss in full
    laplace = math.sqrt(2.0 * math.exp(-rate)) / -math.expm1(-rate)
    deviation = _gaussian(wish.epsilon, wish.delta / 2.0, math.sqrt(2.0 * times))
    shift = min(laplace, deviation) * (4.0 + math.sqrt(2.0 * math.log(1.0 / wish.delta)))
    if (wish.bins + wish.most) * 2.0 * shift > (wish.users if wish.hops else _MOST_DRAWN):
        return math.inf  # near the limit of what a mix adds, nothing is said
    return math.sqrt(rows) * min(laplace, deviation)


def _gaussian(epsilon: float, delta: float, distance: float) -> float:
    """The least deviation of the Gaussian mechanism (Balle and Wang 2018, theorem 8)."""

    def enough(deviation: float) -> bool:
        half, far = distance / 2.0 / deviation, epsilon * deviation / distance
        return norm.cdf(half - far) - math.exp(epsilon) * norm.cdf(-half - far) <= delta

    return _least(enough, 1e-3, 1e7)


def known(wish: Wish, *, draws: bool) -> Iterator[tuple[str, float]]:
    """Every mechanism by name with its error; those of mixes where they draw fakes."""
    if draws:
        yield "a mix's shape", shaped(wish)
        drawn = float(wish.users) if wish.hops else 25.0 * wish.users
        yield "planes of mixes", over_planes(wish, drawn, drawn, wish.hops or 1)
        return
    yield "uniform fakes", clear(wish)
    yield "planes", over_planes(wish, wish.fakes, wish.sure)
    yield "replaced values", replaced(wish)
