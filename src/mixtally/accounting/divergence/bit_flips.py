"""Flipped bits: which derivation applies to which record, fakes, crowd and observer.

    record       fakes             crowd    messages                      sums
    value        blank, no crowd            ``flip_blank``, ``repeats``
                 uniform                    ``flip_uniform``              ``one_hot.sums_delta``
                 any               counted  ``one_hot.messages_delta``    ``one_hot.sums_delta``
    set          blank                      ``k_hot``                     bit by bit
    single bit   any               counted  ``single_bit``                the same
    free bits    none              counted  ``vectors``                   bit by bit

Where every bit is seen separately, it hides separately. Two bins differ for every value of a
record, so a record is a composition of this number of single bits.
"""

from collections.abc import Sequence

from mixtally.accounting.divergence import (
    Bound,
    ObservedMessage,
    ProvedDelta,
    flip_blank,
    flip_uniform,
    flips_observation,
    flips_protocols,
    flips_start,
    k_hot,
    one_hot,
    repeats,
    single_bit,
    vectors,
)
from mixtally.accounting.divergence.flips_observation import require_bit_flips
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.saddle_point import NEAR, ROUGH
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, UniformFakes
from mixtally.primitives.memo import Memo

_HOMOGENEOUS_SOURCE = (
    "exact distribution of the privacy ratio (Sufficient Differential Privacy 2017, (3.6))"
)
_HOMOGENEOUS_ASSUMPTION = (
    "everybody else holds zeros, the person all ones or all zeros: not a guarantee for other crowds"
)
MECHANISM = BitFlips
start = flips_start.start
observed_unit, directional_upper = (
    flips_observation.observed_unit,
    flips_observation.directional_upper,
)
handles_repeats = flips_observation.handles_repeats
record_fields = flips_protocols.record_fields
counts_people = flips_protocols.counts_people


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

    Sets have all four kinds. In an unknown crowd an estimate searches for the worst crowd, and a
    proof covers several epsilons at once. Values and vectors among others have near and rough
    points.
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
    """Return bounds of single bits, sums, and sets with many orbits; None for other records.

    Raises EffortError if sums would take too long; with no epsilon, before any work is done.
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
    """Return the most bits of a set that is seen whole among blanks; 0 for other records."""
    m = require_bit_flips(message)
    whole = message.observer is Observer.MESSAGES and not isinstance(m.fakes, UniformFakes)
    return m.max_set if whole and m.max_set is not None and m.max_set > 1 else 0


def _is_bit_in_unknown_crowd(message: ObservedMessage) -> bool:
    """Return whether the message is a single bit in a crowd of which nothing is known."""
    m = require_bit_flips(message)
    return m.max_set is None and m.bins == 1 and m.crowd > 0 and message.others is None


def lower_of(message: ObservedMessage, epsilon: float, rounds: int) -> float:
    """Return a lower bound from one kind of message, in crowds that are known to be bad."""
    kinds = repeats.flip_kinds(require_bit_flips(message), message.observer, message.others)
    return repeats.lower_bound(kinds, epsilon, rounds)


def _fakes_assumption(m: BitFlips) -> str:
    return f"{m.fakes.count:,} fakes come from honest parties; at least one mix shuffles"


def _crowd_assumption(m: BitFlips) -> str:
    more = f" and {m.fakes.count:,} fakes arrive" if m.fakes.count else ""
    return f"{m.crowd:,} honest people flip their bits as the protocol says{more}; one mix shuffles"
