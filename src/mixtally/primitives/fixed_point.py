"""Probabilities as integers over 2^64: the one form the randomizer and the accountant share.

And other numbers as they were written, so that products of them are exact.
"""

from fractions import Fraction

from mixtally.errors import ParameterError

SCALE = 1 << 64
LEAST_THRESHOLD = 1 << 24
MOST_THRESHOLD = 1 << 63


def threshold_of(probability: float) -> int:
    """The integer t for which t / 2^64 is nearest to ``probability``, in [2^-40, 1/2].

    Raises ParameterError outside that range.
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
    """``threshold`` itself when t / 2^64 lies in [2^-40, 1/2]; raises ParameterError otherwise."""
    if not LEAST_THRESHOLD <= threshold <= MOST_THRESHOLD:
        raise ParameterError(
            "flip threshold",
            expected="an integer in [2^24, 2^63]",
            got=threshold,
            do="it is the flip probability times 2^64",
        )
    return threshold


def to_fraction(value: float | Fraction) -> Fraction:
    """The number as it is written: 1.1 is eleven tenths."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))
