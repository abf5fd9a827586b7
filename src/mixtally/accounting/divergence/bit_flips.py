"""Flipped bits: which derivation applies to which record, fakes, crowd and observer.

    record       fakes             crowd    messages                      sums
    value        blank             ignored  ``flip_blank``, ``repeats``
                 uniform           ignored  ``flip_uniform``              ``one_hot.sums_delta``
                 any               counted  ``one_hot.messages_delta``    ``one_hot.sums_delta``
    set          blank                      ``k_hot``                     bit by bit
    single bit   any               counted  ``single_bit``                ``single_bit``
    free bits    none              counted  ``vectors``                   bit by bit

The crowd is *counted* if the proof relies on the flips of other people, and *ignored* if not.
*Bit by bit* means that every bit is seen and hidden separately. Two sets of k values differ in at
most 2k bins, so a set is a composition of 2k single bits. Free bits are a composition of all bits.
"""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from mixtally.accounting.divergence import (
    Bound,
    CalibrationTarget,
    CountedParameters,
    ObservedMessage,
    ProvedDelta,
    flip_blank,
    flip_uniform,
    k_hot,
    one_hot,
    repeats,
    separation_note,
    single_bit,
    two_outputs,
    vectors,
)
from mixtally.accounting.numerics.binomial_pairs import tail_divergences
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.saddle_point import NEAR, ROUGH
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, BlankFakes, NoFakes, Parameter, UniformFakes
from mixtally.model.mechanism.parameters import Parameters
from mixtally.model.question import MOST_BINS
from mixtally.primitives.fixed_point import MOST_THRESHOLD, SCALE, threshold_of
from mixtally.primitives.memo import Memo

_HOMOGENEOUS_SOURCE = (
    "exact distribution of the privacy ratio (Sufficient Differential Privacy 2017, (3.6))"
)
_HOMOGENEOUS_ASSUMPTION = (
    "everybody else holds zeros, the person all ones or all zeros: not a guarantee for other crowds"
)
MECHANISM = BitFlips


def counts_people(name: str, given: Parameters) -> bool:
    """Return whether the proof counts the flips of other people.

    The flips count only if the number of people is given, and one of the following is true. The
    protocol is flip or single-bit; only sums are seen; every bit is sent as a message; or
    ``count_crowd`` is set.
    """
    if given.users is None:
        return False
    always = name in ("flip", "single-bit") or given.count_crowd
    return always or given.observer == Observer.SUMS or _is_sent_bitwise(name, given)


def record_fields(name: str, counted: CountedParameters) -> tuple[ObservedMessage, int, str]:
    """Return a message of protocol ``name``, the number of messages that a record has, and a note.

    The note is a further assumption; it is empty if there is none. If the threshold is sought, the
    message has the largest threshold.
    """
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


def start(message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
    """Return the parameter at which about ``goal.cover`` messages hide the person's record.

    The start never decides where a search ends. A fake hides the person's record if the fake shows
    all set bits of the person's record. The record of another person hides it if flips have set
    these bits and have cleared the other person's own bits.
    """
    m = message.mechanism
    if not isinstance(m, BitFlips) or parameter not in (Parameter.FAKES, Parameter.FLIP):
        raise TypeError(f"{m.name} has no {parameter}")
    fakes = m.fakes.count
    if parameter == Parameter.FAKES:
        return round(goal.cover * SCALE / m.threshold)
    if message.observer is Observer.SUMS or (m.max_set is None and m.bins == 1):
        chance = goal.cover / (fakes + m.crowd + 1)
    elif m.max_set is None:
        chance = 0.5 * (goal.cover / m.crowd) ** (1.0 / m.bins)
    else:
        chance = (goal.cover / (fakes + 1)) ** (1.0 / m.max_set)
        if m.crowd:
            chance = min(chance, (goal.cover / m.crowd) ** (0.5 / m.max_set))
    return round(min(0.25, chance) * SCALE)


def observed_unit(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """Return the message that is seen separately, and the number of such messages.

    If only sums are seen, this message is a single bit, unless the record is one value that is sent
    once. The number of bins is reduced to the bins in which two records may differ, and one more.
    If the crowd counts, ``NoFakes()`` replaces ``BlankFakes(0)``.
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
    """Return whether the record is a single bit, or a value that nothing but blanks hides."""
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
    """Return upper bounds in both orders of the neighbors, for a single bit among fake zeros.

    Return None for other records, for which the same bounds are used in both orders.
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


def delta(
    message: ObservedMessage, epsilon: float, memo: Memo, *, lower_only: bool = False
) -> ProvedDelta:
    """Return both bounds of delta(epsilon), for the worse order of the neighbors.

    With ``lower_only`` the upper bound is one if a worst crowd would have to be searched for.
    """
    m = require_bit_flips(message)
    if m.max_set is None:
        return _bits_delta(m, message.others, epsilon, memo, lower_only=lower_only)
    fakes, most = m.fakes.count, m.max_set
    if message.observer is Observer.SUMS:
        given = m.crowd, fakes, m.threshold, epsilon, m.bins, memo
        bounds = one_hot.sums_delta(*given, lower_only=lower_only)
        return ProvedDelta(
            bounds, one_hot.SUMS_SOURCE, _crowd_assumption(m) + "; only sums are seen"
        )
    if isinstance(m.fakes, UniformFakes):
        return _uniform_fakes_delta(m, epsilon)
    if most > 1:
        return _set_delta(m, most, epsilon)
    if m.crowd:
        bounds = one_hot.messages_delta(m.crowd, fakes, m.threshold, epsilon, m.bins, memo)
        return ProvedDelta(bounds, one_hot.MESSAGES_SOURCE, _crowd_assumption(m))
    if m.repeats == 1:
        bounds = flip_blank.delta(fakes, m.threshold, epsilon)
    else:
        bounds = repeats.delta_among_blanks(fakes, m.threshold, epsilon, m.repeats, memo)
    return ProvedDelta(bounds, flip_blank.SOURCE, _fakes_assumption(m))


def _bits_delta(
    m: BitFlips, others: int | None, epsilon: float, memo: Memo, *, lower_only: bool
) -> ProvedDelta:
    if m.bins == 1:
        given, crowd = (m.crowd, m.fakes.count, m.threshold, epsilon, others), m.crowd > 0
        bounds = single_bit.delta(
            *given, count_crowd=crowd, repeats=m.repeats, memo=memo, lower_only=lower_only
        )
        known = "" if others is None else f"; exactly {others:,} of the others hold a one"
        hiding = _crowd_assumption(m) if m.crowd else _fakes_assumption(m)
        return ProvedDelta(bounds, single_bit.SOURCE, hiding + known)
    if others is None:
        bounds = vectors.any_dataset_delta(m.crowd, m.bins, m.threshold, epsilon)
        return ProvedDelta(bounds, vectors.SOURCE, _crowd_assumption(m))
    bounds = vectors.homogeneous_delta(m.crowd, m.bins, m.threshold, epsilon)
    return ProvedDelta(
        bounds, _HOMOGENEOUS_SOURCE, f"{_HOMOGENEOUS_ASSUMPTION}; {_crowd_assumption(m)}"
    )


def _set_delta(m: BitFlips, most: int, epsilon: float) -> ProvedDelta:
    fakes = m.fakes.count
    if not m.crowd:
        bounds = k_hot.delta_among_blanks(fakes, most, m.threshold, epsilon, m.bins)
        return ProvedDelta(bounds, k_hot.SOURCE, _fakes_assumption(m))
    bounds = k_hot.delta_in_crowd(m.crowd, fakes, most, m.threshold, epsilon, m.bins)
    return ProvedDelta(bounds, k_hot.CROWD_SOURCE, _crowd_assumption(m))


def _uniform_fakes_delta(m: BitFlips, epsilon: float) -> ProvedDelta:
    fakes = m.fakes.count
    bounds = flip_uniform.messages_delta(fakes, m.bins, m.threshold, epsilon)
    if not m.crowd:
        return ProvedDelta(bounds, flip_uniform.SOURCE, _fakes_assumption(m))
    # A flipped uniform fake is a flipped record, so it is part of the privacy blanket.
    among_blanks = one_hot.blanket_upper(m.crowd + fakes, 0, m.threshold, epsilon)
    return ProvedDelta(
        Bracket(0.0, min(bounds.upper, among_blanks)),
        f"the smaller of: {flip_uniform.SOURCE}; {one_hot.MESSAGES_SOURCE}",
        _crowd_assumption(m),
    )


def _uniform_fakes_upper(
    m: BitFlips, epsilon: float, smoothed: float = 0.0, *, few: bool = False
) -> float:
    fakes = m.fakes.count
    found = flip_uniform.upper(fakes, m.bins, m.threshold, epsilon, smoothed, few=few)
    if not m.crowd:
        return found
    among = one_hot.blanket_upper(m.crowd + fakes, 0, m.threshold, epsilon, smoothed)
    return min(found, among)


def choose_bound(message: ObservedMessage, bound: Bound) -> Bound:
    """Return the tightest kind of bound that costs no more than ``bound``.

    For sets among blanks there are all four kinds of bounds if messages are observed. For sums, and
    for a single bit in an unknown crowd, there are all kinds except rough bounds. For values among
    uniform fakes or other people, and for free bits in an unknown crowd, there are near, rough and
    exact bounds. For all other records there are only exact bounds.
    """
    if _most_set(message):
        return bound
    if _is_bit_in_unknown_crowd(message) or _are_sums_observed(message):
        return Bound.EXPECTED if bound is Bound.ROUGH else bound
    m = require_bit_flips(message)
    whole = m.max_set is None and m.bins > 1 and message.others is None
    value = m.max_set is not None and (m.crowd > 0 or isinstance(m.fakes, UniformFakes))
    return bound if (whole or value) and bound in (Bound.NEAR, Bound.ROUGH) else Bound.EXACT


def upper(
    message: ObservedMessage, epsilons: Sequence[float], bound: Bound, memo: Memo
) -> Sequence[float]:
    """Return upper bounds at several epsilons; proofs of a worst crowd share their work."""
    bound = choose_bound(message, bound)
    if bound is Bound.NEAR and len(epsilons) != 1:
        found = _upper_at_several(message, epsilons, memo)
        if found is not None:
            return found
    return [_one_upper(message, epsilon, bound, memo) for epsilon in epsilons]


def _upper_at_several(
    message: ObservedMessage, epsilons: Sequence[float], memo: Memo
) -> Sequence[float] | None:
    """Return upper bounds at several epsilons, if they are computed together; None otherwise.

    They are computed together for single bits, for sums, and for sets with many orbits (``k_hot``).
    Raises EffortError if sums would take too long. If ``epsilons`` is empty, only this is checked.
    """
    m = require_bit_flips(message)
    crowd = m.crowd, m.fakes.count
    if 2 * (most := _most_set(message)) > m.bins:
        return (
            k_hot.upper_at_several(*crowd, most, m.threshold, epsilons, m.bins) if epsilons else []
        )
    if _are_sums_observed(message):
        one_hot.check_work_at_several(*crowd, m.threshold)
        sums = (
            one_hot.sums_delta_at_several(*crowd, m.threshold, epsilons, memo) if epsilons else []
        )
        return [bounds.upper for bounds in sums]
    if _is_bit_in_unknown_crowd(message) and epsilons:
        bits = single_bit.delta_at_several(
            *crowd, m.threshold, epsilons, repeats=m.repeats, memo=memo
        )
        return [bounds.upper for bounds in bits]
    return None


def _one_upper(message: ObservedMessage, epsilon: float, bound: Bound, memo: Memo) -> float:
    m, proved = require_bit_flips(message), bound in (Bound.EXACT, Bound.NEAR)
    crowd = m.crowd, m.fakes.count
    smoothed = {Bound.NEAR: NEAR, Bound.ROUGH: ROUGH}.get(bound, 0.0)
    if _is_bit_in_unknown_crowd(message) and not proved:
        return single_bit.expected_upper(*crowd, m.threshold, epsilon, repeats=m.repeats, memo=memo)
    if _are_sums_observed(message) and not proved:
        return one_hot.expected_upper_of_sums(*crowd, m.threshold, epsilon, memo)
    if most := _most_set(message):
        sets = *crowd, most, m.threshold, epsilon, m.bins
        return k_hot.upper(*sets, expected_only=not proved, smoothed=smoothed)
    if m.max_set is None and m.bins > 1 and message.others is None:
        return vectors.blanket_upper(m.crowd, m.bins, m.threshold, epsilon, smoothed)
    if m.max_set is not None and message.observer is Observer.MESSAGES:
        if isinstance(m.fakes, UniformFakes):
            return _uniform_fakes_upper(m, epsilon, smoothed, few=bound is Bound.ROUGH)
        if m.crowd:
            return one_hot.blanket_upper(*crowd, m.threshold, epsilon, smoothed)
    return delta(message, epsilon, memo).bounds.upper


def _are_sums_observed(message: ObservedMessage) -> bool:
    """Return whether only the sums of bins are seen."""
    return require_bit_flips(message).max_set is not None and message.observer is Observer.SUMS


def _most_set(message: ObservedMessage) -> int:
    """Return the maximum number of set bits if whole sets are seen among blanks; otherwise 0."""
    m = require_bit_flips(message)
    whole = message.observer is Observer.MESSAGES and not isinstance(m.fakes, UniformFakes)
    return m.max_set if whole and m.max_set is not None and m.max_set > 1 else 0


def _is_bit_in_unknown_crowd(message: ObservedMessage) -> bool:
    """Return whether the message is a single bit in a crowd of which nothing is known."""
    m = require_bit_flips(message)
    return m.max_set is None and m.bins == 1 and m.crowd > 0 and message.others is None


def lower_of(message: ObservedMessage, epsilon: float, rounds: int) -> float:
    """Return a lower bound from one kind of message, in crowds that are known to hide little."""
    kinds = repeats.flip_kinds(require_bit_flips(message), message.observer, message.others)
    return repeats.lower_bound(kinds, epsilon, rounds)


def _fakes_assumption(m: BitFlips) -> str:
    return f"{m.fakes.count:,} fakes come from honest parties; at least one mix shuffles"


def _crowd_assumption(m: BitFlips) -> str:
    more = f" and {m.fakes.count:,} fakes arrive" if m.fakes.count else ""
    return f"{m.crowd:,} honest people flip their bits as the protocol says{more}; one mix shuffles"
