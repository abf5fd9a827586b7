"""The upper bound of delta among fakes and the free blanks of a crowd (the privacy blanket).

Each of the ``users`` - 1 other people is a *free blank* with probability ``share``: then their
message has the distribution of a fake, whatever their value. With ``fakes`` real fakes, the
person's record is one of N = fakes + 1 + B messages, where B ~ Bin(users - 1, share). Delta is then
E[(sum of N copies of W)_+ / N] with random N.

Without fakes, P(B) / (1 + B) = P(B' = 1 + B) / (users share) with B' ~ Bin(users, share). So delta
is that of a sum of ``users`` fixed draws, each W with probability ``share`` and otherwise 0,
divided by ``share``.

Source: Balle, Bell, Gascon, Nissim 2019. What a free blank is in each mechanism: see ``one_hot``,
``k_hot`` and ``vectors``, which call this module.
"""

from collections.abc import Sequence

from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import dilute
from mixtally.accounting.numerics.largest import largest_upper
from mixtally.accounting.numerics.saddle_point import NOTHING
from mixtally.accounting.numerics.small_support import Distribution
from mixtally.primitives import tails

RARE_SHARE = 0.01
"""Ratio of one kind of blank to the other below which the rarer kind may be left out.

The bound with both kinds may lose more than the rare ones hide.
"""
_NEGLIGIBLE_SHARE = 1e-6
"""Ratio below which free blanks change delta by less than the bounds lose."""


def upper(
    distributions: Sequence[Distribution],
    users: int,
    fakes: int,
    share: float,
    smoothed: float = 0.0,
    least: float = 0.0,
) -> float:
    """Return an upper bound of the largest divergence over several distributions of W.

    There are ``users`` people, each a free blank with probability ``share``, and ``fakes`` real
    fakes. The bound may be larger by the relative amount ``smoothed``, which saves time. A cheaper
    bound is returned if that bound is at most ``least``.
    """
    found, free = 1.0, users * share
    if free > _NEGLIGIBLE_SHARE * fakes and fakes:
        crowd, enough = Draws(fakes + 1, users - 1, share), max(0.0, least - tails.CUT_TAIL)
        found = largest_upper(distributions, crowd, smoothed, enough) + tails.CUT_TAIL
    if free <= RARE_SHARE * fakes or not users:
        found = min(found, largest_upper(distributions, Draws(fakes + 1), smoothed, least))
    elif fakes <= RARE_SHARE * free and share > NOTHING:
        diluted = [dilute(distribution, share) for distribution in distributions]
        found = min(found, largest_upper(diluted, Draws(users), smoothed, least * share) / share)
    return min(1.0, found)
