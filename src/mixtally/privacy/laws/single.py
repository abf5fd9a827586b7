"""Every law that has a price, by name: one message a person, sent once."""

import math
from collections.abc import Callable
from dataclasses import replace

from mixtally.ground.fixed import SCALE
from mixtally.privacy.divergence import (
    clear_shaped,
    clear_uniform,
    flip_blank,
    flip_uniform,
    k_hot,
    one_hot,
    repeats,
    single_bit,
    vectors,
)
from mixtally.privacy.divergence import memoized as remembered
from mixtally.privacy.laws.ask import Ask, real, whole
from mixtally.privacy.laws.law import Law, Quote
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.protocols.clear_shaped import SHAPED_ASSUMPTION, shape_weights
from mixtally.records.guarantee import Observer


def _fakes_arrive(ask: Ask) -> str:
    return f"{ask.fakes or 0:,} fakes come from honest parties; at least one mix shuffles"


def _crowd_flips(ask: Ask) -> str:
    more = f" and {ask.fakes:,} fakes arrive" if ask.fakes else ""
    return f"{whole(ask.users):,} honest people flip their bits as told{more}; one mix shuffles"


def _alone(ask: Ask) -> str:
    """The crowd of a clear protocol hides nobody in the worst case, counted or not."""
    return "; other people's answers in clear hide nobody at worst" if ask.count_crowd else ""


def _flip_blank(ask: Ask, epsilon: float) -> Quote:
    fakes, threshold, most = whole(ask.fakes), whole(ask.threshold), ask.max_set or 1
    if most > 1 and ask.count_crowd:
        users = whole(ask.users)
        ends = k_hot.among_free_blanks(users, fakes, most, threshold, epsilon, ask.bins)
        return Quote(ends, k_hot.CROWD_SOURCE, _crowd_flips(ask))
    if most > 1:
        ends = k_hot.among_blanks(fakes, most, threshold, epsilon, ask.bins)
        return Quote(ends, k_hot.SOURCE, _fakes_arrive(ask))
    if ask.count_crowd:
        ends = one_hot.messages(whole(ask.users), fakes, threshold, epsilon, ask.bins)
        return Quote(ends, one_hot.MESSAGES_SOURCE, _crowd_flips(ask))
    if ask.repeats is None:
        ends = flip_blank.delta(fakes, threshold, epsilon)
    else:
        ends = repeats.among_blanks(fakes, threshold, epsilon, ask.repeats)
    return Quote(ends, flip_blank.SOURCE, _fakes_arrive(ask))


def _flip_blank_upper(ask: Ask, epsilon: float) -> float:
    fakes, threshold, most = whole(ask.fakes), whole(ask.threshold), ask.max_set or 1
    if ask.count_crowd and most == 1:
        return one_hot.free_blanks(whole(ask.users), fakes, threshold, epsilon)
    if most > 1 and not ask.count_crowd:
        return k_hot.blanks_upper(fakes, most, threshold, epsilon, ask.bins)
    return _flip_blank(ask, epsilon).ends.upper


def _flip_blank_expected(ask: Ask, epsilon: float) -> float:
    if (ask.max_set or 1) == 1:
        return _flip_blank_upper(ask, epsilon)
    if ask.count_crowd:
        return k_hot.expected_free_blanks_upper(
            whole(ask.users), whole(ask.fakes), whole(ask.max_set), whole(ask.threshold), epsilon,
            ask.bins,
        )  # fmt: skip
    return k_hot.expected_blanks_upper(
        whole(ask.fakes), whole(ask.max_set), whole(ask.threshold), epsilon, ask.bins
    )


def _clear_uniform(ask: Ask, epsilon: float) -> Quote:
    ends = clear_uniform.delta(whole(ask.fakes), whole(ask.bins), epsilon)
    return Quote(ends, clear_uniform.SOURCE, _fakes_arrive(ask) + _alone(ask))


def _clear_shaped(ask: Ask, epsilon: float) -> Quote:
    ends = clear_shaped.delta(shape_weights(whole(ask.ratio), whole(ask.shift)), epsilon)
    return Quote(ends, clear_shaped.SOURCE, SHAPED_ASSUMPTION + _alone(ask))


def _single_bit(ask: Ask, epsilon: float) -> Quote:
    ends = single_bit.delta(
        whole(ask.users),
        whole(ask.fakes),
        whole(ask.threshold),
        epsilon,
        ask.ones,
        count_crowd=True,
        repeats=ask.repeats or 1,
    )
    known = "" if ask.ones is None else f"; exactly {ask.ones:,} of the others hold a one"
    return Quote(ends, single_bit.SOURCE, _crowd_flips(ask) + known)


def _flip(ask: Ask, epsilon: float) -> Quote:
    users, threshold = whole(ask.users), whole(ask.threshold)
    fakes = ask.fakes or 0
    if ask.bits is not None:
        if ask.background == "zero":
            ends = vectors.homogeneous(users, ask.bits, threshold, epsilon)
            return Quote(
                ends,
                "exact law of the privacy ratio (Sufficient Differential Privacy 2017, (3.6))",
                "everybody else holds zeros, the person all ones or all zeros: not a guarantee for "
                "other crowds; " + _crowd_flips(ask),
            )
        ends = vectors.any_dataset(users, ask.bits, threshold, epsilon)
        return Quote(ends, vectors.SOURCE, _crowd_flips(ask))
    if ask.observer is Observer.SUMS:
        ends = one_hot.sums(users, fakes, threshold, epsilon, ask.bins)
        return Quote(ends, one_hot.SUMS_SOURCE, _crowd_flips(ask) + "; only sums are seen")
    if (ask.max_set or 1) > 1:
        ends = k_hot.in_crowd(users, whole(ask.max_set), threshold, epsilon, ask.bins)
        return Quote(ends, k_hot.CROWD_SOURCE, _crowd_flips(ask))
    ends = one_hot.messages(users, fakes, threshold, epsilon, ask.bins)
    return Quote(ends, one_hot.MESSAGES_SOURCE, _crowd_flips(ask))


def _flip_upper(ask: Ask, epsilon: float) -> float:
    users, threshold = whole(ask.users), whole(ask.threshold)
    if ask.bits is not None and ask.background is None:
        return vectors.blanket(users, ask.bits, threshold, epsilon)
    if ask.bits is None and ask.observer is Observer.MESSAGES:
        if (ask.max_set or 1) == 1:
            return one_hot.free_blanks(users, ask.fakes or 0, threshold, epsilon)
        return k_hot.crowd_upper(users, whole(ask.max_set), threshold, epsilon, ask.bins)
    return _flip(ask, epsilon).ends.upper


def _single_bit_expected(ask: Ask, epsilon: float) -> float:
    if ask.ones is not None:
        return _single_bit(ask, epsilon).ends.upper
    return single_bit.expected_upper(
        whole(ask.users), whole(ask.fakes), whole(ask.threshold), epsilon, repeats=ask.repeats or 1
    )


def _single_bit_quick(ask: Ask, epsilon: float) -> float:
    return single_bit.whole_crowd(
        whole(ask.users), whole(ask.fakes), whole(ask.threshold), epsilon, repeats=ask.repeats or 1
    )


def _flip_expected(ask: Ask, epsilon: float) -> float:
    if ask.bits is not None and ask.background is None:
        return vectors.expected_blanket(whole(ask.users), ask.bits, whole(ask.threshold), epsilon)
    if ask.observer is not Observer.SUMS:
        return LAWS["flip" if ask.fakes is None else "flip-uniform"].upper(ask, epsilon)
    return one_hot.expected_sums_upper(
        whole(ask.users), ask.fakes or 0, whole(ask.threshold), epsilon
    )


def _flip_uniform(ask: Ask, epsilon: float) -> Quote:
    fakes, threshold = whole(ask.fakes), whole(ask.threshold)
    if ask.observer is Observer.SUMS:
        return _flip(replace(ask, bits=None, max_set=None), epsilon)
    ends = flip_uniform.messages(fakes, whole(ask.bins), threshold, epsilon)
    if not ask.count_crowd:
        return Quote(ends, flip_uniform.SOURCE, _fakes_arrive(ask))
    # A flipped uniform fake is a flipped one-hot record like any other: all send free blanks.
    free = one_hot.free_blanks(whole(ask.users) + fakes, 0, threshold, epsilon)
    ends = ends if ends.upper <= free else Bracket(0.0, free)
    return Quote(
        Bracket(0.0, ends.upper),
        f"the smaller of: {flip_uniform.SOURCE}; {one_hot.MESSAGES_SOURCE}",
        _crowd_flips(ask),
    )


def _memory(ask: Ask, epsilon: float) -> Quote:
    return Quote(remembered.delta(kept(ask), epsilon), remembered.SOURCE, remembered.ASSUMPTION)


def kept(ask: Ask) -> remembered.Memory:
    """The memory that ``ask`` describes."""
    return remembered.Memory(
        permanent=real(ask.permanent),
        p=real(ask.p),
        q=real(ask.q),
        hashes=whole(ask.hashes),
        reports=whole(ask.reports),
    )


def _odds(ask: Ask) -> float:
    """The local epsilon of one bit."""
    return math.log((SCALE - whole(ask.threshold)) / whole(ask.threshold))


def _never(_: Ask) -> bool:
    return False


def _law(
    price: Callable[[Ask, float], Quote],
    needs: str,
    may: str,
    sought: str,
    reach: Callable[[Ask], float],
    upper: Callable[[Ask, float], float] | None = None,
    expected: Callable[[Ask, float], float] | None = None,
    repeated: Callable[[Ask], bool] = _never,
    quick: Callable[[Ask, float], float] | None = None,
) -> Law:
    proved = upper or (lambda ask, epsilon: price(ask, epsilon).ends.upper)
    return Law(
        frozenset(needs.split()),
        frozenset(may.split()),
        price,
        proved,
        expected or proved,
        tuple(sought.split()),
        reach,
        repeated,
        quick,
    )


_ALWAYS = " users count_crowd repeats"
LAWS: dict[str, Law] = {
    "flip-blank": _law(
        _flip_blank,
        "fakes threshold",
        "bins max_set split" + _ALWAYS,
        "threshold fakes",
        lambda ask: 2.0 * (ask.max_set or 1) * _odds(ask),
        _flip_blank_upper,
        _flip_blank_expected,
        repeated=lambda ask: not ask.count_crowd and (ask.max_set or 1) == 1,
    ),
    "clear-uniform": _law(
        _clear_uniform, "fakes bins", "max_set split" + _ALWAYS, "fakes", lambda _: math.inf
    ),
    "clear-shaped": _law(
        _clear_shaped,
        "ratio shift",
        "bins max_set split" + _ALWAYS,
        "shift",
        lambda _: math.inf,
    ),
    "single-bit": _law(
        _single_bit,
        "users fakes threshold",
        "ones" + _ALWAYS,
        "threshold fakes",
        _odds,
        expected=_single_bit_expected,
        repeated=lambda _: True,
        quick=_single_bit_quick,
    ),
    "flip": _law(
        _flip,
        "users threshold",
        "bins bits max_set observer background split" + _ALWAYS,
        "threshold",
        lambda ask: (ask.bits or 2 * (ask.max_set or 1)) * _odds(ask),
        _flip_upper,
        _flip_expected,
    ),
    "flip-uniform": _law(
        _flip_uniform,
        "users fakes bins threshold",
        "observer max_set split" + _ALWAYS,
        "threshold fakes",
        lambda ask: 2.0 * _odds(ask),
        expected=_flip_expected,
    ),
    "memory": _law(
        _memory,
        "permanent p q hashes reports",
        "users",
        "permanent",
        lambda ask: remembered.loss(kept(ask)).eps_T,
    ),
}
