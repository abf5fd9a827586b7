"""The message that each protocol of flipped bits makes of its parameters, for ``bit_flips``."""

from mixtally.accounting.divergence import (
    CountedParameters,
    ObservedMessage,
    separation_note,
)
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, BlankFakes, NoFakes, UniformFakes
from mixtally.model.mechanism.parameters import Parameters
from mixtally.model.question import MOST_BINS
from mixtally.primitives.fixed_point import MOST_THRESHOLD, threshold_of


def counts_people(name: str, given: Parameters) -> bool:
    """Return whether other people's flips count.

    They do for flip and single-bit, if only sums are seen, and if ``count_crowd`` is given.
    """
    if given.users is None:
        return False
    always = name in ("flip", "single-bit") or given.count_crowd
    return always or given.observer == Observer.SUMS or _is_sent_bitwise(name, given)


def record_fields(name: str, counted: CountedParameters) -> tuple[ObservedMessage, int, str]:
    """Return one message of protocol ``name``; a threshold that is sought is ignored."""
    given = counted.given
    single = name == "single-bit" or given.bits is not None
    whole_bits = single and given.bits is not None and not given.split
    if name == "flip":
        fakes: NoFakes | BlankFakes | UniformFakes = NoFakes()
    elif name == "flip-uniform":
        fakes = UniformFakes(counted.fakes)
    else:
        fakes = BlankFakes(counted.fakes)
    bins = given.bins or MOST_BINS
    mechanism = BitFlips(
        bins=(given.bits or 1 if whole_bits else 1) if single else bins,
        threshold=MOST_THRESHOLD if given.flip is None else threshold_of(given.flip),
        max_set=None if single else 1 if given.split else min(given.max_set or 1, bins),
        fakes=fakes,
        crowd=counted.crowd,
        repeats=given.repeats or 1,
    )
    pieces = 1 if whole_bits else given.bits or 1 if single else given.messages_per_record()
    summed = _is_sent_bitwise(name, given) and not single
    observer = Observer.SUMS if summed else Observer(given.observer)
    others = 0 if given.background else given.ones
    composed = pieces > 1 or (summed and mechanism.repeats > 1)  # a composition adds its own note
    note = "" if composed else separation_note(given)
    return ObservedMessage(mechanism, observer, others), pieces, note


def _is_sent_bitwise(name: str, given: Parameters) -> bool:
    """Return whether a value is sent as one message per bit, which reveals the same as sums."""
    one_bin = bool(given.split) and (given.max_set or 1) == 1
    return one_bin and name in ("flip", "flip-uniform")
