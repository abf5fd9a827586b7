"""The part of a record of flipped bits that an observer sees separately, for ``bit_flips``."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from mixtally.accounting.divergence import ObservedMessage, single_bit, two_outputs
from mixtally.accounting.numerics.binomial_pairs import tail_divergences
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, BlankFakes, NoFakes, UniformFakes
from mixtally.primitives.memo import Memo


def observed_unit(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """Return the message that is seen separately and how often; a bit if only sums are seen.

    Only the bins in which two records may differ matter, and the existence of one more bin. Zero
    fakes are treated as no fakes if the crowd counts.
    """
    m = require_bit_flips(message)
    if m.crowd and m.fakes == BlankFakes(0):
        m = replace(m, fakes=NoFakes())
        message = message._replace(mechanism=m)
    if m.max_set is not None and not isinstance(m.fakes, UniformFakes):
        m = replace(m, bins=min(m.bins, 2 * m.max_set + 1))
        message = message._replace(mechanism=m)
    if message.observer is not Observer.SUMS:
        return message, 1
    if m.max_set is None and m.bins == 1:
        return message._replace(observer=Observer.MESSAGES), 1
    bit = BitFlips(
        bins=1,
        threshold=m.threshold,
        max_set=None,
        fakes=NoFakes(),
        crowd=m.crowd,
        repeats=m.repeats,
    )
    if m.max_set is None:
        return ObservedMessage(bit, others=message.others), m.bins
    if m.max_set * m.repeats == 1:
        return message, 1
    # Two values differ in two bins, and every bin has a separate sum.
    return ObservedMessage(replace(bit, crowd=m.crowd + m.fakes.count)), 2 * m.max_set


def handles_repeats(message: ObservedMessage) -> bool:
    """Return True for a single bit, and for a value among blanks only."""
    m = require_bit_flips(message)
    if m.max_set is None:
        return m.bins == 1
    return m.max_set == 1 and not m.crowd and not isinstance(m.fakes, UniformFakes)


def require_bit_flips(message: ObservedMessage) -> BitFlips:
    """Return the mechanism of ``message``; raise TypeError if it flips no bits."""
    if not isinstance(message.mechanism, BitFlips):
        raise TypeError(f"{message.mechanism.name} flips no bits")
    return message.mechanism


def directional_upper(
    message: ObservedMessage, epsilons: Sequence[float], memo: Memo
) -> tuple[Sequence[float], Sequence[float]] | None:
    """Return upper bounds in both orders for a single bit among fake zeros.

    None is returned for other records, for which the pairs of both orders are equal.
    """
    m = require_bit_flips(message)
    if m.max_set is not None or m.bins > 1 or m.crowd or message.others or m.repeats > 1:
        return None
    pair = two_outputs.load_directions(
        single_bit.flipped_bit_message(m.threshold), 0, m.fakes.count, memo
    )
    grows = np.exp(np.array(epsilons))
    forward, backward = (tail_divergences(one, grows).upper.tolist() for one in pair)
    return forward, backward
