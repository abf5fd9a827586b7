"""A set in clear, k messages of different cells among uniform ones in one stream: bounds in balls.

What is seen is as likely under u as under v times prod a_i / prod b_j, with a_i and b_j the counts
of the cells of u alone and of v alone; most is told where the k of either are disjoint.

*By Poisson numbers.* Let H of the uniform messages lie in these 2k cells, and g(h) be the
divergence given h: delta = E g(H), and g falls from at most 1, as one more can be added to what is
seen. So g is a mixture of indicators of H <= t, and for any X

    E g(X) - max_t (P(X <= t) - P(H <= t)) <= E g(H) <= max_t P(H <= t) / P(X <= t) E g(X).

H ~ Bin(m, q), or a sum of such, one after the other. Above take X ~ Poisson(m q). The ratio of
P(H = t) and P(X = t) rises until m q, so that what is averaged up to t rises until there; and for
t > last, P(X <= t) is at least P(X <= last). Below take a larger mean, so that hardly anything is
taken off. A Poisson number falls into the cells independently: given c uniform messages in a cell

    of u    it shows a = c + 1 and x = P_v / P_u is lambda / a,
    of v    it shows c         and x           is c / lambda,

and E g(X) = E (1 - e^eps prod of x)_+ under u, which ``lattice`` composes.

*Over planes* each cell has the chance (1 - (k - 1) kappa) / p at least, with kappa the share of
directions in which two points meet; cells that no message shares bound those of points (Karamata).

*Replaced.* Of n people who replace each message with a chance g, Bin(k (n - 1), g) uniform ones
come from others; one's own are known. This is a bound, as that over planes is.

Source: proved here.
"""

import math
from fractions import Fraction
from itertools import accumulate

from mixtally.accounting.verification.balls import Bounds, arb, enclosing_ball, exact_ball
from mixtally.accounting.verification.binomials import Binomial, Poisson
from mixtally.accounting.verification.lattice import compose_cells

MOST = 10**8
"""Uniform messages in the cells that differ whose numbers are added up, in some seconds."""
_LOST = 1e-3
"""Of the upper end, what the lower one may lack by a mean too small, about."""


def disjoint_sets_bounds(
    size: int, apart: list[tuple[int, Fraction]], grow: arb, nats: float
) -> Bounds:
    """Delta of two disjoint sets; ``grow`` is e^eps.

    where
      size    messages of a set, k
      apart   (how many, the chance that each of these is a uniform message in the 2k cells)

    Raises UndecidedError.
    """
    mean = sum((many * chance for many, chance in apart), Fraction(0))
    if not mean:
        return Bounds(arb(1), arb(1))
    upper = _poisson(size, mean, grow, nats).upper
    for many, chance in apart:
        upper *= upper_factor(many, chance, nats)
    least = _LOST * min(max(float(upper.upper()), math.exp(-nats)), 1.0)
    far = math.sqrt(-2.0 * math.log(least))
    lost, mean = arb(0), Fraction(0)
    for many, chance in apart:
        more = larger_mean(many, chance, far)
        lost, mean = lost + lost_mass_bound(many, chance, more, nats), mean + more
    lower = _poisson(size, mean, grow, nats).lower - lost
    return Bounds(lower.max(arb(0)), upper.min(arb(1)))


def upper_factor(trials: int, chance: Fraction, nats: float) -> arb:
    """At least P(H <= t) / P(X <= t) for every t; X has the mean of H ~ Bin(trials, chance)."""
    mean = trials * chance
    first, ours, _ = _up_to(trials, chance, nats)
    theirs = _cumulate_poisson(Poisson(mean), first, first + len(ours) - 1)
    start = math.floor(mean) - first
    ratios = [one / other for one, other in zip(ours[start:], theirs[start:], strict=True)]
    return max(one.upper() for one in (*ratios, 1 / theirs[-1]))


def larger_mean(trials: int, chance: Fraction, far: float) -> Fraction:
    """A mean of X that is so large that P(X <= t) hardly exceeds P(H <= t); any would be right.

    Chosen by normal distributions, ``far`` deviations away, or as the mean at which a Poisson
    number is 0 as often as a trial fails: there nothing is exceeded.
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
    """At least P(X <= t) - P(H <= t) for every t, X ~ Poisson(mean)."""
    first, ours, above = _up_to(trials, chance, nats)
    theirs = _cumulate_poisson(Poisson(mean), first, first + len(ours) - 1)
    missing = [other - one for one, other in zip(ours, theirs, strict=True)]
    return max(one.upper() for one in (*missing, above, Poisson(mean).cdf(first - 1)))


def _up_to(trials: int, chance: Fraction, nats: float) -> tuple[int, list[arb], arb]:
    """A first t, P(H <= t) from there on, and at least what is above the last."""
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
    """P(X <= t) for t = first..last."""
    return list(accumulate(law.points(first, last), initial=law.cdf(first - 1)))[1:]


def _poisson(size: int, every: Fraction, grow: arb, nats: float) -> Bounds:
    """Of ``size`` cells that gain a message and ``size`` that lose one; in all Poisson(every)."""
    law = Poisson(mean := every / (2 * size))
    first, last = law.window(nats)
    points = list(enumerate(law.points(first, last), first))
    more = [(exact_ball(mean / (c + 1)), chance) for c, chance in points]
    less = [(exact_ball(c / mean), chance) for c, chance in points]
    return compose_cells(size, more, less, grow, nats)
