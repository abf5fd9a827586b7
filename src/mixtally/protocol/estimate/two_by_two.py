"""The 2 x 2 table of two bits and their correlation, out of messages that carry them together.

With z_1, z_2 the people who have each bit, z_12 who have both (``joint``), and n all people, the
other cells are differences. Bits of one message are flipped on their own, so that with
v = p q / (p - q)^2 and N messages

    Var z_1 = N v,  Cov(z_1, z_2) = 0,  Cov(z_12, z_1) = v z_2,  Cov(z_12, z_2) = v z_1,
    Var z_12         = N v^2           + v (z_1 + z_2)
    Var (z_1 - z_12) = N v^2 + N v     + v (z_1 - z_2)
    Var (n - z_1 - z_2 + z_12) = N v^2 + 2 N v - v (z_1 + z_2)

exactly; estimates stand in for z_1 and z_2, which hardly matters since N v is much larger. Sent k
times, everything is counted over all messages and divided by k.

The correlation is phi = (n z_12 - z_1 z_2) / sqrt(z_1 z_2 (n - z_1) (n - z_2)), its error that of
its derivative (delta method). Where a bit is held by nearly nobody or everybody, as far as the
noise can tell, the quotient means nothing and is left out, and so it is where hardly a flip falls
on a bit. Its interval misses in 5 % of all collections at most, stated or not: of a bit just short
of that line, stated in 10 % of the collections, 80 % of the intervals that are stated held.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.mechanism import Shuffled

_Floats = NDArray[np.float64]
_LEAST_ERRORS = 10.0
"""Standard errors that bits must be away from nobody and from everybody to be correlated."""
_LEAST_FLIPS = 10.0
"""Of a bit, below which its count is far from normal."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoByTwo:
    """Unbiased tables of pairs of bits and their correlations.

    where
      counts               shape (pairs, 4): both, only the first, only the second, neither; they
                           add up to the people and may be negative
      errors               their standard errors, same shape
      correlations         shape (pairs,); NaN where the noise leaves none to be estimated
      correlation_errors   shape (pairs,), NaN at the same places
      slopes               shape (pairs, 3): by how much a correlation rises with each message that
                           has both bits, the first, the second
    """

    counts: _Floats
    errors: _Floats
    correlations: _Floats
    correlation_errors: _Floats
    slopes: _Floats


def two_by_two(
    mechanism: Shuffled,
    counted: NDArray[np.int64],
    messages: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> TwoByTwo:
    """Tables of the pairs (first[i], second[i]), two arrays of shape (pairs,).

    where
      counted    as ``protocol.tally.pairs`` counts them, shape (bins, bins), singles on the
      diagonal messages   how many were counted; all but the protocol's fakes are people's
    """
    q, contrast = mechanism.flip_probability, mechanism.contrast
    # Everything until the end is over all repeats.
    people = float(messages - mechanism.fakes_promised)
    alone = np.diag(counted).astype(np.float64)
    single = (alone - messages * q) / contrast
    one, two = single[first], single[second]
    raw = counted[first, second] - q * (alone[first] + alone[second]) + messages * q * q
    both = raw / contrast**2
    counts = np.stack([both, one - both, two - both, people - one - two + both], axis=1)
    v = q * (1.0 - q) / contrast**2
    held = np.clip(one, 0.0, people), np.clip(two, 0.0, people)
    variances = np.maximum(_cell_variances(*held, v=v, messages=messages), 0.0)
    phi, error, slopes = _correlations(both, one, two, people, v=v, messages=messages)
    return TwoByTwo(
        counts=counts / mechanism.repeats,
        errors=np.sqrt(variances) / mechanism.repeats,
        correlations=phi,
        correlation_errors=error,
        slopes=slopes,
    )


def _cell_variances(one: _Floats, two: _Floats, *, v: float, messages: int) -> _Floats:
    """Of both, only the first, only the second and neither, shape (pairs, 4)."""
    mild, square = messages * v, messages * v * v
    return np.stack(
        [
            square + v * (one + two),
            square + mild + v * (one - two),
            square + mild + v * (two - one),
            square + 2.0 * mild - v * (one + two),
        ],
        axis=1,
    )


def _correlations(
    both: _Floats, one: _Floats, two: _Floats, people: float, *, v: float, messages: int
) -> tuple[_Floats, _Floats, _Floats]:
    """Correlations, their standard errors and slopes; NaN where they cannot be estimated."""
    mild = messages * v
    least = _LEAST_ERRORS * np.sqrt(mild) if mild > _LEAST_FLIPS else math.inf
    estimable = np.minimum.reduce([one, two, people - one, people - two]) > least
    x, y = np.where(estimable, one, people / 2.0), np.where(estimable, two, people / 2.0)
    root = np.sqrt(x * y * (people - x) * (people - y))
    phi = (people * both - x * y) / root
    by_both = people / root
    by_x = -y / root - phi * (people - 2.0 * x) / (2.0 * x * (people - x))
    by_y = -x / root - phi * (people - 2.0 * y) / (2.0 * y * (people - y))
    variance = (
        by_both**2 * (messages * v * v + v * (x + y))
        + (by_x**2 + by_y**2) * mild
        + 2.0 * by_both * v * (by_x * y + by_y * x)
    )
    missing = np.where(estimable, 0.0, np.nan)
    slopes = np.stack([by_both, by_x, by_y], axis=1)
    return phi + missing, np.sqrt(np.maximum(variance, 0.0)) + missing, slopes
