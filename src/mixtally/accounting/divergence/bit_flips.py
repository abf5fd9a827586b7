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

from mixtally.accounting.divergence import (
    Bound,
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
from mixtally.accounting.divergence.flips_apart import flips
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.saddle_point import NEAR, ROUGH
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, UniformFakes
from mixtally.primitives.memo import Memo

_ZEROS = "exact distribution of the privacy ratio (Sufficient Differential Privacy 2017, (3.6))"
_NO_PROMISE = (
    "everybody else holds zeros, the person all ones or all zeros: not a guarantee for other crowds"
)
MECHANISM = BitFlips
start = flips_start.start
apart, each_way = flips_apart.apart, flips_apart.each_way
knows_repeats = flips_apart.knows_repeats
record_fields = flips_protocols.record_fields
counts_people = flips_protocols.counts_people


def delta(
    message: ObservedMessage, epsilon: float, memo: Memo, *, lower_alone: bool = False
) -> ProvedDelta:
    """Both bounds of delta(epsilon), the larger of both directions.

    With ``lower_alone`` the upper bound is one where a worst crowd would have to be searched for.
    """
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


def taken(message: ObservedMessage, bound: Bound) -> Bound:
    """Sets have all four; a worst crowd is searched for as well where it is only expected, and
    proved at several epsilons at once; values and vectors among others have points that are near.
    """
    if _most_set(message):
        return bound
    if _searched(message) or _summed(message):
        return Bound.EXPECTED if bound is Bound.ROUGH else bound
    m = flips(message)
    whole = m.max_set is None and m.bins > 1 and message.others is None
    value = m.max_set is not None and (m.crowd > 0 or isinstance(m.fakes, UniformFakes))
    return bound if (whole or value) and bound in (Bound.NEAR, Bound.ROUGH) else Bound.EXACT


def upper(
    message: ObservedMessage, epsilons: Sequence[float], bound: Bound, memo: Memo
) -> Sequence[float]:
    """The upper bounds alone: proofs of a worst crowd at several epsilons share their work."""
    bound = taken(message, bound)
    if bound is Bound.NEAR and len(epsilons) != 1:
        found = _at_once(message, epsilons, memo)
        if found is not None:
            return found
    return [_one_upper(message, epsilon, bound, memo) for epsilon in epsilons]


def _at_once(
    message: ObservedMessage, epsilons: Sequence[float], memo: Memo
) -> Sequence[float] | None:
    """Of single bits, sums and sets that lie in many ways; None for others.

    Raises EffortError where sums would take too long, of no epsilon before their work.
    """
    m = flips(message)
    crowd = m.crowd, m.fakes.count
    if 2 * (most := _most_set(message)) > m.bins:
        return k_hot.at_once(*crowd, most, m.threshold, epsilons, m.bins) if epsilons else []
    if _summed(message):
        one_hot.check_several(*crowd, m.threshold)
        sums = one_hot.sums_at_once(*crowd, m.threshold, epsilons, memo) if epsilons else []
        return [bounds.upper for bounds in sums]
    if _searched(message) and epsilons:
        bits = single_bit.at_once(*crowd, m.threshold, epsilons, repeats=m.repeats, memo=memo)
        return [bounds.upper for bounds in bits]
    return None


def _one_upper(message: ObservedMessage, epsilon: float, bound: Bound, memo: Memo) -> float:
    m, proved = flips(message), bound in (Bound.EXACT, Bound.NEAR)
    crowd = m.crowd, m.fakes.count
    smoothed = {Bound.NEAR: NEAR, Bound.ROUGH: ROUGH}.get(bound, 0.0)
    if _searched(message) and not proved:
        return single_bit.expected_upper(*crowd, m.threshold, epsilon, repeats=m.repeats, memo=memo)
    if _summed(message) and not proved:
        return one_hot.expected_sums_upper(*crowd, m.threshold, epsilon, memo)
    if most := _most_set(message):
        sets = *crowd, most, m.threshold, epsilon, m.bins
        return k_hot.upper(*sets, likely=not proved, smoothed=smoothed)
    if m.max_set is None and m.bins > 1 and message.others is None:
        return vectors.blanket_upper(m.crowd, m.bins, m.threshold, epsilon, smoothed)
    if m.max_set is not None and message.observer is Observer.MESSAGES:
        if isinstance(m.fakes, UniformFakes):
            return _uniform_upper(m, epsilon, smoothed, few=bound is Bound.ROUGH)
        if m.crowd:
            return one_hot.blanket_upper(*crowd, m.threshold, epsilon, smoothed)
    return delta(message, epsilon, memo).bounds.upper


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
