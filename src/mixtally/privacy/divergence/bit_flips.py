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

from mixtally.ground.fixed import MOST_THRESHOLD, threshold_of
from mixtally.ground.memo import Memo
from mixtally.privacy.divergence import (
    CountedParameters,
    ObservedMessage,
    ParameterRules,
    ProvedDelta,
    apart_note,
    flip_blank,
    flip_uniform,
    flips_apart,
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
from mixtally.records.mechanism import BitFlips, BlankFakes, NoFakes, Parameter, UniformFakes
from mixtally.records.mechanism.parameters import Parameters
from mixtally.records.question import MOST_BINS

_ZEROS = "exact law of the privacy ratio (Sufficient Differential Privacy 2017, (3.6))"
_NO_PROMISE = (
    "everybody else holds zeros, the person all ones or all zeros: not a guarantee for other crowds"
)
start = flips_start.start
apart, knows_repeats = flips_apart.apart, flips_apart.knows_repeats
_ALWAYS = frozenset({"users", "count_crowd", "repeats"})
_FLIP, _FAKES = ("flip", Parameter.FLIP), ("fakes", Parameter.FAKES)
PROTOCOLS = {
    "flip-blank": ParameterRules(
        frozenset({"fakes", "flip"}), _ALWAYS | {"bins", "max_set", "split"}, (_FLIP, _FAKES)
    ),
    "single-bit": ParameterRules(
        frozenset({"users", "fakes", "flip"}), _ALWAYS | {"ones"}, (_FLIP, _FAKES)
    ),
    "flip": ParameterRules(
        frozenset({"users", "flip"}),
        _ALWAYS | {"bins", "bits", "max_set", "observer", "background", "split"},
        (_FLIP,),
    ),
    "flip-uniform": ParameterRules(
        frozenset({"users", "fakes", "bins", "flip"}),
        _ALWAYS | {"observer", "max_set", "split"},
        (_FLIP, _FAKES),
    ),
}


def counts_people(name: str, given: Parameters) -> bool:
    """Always for flip and single-bit; where sums are seen; or when ``count_crowd`` is given."""
    if given.users is None:
        return False
    always = name in ("flip", "single-bit") or given.count_crowd
    return always or given.observer is Observer.SUMS or _bit_by_bit(name, given)


def record_fields(name: str, counted: CountedParameters) -> tuple[ObservedMessage, int, str]:
    """One message of protocol ``name``; a threshold that is sought is not read."""
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
    pieces = 1 if whole_bits else given.bits or 1 if single else given.pieces()
    summed = _bit_by_bit(name, given) and not single
    observer = Observer.SUMS if summed else given.observer
    others = 0 if given.background else given.ones
    composed = pieces > 1 or (summed and mechanism.repeats > 1)  # which has a note of its own
    note = "" if composed else apart_note(given)
    return ObservedMessage(mechanism, observer, others), pieces, note


def _bit_by_bit(name: str, given: Parameters) -> bool:
    """Whether a value is sent one bit a message: that is seen as sums are."""
    return given.split and (given.max_set or 1) == 1 and name in ("flip", "flip-uniform")


def exact(message: ObservedMessage, epsilon: float, memo: Memo) -> ProvedDelta:
    """Both bounds of delta(epsilon), the larger of both directions."""
    m = flips(message)
    if m.max_set is None:
        return _bits(m, message.others, epsilon, memo)
    fakes, most = m.fakes.count, m.max_set
    if message.observer is Observer.SUMS:
        bounds = one_hot.sums(m.crowd, fakes, m.threshold, epsilon, m.bins, memo)
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


def _bits(m: BitFlips, others: int | None, epsilon: float, memo: Memo) -> ProvedDelta:
    if m.bins == 1:
        given, crowd = (m.crowd, m.fakes.count, m.threshold), m.crowd > 0
        bounds = single_bit.delta(
            *given, epsilon, others, count_crowd=crowd, repeats=m.repeats, memo=memo
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
