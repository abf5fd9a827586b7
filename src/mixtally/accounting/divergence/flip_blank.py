"""The exact divergence of flip-blank: one flipped one-hot record among flipped blanks.

The observer sees all messages. ``bit_flips`` and ``one_hot`` use this file. Every bit is flipped
with probability q; p = 1 - q, r = p/q, and N = fakes + 1. Let A and B be independent Bin(N, q). The
identity of ``docs/explanation/accounting.md`` is then

    delta = (1/N) E[(X_u - e^eps X_v)_+],  X_u = A r + (N - A)/r,  X_v = B r + (N - B)/r.

X_u exceeds e^eps X_v exactly if A exceeds ``limit(B) = e^eps B + (e^eps - 1) N q^2 / (1 - 2q)``. So
delta = (1 - 2q) / (p q N) sum_B P(B) E[(A - limit(B))_+], in which all terms are positive. The
distribution of (X_u, X_v) is symmetric, so both orders of u and v have this delta.

Source: sufficient DP 000 (3.1) with blank fakes as background; notes 004 Prop. 3.1 for any dataset.
"""

import math

import numpy as np

from mixtally.accounting.numerics.bracket import Bracket, bracket
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

SOURCE = (
    "exact distribution of the privacy ratio over flipped blanks (Sufficient Differential Privacy "
    "2017, (3.1)); any other records only help (Notes 2020, Prop. 3.1)"
)

_LIMIT_ROUNDING = 2.0**-49
"""Bound on the relative error of a limit: five operations and the exponential, with a margin."""


def delta(fakes: int, threshold: int, epsilon: float) -> Bracket:
    """Return delta(epsilon) of a one-hot record over two or more bins among flipped blanks.

    Parameters
    ----------
    fakes : int
        The number of blanks.
    threshold : int
        The flip probability times 2^64, in [2^24, 2^63].
    epsilon : float
        The privacy loss in nats, at least 0.
    """
    return delta_among_blanks(fakes + 1, threshold, epsilon, rise=0.0)


def delta_among_blanks(
    records: int, threshold: int, epsilon: float, *, rise: float, pmf: Floats | None = None
) -> Bracket:
    """Return the sum in the module's derivation of delta, for N = ``records`` messages.

    ``rise`` is added to every limit; it is positive for an observer who does not know whether the
    record is among these messages. ``pmf`` is Bin(N, q) on ``tails.window``, if the caller has it.
    """
    q, p = threshold / SCALE, (SCALE - threshold) / SCALE
    contrast = (SCALE - 2 * threshold) / SCALE
    odds = math.log1p((SCALE - 2 * threshold) / threshold)  # ln(p / q), to all digits
    if contrast == 0.0 or epsilon >= 2.0 * odds * (1.0 + 1e-12):
        return Bracket(0.0, 0.0)  # no likelihood ratio reaches e^epsilon
    grow = math.exp(epsilon)
    rise += math.expm1(epsilon) * records * q * q / contrast
    low, high = tails.window(records, q)
    # Cut: B or A outside its window. E[X_u; B out] / N is P(B out); E[X_u; A > high] / N is
    # P(A' > high) with A' one record better than Bin(N-1, q), and ``high`` leaves room for it.
    cut = 3.0 * tails.CUT_TAIL
    # Limits are lowered by more than their rounding, which only adds outcomes. The lower bound
    # subtracts what this can add. It matters close to the local epsilon, where A barely exceeds.
    lowered = 1.0 - _LIMIT_ROUNDING
    first = max(low, math.floor(lowered * (grow * low + rise)))  # smaller A are below all limits
    if first >= high:
        return bracket(0.0, cut=cut)
    last = min(high, math.floor((high / lowered - rise) / grow))
    if pmf is None and first <= last:  # the needed parts of both overlap
        pmf = tails.pmf(records, q, low, high)
    a_pmf = _check_nonnegative(
        tails.pmf(records, q, first, high) if pmf is None else pmf[first - low :]
    )
    b_pmf = _check_nonnegative(
        tails.pmf(records, q, low, last) if pmf is None else pmf[: last + 1 - low]
    )
    survival = np.cumsum(a_pmf[::-1])[::-1]  # P(A >= first + i), up to the cut
    excess = np.cumsum(survival[::-1])[::-1]  # sum of P(A >= k) over k >= first + i
    b = np.arange(low, last + 1)
    limit = lowered * (grow * b + rise)
    reach = np.floor(limit).astype(np.int64) + 1  # least A above the limit
    keep = reach <= high
    i = reach[keep] - first
    over = (reach[keep] - limit[keep]) * survival[i] + np.append(excess, 0.0)[i + 1]
    b_pmf = b_pmf[keep]
    rounding = 2.0 * _LIMIT_ROUNDING * limit[keep] * survival[i]
    scale = contrast / (p * q * records)
    return bracket(
        scale * float((b_pmf * over).sum()),  # not np.dot, which starts threads
        cut=cut,
        rounding=scale * float((b_pmf * rounding).sum()),
    )


def _check_nonnegative(chances: Floats) -> Floats:
    """Return ``chances``; raise AccountingError if one of them is negative.

    The product of two negative probabilities would be positive and hide the error.
    """
    if not chances.min(initial=0.0) >= 0.0:  # also raises for NaN
        raise AccountingError(
            f"flip-blank: expected chances that are not negative, got {chances.min()}; nothing may "
            "be promised from them"
        )
    return chances
