"""The exact divergence of clear-uniform: one record in clear among uniform fakes.

The observer sees all messages. ``in_clear``, ``kary_response``, ``planes`` and
``plans.honest_part`` use this file. There are d bins and N = fakes + 1 messages. Let A and B be the
counts of two cells of a multinomial(N; 1/d, ..). The identity of ``docs/explanation/accounting.md``
is delta = (d/N) E[(A - e^eps B)_+]. Given T = A + B ~ Bin(N, 2/d), A is Bin(T, 1/2), and

    E[(A - e^eps (T - A))_+ | T] = (T/2) (f - (e^eps - 1) S),
    a = least integer above e^eps T / (1 + e^eps),  f = P(Bin(T-1, 1/2) = a-1),

where S = P(Bin(T-1, 1/2) >= a). By the symmetry of the two cells both orders have this delta. A
composition needs delta at many epsilons. If T has many values, it uses another method: A - e^eps B
is a sum of N independent numbers, each 1, -e^eps or 0 (``saddle_point``).

*Coins.* Let F be the number of fakes in the two cells and K the number of all fakes. If the person
holds the value u, which A counts, the counts have the probability P_u(A, B) = P(F = T-1) 2^-T C(T,
A) 2 A / T, so the likelihood ratio is A / B whatever K is. Observing K reveals nothing more, and

    delta = sum over T of P(F = T-1) (2/T) E[(A - e^eps B)_+ | T],

for any distribution of K. With Bin(S, phi) fakes in addition to m, F is Bin(m, 2/d) + Bin(S, 2
phi/d).

*Planes.* A message may name a plane of Z_p^t (``device.contract.planes``). Then the divergence with
d = p is an upper bound, for any two values u and v and at every epsilon. All messages are equally
likely from a fake. Relative to a fake, the likelihood of u is w_u = p if the plane contains u, and
0 otherwise. With kappa the share of directions in which u and v *meet*, that is, are in one plane,

    W = w_u - e^eps w_v  is  p and -p e^eps with (1 - kappa)/p each, p (1 - e^eps) with kappa/p,

and otherwise 0. Going to kappa = 0 moves probability kappa/p from p (1 - e^eps) and from 0 to p and
to -p e^eps. The sums are equal and the latter two enclose the former, so E f(W) rises for every
convex f (Karamata). Sums of independent copies keep this order, and delta = E[(mean of N such W)_+]
for p bins at kappa = 0. The messages of other people do not depend on u and v.

*Sampled slots.* A record consists of k different cells out of D. One of them, drawn uniformly, is
sent. Let A and B be two records. Given the counts h of all messages, the person's message is
equally likely to be any of them. So P_A(h) is proportional to h(A), the sum of the counts of the
record's cells. With N messages,

    delta(A, B) = (D/k) / N E[(h(A) - e^eps h(B))_+],    h ~ Multinomial(N; 1/D, ..).

Disjoint records are the worst if 2k <= D. A cell that A and B share has the weight 1 - e^eps.
Exchange it for two cells with the weights 1 and -e^eps, instead of 1 - e^eps and 0: the former
majorize the latter. Counts of cells are exchangeable, so the expectation of a convex function of
the weighted sum grows (Marshall, Proschan 1965). For disjoint records h(A) and h(B) are two cells
of a multinomial with probability k/D each. This is delta for d = D/k, a real number of bins.

Source: sufficient DP 000 (3.1) with uniform background; notes 004 section 5.1, Prop. 3.1; Marshall,
Olkin, Arnold, Inequalities (2011), 4.B.1 (Karamata); Marshall, Proschan, An Inequality for Convex
Functions Involving Majorization (1965).
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.bracket import RELATIVE_SLACK, Bracket, bracket
from mixtally.accounting.numerics.small_support import Distribution
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.memo import Memo

SOURCE = (
    "exact distribution of two cells of the uniform fakes (Notes 2020, section 5.1); any other "
    "records only help (Notes 2020, Prop. 3.1)"
)
_TAIL_ERROR = 1e-11
"""Bound on the relative error of one tail up to ``_TOSSES``; above, it grows as their root."""
_TOSSES = 1e7
_FAR = 1e-60
_LONG = 128
"""Number of values of T from which on probabilities are computed from their neighbors, which is
faster.
"""
_MANY = 20_000
"""Number of values of T from which on an integral over frequencies is faster."""
_MOST_PRODUCTS = 1 << 24
"""Products allowed for the distribution of fakes in two cells: some hundredths of a second."""
_STEEP = 2.0
"""Epsilon above which a step from one tail to the next loses digits."""
_UNIT = 2.0**-53


class _Totals(NamedTuple):
    """Values of T with their weights, the probability cut off, and the relative error."""

    total: tails.Floats
    weight: tails.Floats
    cut: float
    relative_error: float

    @property
    def nbytes(self) -> int:
        """The size of the two arrays, in bytes."""
        return self.total.nbytes + self.weight.nbytes


def delta(fakes: int, bins: float, epsilon: float, memo: Memo | None = None) -> Bracket:
    """Return delta(epsilon) of one record in clear among uniform fakes.

    Parameters
    ----------
    fakes : int
        The number of fakes.
    bins : float
        The number of bins, at least 2. Sampled slots use a real number.
    epsilon : float
        The privacy loss in nats, at least 0.
    memo : Memo or None
        A cache of probabilities that do not depend on epsilon.
    """
    totals = _load_totals(fakes + 1, bins, memo)
    value, lost = two_cell_excess(totals.total, totals.weight, epsilon)
    value, lost = (one * bins / (fakes + 1) for one in (value, lost))
    return bracket(value, cut=totals.cut, rounding=lost + totals.relative_error * (value + lost))


def average_over_coins(
    fakes: int, bins: float, epsilon: float, coins: tuple[int, float], memo: Memo | None = None
) -> Bracket | None:
    """Return ``delta`` averaged over the coins by which people send one more fake.

    ``coins`` is the number of people and the probability of one more fake. None is returned if the
    number of fakes in two cells has too many values. None is also returned for two bins, because
    these contain all fakes.
    """
    totals = _load_totals_of_coins(fakes, bins, coins, memo)
    if totals is None:
        return None
    value, lost = two_cell_excess(totals.total, totals.weight, epsilon)
    return bracket(value, cut=totals.cut, rounding=lost + totals.relative_error * (value + lost))


def two_cell_excess(
    total: tails.Floats, weight: tails.Floats, epsilon: float, shift: tails.Floats | float = 0.0
) -> tuple[float, float]:
    """Return the sum of weight E[(A - e^eps (T - A) - shift)_+] and a bound on its error.

    Given T, A is Bin(T, 1/2). Let h be the shift and a the least integer above (e^eps T + h) / (1 +
    e^eps). The expectation is ((T - h) f - ((e^eps - 1) T + 2 h) S) / 2, with f and S as in the
    derivation. ``total`` contains ascending T of at least 1 and ``weight`` the weight of each.
    ``shift`` is at least 0. Raises AccountingError if an expectation is negative.
    """
    grow, shift = math.exp(epsilon), np.broadcast_to(shift, total.shape)
    below = np.floor(total * (grow / (1.0 + grow)) + shift / (1.0 + grow))  # a - 1
    # Other totals contribute nothing: not even A = T exceeds the limit.
    inside = below < total
    if not inside.all():
        total, weight, below, shift = total[inside], weight[inside], below[inside], shift[inside]
    if not len(total):
        return 0.0, 0.0
    over, rounding = _excess(total, below, epsilon, shift)
    if np.any(over < -rounding):
        raise AccountingError("clear-uniform: expected no negative divergence, got one")
    # Not np.dot: for long arrays it starts threads and waits for them.
    value = 0.5 * float((weight * np.maximum(over, 0.0)).sum())
    return value, 0.5 * float((weight * rounding).sum())


def is_near_faster(fakes: int, bins: float) -> bool:
    """Return whether ``near_upper`` is faster than ``delta``."""
    if bins == 2:
        return False
    low, high = tails.window(fakes + 1, 2.0 / bins)
    return high - low >= _MANY


def near_upper(
    fakes: int, bins: float, epsilon: float, people: int = 0, coin: float = 0.0
) -> float:
    """Return an upper bound of ``delta``, larger by less than a part in a thousand.

    The bound is averaged over the coins of ``people``, who send one more fake with probability
    ``coin`` each.
    """
    step = Distribution(
        np.array([1.0, -math.exp(epsilon), 0.0]), np.array([1.0, 1.0, bins - 2.0]) / bins
    )
    return min(1.0, bins * blanket.upper([step], people + 1, fakes, coin))


def _load_totals(records: int, bins: float, memo: Memo | None) -> _Totals:
    def build_totals() -> _Totals:
        if bins == 2:
            return _Totals(np.array([float(records)]), np.array([1.0]), 0.0, 0.0)
        low, high = tails.window(records, 2.0 / bins)
        low = max(low, 1)
        total = np.arange(low, high + 1, dtype=np.float64)
        # E[d A; T out] / N is the probability that the person's bin and the other bin contain T
        # records, one of them the person's. The margin of the window covers this one record.
        cut = 2.0 * tails.CUT_TAIL
        if len(total) < _LONG:
            return _Totals(total, tails.pmf(records, 2.0 / bins, low, high), cut, 0.0)
        weight = _weights(records, bins, total)
        return _Totals(total, weight, cut, 16.0 * _UNIT * len(total))

    if memo is None:
        return build_totals()
    found: _Totals = memo.get(("totals", records, bins), build_totals)
    return found


def _load_totals_of_coins(
    fakes: int, bins: float, coins: tuple[int, float], memo: Memo | None
) -> _Totals | None:
    """Return the values of T with the weights P(F = T-1) 2 / T."""
    (people, coin), two = coins, 2.0 / bins
    certain, tossed = tails.window(fakes, two), tails.window(people, coin * two)
    wide = [last - first + 1 for first, last in (certain, tossed)]
    if bins == 2 or math.prod(wide) > _MOST_PRODUCTS:
        return None

    def build_totals() -> _Totals:
        whole = tails.pmf(fakes, two, *certain) if fakes else np.ones(1)
        every = np.convolve(whole, tails.pmf(people, coin * two, *tossed))
        least = certain.first + tossed.first + 1
        total = np.arange(least, least + len(every), dtype=np.float64)
        loose = 16.0 * _UNIT * len(every)
        return _Totals(total, every * (2.0 / total), 4.0 * tails.CUT_TAIL, loose)

    if memo is None:
        return build_totals()
    found: _Totals = memo.get(("coins in two cells", fakes, bins, coins), build_totals)
    return found


def _weights(records: int, bins: float, total: tails.Floats) -> tails.Floats:
    """Return P(T) for the consecutive values ``total`` of T, computed from ratios of neighbors.

    The values must cover all of the probability except a negligible part. The ratios are multiplied
    outwards from the middle, with at most five roundings a step and as many of their sum. The
    products are divided by their sum, so they sum to 1, although the values cover slightly less.
    Raises AccountingError if ``tails.pmf`` disagrees.
    """
    middle = min(max(round(2.0 * records / bins - float(total[0])), 0), len(total) - 1)
    up = total[middle + 1 :]
    down = total[:middle][::-1] + 1.0
    odds = 0.5 * (bins - 2)
    rising = np.cumprod((records + 1 - up) / (up * odds))
    falling = np.cumprod(down * odds / (records + 1 - down))
    weights = np.concatenate([falling[::-1], [1.0], rising])
    weights /= weights.sum()
    at = int(total[middle])
    expected = float(tails.pmf(records, 2.0 / bins, at, at)[0])
    if not abs(weights[middle] - expected) <= RELATIVE_SLACK * expected:
        raise AccountingError(f"clear-uniform: chances of {weights[middle]} and {expected} for one")
    return weights


def _excess(
    total: tails.Floats, below: tails.Floats, epsilon: float, shift: tails.Floats
) -> tuple[tails.Floats, tails.Floats]:
    """Return (T - h) f - ((e^eps - 1) T + 2 h) S for every total T, and bounds on its error.

    ``below`` is a - 1 and ``shift`` is h. Far out in the tail the two terms nearly cancel, and
    their rounding is bounded. Farther out the tail itself loses digits; there the first term is
    used as the error bound.
    """
    excess = math.expm1(epsilon)
    long = len(total) >= _LONG and epsilon <= _STEEP
    # For the smallest totals, which come first, all tosses must be heads, which is exact.
    few = int(np.count_nonzero(below == total - 1.0))
    in_turn = total[-1] - total[0] == len(total) - 1 and np.all(below[:few] == total[:few] - 1.0)
    long = long and bool(in_turn)
    walk = tails.half_walk(total[few:] - 1.0, below[few:]) if long else None
    if walk is not None:
        none = np.zeros(few)
        f = np.concatenate([np.exp2(1.0 - total[:few]), walk.points])
        s = np.concatenate([none, walk.tails])
        shift_share = 2.0 * shift[few:] / total[few:]
        error = np.concatenate(
            [none, walk.share * walk.points + (excess + shift_share) * walk.errors]
        )
    else:
        f, s = _points_and_tails(total - 1.0, below)
        error = f * (_TAIL_ERROR * math.sqrt(max(1.0, float(total[-1]) / _TOSSES)))
    far = f < _FAR
    found = (total - shift) * f - (excess * total + 2.0 * shift) * s
    return np.where(far, 0.0, found), total * np.where(far, f, error)


def _points_and_tails(
    trials: tails.Floats, below: tails.Floats
) -> tuple[tails.Floats, tails.Floats]:
    """Return P(X = below) and P(X > below) for X ~ Bin(trials, 1/2), 0 <= below <= trials.

    Where P(X = below) is negligible, the tail is not needed and remains zero.
    """
    f, s = np.exp2(-trials), np.zeros_like(trials)
    # If below = trials, all tosses are heads. below = 0 implies trials = 0, as e^eps > 1.
    inner = (below < trials) & (below > 0.0)
    f[inner] = tails.half_pmf(trials[inner], below[inner])
    inner &= ~(f < _FAR)
    s[inner] = tails.upper_half_tail(trials[inner], below[inner] + 1.0)
    return f, s
