"""A set in clear, k messages of different cells among uniform messages: bounds in balls.

``derive`` uses this module. Let a_i be the counts of the cells that only u has, and b_j of those
that only v has. The likelihood ratio of u to v is prod a_i / prod b_j. Disjoint sets have the
largest divergence.

*Poisson numbers.* Let H of the uniform messages be in these 2k cells, and g(h) be the divergence
given h. Then delta = E g(H). g falls and is at most 1, as one more message is post-processing. So g
is a mixture of indicators of H <= t, and for any X

    E g(X) - max_t (P(X <= t) - P(H <= t)) <= E g(H) <= max_t P(H <= t) / P(X <= t) E g(X).

H is Bin(m, q), or a sum of such numbers, which are replaced one after the other.

For the upper bound take X ~ Poisson(m q). The ratio of P(H = t) to P(X = t) rises up to m q, and
therefore its average up to t rises there too. For t > last, P(X <= t) is at least P(X <= last). For
the lower bound take a larger mean, so that hardly anything is subtracted. A Poisson number is
distributed to the cells independently. Given c uniform messages in a cell, with lambda their mean,

    of u    it shows a = c + 1 and x = P_v / P_u is lambda / a,
    of v    it shows c         and x           is c / lambda,

and E g(X) = E (1 - e^eps prod of x)_+ under u, which ``lattice`` composes.

*Over planes* each cell has at least the probability (1 - (k - 1) kappa) / p, where kappa is the
share of directions in which two points meet. Cells without common messages bound those of points
(Karamata).

*Replaced values.* If n people replace each message with probability g, the others contribute Bin(k
(n - 1), g) uniform messages; the person's own replacements are treated as known. This is a bound,
as is the one over planes.

Source: proved here.
"""

import math
from fractions import Fraction
from itertools import accumulate

from mixtally.accounting.verification.balls import Bounds, arb, enclosing_ball, exact_ball
from mixtally.accounting.verification.binomials import Binomial, Poisson
from mixtally.accounting.verification.lattice import compose_cells

MOST = 10**8
"""Most uniform messages in the cells that differ for which sums take only some seconds."""
_LOST = 1e-3
"""Approximate share of the upper end that the lower one may lose."""


def disjoint_sets_bounds(
    size: int, uniform_messages: list[tuple[int, Fraction]], grow: arb, nats: float
) -> Bounds:
    """Return delta of two disjoint sets of ``size`` messages; ``grow`` is e^eps.

    ``uniform_messages`` has pairs: a number of messages, and the probability that each of them is a
    uniform message in one of the 2k cells. Raises UndecidedError if balls overlap.
    """
    mean = sum((many * chance for many, chance in uniform_messages), Fraction(0))
    if not mean:
        return Bounds(arb(1), arb(1))
    upper = _poisson(size, mean, grow, nats).upper
    for many, chance in uniform_messages:
        upper *= upper_factor(many, chance, nats)
    least = _LOST * min(max(float(upper.upper()), math.exp(-nats)), 1.0)
    far = math.sqrt(-2.0 * math.log(least))
    lost, mean = arb(0), Fraction(0)
    for many, chance in uniform_messages:
        more = larger_mean(many, chance, far)
        lost, mean = lost + lost_mass_bound(many, chance, more, nats), mean + more
    lower = _poisson(size, mean, grow, nats).lower - lost
    return Bounds(lower.max(arb(0)), upper.min(arb(1)))


def upper_factor(trials: int, chance: Fraction, nats: float) -> arb:
    """Return an upper bound of P(H <= t) / P(X <= t) for all t.

    H is Bin(trials, chance), and X is the Poisson number of the same mean.
    """
    mean = trials * chance
    first, ours, _ = _up_to(trials, chance, nats)
    theirs = _cumulate_poisson(Poisson(mean), first, first + len(ours) - 1)
    start = math.floor(mean) - first
    ratios = [one / other for one, other in zip(ours[start:], theirs[start:], strict=True)]
    return max(one.upper() for one in (*ratios, 1 / theirs[-1]))


def larger_mean(trials: int, chance: Fraction, far: float) -> Fraction:
    """Return the mean of X for the lower bound, such that P(X <= t) hardly exceeds P(H <= t).

    X is Poisson, and H is Bin(``trials``, ``chance``). Every mean gives a valid lower bound of E
    g(H). The returned mean is ``far`` standard deviations above that of H by the normal
    approximation, but at most -``trials`` log(1 - ``chance``). At the latter mean P(X = 0) = P(H =
    0), and P(X <= t) never exceeds P(H <= t).
    """
    mean, share = float(trials * chance), float(chance)
    deviation = math.sqrt(mean)
    more = far * far / 2.0 + far * math.sqrt(mean + far * far / 4.0)
    if far < deviation:
        narrower = deviation * (1.0 - math.sqrt(1.0 - share))
        more = min(more, far * narrower / (1.0 - far / (2.0 * deviation)))
    if share < 1.0:
        more = min(more, -trials * math.log1p(-share) - mean)
    return trials * chance + Fraction(more)


def lost_mass_bound(trials: int, chance: Fraction, mean: Fraction, nats: float) -> arb:
    """Return an upper bound of P(X <= t) - P(H <= t) for all t, with X ~ Poisson(mean)."""
    first, ours, above = _up_to(trials, chance, nats)
    theirs = _cumulate_poisson(Poisson(mean), first, first + len(ours) - 1)
    missing = [other - one for one, other in zip(ours, theirs, strict=True)]
    return max(one.upper() for one in (*missing, above, Poisson(mean).cdf(first - 1)))


def _up_to(trials: int, chance: Fraction, nats: float) -> tuple[int, list[arb], arb]:
    """Return the cumulative distribution P(H <= t) of H ~ Bin(trials, chance) in a window of t.

    The result has the first t of the window, the probabilities P(H <= t) in the window, and an
    upper bound of the probability that H is above the window.
    """
    if chance == 1:
        return trials, [arb(1)], arb(0)
    law = Binomial(trials, chance)
    first, last = law.window(nats)
    below = enclosing_ball(arb(0), law.lower_tail_bound(first - 1))
    return (
        first,
        list(accumulate(law.points(first, last), initial=below))[1:],
        law.upper_tail_bound(last + 1),
    )


def _cumulate_poisson(law: Poisson, first: int, last: int) -> list[arb]:
    """Return P(X <= t) for t = first..last."""
    return list(accumulate(law.points(first, last), initial=law.cdf(first - 1)))[1:]


def _poisson(size: int, every: Fraction, grow: arb, nats: float) -> Bounds:
    """Return delta of ``size`` cells that gain a message and ``size`` that lose one.

    All cells together contain Poisson(every) uniform messages.
    """
    law = Poisson(mean := every / (2 * size))
    first, last = law.window(nats)
    points = list(enumerate(law.points(first, last), first))
    more = [(exact_ball(mean / (c + 1)), chance) for c, chance in points]
    less = [(exact_ball(c / mean), chance) for c, chance in points]
    return compose_cells(size, more, less, grow, nats)
