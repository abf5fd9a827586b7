"""What a law may be asked: its parameters, their ranges, and which of them belong together."""

from collections.abc import Iterable
from dataclasses import dataclass

from mixtally.errors import ParameterError
from mixtally.ground.fixed import LEAST_THRESHOLD, MOST_THRESHOLD
from mixtally.protocols.clear_shaped import checked_shape
from mixtally.records.guarantee import MOST_USERS, Observer

_FLAGS = {
    "users": "users", "fakes": "fakes", "threshold": "flip", "bins": "bins", "bits": "bits",
    "ones": "ones", "max_set": "max-set", "ratio": "shape-decay", "shift": "shape-shift",
    "permanent": "permanent", "p": "p", "q": "q", "hashes": "hashes", "reports": "reports",
    "background": "background", "observer": "observer", "count_crowd": "count-crowd",
    "repeats": "repeats", "split": "split",
}  # fmt: skip
"""Parameters as people give them, in the order in which they are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Parameters of a law; None for what it does not take or what is to be found.

    where
      fakes         fakes that surely arrive; with ``split``, for each of the messages of a record
      threshold     flip probability times 2^64
      ones          other people who hold a one (single-bit); None for the worst
      max_set       most set bits of a record
      ratio, shift  the decay of shaped fakes as exp(-c) times 2^64, and their mean number a bin
      permanent, p, q, hashes, reports   of a memory, as ``privacy.memory`` has them
      background    "zero" when everybody else is known to hold zeros (flip with bits)
      count_crowd   whether other people's flips are counted on beside the fakes; ``flip`` and
                    ``single-bit`` always do
      repeats       how often every record is sent, each time randomized and mixed with new fakes
      split         whether every bit, or every attribute, is sent as a message of its own
    """

    users: int | None = None
    fakes: int | None = None
    threshold: int | None = None
    bins: int | None = None
    bits: int | None = None
    ones: int | None = None
    max_set: int | None = None
    ratio: int | None = None
    shift: int | None = None
    permanent: float | None = None
    p: float | None = None
    q: float | None = None
    hashes: int | None = None
    reports: int | None = None
    background: str | None = None
    observer: Observer = Observer.MESSAGES
    count_crowd: bool = False
    repeats: int | None = None
    split: bool = False


def given(ask: Ask) -> set[str]:
    """Names of the parameters that were given."""
    values = {name: getattr(ask, name) for name in Ask.__dataclass_fields__}
    default = Observer.MESSAGES
    return {n for n, v in values.items() if not (v is None or v is False or v is default)}


def checked(name: str, ask: Ask, needs: frozenset[str], may: frozenset[str]) -> None:
    """Raises ParameterError unless ``ask`` has all of ``needs`` and nothing beyond ``may``."""
    came = given(ask)
    if not needs <= came or not came <= needs | may:
        raise ParameterError(
            name,
            wanted=flags(needs) or "nothing",
            got=flags(came) or "neither",
            do="give exactly these parameters" + (f"; it may take {flags(may)}" * bool(may)),
        )
    limits = {
        "users": (2, MOST_USERS), "fakes": (0, 1000 * MOST_USERS), "bins": (2, 10**7),
        "threshold": (LEAST_THRESHOLD, MOST_THRESHOLD), "bits": (1, 64), "repeats": (1, 1000),
        "max_set": (1, 16), "ones": (0, (ask.users or 2) - 1),
    }  # fmt: skip
    if ask.ratio is not None and ask.shift is not None:
        checked_shape(ask.ratio, ask.shift)
    for field, (low, high) in limits.items():
        value = getattr(ask, field)
        if value is not None and not low <= value <= high:
            raise ParameterError(
                field.replace("_", " "),
                wanted=f"an integer in [{low:,}, {high:,}]",
                got=f"{value:,}",
                do="choose one in this range",
            )


def flags(names: Iterable[str]) -> str:
    """Parameters as people give them."""
    return " and ".join("--" + _FLAGS[name] for name in _FLAGS if name in set(names))


def whole(value: int | None) -> int:
    """A parameter that was checked to be there."""
    if value is None:
        raise TypeError("a parameter that the law needs was not checked")
    return value


def real(value: float | None) -> float:
    """A parameter that was checked to be there."""
    if value is None:
        raise TypeError("a parameter that the law needs was not checked")
    return value
