"""The privacy blanket of any randomizer: an expectation over independent draws, in balls.

``flipped`` uses this module. A person who holds x sends y with probability R_x(y). Let m(y) be at
most R_x(y) for every x. Then each of n people sends y with probability m(y) whatever they hold, and
an observer who learns who did so, and all other messages, sees no less. What is left are the
messages drawn from m, and the person's message. Let h_y be how many of them are y. If the person
holds u, the probability of these counts is proportional to the sum over y of h_y R_u(y) / m(y). So
the divergence of u over v is at most

    exposed + (1/n) E[(V_1 + .. + V_n)_+],    V = (R_u(y) - e^eps R_v(y)) / m(y)

where V has this value with probability m(y) and else is 0, and ``exposed`` is the sum of (R_u(y) -
e^eps R_v(y))_+ over all y with m(y) = 0. For n - 1 fakes with the distribution m in place of other
people this is an equation.

*Upper bound.* Let V be between j s and (j + 1) s for a step s. Move its probability to these two
points so that the mean is preserved. (x)_+ is convex, so the expectation does not fall. Outcomes
that are left out count with the largest sum that they can have. Values that are left out count with
their own positive part, because (x + y)_+ <= x_+ + y_+.

*Lower bound.* Move one draw after the other. A move changes the expectation only if the sum T
before it is within s of 0, and then by at most s / 4. Let A of the n draws come from the blanket;
all others are 0 and do not move. The moves that follow are independent given all V, have mean 0 and
are in intervals of length s. By Hoeffding's inequality their sum is below s sqrt(A) with
probability at least c = 1 - 2 e^-2. Let S be the sum on the lattice. If A is at most a, then P(|T|
< s) is at most P(|S| < (1 + sqrt a) s) / c. So all moves together cost at most

    (s / 4) (a P(|S| < (1 + sqrt a) s) / c + (1 + 1/c) n P(A > a)).

Source: proved here; Balle, Bell, Gascon, Nissim, The Privacy Blanket of the Shuffle Model (2019).
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from mixtally.accounting.verification.balls import (
    Bounds,
    arb,
    arb_poly,
    exact_ball,
    least_integer_above,
)
from mixtally.accounting.verification.binomials import Binomial

Atoms = Sequence[tuple[arb, arb]]
"""Pairs of a value of V and its probability m(y)."""
NODES = 1 << 16
"""Lattice points over the sums that are likely. A product of two takes a quarter of a second."""
_MOST_GROWTH = 4
"""If sums have more than this many times as many points, the step is doubled."""


def blanket_bounds(
    atoms: Atoms,
    share: Fraction,
    draws: int,
    nats: float,
    *,
    exposed: arb | None = None,
    nodes: int | None = None,
) -> Bounds:
    """Return bounds of exposed + (1/n) E[(V_1 + .. + V_n)_+] for n = ``draws``.

    ``atoms`` are the values of V with their probabilities m(y), and ``share`` is the sum of all
    m(y). ``exposed`` is the exposed part plus E[V_+] of all values that are not among ``atoms``.
    Outcomes less probable than e^-nats may be left out. ``nodes`` is the number of points, by
    default ``NODES``. Raises UndecidedError if balls overlap.
    """
    rare = (-arb(nats)).exp() / draws
    nodes = nodes or NODES
    kept = [(value, chance) for value, chance in atoms if not chance < rare]
    above = arb(0) if exposed is None else exposed
    for value, chance in atoms:
        if chance < rare:
            above += value.max(arb(0)) * chance
    values = [float(value) for value, _ in kept]
    spread = math.sqrt(math.fsum(float(v * v * p) for v, p in kept) * draws)
    width = 2 * math.sqrt(2 * nats) * spread + max(*values, 0.0) - min(*values, 0.0)
    step = exact_ball(Fraction(width / nodes or 1.0))
    while (sums := _add_draws(kept, 1 - share, step, draws, rare, nodes)) is None:
        step *= 2
    first, chances = sums
    total = sum((c * (first + j) for j, c in enumerate(chances) if first + j > 0), arb(0)) * step
    missing = (1 - sum(chances, arb(0))).max(arb(0))
    active, more = draws, arb(0)
    if share < 1:
        law = Binomial(draws, share)
        active = law.window(nats)[1]
        more = law.upper_tail_bound(active + 1)
    reach, confidence = math.isqrt(active) + 3, 1 - 2 * arb(-2).exp()
    near = sum(chances[max(-first - reach, 0) : max(reach + 1 - first, 0)], missing)
    moved = (near * active / confidence + more * draws * (1 + 1 / confidence)) * step / 4
    most = arb(max(*values, 0.0)) * (1 + exact_ball(Fraction(1, 1 << 40)))
    lower = ((total - moved) / draws).max(arb(0))
    return Bounds(lower, (total / draws + missing * most + above).min(arb(1)))


def _add_draws(
    atoms: Atoms, idle: Fraction, step: arb, draws: int, rare: arb, nodes: int
) -> tuple[int, list[arb]] | None:
    """Return the first point of the sum of all draws, and the probabilities from there on.

    Return None if the sum has too many points.
    """
    found: dict[int, arb] = defaultdict(arb)
    found[0] += exact_ball(idle)
    for value, chance in atoms:
        place = value / step
        j = least_integer_above(place) - 1
        share = place - j
        found[j] += chance * (1 - share)
        found[j + 1] += chance * share
    low, high = min(found), max(found)
    if high - low > _MOST_GROWTH * nodes:
        return None
    whole: tuple[int, list[arb]] | None = None
    power = (low, [found[j] for j in range(low, high + 1)])
    many = draws
    while True:
        if many % 2:
            whole = power if whole is None else _trim(whole, power, rare)
        many //= 2
        if max(len(power[1]), len(whole[1]) if whole else 0) > _MOST_GROWTH * nodes:
            return None
        if not many:
            assert whole is not None
            return whole
        power = _trim(power, power, rare)


def _trim(
    one: tuple[int, list[arb]], other: tuple[int, list[arb]], rare: arb
) -> tuple[int, list[arb]]:
    """Return the distribution of the sum of two independent numbers, without its rare ends.

    A distribution is its first point, and the probabilities from this point on. The part that is
    left out at either end has a probability below ``rare``.
    """
    chances = (arb_poly(one[1]) * arb_poly(other[1])).coeffs()
    ends = []
    for places in (range(len(chances)), range(len(chances) - 1, -1, -1)):
        passed = arb(0)
        for place in places:
            passed += chances[place]
            if not passed < rare:
                ends.append(place)
                break
    first, last = ends if len(ends) == 2 else (0, len(chances) - 1)
    return one[0] + other[0] + first, chances[first : last + 1]
