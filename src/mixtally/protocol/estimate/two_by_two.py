"""How many people have both of two bits, their 2 x 2 table, and their correlation.

``conclude.pairs`` calls this module for messages that contain both bits. Every bit of N messages is
flipped independently with probability q = 1 - p. For a shown bit s, the variable y = (s - q) /
(p - q) has the true bit x as its mean. So y_i y_j has the mean x_i x_j. Let s_i be the number of
messages that show bit i, and s_ij the number that show both bits. The sum of y_i y_j over all
messages is

    z_ij = (s_ij - q s_i - q s_j + N q^2) / (p - q)^2.

This sum estimates the number of people who have both bits, because it inverts the 2 x 2 flip matrix
of each bit. Blank fakes add 0 on average. Let v = p q / (p - q)^2. For one message, Var(y_i y_j) =
(v + x_i)(v + x_j) - x_i x_j = v^2 + v (x_i + x_j).

*Tables.* Let z_1 and z_2 be the numbers of people who have each bit, z_12 the number who have both,
and n the number of people. The other cells are differences of these. Then

    Var z_1 = N v,  Cov(z_1, z_2) = 0,  Cov(z_12, z_1) = v z_2,  Cov(z_12, z_2) = v z_1,
    Var z_12         = N v^2           + v (z_1 + z_2)
    Var (z_1 - z_12) = N v^2 + N v     + v (z_1 - z_2)
    Var (n - z_1 - z_2 + z_12) = N v^2 + 2 N v - v (z_1 + z_2)

exactly. Estimates replace z_1 and z_2, or 0 if these are negative. This has little effect, because
N v is much larger than either. If records are sent k times, everything is counted over all messages
and divided by k.

*Correlations.* The correlation is phi = (n z_12 - z_1 z_2) / sqrt(z_1 z_2 (n - z_1) (n - z_2)).
Its standard error is that of the delta method. The quotient is meaningless if, within the noise,
nearly nobody or nearly everybody may have a bit. Then no correlation is stated. The same applies if
few flips are expected in a bit. A collection without an interval counts as covered: with
this rule, 95 % intervals miss in at most 5 % of all collections. Among the intervals that are
stated, coverage can be lower. For a bit for which only 10 % of the collections state an interval,
80 % of the stated intervals covered.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats

_LEAST_ERRORS = 10.0
"""A correlation is stated only if the counts of both bits differ from 0 and from the number of
people by at least this number of standard errors."""
_LEAST_FLIPS = 10.0
"""A correlation is stated only if at least this number of flips is expected in each bit. With
fewer, the distribution of the count is far from normal."""


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Unbiased counts of pairs and their standard errors, both symmetric of shape (bins, bins).

    The diagonals have no meaning.
    """

    counts: Floats
    errors: Floats


def joint_counts(mechanism: Shuffled, pairs: NDArray[np.int64], messages: int) -> Joint:
    """Estimate how many people have both bits of each pair.

    ``pairs`` are the pair counts of ``protocol.tally.pairs``, and ``messages`` is the number of
    counted messages.
    """
    q, contrast = mechanism.flip_probability, mechanism.contrast
    times = mechanism.repeats
    shown = np.diag(pairs).astype(np.float64)
    both = pairs - q * (shown[:, None] + shown[None, :]) + messages * q * q
    spread = q * (1.0 - q) / contrast**2
    single = np.maximum((shown - messages * q) / contrast, 0.0)  # over all repeats
    variance = messages * spread**2 + spread * (single[:, None] + single[None, :])
    return Joint(both / contrast**2 / times, np.sqrt(variance) / times)


@dataclass(frozen=True, slots=True, eq=False)
class TwoByTwo:
    """Unbiased tables of pairs of bits and their correlations.

    ``counts`` and ``errors``, shape (pairs, 4), are for the people with both bits, with only the
    first, with only the second, and with neither. The four counts add up to the number of people,
    and each may be negative. ``correlations`` and their errors, shape (pairs,), are NaN if the
    noise is too large. ``slopes``, shape (pairs, 3), are the derivatives of a correlation with
    respect to three numbers: of messages with both bits, with the first, and with the second.
    """

    counts: Floats
    errors: Floats
    correlations: Floats
    correlation_errors: Floats
    slopes: Floats


def two_by_two(
    mechanism: Shuffled,
    counted: NDArray[np.int64],
    messages: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> TwoByTwo:
    """Estimate the tables of the pairs (first[i], second[i]), two arrays of shape (pairs,).

    ``counted`` are the counts of ``protocol.tally.pairs``, shape (bins, bins), with single bits on
    the diagonal. ``messages`` is the number of counted messages, including the fakes of the
    mechanism.
    """
    q, contrast = mechanism.flip_probability, mechanism.contrast
    # All numbers are summed over the repeats of a record; only the result is divided.
    people = float(messages - mechanism.fakes_promised)
    shown = np.diag(counted).astype(np.float64)
    single = (shown - messages * q) / contrast
    one, two = single[first], single[second]
    raw = counted[first, second] - q * (shown[first] + shown[second]) + messages * q * q
    both = raw / contrast**2
    counts = np.stack([both, one - both, two - both, people - one - two + both], axis=1)
    v = q * (1.0 - q) / contrast**2
    clipped = np.clip(one, 0.0, people), np.clip(two, 0.0, people)
    variances = np.maximum(_cell_variances(*clipped, v=v, messages=messages), 0.0)
    phi, error, slopes = _correlations(both, one, two, people, v=v, messages=messages)
    return TwoByTwo(
        counts=counts / mechanism.repeats,
        errors=np.sqrt(variances) / mechanism.repeats,
        correlations=phi,
        correlation_errors=error,
        slopes=slopes,
    )


def _cell_variances(one: Floats, two: Floats, *, v: float, messages: int) -> Floats:
    """Return the variances of the four counts of each pair of bits; shape (pairs, 4).

    The four counts are those of people with both bits, with only the first, with only the second,
    and with neither.
    """
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
    both: Floats, one: Floats, two: Floats, people: float, *, v: float, messages: int
) -> tuple[Floats, Floats, Floats]:
    """Return correlations, standard errors and slopes, NaN where they cannot be estimated."""
    mild = messages * v
    least = _LEAST_ERRORS * np.sqrt(mild) if mild > _LEAST_FLIPS else math.inf
    estimable = np.minimum.reduce([one, two, people - one, people - two]) > least
    # Any values without a division by zero will do where the result becomes NaN.
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
