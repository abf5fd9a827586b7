"""What of a record of flipped bits an observer sees on its own, how often and in which ways."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from mixtally.accounting.divergence import ObservedMessage, single_bit, two_outputs
from mixtally.accounting.numerics.binomial_pairs import tail_divergences
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, BlankFakes, NoFakes, UniformFakes
from mixtally.primitives.memo import Memo


def observed_unit(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """The message that is seen so many times on its own: a bit, where sums are seen of several.

    Of bins only those matter in which two records may differ, and that there is one more. To a
    crowd fakes of which none arrives are none.
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
    # Two bins differ in each value, and every bin is a sum of its own.
    return ObservedMessage(replace(bit, crowd=m.crowd + m.fakes.count)), 2 * m.max_set


def handles_repeats(message: ObservedMessage) -> bool:
    """A single bit, and a value among blanks alone."""
    m = require_bit_flips(message)
    if m.max_set is None:
        return m.bins == 1
    return m.max_set == 1 and not m.crowd and not isinstance(m.fakes, UniformFakes)


def require_bit_flips(message: ObservedMessage) -> BitFlips:
    """The mechanism of ``message``; raises TypeError for one that flips no bits."""
    if not isinstance(message.mechanism, BitFlips):
        raise TypeError(f"{message.mechanism.name} flips no bits")
    return message.mechanism


def directional_upper(
    message: ObservedMessage, epsilons: Sequence[float], memo: Memo
) -> tuple[Sequence[float], Sequence[float]] | None:
    """Of a single bit among fake zeros alone; None for others, whose pairs lie both ways."""
    m = require_bit_flips(message)
    if m.max_set is not None or m.bins > 1 or m.crowd or message.others or m.repeats > 1:
        return None
    pair = two_outputs.load_directions(
        single_bit.flipped_bit_message(m.threshold), 0, m.fakes.count, memo
    )
    grows = np.exp(np.array(epsilons))
    forward, backward = (tail_divergences(one, grows).upper.tolist() for one in pair)
    return forward, backward
