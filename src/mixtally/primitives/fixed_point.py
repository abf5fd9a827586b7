"""Probabilities as integers over 2^64, and numbers as exact fractions.

The randomizer compares random words with these integers, the accountant computes delta from them,
and the estimator divides by them. So all three use exactly the same probability.
"""

from fractions import Fraction

from mixtally.errors import ParameterError

SCALE = 1 << 64
# Flip probabilities are in [2^-40, 1/2].
LEAST_THRESHOLD = 1 << 24
MOST_THRESHOLD = 1 << 63
_LOSS_SLACK = 1.0 + 2.0**-48
"""Factor that covers 32 roundings of a privacy loss: those of its logarithm, and of later sums and
products.
"""


def threshold_of(probability: float) -> int:
    """Return the integer nearest to 2^64 times ``probability``, which must be in [2^-40, 1/2].

    Raise ParameterError outside this range.
    """
    if not 2.0**-40 <= probability <= 0.5:
        raise ParameterError(
            "flip probability",
            expected="a number in [2^-40, 1/2]",
            got=probability,
            do="a larger one would be a relabelling, a smaller one is no randomization",
        )
    numerator, denominator = probability.as_integer_ratio()
    return (numerator * SCALE + denominator // 2) // denominator


def check_threshold(threshold: int) -> int:
    """Return ``threshold``, or raise ParameterError if it is not in [2^24, 2^63]."""
    if not LEAST_THRESHOLD <= threshold <= MOST_THRESHOLD:
        raise ParameterError(
            "flip threshold",
            expected="an integer in [2^24, 2^63]",
            got=threshold,
            do="it is the flip probability times 2^64",
        )
    return threshold


def round_loss_up(loss: float) -> float:
    """Return ``loss`` rounded up, so that the sums and products of such losses are upper bounds.

    Parameters
    ----------
    loss : float
        A multiple of ln(a / b), computed with at most a dozen roundings and without cancellation.
    """
    return loss * _LOSS_SLACK


def to_fraction(value: float | Fraction) -> Fraction:
    """Return the fraction that the shortest decimal form of ``value`` denotes: 11/10 for 1.1."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))
