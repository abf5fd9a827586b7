"""What sent fakes and the privacy blanket of a crowd leave of a divergence.

Each of ``users`` - 1 other people is a free blank with probability ``share``, whatever they hold.
Next to ``fakes`` that were sent the record is one of N = fakes + 1 + B, B ~ Bin(users - 1, share).
Without fakes P(B) / (1 + B) is P(B' = 1 + B) / (users share), B' ~ Bin(users, share): it is one
of ``users`` draws of W or nothing, over the share.

Source: Balle, Bell, Gascon, Nissim 2019; maths of ``one_hot``, ``k_hot`` and ``vectors`` for what
the blanket is.
"""

from collections.abc import Sequence

from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import dilute
from mixtally.accounting.numerics.largest import largest_upper
from mixtally.accounting.numerics.saddle_point import NOTHING
from mixtally.accounting.numerics.small_support import Distribution
from mixtally.primitives import tails

RARE_SHARE = 0.01
"""Where one kind of blank is so rare among the other, it may hide less than its bound loses."""
_NEGLIGIBLE_SHARE = 1e-6
"""Where it changes less than bounds lose anyway."""


def upper(
    distributions: Sequence[Distribution],
    users: int,
    fakes: int,
    share: float,
    smoothed: float = 0.0,
    least: float = 0.0,
) -> float:
    """An upper bound of the largest divergence over ``distributions`` of W, or a cheaper one that
    is at most ``least``; ``smoothed`` as ``largest_upper`` has it.
    """
    found, free = 1.0, users * share
    if free > _NEGLIGIBLE_SHARE * fakes and fakes:
        crowd, enough = Draws(fakes + 1, users - 1, share), max(0.0, least - tails.CUT_TAIL)
        found = largest_upper(distributions, crowd, smoothed, enough) + tails.CUT_TAIL
    if free <= RARE_SHARE * fakes or not users:
        found = min(found, largest_upper(distributions, Draws(fakes + 1), smoothed, least))
    elif fakes <= RARE_SHARE * free and share > NOTHING:
        alone = [dilute(distribution, share) for distribution in distributions]
        found = min(found, largest_upper(alone, Draws(users), smoothed, least * share) / share)
    return min(1.0, found)
