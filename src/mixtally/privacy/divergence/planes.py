"""A lower bound of the divergence of a message that names a plane among uniform fakes.

``clear_uniform`` bounds it from above. From below: all others hold a third value w, and the
observer looks at directions alone in which u, v and w lie in three planes, a share of at least

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

from mixtally.ground import tails
from mixtally.privacy.divergence import clear_uniform
from mixtally.privacy.numerics.bracket import bracket
from mixtally.records.planes import Planes


def lower(fakes: int, planes: Planes, epsilon: float) -> float:
    """A lower bound of delta(epsilon) of one record among so many uniform fakes."""
    seen = 1.0 - 3.0 * planes.meeting
    records, prime = fakes + 1, planes.prime
    both = 2.0 * seen / prime
    if seen <= 0.0 or both >= 1.0:
        return 0.0
    first, last = tails.window(records, both)
    first = max(first, 1)
    total = np.arange(first, last + 1, dtype=np.float64)
    shift = math.expm1(epsilon) * (1.0 - seen) / (1.0 - both) * (records - total) / prime
    weight = prime / records * tails.pmf(records, both, first, last)
    value, rounding = clear_uniform.two_cells(total, weight, epsilon, shift)
    return bracket(value, cut=0.0, rounding=min(1.0, rounding)).lower
