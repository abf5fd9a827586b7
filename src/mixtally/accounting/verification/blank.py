"""Flipped records among flipped blanks, from the definition, in balls.

Of N = fakes + 1 records every one is as likely to be the person's, so the chance of what is seen,
over its chance when all N are blanks, is X_u / N with X_u = A r + (N - A) / r for a person whose
one is in bin u: A of the N records show it, r = (1 - q) / q. With B for bin v,

    delta = (1/N) E[(X_u - e^eps X_v)_+],   A, B independent Bin(N, q).

Exchanging A and B exchanges the directions, so both are this number.

What a window cuts: E[X_u; B < low] / N = P(B < low), as E[X_u] = N; and E[X_u; A > high] / N is the
chance of A > high when one of the N records is the person's, at most P(Bin(N - 1, q) >= high).

Source: docs/explanation/accounting.md, "The identity".
"""

from fractions import Fraction

from mixtally.accounting.verification.balls import (
    NOTHING,
    Bounds,
    arb,
    certainly_below,
    exact_ball,
    least_integer_above,
)
from mixtally.accounting.verification.binomials import Binomial

SCALE = 1 << 64


class Weights:
    """X = slope A + base, where A of ``records`` records show the bin."""

    def __init__(self, records: int, threshold: int) -> None:
        flip = Fraction(threshold, SCALE)
        self.ratio = (1 - flip) / flip
        self.binomial = Binomial(records, flip)
        self.slope = exact_ball(self.ratio - 1 / self.ratio)
        self.base = exact_ball(records / self.ratio)

    def of(self, shown: int) -> arb:
        """X for so many."""
        return self.slope * shown + self.base

    def count_at_weight(self, weight: arb) -> arb:
        """The number of records at which X is ``weight``."""
        return (weight - self.base) / self.slope


def one_hot_delta(fakes: int, threshold: int, grow: arb, nats: float) -> Bounds:
    """Delta of one one-hot record among ``fakes`` blanks; ``grow`` is e^eps.

    Raises UndecidedError.
    """
    records = fakes + 1
    weights = Weights(records, threshold)
    if not certainly_below(grow, exact_ball(weights.ratio**2)):
        return NOTHING  # no message is likelier by more than r^2
    low, high = weights.binomial.window(nats)
    cut = weights.binomial.lower_tail_bound(low - 1)
    cut += Binomial(fakes, weights.binomial.chance).upper_tail_bound(high)
    if least_integer_above(weights.count_at_weight(grow * weights.of(low))) > high:
        return Bounds(arb(0), cut)
    points = weights.binomial.points(low, high)
    chance, mean = _tails(points, low, weights)
    total = arb(0)
    for b, point in zip(range(low, high + 1), points, strict=True):
        other = grow * weights.of(b)
        first = least_integer_above(
            weights.count_at_weight(other)
        )  # the least A with X_u > e^eps X_v
        if first > high:
            break  # and so for every larger B
        total += point * (mean[first - low] - other * chance[first - low])
    return Bounds(total / records, total / records + cut)


def _tails(points: list[arb], low: int, weights: Weights) -> tuple[list[arb], list[arb]]:
    """P(A >= k) and E[X; A >= k] for every k of the window."""
    chance, mean = [], []
    above = weighted = arb(0)
    for k in range(low + len(points) - 1, low - 1, -1):
        point = points[k - low]
        above = above + point
        weighted = weighted + point * weights.of(k)
        chance.append(above)
        mean.append(weighted)
    return chance[::-1], mean[::-1]


def one_over_zero_delta(fakes: int, threshold: int, grow: arb, nats: float) -> Bounds:
    """How much likelier a one makes an outcome than e^eps times a zero.

    Of one bit among ``fakes`` zeros X_1 = X and X_0 = N. This direction sums (X - e^eps N)_+ over
    many shown ones, the other (N - e^eps X)_+ over few. What a window cuts is at most the chance of
    being outside it: for a zero of Bin(N, q), for a one of one record better than Bin(N - 1, q).
    Raises UndecidedError.
    """
    records = fakes + 1
    weights = Weights(records, threshold)
    first = least_integer_above(weights.count_at_weight(grow * records))
    if first > records:
        return NOTHING
    low, high = weights.binomial.window(nats)
    first = max(first, low)
    total = arb(0)
    if first <= high:
        for a, point in enumerate(weights.binomial.points(first, high), first):
            total += point * (weights.of(a) - grow * records)
    cut = Binomial(fakes, weights.binomial.chance).upper_tail_bound(high)
    cut += Binomial(fakes, weights.binomial.chance).lower_tail_bound(low - 1) if first == low else 0
    return Bounds(total / records, total / records + cut)


def zero_over_one_delta(fakes: int, threshold: int, grow: arb, nats: float) -> Bounds:
    """How much likelier a zero makes an outcome than e^eps times a one: as above."""
    records = fakes + 1
    weights = Weights(records, threshold)
    last = least_integer_above(weights.count_at_weight(records / grow)) - 1
    if last < 0:
        return NOTHING
    low, high = weights.binomial.window(nats)
    total = arb(0)
    if last >= low:
        last = min(last, high)
        for a, point in enumerate(weights.binomial.points(low, last), low):
            total += point * (records - grow * weights.of(a))
    cut = weights.binomial.lower_tail_bound(low - 1)
    cut += weights.binomial.upper_tail_bound(high + 1) if last == high else 0
    return Bounds(total / records, total / records + cut)
