"""Every law that has a price, by name: what it needs, what it costs, how well its counts are known.

``price`` answers for given parameters, ``calibrate`` finds the one that was left out.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from mixtally.errors import ParameterError
from mixtally.ground.fixed import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE
from mixtally.privacy import (
    clear_uniform,
    flip_blank,
    flip_uniform,
    k_hot,
    one_hot,
    single_bit,
    vectors,
)
from mixtally.privacy.bracket import Bracket
from mixtally.privacy.search import least_meeting, usual_cover
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import MOST_USERS, Observer, checked_epsilon

_TOLERANCE = 1e-7
_ORDER = [
    *("users", "fakes", "flip", "bins", "bits", "ones", "max-set"),
    *("background", "observer", "count-crowd", "repeats"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Parameters of a law; None for what it does not take or what is to be found.

    where
      threshold     flip probability times 2^64
      ones          other people who hold a one (single-bit); None for the worst
      max_set       most set bits of a record
      background    "zero" when everybody else is known to hold zeros (flip with bits)
      count_crowd   whether other people's flips are counted on beside the fakes (flip-blank)
      repeats       how often every record is sent (single-bit)
    """

    users: int | None = None
    fakes: int | None = None
    threshold: int | None = None
    bins: int | None = None
    bits: int | None = None
    ones: int | None = None
    max_set: int | None = None
    background: str | None = None
    observer: Observer = Observer.MESSAGES
    count_crowd: bool = False
    repeats: int | None = None


class Quote(NamedTuple):
    """A price with its source and its assumption."""

    ends: Bracket
    source: str
    assumption: str


@dataclass(frozen=True, slots=True)
class Law:
    """One entry: parameters it must have, parameters it may have, and its price.

    ``upper`` is the price's upper end alone, where that is cheaper.
    """

    needs: frozenset[str]
    may: frozenset[str]
    price: Callable[[Ask, float], Quote]
    upper: Callable[[Ask, float], float]


def _fakes_arrive(ask: Ask) -> str:
    return f"{ask.fakes or 0:,} fakes come from honest parties; at least one mix shuffles"


def _crowd_flips(ask: Ask) -> str:
    more = f" and {ask.fakes:,} fakes arrive" if ask.fakes else ""
    return f"{_int(ask.users):,} honest people flip their bits as told{more}; one mix shuffles"


def _int(value: int | None) -> int:
    if value is None:
        raise TypeError("a parameter that the law needs was not checked")
    return value


def _flip_blank(ask: Ask, epsilon: float) -> Quote:
    fakes, threshold = _int(ask.fakes), _int(ask.threshold)
    if (ask.max_set or 1) > 1:
        ends = k_hot.among_blanks(fakes, _int(ask.max_set), threshold, epsilon, ask.bins)
        return Quote(ends, k_hot.SOURCE, _fakes_arrive(ask))
    if ask.count_crowd:
        ends = one_hot.messages(_int(ask.users), fakes, threshold, epsilon, ask.bins)
        return Quote(ends, one_hot.MESSAGES_SOURCE, _crowd_flips(ask))
    return Quote(flip_blank.delta(fakes, threshold, epsilon), flip_blank.SOURCE, _fakes_arrive(ask))


def _clear_uniform(ask: Ask, epsilon: float) -> Quote:
    ends = clear_uniform.delta(_int(ask.fakes), _int(ask.bins), epsilon)
    return Quote(ends, clear_uniform.SOURCE, _fakes_arrive(ask))


def _single_bit(ask: Ask, epsilon: float) -> Quote:
    ends = single_bit.delta(
        _int(ask.users),
        _int(ask.fakes),
        _int(ask.threshold),
        epsilon,
        ask.ones,
        count_crowd=True,
        repeats=ask.repeats or 1,
    )
    known = "" if ask.ones is None else f"; exactly {ask.ones:,} of the others hold a one"
    return Quote(ends, single_bit.SOURCE, _crowd_flips(ask) + known)


def _flip(ask: Ask, epsilon: float) -> Quote:
    users, threshold = _int(ask.users), _int(ask.threshold)
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
        ends = k_hot.in_crowd(users, _int(ask.max_set), threshold, epsilon, ask.bins)
        return Quote(ends, k_hot.CROWD_SOURCE, _crowd_flips(ask))
    ends = one_hot.messages(users, fakes, threshold, epsilon, ask.bins)
    return Quote(ends, one_hot.MESSAGES_SOURCE, _crowd_flips(ask))


def _flip_uniform(ask: Ask, epsilon: float) -> Quote:
    if ask.observer is Observer.SUMS:
        return _flip(replace(ask, bits=None, max_set=None), epsilon)
    ends = flip_uniform.messages(_int(ask.fakes), _int(ask.bins), _int(ask.threshold), epsilon)
    return Quote(ends, flip_uniform.SOURCE, _fakes_arrive(ask))


def _flip_upper(ask: Ask, epsilon: float) -> float:
    users, threshold = _int(ask.users), _int(ask.threshold)
    if ask.bits is not None and ask.background is None:
        return vectors.blanket(users, ask.bits, threshold, epsilon)
    if ask.bits is None and ask.observer is Observer.MESSAGES and (ask.max_set or 1) == 1:
        return one_hot.free_blanks(users, ask.fakes or 0, threshold, epsilon)
    return _flip(ask, epsilon).ends.upper


def _law(
    price: Callable[[Ask, float], Quote],
    needs: str,
    may: str = "",
    upper: Callable[[Ask, float], float] | None = None,
) -> Law:
    return Law(
        frozenset(needs.split()),
        frozenset(may.split()),
        price,
        upper or (lambda ask, epsilon: price(ask, epsilon).ends.upper),
    )


LAWS: dict[str, Law] = {
    "flip-blank": _law(_flip_blank, "fakes threshold", "users bins max_set count_crowd"),
    "clear-uniform": _law(_clear_uniform, "fakes bins", "users"),
    "single-bit": _law(_single_bit, "users fakes threshold", "ones repeats"),
    "flip": _law(_flip, "users threshold", "bins bits max_set observer background", _flip_upper),
    "flip-uniform": _law(_flip_uniform, "users fakes bins threshold", "observer"),
}


def price(name: str, ask: Ask, epsilon: float) -> Certificate:
    """The certificate of law ``name`` with the parameters of ``ask``.

    Raises ParameterError for parameters it lacks or does not take, or outside their ranges.
    """
    checked_epsilon(epsilon)
    check(name, ask)
    quote = LAWS[name].price(ask, epsilon)
    return Certificate(
        epsilon=epsilon,
        lower=quote.ends.lower,
        upper=quote.ends.upper,
        observer=ask.observer,
        status=Status.PROVED,
        source=quote.source,
        assumption=quote.assumption,
    )


def given(ask: Ask) -> set[str]:
    """Names of the parameters that were given."""
    values = {name: getattr(ask, name) for name in Ask.__dataclass_fields__}
    default = Observer.MESSAGES
    return {n for n, v in values.items() if not (v is None or v is False or v is default)}


def check(name: str, ask: Ask, *, without: str | None = None) -> None:
    """Raises ParameterError unless ``ask`` has what law ``name`` needs, but for ``without``."""
    law, came = LAWS[name], given(ask)
    needs = law.needs - {without}
    if not needs <= came or not came <= law.needs | law.may:
        raise ParameterError(
            name,
            wanted=_flags(needs),
            got=_flags(came) or "neither",
            do="give exactly these parameters"
            + (f"; it may take {_flags(law.may)}" * bool(law.may)),
        )
    limits = {
        "users": (2, MOST_USERS), "fakes": (0, 1000 * MOST_USERS), "bins": (2, 10**7),
        "threshold": (LEAST_THRESHOLD, MOST_THRESHOLD), "bits": (1, 64), "repeats": (1, 1000),
        "max_set": (1, 16), "ones": (0, (ask.users or 2) - 1),
    }  # fmt: skip
    for field, (low, high) in limits.items():
        value = getattr(ask, field)
        if value is not None and not low <= value <= high:
            raise ParameterError(
                field.replace("_", " "),
                wanted=f"an integer in [{low:,}, {high:,}]",
                got=f"{value:,}",
                do="choose one in this range",
            )


def _flags(names: Iterable[str]) -> str:
    """Parameters as people give them."""
    shown = ["flip" if name == "threshold" else name.replace("_", "-") for name in names]
    return " and ".join(f"--{name}" for name in sorted(shown, key=_ORDER.index))


def calibrate(name: str, ask: Ask, epsilon: float, delta: float) -> Ask:
    """``ask`` with the least flip probability, or the fewest fakes, that keeps the guarantee.

    Looks for ``threshold`` when it is None, for ``fakes`` otherwise. Raises ParameterError when
    neither or both are missing, or when nothing in their ranges keeps the guarantee.
    """
    field = "threshold" if ask.threshold is None and "threshold" in LAWS[name].needs else "fakes"
    check(name, ask, without=field)
    if getattr(ask, field) is not None:
        raise ParameterError(
            name, wanted="the flip probability or the fakes left out", got="both",
            do="leave out the one that is to be found, or ask for the delta",
        )  # fmt: skip
    cover, low, high, start = usual_cover(epsilon, delta), 0, 1000 * MOST_USERS, 1 << 20
    if field == "threshold":
        low, high = LEAST_THRESHOLD, MOST_THRESHOLD - (MOST_THRESHOLD >> 20)
        hiding = (ask.fakes or 0) + (ask.users or 0) + 1
        start = round(min(0.25, cover / hiding) * SCALE)
    elif ask.threshold:
        start = round(cover * SCALE / ask.threshold)
    elif ask.bins:
        start = round(cover * ask.bins)

    def upper(value: int) -> float:
        return LAWS[name].upper(replace(ask, **{field: value}), epsilon)  # type: ignore[arg-type]

    found = least_meeting(upper, delta, low, high, start=start, tolerance=_TOLERANCE)
    if found is None:
        raise ParameterError(
            name, wanted=f"parameters that some {field} can protect", got=str(ask),
            do="raise epsilon or delta, or add users or fakes",
        )  # fmt: skip
    return replace(ask, **{field: found})  # type: ignore[arg-type]


def standard_error(name: str, ask: Ask) -> float:
    """Standard error of an unbiased count of an empty bin, in counts.

    People that the law does not need to know are taken to be as many as the fakes.
    Source: notes 004, below (5.20).
    """
    fakes = ask.fakes or 0
    users = ask.users if ask.users is not None else fakes
    spread = (
        fakes / ask.bins * (1.0 - 1.0 / ask.bins) if name.endswith("uniform") and ask.bins else 0.0
    )
    if ask.threshold is None:
        return math.sqrt(spread)
    q, contrast = ask.threshold / SCALE, (SCALE - 2 * ask.threshold) / SCALE
    flips = (ask.repeats or 1) * (users + fakes) * q * (1.0 - q)
    scale = contrast * (ask.repeats or 1)
    return math.sqrt(flips / scale**2 + spread) if contrast else math.inf
