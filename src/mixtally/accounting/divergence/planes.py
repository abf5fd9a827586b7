"""Bounds of the divergence of a message that names a plane among uniform fakes.

*Above.* Let u and v lie in one plane of a share kappa of all directions. Of N = fakes + 1 messages
as fakes draw them, A point at u alone, B at v alone and C at both, with the chances (1 - kappa)/p,
(1 - kappa)/p and kappa/p. A message that points at u is p times as likely from u as from a fake, so
the master identity, with the W of ``clear_uniform``, gives

    delta_kappa = (p / N) E[(A + C - e^eps (B + C))_+],

the same in both directions. Where only fakes hide the person this is delta itself, for every pair
of values, as all pairs have the same kappa. Other people's messages depend on neither u nor v, so
that it is a bound in every crowd and at every epsilon. At kappa = 0 it is the bound of p bins, and
it falls with kappa (``clear_uniform``): much where p is small, hardly where it is large. It is the
sum of N numbers 1, -e^eps, 1 - e^eps and 0, whose saddle point is above by less than a part in a
thousand. Tests add it up: A + B + C ~ Bin(N, (2 - kappa)/p), C given their sum H is
Bin(H, kappa/(2 - kappa)), and A given A + B = T is Bin(T, 1/2).

*Below.* All others hold a third value w, and the observer looks at directions alone in which u, v
and w lie in three planes, a share of at least

    gamma = 1 - 3 kappa,

and there at messages that do not point at w, which are no other person's. Of N = fakes + 1 such
messages as fakes draw them, A point at u and B at v, each with gamma / p; the others, the person's
among them with 1 - gamma, tell nothing. With c = (1 - gamma) / (1 - 2 gamma / p) and T = A + B,

    delta = (p / N) E[(A - e^eps B - h)_+],    h = (e^eps - 1) c (N - T) / p,

where A is Bin(T, 1/2) given T.

Source: proved here; the identity is that of ``clear_uniform``, and less is seen than all messages.
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
"""Up to this p values that meet are counted on; above, it would save some hundredths at most."""


def upper(fakes: int, planes: Planes, epsilon: float, people: int = 0, coin: float = 0.0) -> float:
    """Return an upper bound of delta_kappa(epsilon), above it by less than a part in a thousand.

    Parameters
    ----------
    fakes : int
        Uniform fakes that certainly arrive.
    planes : Planes
        The planes that messages name.
    epsilon : float
        Privacy loss in nats, at least 0.
    people, coin : int, float
        How many people send one fake more, and the chance for each: delta is averaged over these.
    """
    grow, p, kappa = math.exp(epsilon), planes.prime, planes.collision_probability
    alone = (1.0 - kappa) / p
    chances = np.array([alone, alone, kappa / p, 1.0 - (2.0 - kappa) / p])
    step = Distribution(np.array([1.0, -grow, 1.0 - grow, 0.0]), chances)
    return min(1.0, p * blanket.upper([step], people + 1, fakes, coin))


def lower(fakes: int, planes: Planes, epsilon: float) -> float:
    """A lower bound of delta(epsilon) of one record among so many uniform fakes."""
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
