"""Flipped records among flipped blanks: delta from its definition, in balls.

``derive`` uses this module. Each of N = fakes + 1 messages is equally likely to be the person's.
Let A of them show the bit of bin u, and r = (1 - q) / q. Then the probability of the observation
under u, divided by its probability if all N are blanks, is X_u / N with X_u = A r + (N - A) / r.
With B for bin v,

    delta = (1/N) E[(X_u - e^eps X_v)_+],   A, B independent Bin(N, q).

Exchanging A and B exchanges u and v, so both orders have this delta.

*Windows.* As E[X_u] = N, E[X_u; B < low] / N = P(B < low). E[X_u; A > high] / N is the probability
of A > high if one of the N messages is the person's, at most P(Bin(N - 1, q) >= high).

Source: docs/explanation/accounting.md, "The identity".
"""

from fractions import Fraction

from mixtally.accounting.verification.balls import (
    NOTHING,
    SCALE,
    Bounds,
    arb,
    certainly_below,
    exact_ball,
    least_integer_above,
)
from mixtally.accounting.verification.binomials import Binomial


class Weights:
    """The weight X = slope A + base of ``records`` messages of which A show the bin."""

    def __init__(self, records: int, threshold: int) -> None:
        flip = Fraction(threshold, SCALE)
        self.ratio = (1 - flip) / flip
        self.binomial = Binomial(records, flip)
        self.slope = exact_ball(self.ratio - 1 / self.ratio)
        self.base = exact_ball(records / self.ratio)

    def of(self, shown: int) -> arb:
        """Return X if ``shown`` messages show the bin."""
        return self.slope * shown + self.base

    def count_at_weight(self, weight: arb) -> arb:
        """Return the A, not necessarily an integer, at which X is ``weight``."""
        return (weight - self.base) / self.slope


def one_hot_delta(fakes: int, threshold: int, grow: arb, nats: float) -> Bounds:
    """Return delta of a one-hot record among ``fakes`` blanks; ``grow`` is e^eps.

    Raises UndecidedError if balls overlap.
    """
    records = fakes + 1
    weights = Weights(records, threshold)
    if not certainly_below(grow, exact_ball(weights.ratio**2)):
        return NOTHING  # no likelihood ratio exceeds r^2
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
            break  # nor does any A for a larger B
        total += point * (mean[first - low] - other * chance[first - low])
    return Bounds(total / records, total / records + cut)


def _tails(points: list[arb], low: int, weights: Weights) -> tuple[list[arb], list[arb]]:
    """Return P(A >= k) and E[X; A >= k] for every k of the window."""
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
    """Return the divergence of a single one over a zero, among ``fakes`` zeros.

    For one bit X_1 = X and X_0 = N. This order sums (X - e^eps N)_+ over many shown ones, the other
    order (N - e^eps X)_+ over few. The part outside the window is at most its probability: Bin(N,
    q) for a zero, and for a one that of Bin(N - 1, q) plus the person's bit. Raises UndecidedError
    if balls overlap.
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
    """Return the divergence in the other order, as in ``one_over_zero_delta``."""
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
