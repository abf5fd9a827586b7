"""Whether a batch is whole: everybody's messages and every fake, no more and no fewer.

Fakes that people send are promised to the last one. Those of a mix are as many as it drew: their
number S is a sum of independent numbers with the distribution of one bin, and P(S - E S >= t) is
at most E[exp(x (S - E S))] exp(-x t) for every x > 0, P(E S - S >= t) likewise (Chernoff).
"""

import math

import numpy as np

from mixtally.errors import MessageError
from mixtally.model.mechanism import ShapedFakes, Shuffled
from mixtally.primitives.tails import Floats

_RARE = 1e-9
"""An honest mix draws a number of fakes that is refused here less often than this."""


def check_message_count(mechanism: Shuffled, messages: int, users: int) -> None:
    """Raises MessageError unless ``messages`` is what ``users`` people and their fakes make."""
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
    """How far the number of all fakes of mixes is below and above its mean, to the nearest integer,
    but for one batch in 10^9.
    """
    shape, draws = shaped.shape, bins * shaped.mixes
    weights = np.array([float(weight) for weight in shape.weights])
    gaps, chances = np.arange(len(weights)) - shape.mean, weights / weights.sum()
    gaps, chances = gaps[chances > 0.0], chances[chances > 0.0]
    rest = draws * shape.mean - shape.mean_of(draws)
    few, many = _bound_tail(-gaps, chances, draws), _bound_tail(gaps, chances, draws)
    return math.floor(few - rest), math.floor(many + rest)


def _bound_tail(gaps: Floats, chances: Floats, draws: int) -> float:
    """What a sum of so many ``gaps`` exceeds less often than half of once in 10^9."""
    widest, rest = float(gaps.max()), math.log(2.0 / _RARE)
    off = draws * widest
    for x in np.geomspace(1e-9, 1e3, 200).tolist():
        rate = x * widest + math.log(float((chances * np.exp(x * (gaps - widest))).sum()))
        off = min(off, (draws * rate + rest) / x)
    return off
