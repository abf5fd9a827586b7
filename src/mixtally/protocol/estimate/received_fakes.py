"""Completeness of a batch: the messages of all people and every fake, no more and no fewer.

The estimators call ``check_message_count`` before they trust a number of people. The number of
fakes that people sent is known here, and so is that of paired fakes. Mixes with other shaped fakes
draw a number of fakes for each bin. Their total S is a sum of independent numbers with the same
distribution. By Chernoff's inequality, for every x > 0,

    P(S - E S >= t) <= E[exp(x (S - E S))] exp(-x t),

and the same bound with E S - S in place of S - E S holds for P(E S - S >= t).
"""

import math

import numpy as np

from mixtally.errors import MessageError
from mixtally.model.contract import Part, Shape
from mixtally.model.mechanism import ShapedFakes, Shuffled
from mixtally.primitives.tails import Floats

RARE = 1e-9
"""An upper bound of the probability that an honest mix draws a number of fakes that is refused."""


def check_message_count(mechanism: Shuffled, messages: int, users: int) -> None:
    """Raise MessageError if people and their fakes cannot have made ``messages`` messages."""
    own = users * mechanism.record_messages
    expected, few, many = own + mechanism.fakes_promised, 0, 0
    if mechanism.shaped_fakes is not None:
        few, many = bound_fake_count(
            mechanism.shaped_fakes, mechanism.layout.bins * mechanism.repeats
        )
    off = messages - expected
    if -few <= off <= many:
        return
    about = f"{few:,} fewer to {many:,} more, " if few or many else ""
    raise MessageError(
        "batch",
        expected=f"{expected:,} messages, {about}of {own:,} reports and "
        f"{mechanism.fakes_promised:,} fakes",
        got=f"{messages:,} messages, {abs(off):,} too {'few' if off < 0 else 'many'}",
        do="wait for the rest, for without all fakes the promise is void; users are those who sent"
        if off < 0
        else "count every message once, and as users all who sent their records",
    )


def bound_fake_count(shaped: ShapedFakes, bins: int) -> tuple[int, int]:
    """Return how far the number of shaped fakes may be below its mean, and how far above it.

    In an honest batch, the number is outside of these limits with probability at most 1e-9.
    """
    if shaped.shape.paired:
        return 0, 0
    shape, draws = shaped.shape, bins * shaped.mixes
    weights = np.array([float(weight) for weight in shape.weights])
    gaps, chances = np.arange(len(weights)) - shape.mean, weights / weights.sum()
    gaps, chances = gaps[chances > 0.0], chances[chances > 0.0]
    rest = draws * shape.mean - shape.mean_of(draws)
    few, many = _bound_tail(-gaps, chances, draws), _bound_tail(gaps, chances, draws)
    return math.floor(few - rest), math.floor(many + rest)


def declared_limits(part: Part) -> tuple[int, int]:
    """Return the least and the largest number of fakes that an honest mix declares for a part.

    If the number is random, it is outside of these limits with probability at most ``RARE``. If the
    number is fixed, both results are this number.
    """
    if not isinstance(part.recipe, Shape) or part.has_fixed_count:
        return part.mean_added, part.mean_added
    few, many = bound_fake_count(ShapedFakes(part.recipe), part.layout.bins)
    return max(0, part.mean_added - few), part.mean_added + many


def _bound_tail(gaps: Floats, chances: Floats, draws: int) -> float:
    """Return a number that a sum of ``draws`` draws exceeds with probability below ``RARE`` / 2.

    The draws are independent. Each has one of the values ``gaps``, with the probabilities
    ``chances``.
    """
    widest, rest = float(gaps.max()), math.log(2.0 / RARE)
    off = draws * widest
    # Every x > 0 gives a valid bound, so a coarse grid of x only makes the bound less tight.
    for x in np.geomspace(1e-9, 1e3, 200).tolist():
        rate = x * widest + math.log(float((chances * np.exp(x * (gaps - widest))).sum()))
        off = min(off, (draws * rate + rest) / x)
    return off
