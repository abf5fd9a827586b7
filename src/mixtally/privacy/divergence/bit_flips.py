"""Flipped bits: which derivation holds for which record, fakes, crowd and observer.

    record       fakes             crowd    messages                            sums
    value        blank, no crowd            ``flip_blank``, ``repeats``
                 uniform                    ``flip_uniform``                    ``one_hot.sums``
                 any               counted  ``one_hot.messages``                ``one_hot.sums``
    set          blank                      ``k_hot``                           bit by bit
    single bit   any               counted  ``single_bit``                      the same
    free bits    none              counted  ``vectors``                         bit by bit

Where bits are seen one by one they hide one by one: two bins differ for every value of a record, so
a record is a composition of so many single bits.
"""

from collections.abc import Sequence

from mixtally.ground.memo import Memo
from mixtally.privacy.divergence import (
    ObservedMessage,
    ProvedDelta,
    flip_blank,
    flip_uniform,
    flips_apart,
    flips_protocols,
    flips_start,
    k_hot,
    one_hot,
    repeats,
    single_bit,
    vectors,
)
from mixtally.privacy.divergence.flips_apart import flips
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.saddle_point import NEAR, ROUGH
from mixtally.records.guarantee import Observer
from mixtally.records.mechanism import BitFlips, UniformFakes

_ZEROS = "exact law of the privacy ratio (Sufficient Differential Privacy 2017, (3.6))"
_NO_PROMISE = (
    "everybody else holds zeros, the person all ones or all zeros: not a guarantee for other crowds"
)
start = flips_start.start
apart, each_way = flips_apart.apart, flips_apart.each_way
knows_repeats = flips_apart.knows_repeats
PROTOCOLS, record_fields = flips_protocols.PROTOCOLS, flips_protocols.record_fields
counts_people = flips_protocols.counts_people


def exact(message: ObservedMessage, epsilon: float, memo: Memo) -> ProvedDelta:
    """Both bounds of delta(epsilon), the larger of both directions."""
    return _proved(message, epsilon, memo, lower_alone=False)


def at_least(message: ObservedMessage, epsilon: float, memo: Memo) -> ProvedDelta:
    """``exact``, but where no worst crowd is known the upper bound is one."""
    return _proved(message, epsilon, memo, lower_alone=True)


def _proved(
    message: ObservedMessage, epsilon: float, memo: Memo, *, lower_alone: bool
) -> ProvedDelta:
    m = flips(message)
    if m.max_set is None:
        return _bits(m, message.others, epsilon, memo, lower_alone=lower_alone)
    fakes, most = m.fakes.count, m.max_set
    if message.observer is Observer.SUMS:
        given = m.crowd, fakes, m.threshold, epsilon, m.bins, memo
        bounds = one_hot.sums(*given, lower_alone=lower_alone)
        return ProvedDelta(bounds, one_hot.SUMS_SOURCE, _crowd_flips(m) + "; only sums are seen")
    if isinstance(m.fakes, UniformFakes):
        return _uniform(m, epsilon)
    if most > 1:
        return _set(m, most, epsilon)
    if m.crowd:
        bounds = one_hot.messages(m.crowd, fakes, m.threshold, epsilon, m.bins, memo)
        return ProvedDelta(bounds, one_hot.MESSAGES_SOURCE, _crowd_flips(m))
    if m.repeats == 1:
        bounds = flip_blank.delta(fakes, m.threshold, epsilon)
    else:
        bounds = repeats.among_blanks(fakes, m.threshold, epsilon, m.repeats, memo)
    return ProvedDelta(bounds, flip_blank.SOURCE, _fakes_arrive(m))


def _bits(
    m: BitFlips, others: int | None, epsilon: float, memo: Memo, *, lower_alone: bool
) -> ProvedDelta:
    if m.bins == 1:
        given, crowd = (m.crowd, m.fakes.count, m.threshold, epsilon, others), m.crowd > 0
        bounds = single_bit.delta(
            *given, count_crowd=crowd, repeats=m.repeats, memo=memo, lower_alone=lower_alone
        )
        known = "" if others is None else f"; exactly {others:,} of the others hold a one"
        hiding = _crowd_flips(m) if m.crowd else _fakes_arrive(m)
        return ProvedDelta(bounds, single_bit.SOURCE, hiding + known)
    if others is None:
        bounds = vectors.any_dataset(m.crowd, m.bins, m.threshold, epsilon)
        return ProvedDelta(bounds, vectors.SOURCE, _crowd_flips(m))
    bounds = vectors.homogeneous(m.crowd, m.bins, m.threshold, epsilon)
    return ProvedDelta(bounds, _ZEROS, f"{_NO_PROMISE}; {_crowd_flips(m)}")


def _set(m: BitFlips, most: int, epsilon: float) -> ProvedDelta:
    fakes = m.fakes.count
    if not m.crowd:
        bounds = k_hot.among_blanks(fakes, most, m.threshold, epsilon, m.bins)
        return ProvedDelta(bounds, k_hot.SOURCE, _fakes_arrive(m))
    bounds = k_hot.in_crowd(m.crowd, fakes, most, m.threshold, epsilon, m.bins)
    return ProvedDelta(bounds, k_hot.CROWD_SOURCE, _crowd_flips(m))


def _uniform(m: BitFlips, epsilon: float) -> ProvedDelta:
    fakes = m.fakes.count
    bounds = flip_uniform.messages(fakes, m.bins, m.threshold, epsilon)
    if not m.crowd:
        return ProvedDelta(bounds, flip_uniform.SOURCE, _fakes_arrive(m))
    # A flipped uniform fake is a flipped record like any other: part of the privacy blanket.
    among_blanks = one_hot.blanket_upper(m.crowd + fakes, 0, m.threshold, epsilon)
    return ProvedDelta(
        Bracket(0.0, min(bounds.upper, among_blanks)),
        f"the smaller of: {flip_uniform.SOURCE}; {one_hot.MESSAGES_SOURCE}",
        _crowd_flips(m),
    )


def _uniform_upper(
    m: BitFlips, epsilon: float, smoothed: float = 0.0, *, few: bool = False
) -> float:
    fakes = m.fakes.count
    found = flip_uniform.upper(fakes, m.bins, m.threshold, epsilon, smoothed, few=few)
    if not m.crowd:
        return found
    among = one_hot.blanket_upper(m.crowd + fakes, 0, m.threshold, epsilon, smoothed)
    return min(found, among)


def upper(message: ObservedMessage, epsilon: float, memo: Memo) -> float:
    """The upper bound alone, where that is cheaper."""
    m = flips(message)
    fakes, most = m.fakes.count, m.max_set
    if most is None:
        if m.bins > 1 and message.others is None:
            return vectors.blanket_upper(m.crowd, m.bins, m.threshold, epsilon)
        return exact(message, epsilon, memo).bounds.upper
    if message.observer is Observer.SUMS:
        return exact(message, epsilon, memo).bounds.upper
    if isinstance(m.fakes, UniformFakes):
        return _uniform_upper(m, epsilon)
    if most == 1 and m.crowd:
        return one_hot.blanket_upper(m.crowd, fakes, m.threshold, epsilon)
    if most > 1:
        return k_hot.upper(m.crowd, fakes, most, m.threshold, epsilon, m.bins)
    return exact(message, epsilon, memo).bounds.upper


def expected(message: ObservedMessage, epsilon: float, memo: Memo) -> float:
    """What the upper bound most likely is, not proved: for a search whose end is proved."""
    m = flips(message)
    crowd = m.crowd, m.fakes.count
    if _searched(message):
        return single_bit.expected_upper(*crowd, m.threshold, epsilon, repeats=m.repeats, memo=memo)
    if _summed(message):
        return one_hot.expected_sums_upper(*crowd, m.threshold, epsilon, memo)
    if most := _most_set(message):
        return k_hot.upper(*crowd, most, m.threshold, epsilon, m.bins, likely=True)
    return upper(message, epsilon, memo)


def rough(message: ObservedMessage, epsilon: float, memo: Memo) -> float | None:  # noqa: ARG001
    """To a few hundredths; None for single bits, and for values that none of the crowd hides."""
    return _smoothed(message, epsilon, ROUGH, likely=True)


def near(message: ObservedMessage, epsilon: float, memo: Memo) -> float | None:  # noqa: ARG001
    """To some thousandths; None for the same."""
    return _smoothed(message, epsilon, NEAR, likely=False)


def _smoothed(
    message: ObservedMessage, epsilon: float, smoothed: float, *, likely: bool
) -> float | None:
    """An upper bound with so much more of a Gaussian; where it is ``likely`` not proved of sets."""
    m = flips(message)
    fakes, most, seen = m.fakes.count, m.max_set, message.observer is Observer.MESSAGES
    if most is None and m.bins > 1 and message.others is None:
        return vectors.blanket_upper(m.crowd, m.bins, m.threshold, epsilon, smoothed)
    if most is None or not seen:
        return None
    if isinstance(m.fakes, UniformFakes):
        return _uniform_upper(m, epsilon, smoothed, few=likely)
    if most > 1:
        sets = m.crowd, fakes, most, m.threshold, epsilon, m.bins
        return k_hot.upper(*sets, likely=likely, smoothed=smoothed)
    if not m.crowd:
        return None
    return one_hot.blanket_upper(m.crowd, fakes, m.threshold, epsilon, smoothed)


def quick(message: ObservedMessage, epsilon: float, memo: Memo) -> float | None:
    """For a single bit and sums of bins in any crowd; None for other records and a known crowd."""
    m = flips(message)
    crowd = m.crowd, m.fakes.count, m.threshold
    if _summed(message):
        return one_hot.any_sums(*crowd, epsilon, memo)
    if not _searched(message):
        return None
    return single_bit.any_crowd(*crowd, epsilon, repeats=m.repeats, memo=memo)


def together(
    message: ObservedMessage, epsilons: Sequence[float], memo: Memo
) -> Sequence[float] | None:
    """For a single bit and for sums of bins, whose worst crowds are searched for, and for sets that
    lie in many ways; else None.
    """
    m = flips(message)
    crowd = m.crowd, m.fakes.count
    if 2 * (most := _most_set(message)) > m.bins:
        return k_hot.at_once(*crowd, most, m.threshold, epsilons, m.bins)
    if not epsilons:
        if _summed(message):
            one_hot.check_several(*crowd, m.threshold)
        return [] if _summed(message) or _searched(message) else None
    if _summed(message):
        found = one_hot.sums_at_once(*crowd, m.threshold, epsilons, memo)
    elif _searched(message):
        found = single_bit.at_once(*crowd, m.threshold, epsilons, repeats=m.repeats, memo=memo)
    else:
        return None
    return [bounds.upper for bounds in found]


def _summed(message: ObservedMessage) -> bool:
    """Whether sums of bins are seen."""
    return flips(message).max_set is not None and message.observer is Observer.SUMS


def _most_set(message: ObservedMessage) -> int:
    """How many bits a set has at most that is seen whole among blanks; 0 for other records."""
    m = flips(message)
    whole = message.observer is Observer.MESSAGES and not isinstance(m.fakes, UniformFakes)
    return m.max_set if whole and m.max_set is not None and m.max_set > 1 else 0


def _searched(message: ObservedMessage) -> bool:
    """Whether it is a single bit in a crowd of which nothing is known."""
    m = flips(message)
    return m.max_set is None and m.bins == 1 and m.crowd > 0 and message.others is None


def lower_of(message: ObservedMessage, epsilon: float, rounds: int) -> float:
    """From counting one kind of message, in the crowds that are known to be bad."""
    kinds = repeats.kinds_of_flips(flips(message), message.observer, message.others)
    return repeats.lower_bound(kinds, epsilon, rounds)


def _fakes_arrive(m: BitFlips) -> str:
    return f"{m.fakes.count:,} fakes come from honest parties; at least one mix shuffles"


def _crowd_flips(m: BitFlips) -> str:
    more = f" and {m.fakes.count:,} fakes arrive" if m.fakes.count else ""
    return f"{m.crowd:,} honest people flip their bits as told{more}; one mix shuffles"
