"""What the crowd's free fakes leave of a price that falls with the number of fakes.

Source: Balle, Bell, Gascon, Nissim 2019; maths of ``one_hot`` and ``k_hot`` for what is free.
"""

from collections.abc import Callable

from mixtally.ground import tails
from mixtally.ground.bits import spans
from mixtally.ground.fixed import SCALE
from mixtally.privacy import k_hot
from mixtally.privacy.bracket import Bracket

_CELLS = 16


def expected(upper: Callable[[int], float], trials: int, share: float) -> float:
    """An upper bound of E[upper(B)], B ~ Bin(trials, share), for a price that falls with B.

    The values of B are put into cells, each priced at its least one.
    """
    if share >= 1.0:
        return upper(trials)
    low, high = tails.window(trials, share)
    law = tails.pmf(trials, share, low, high)
    total = 2.0 * tails.CUT_TAIL
    for cell in spans(len(law), max(1, -(-len(law) // _CELLS))):
        total += float(law[cell].sum()) * upper(low + cell.start)
    return min(1.0, total)


def k_hot_blanks(
    users: int, fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """delta(epsilon) of a record with at most ``most`` set bits: ``fakes`` blanks and free ones.

    Only the upper end is known.
    """
    share = (threshold / (SCALE - threshold)) ** most

    def upper(free: int) -> float:
        return k_hot.blanks_upper(fakes + free, most, threshold, epsilon, bins)

    return Bracket(0.0, expected(upper, users - 1, share))
