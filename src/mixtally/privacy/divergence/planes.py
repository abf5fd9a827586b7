"""A lower bound of the divergence of a message that names a plane among uniform fakes.

``clear_uniform`` bounds it from above. From below: all others hold a third value w, and the
observer looks at directions alone in which u, v and w lie in three planes, a share of at least

    gamma = 1 - 3 kappa,

and there at messages that do not point at w, which are no other person's. Of N = fakes + 1 such
messages as fakes draw them, A point at u and B at v, each with gamma / p; the others, the person's
among them with 1 - gamma, tell nothing. With c = (1 - gamma) / (1 - 2 gamma / p) and T = A + B,

    delta = (p / N) E[(A - e^eps B - h)_+],    h = (e^eps - 1) c (N - T) / p,

where A is Bin(T, 1/2) given T. With t = (e^eps T + h) / (1 + e^eps), a the least integer above it
and X_k ~ Bin(k, 1/2),

    E[(A - e^eps B - h)_+ | T] = (1 + e^eps) ((T/2) P(X_(T-1) >= a - 1) - t P(X_T >= a)).

Source: proved here; the identity is that of ``clear_uniform``, and less is seen than all messages.
"""

import math

import numpy as np

from mixtally.ground import tails
from mixtally.records.planes import Planes

_ROUNDING = 1e-10
"""Taken off relatively: tails are good to 1e-11."""


def lower(fakes: int, planes: Planes, epsilon: float) -> float:
    """A lower bound of delta(epsilon) of one record among so many uniform fakes."""
    seen = 1.0 - 3.0 * planes.meeting
    records, prime, grow = fakes + 1, planes.prime, math.exp(epsilon)
    both = 2.0 * seen / prime
    if seen <= 0.0 or both >= 1.0:
        return 0.0
    first, last = tails.window(records, both)
    first = max(first, 1)
    total = np.arange(first, last + 1, dtype=np.float64)
    shift = math.expm1(epsilon) * (1.0 - seen) / (1.0 - both) * (records - total) / prime
    limit = (grow * total + shift) / (1.0 + grow)
    least = np.floor(limit) + 1.0
    can = least <= total
    total, limit, least = total[can], limit[can], least[can]
    weight = tails.pmf(records, both, first, last)[can]
    gained = 0.5 * total * tails.upper_half_tail(total - 1.0, least - 1.0)
    lost = limit * tails.upper_half_tail(total, least)
    over = np.maximum(gained - lost - _ROUNDING * (gained + lost), 0.0)
    found = prime / records * (1.0 + grow) * float((weight * over).sum())
    return min(1.0, found * (1.0 - 1e-9))
