"""BitFlips with uniform fakes, as in the notes: one-hot records and one-hot fakes, flipped.

At ``messages`` the fakes' own bit counts: a flipped uniform record has distribution

    b(y) = P[R(0) = y] (|y| r + (d - |y|)/r) / d,

so w_a(y) = d r^(+-1) / (|y| r + (d - |y|)/r) depends on bit a and on |y|. Only the fakes are
counted, which covers every dataset. At ``sums`` every record hides: see ``one_hot.sums``.

Source: notes 004 section 5.2; sufficient DP 000 (3.1) with flipped uniform fakes as background.
"""

import math

import numpy as np

from mixtally.ground import tails
from mixtally.ground.fixed import SCALE
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.few_valued import Distribution
from mixtally.privacy.numerics.saddle_point import saddle_point_bounds

SOURCE = "exact law over flipped uniform fakes (Notes 2020, section 5.2); Prop. 3.1 for any dataset"


def messages(fakes: int, bins: int, threshold: int, epsilon: float) -> Bracket:
    """delta(epsilon) of one flipped one-hot record among ``fakes`` flipped uniform records."""
    q = threshold / SCALE
    cut = tails.CUT_TAIL * 2.0 * bins / q  # the likelihood ratios are below d r
    bounds = saddle_point_bounds(_distribution(bins, q, math.exp(epsilon)), fakes + 1)
    return Bracket(bounds.lower, min(1.0, bounds.upper + cut))


def _distribution(bins: int, q: float, grow: float) -> Distribution:
    """Over (y_a, y_b, number of other set bits)."""
    p, r = 1.0 - q, (1.0 - q) / q
    low, high = tails.window(bins - 2, q) if bins > 2 else (0, 0)
    rest = tails.pmf(bins - 2, q, low, high) if bins > 2 else np.ones(1)
    others = np.arange(low, high + 1)
    values, chances = [], []
    for y_a in (0, 1):
        for y_b in (0, 1):
            size = others + y_a + y_b
            tilt = (size * r + (bins - size) / r) / bins  # b(y) / P[R(0) = y]
            bits = (q if y_a else p) * (q if y_b else p)
            values.append(((r if y_a else 1 / r) - grow * (r if y_b else 1 / r)) / tilt)
            chances.append(bits * rest * tilt)
    chance = np.concatenate(chances)
    return Distribution(np.concatenate(values), chance / chance.sum())
