"""The blanket among a random number of draws from one distribution.

``divergence.matrix`` calls this module. Let theta be a distribution of outputs, and N the random
number of its draws among all messages. The bound of a pair of rows is E[psi(N)] with psi(N) = (1/N)
E[(W_1 + .. + W_N)_+]. It falls with N, so that N may be replaced by a smaller number.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import dilute
from mixtally.accounting.numerics.saddle import find_saddle
from mixtally.accounting.numerics.small_support import Distribution, coarsen_above, merge_values
from mixtally.primitives import tails
from mixtally.primitives.tails import Floats

ROUNDING = 4.0 * 2.0**-53
"""Relative error of a weight, of a ratio and of a probability."""
_COUNT_CELLS = 64
"""Cells into which the number of draws from the smaller groups is divided."""
_MOST_NATS = 600.0
_FEW_VALUES = 32
"""Number of values of a coarse distribution."""


class Background(NamedTuple):
    """A distribution theta, and the number of draws from it among the messages of others.

    Including the person's message there are N = K + 1 + Bin(users - 1, share) draws. The number K
    of fakes that are such draws is random: ``fakes`` has pairs of a probability and a number.
    """

    theta: Floats
    users: int
    share: float
    fakes: list[tuple[float, int]]


def prepare_background(
    theta: Floats, covers: Sequence[tuple[Floats, int]], certain: int
) -> Background:
    """Return theta, and the distribution of the number of its draws among the messages.

    ``covers`` has the least probabilities of the outputs in each group of senders, and the number
    of senders. ``certain`` fakes are draws of theta in any case. The group with the most draws on
    average is kept as a binomial number. The number of draws in all other groups is divided into
    cells, and each cell is represented by its least number.
    """
    sent = theta > 0.0
    shares = [
        (people, float((cover[sent] / theta[sent]).min()) * (1.0 - ROUNDING))
        for cover, people in covers
    ]
    random = [(people, min(1.0, share)) for people, share in shares if people and share > 0.0]
    random.sort(key=lambda one: one[0] * one[1])
    people, share = random.pop() if random else (0, 0.0)
    fakes = [(1.0, certain)]
    for trials, chance in random:
        window = tails.window(trials, chance)
        law = enumerate(tails.pmf(trials, chance, *window).tolist(), window.first)
        more = _coarsen([(tails.CUT_TAIL, 0), *((p, number) for number, p in law)])
        fakes = _coarsen([(p * q, a + b) for p, a in fakes for q, b in more])
    return Background(theta, people + 1, share, fakes)


def _coarsen(law: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Merge neighboring numbers, so that at most ``_COUNT_CELLS`` of them remain.

    ``law`` has pairs of a probability and a number. Each number is replaced by the smallest number
    of its cell.
    """
    law, found = sorted(law, key=lambda one: one[1]), list[tuple[float, int]]()
    step = -(-(law[-1][1] - law[0][1] + 1) // _COUNT_CELLS)
    for chance, number in law:
        if found and number < found[-1][1] + step:
            found[-1] = (found[-1][0] + chance, found[-1][1])
        else:
            found.append((chance, number))
    return found


def bound_expectation(law: Distribution, behind: Background, least: float) -> float:
    """Return an upper bound of E[psi(N)], where ``law`` is the distribution of every W_i.

    ``behind`` has the distribution of N. A looser bound that takes less time is returned if it is
    at most ``least``.
    """
    if not len(law.values) or not law.values.max() > 0.0:
        return 0.0
    found = math.inf
    # A coarse distribution, which is larger in convex order, often shows enough in less time.
    for most in (_FEW_VALUES, len(law.values)) if least > 0.0 else (len(law.values),):
        if found > least:
            tried = coarsen_above(law, most)
            found = sum(
                chance * blanket.upper([tried], behind.users, certain, behind.share, least=least)
                for chance, certain in behind.fakes
            )
    return found


def chernoff_bounds(weights: Floats, base: Floats, behind: Background, tilt: float) -> Floats:
    """Return Chernoff's bound of E[psi(B + 1)] at one tilt, for every row of ``weights``.

    Fakes are left out, which raises the bound. As (sum)_+ <= e^{t sum} / (e t), any tilt is valid.
    """
    if not tilt:
        return np.full(len(weights), math.inf)
    growth = behind.share * (np.expm1(np.minimum(tilt * weights, _MOST_NATS)) * base).sum(axis=1)
    nats = behind.users * np.log1p(growth) - 1.0 - math.log(tilt * behind.users * behind.share)
    found: Floats = np.exp(np.minimum(nats, _MOST_NATS)) * (1.0 + 1e-6)
    return found


def find_tilt(law: Distribution, behind: Background) -> float:
    """Return the saddle point of a sum without fakes, or 0 if the sum is never positive."""
    values, chances, _ = merge_values(dilute(law, behind.share))
    if not values[-1] > 0.0:
        return 0.0
    return find_saddle(values, chances, Draws(behind.users), 2)
