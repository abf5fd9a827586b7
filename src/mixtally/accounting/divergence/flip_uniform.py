"""The divergence of flipped one-hot records among flipped one-hot fakes of uniform bins.

``bit_flips`` uses this file. Every fake has one set bit before its flips, and for the observer
``messages`` this bit matters. Let r = p/q, d the number of bins, |y| the number of set bits of a
message y, and R(0) a flipped blank. A flipped uniform record has the distribution

    b(y) = P[R(0) = y] (|y| r + (d - |y|)/r) / d.

So the weight w_a(y) = d r^(+-1) / (|y| r + (d - |y|)/r) of bin a depends on bit a of y and on |y|.
The proof counts only the fakes, so it covers every dataset. For the observer ``sums`` every record
hides: see ``one_hot.sums_delta``.

Source: notes 004 section 5.2; sufficient DP 000 (3.1) with flipped uniform fakes as background.
"""

import math

import numpy as np

from mixtally.accounting.numerics.bracket import Bracket, join_ends
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import excess_distribution
from mixtally.accounting.numerics.largest import largest_upper
from mixtally.accounting.numerics.saddle_point import saddle_point_bounds
from mixtally.accounting.numerics.small_support import Distribution, coarsen_above, coarsen_below
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE

SOURCE = (
    "exact distribution over flipped uniform fakes (Notes 2020, section 5.2); Prop. 3.1 for any "
    "dataset"
)

_VALUES, _SOME, _FEW = 512, 160, 64
"""Maximum number of values of W in a branch, for exact, near and rough bounds.

A branch has the messages with given bits of the two bins. Neighboring values that are merged are
nearly equal.
"""


def messages_delta(
    fakes: int, bins: int, threshold: int, epsilon: float, most: int = _VALUES
) -> Bracket:
    """Return delta(epsilon) of a flipped one-hot record among ``fakes`` flipped uniform ones.

    Two records differ in two bins. The two bits that a message has there divide all messages into
    four branches. Neighboring values of W are merged until each branch has at most ``most`` values.
    """
    branches = _branches(bins, threshold, epsilon)
    above = saddle_point_bounds(
        _join_branches([coarsen_above(one, most) for one in branches]), fakes + 1
    )
    lower = above.lower
    if any(len(one.values) > most for one in branches):
        below = [coarsen_below(one, most) for one in branches]
        lower = saddle_point_bounds(_join_branches(below), fakes + 1).lower
    return join_ends(lower, min(1.0, above.upper + _window_cut(epsilon)))


def upper(
    fakes: int,
    bins: int,
    threshold: int,
    epsilon: float,
    smoothed: float = 0.0,
    *,
    few: bool = False,
) -> float:
    """Return the upper bound of delta(epsilon), as ``messages_delta`` does.

    The bound may be larger by the relative amount ``smoothed``, which saves time. If ``few``, fewer
    values of W are kept, and the bound is larger by some hundredths.
    """
    most = _FEW if few else _SOME if smoothed else _VALUES
    some = [coarsen_above(one, most) for one in _branches(bins, threshold, epsilon)]
    found = largest_upper([_join_branches(some)], Draws(fakes + 1), smoothed)
    return min(1.0, found + _window_cut(epsilon))


def _window_cut(epsilon: float) -> float:
    """Bound the part of delta outside of the window of the other bits, doubled for rounding.

    With W split into its parts inside and outside the window, (X + Y)_+ <= X_+ + Y_+ gives

        delta <= (1/N) E[(sum of W inside)_+] + P_u[outside].

    Drawing the outside values again changes the first term by at most P_b[outside] E|W|, where E|W|
    <= 1 + e^epsilon. Under u the other bits are Bin(d - 2, q). Under b they are between this number
    and Bin(d - 3, q) + 1, for which the last integer of the window has a margin.
    """
    return 4.0 * tails.CUT_TAIL * (2.0 + math.exp(epsilon))


def _branches(bins: int, threshold: int, epsilon: float) -> list[Distribution]:
    """Return the distribution of W in four branches, one for each value of the bits (y_a, y_b).

    These are the bits of the two bins in which the records differ. Within a branch, W depends on
    the number of other set bits. The probabilities of all four branches together sum to one.
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    p, r = 1.0 - q, (1.0 - q) / q
    low, high = tails.window(bins - 2, q) if bins > 2 else (0, 0)
    rest = tails.pmf(bins - 2, q, low, high) if bins > 2 else np.ones(1)
    others = np.arange(low, high + 1)
    found = []
    for y_a in (0, 1):
        for y_b in (0, 1):
            size = others + y_a + y_b
            tilt = (size * r + (bins - size) / r) / bins  # b(y) / P[R(0) = y]
            bits = (q if y_a else p) * (q if y_b else p)
            ends = np.array(r if y_a else 1 / r), np.array(r if y_b else 1 / r)
            values, chances, raised = excess_distribution(*ends, grow, bits * rest)
            found.append(Distribution(values / tilt, chances * tilt, raised))
    return found


def _join_branches(branches: list[Distribution]) -> Distribution:
    chance = np.concatenate([one.probabilities for one in branches])
    values = np.concatenate([one.values for one in branches])
    return Distribution(values, chance / chance.sum(), sum(one.raised for one in branches))
