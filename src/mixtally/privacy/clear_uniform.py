"""The exact divergence of clear-uniform: one record among uniform fakes, observer ``messages``.

With N = fakes + 1 records, A and B two cells of a multinomial(N; 1/d, ..), the master identity is
delta = (d/N) E[(A - e^eps B)_+]. Given T = A + B ~ Bin(N, 2/d), A is Bin(T, 1/2), and

    E[(A - e^eps (T - A))_+ | T] = (T/2) (f - (e^eps - 1) S),
    a = least integer above e^eps T / (1 + e^eps), f = P(Bin(T-1, 1/2) = a-1), S = P(.. >= a).

Both directions are this number, by the symmetry of the two cells.

Source: sufficient DP 000 (3.1) with uniform background; notes 004 section 5.1, Prop. 3.1.
"""

import math

import numpy as np

from mixtally.errors import AccountingError
from mixtally.ground import tails
from mixtally.privacy.bracket import Bracket, bracket

SOURCE = (
    "exact law of two cells of the uniform fakes (Notes 2020, section 5.1); any other records only "
    "help (Notes 2020, Prop. 3.1)"
)
_TAIL_ERROR = 1e-11
"""Bound on the relative error of one tail from the incomplete beta function, with room."""
_FAR = 1e-60


def delta(fakes: int, bins: int, epsilon: float) -> Bracket:
    """delta(epsilon) of one record in clear among ``fakes`` uniform fakes over ``bins`` bins."""
    records = fakes + 1
    if bins == 2:
        total, weight, cut = np.array([float(records)]), np.array([1.0]), 0.0
    else:
        low, high = tails.window(records, 2.0 / bins)
        total = np.arange(max(low, 1), high + 1, dtype=np.float64)
        weight = tails.pmf(records, 2.0 / bins, max(low, 1), high)
        # E[d A; T out] / N is the chance that the user's bin and its twin hold T records, one of
        # them the user's: within the cut by the room that the window leaves.
        cut = 2.0 * tails.CUT_TAIL
    grow = math.exp(epsilon)
    reach = np.floor(total * (grow / (1.0 + grow))) + 1.0
    inside = reach <= total  # otherwise not even A = T exceeds: only when e^eps T rounds up to T
    total, weight, reach = total[inside], weight[inside], reach[inside]
    f, s = _point_and_tail(total - 1.0, reach)
    # The two terms nearly cancel far out in the tail: their rounding is bounded and accounted for.
    # Farther out still the tail itself loses digits; there the first term alone is the bound.
    far = f < _FAR
    over = np.where(far, 0.0, 0.5 * total * (f - math.expm1(epsilon) * s))
    rounding = 0.5 * total * f * np.where(far, 1.0, _TAIL_ERROR)
    if np.any(over < -rounding):
        raise AccountingError("clear-uniform: a conditional divergence came out negative")
    scale = bins / records
    return bracket(
        scale * float(np.dot(weight, np.maximum(over, 0.0))),
        cut=cut,
        rounding=scale * float(np.dot(weight, rounding)),
    )


def _point_and_tail(trials: tails.Floats, reach: tails.Floats) -> tuple[tails.Floats, tails.Floats]:
    """P(X = reach - 1) and P(X >= reach), X ~ Bin(trials, 1/2), 1 <= reach <= trials + 1."""
    all_heads = np.exp2(-trials)
    f, s = all_heads.copy(), np.zeros_like(trials)
    # reach - 1 = trials: every toss is heads. reach = 1 needs trials = 0 as e^eps > 1.
    inner = (reach <= trials) & (reach > 1.0)
    f[inner] = tails.half_pmf(trials[inner], reach[inner] - 1.0)
    s[inner] = tails.upper_half_tail(trials[inner], reach[inner])
    return f, s
