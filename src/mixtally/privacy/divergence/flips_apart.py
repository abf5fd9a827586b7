"""What of a record of flipped bits an observer sees on its own, and how often."""

from msgspec.structs import replace

from mixtally.privacy.divergence import ObservedMessage
from mixtally.records.guarantee import Observer
from mixtally.records.mechanism import BitFlips, BlankFakes, NoFakes, UniformFakes


def apart(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """The message that is seen so many times on its own: a bit, where sums are seen of several.

    Of bins only those matter in which two records may differ, and that there is one more. To a
    crowd fakes of which none arrives are none.
    """
    m = flips(message)
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


def knows_repeats(message: ObservedMessage) -> bool:
    """A single bit, and a value among blanks alone."""
    m = flips(message)
    if m.max_set is None:
        return m.bins == 1
    return m.max_set == 1 and not m.crowd and not isinstance(m.fakes, UniformFakes)


def flips(message: ObservedMessage) -> BitFlips:
    """The mechanism of ``message``; raises TypeError for one that flips no bits."""
    if not isinstance(message.mechanism, BitFlips):
        raise TypeError(f"{message.mechanism.name} flips no bits")
    return message.mechanism
