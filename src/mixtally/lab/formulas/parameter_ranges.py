"""The ranges in which the published formulas are stated.

All formulas check their parameters here.
"""

import math

from mixtally.errors import ParameterError, strictly_within


def check_promise(epsilon: float, delta: float) -> None:
    """Raise ParameterError unless epsilon is positive and finite and delta is in (0, 1)."""
    if not 0.0 < epsilon < math.inf:
        raise ParameterError(
            "epsilon", expected="a positive number", got=epsilon, do="1 is a common choice"
        )
    strictly_within("delta", delta, 0.0, 1.0, "1e-6 is a common choice")


def check_count(subject: str, count: int, least: int = 1) -> None:
    """Raise ParameterError unless ``count`` is at least ``least``.

    ``subject`` is the name of the count in the error message.
    """
    if not count >= least:
        raise ParameterError(
            subject,
            expected=f"an integer of at least {least}",
            got=count,
            do="the formula is not stated for fewer",
        )


def check_flip(flip: float) -> None:
    """Raise ParameterError unless ``flip`` is in (0, 1/2)."""
    strictly_within("flip probability", flip, 0.0, 0.5, "a larger one would be a relabelling")
