"""Both levels of a memory: the response that is kept, and the reports drawn from it.

Source: RAPPOR (2014), section 2, steps 2 and 3.
"""

import numpy as np

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.protocols.two_level import TwoLevel
from mixtally.randomize.flips import flip
from mixtally.randomize.slicing import coin_rows


def permanent_response(plan: TwoLevel, records: Rows, chance: Chance) -> Rows:
    """What is kept of ``records``: every bit is a fair coin with f, so wrong with exactly f/2.

    Drawn once for a value and kept (``kept.recall``): drawn twice, it would average away.
    """
    return flip(records, plan.bits, plan.permanent // 2, chance)


def report(plan: TwoLevel, kept: Rows, chance: Chance) -> Rows:
    """One report of every kept response: a kept 1 is shown as 1 with q, a kept 0 with p."""
    zeros, ones = (_coins(threshold, kept, chance) for threshold in (plan.p, plan.q))
    shown = (kept & ones) | (~kept & zeros)
    if plan.bits % 8:
        shown[:, -1] &= (1 << plan.bits % 8) - 1
    return shown


def _coins(threshold: int, like: Rows, chance: Chance) -> Rows:
    """Rows of that shape whose bits are one with probability threshold / 2^64, 0 and 1 included."""
    if threshold in (0, SCALE):
        return np.full_like(like, 0xFF if threshold else 0)
    return coin_rows(chance, threshold, like)
