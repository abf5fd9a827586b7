"""Bounds of the divergence of a message that names a plane, among uniform fakes.

A value is a point of Z_p^t. A message names a direction and one of the p parallel planes that
contain the value (``model.planes``). ``in_clear`` uses this file for single values.

*Upper bound.* Let u and v be in one plane for a share kappa of all directions. Draw N = fakes + 1
messages as fakes. Let A of them point at u only, B at v only, and C at both. The probabilities are
(1 - kappa)/p, (1 - kappa)/p and kappa/p. A message that points at u is p times as likely from u as
from a fake. The identity, with the W of ``clear_uniform``, gives

    delta_kappa = (p / N) E[(A + C - e^eps (B + C))_+],

for both orders of u and v. Where only fakes hide the person, this is delta itself for every pair of
values, as kappa is the same for all pairs. The messages of other people do not depend on u and v,
so it is a bound in every crowd and at every epsilon. At kappa = 0 it is the bound of p bins. It
falls with kappa (``clear_uniform``), much for small p and hardly for large p. It is the expectation
of a sum of N numbers 1, -e^eps, 1 - e^eps and 0. The saddle point method exceeds it by less than a
part in a thousand. The tests sum it directly: A + B + C ~ Bin(N, (2 - kappa)/p), C is Bin(H,
kappa/(2 - kappa)) given this sum H, and A is Bin(T, 1/2) given A + B = T.

*Lower bound.* All others hold a third value w. The observer looks only at directions in which u, v
and w lie in three different planes. The share of these directions is at least

    gamma = 1 - 3 kappa.

The observer ignores messages that point at w, so no other person's message remains. Draw N = fakes
+ 1 such messages as fakes. A of them point at u and B at v, each with probability gamma / p. The
rest reveal nothing; the person's message is among them with probability 1 - gamma. With c = (1 -
gamma) / (1 - 2 gamma / p) and T = A + B,

    delta = (p / N) E[(A - e^eps B - h)_+],    h = (e^eps - 1) c (N - T) / p,

where A is Bin(T, 1/2) given T.

Source: proved here. The identity is that of ``clear_uniform``; the lower bound observes less than
all messages.
"""

import math

import numpy as np

from mixtally.accounting.divergence import clear_uniform
from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.bracket import bracket
from mixtally.accounting.numerics.small_support import Distribution
from mixtally.model.planes import Planes
from mixtally.primitives import tails

MOST_PRIME = 200
"""Largest p for which meeting values are used; for a larger p they save some hundredths at most."""


def upper(fakes: int, planes: Planes, epsilon: float, people: int = 0, coin: float = 0.0) -> float:
    """Return an upper bound of delta for planes, too large by less than a part in a thousand.

    Parameters
    ----------
    fakes : int
        The number of uniform fakes that certainly arrive.
    planes : Planes
        The planes that messages name.
    epsilon : float
        Privacy loss in nats, at least 0.
    people, coin : int, float
        The number of people who toss a coin for one more fake, and the probability of this fake.
        Delta is averaged over the coins.
    """
    grow, p, kappa = math.exp(epsilon), planes.prime, planes.collision_probability
    exactly_one = (1.0 - kappa) / p
    chances = np.array([exactly_one, exactly_one, kappa / p, 1.0 - (2.0 - kappa) / p])
    step = Distribution(np.array([1.0, -grow, 1.0 - grow, 0.0]), chances)
    return min(1.0, p * blanket.upper([step], people + 1, fakes, coin))


def lower(fakes: int, planes: Planes, epsilon: float) -> float:
    """Return a lower bound of delta(epsilon) of one record among ``fakes`` uniform fakes."""
    seen = 1.0 - 3.0 * planes.collision_probability
    records, prime = fakes + 1, planes.prime
    both = 2.0 * seen / prime
    if seen <= 0.0 or both >= 1.0:
        return 0.0
    first, last = tails.window(records, both)
    first = max(first, 1)
    total = np.arange(first, last + 1, dtype=np.float64)
    shift = math.expm1(epsilon) * (1.0 - seen) / (1.0 - both) * (records - total) / prime
    weight = prime / records * tails.pmf(records, both, first, last)
    value, rounding = clear_uniform.two_cell_excess(total, weight, epsilon, shift)
    return bracket(value, cut=0.0, rounding=min(1.0, rounding)).lower
