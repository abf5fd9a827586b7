"""The messages of each part of a plan, read from its plain JSON, for ``derive``.

No type of the package is used: the meaning of every field is written again here.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mixtally.accounting.verification.balls import SCALE
from mixtally.errors import PlanError

_VERSION = 6
_EVERY_MIX = "every mix"
Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """The messages of one part, and what certainly hides one of them.

    Attributes
    ----------
    bins
        The number of bins that a message can name, including the pads of a set in clear. If
        messages name planes, the number of planes in a direction.
    most_set
        The largest number of bins that a record sets; None for free bits.
    threshold
        The probability that a bit is flipped, times 2^64; None if bins are sent in clear.
    record
        What a fake of a device contains: "blank" or "uniform"; None if devices send no fakes.
    people
        The number of honest people who certainly send messages; 0 if every mix adds the fakes.
    whole
        The number of fakes that each of these people certainly sends.
    coin
        The probability that each of these people sends one more fake, times 2^64.
    blanks
        The number of fakes of the one honest mix, which are uniform if bins are sent in clear; None
        if mixes add none.
    planes
        The number t of digits of a point, if messages name planes; None otherwise.
    shape
        The distribution of the fakes that a mix adds to each bin; None for other fakes. It has four
        entries: whether it is Gaussian, its variance or its ratio times 2^64, its shift, and
        whether the fakes of the two bins always add up to twice the shift.
    crowd
        Whether the proof relies on the flips or replaced values of other people.
    cap
        The largest number of bins that a message names; None for any number.
    replaced
        The probability that a value, or a member of a set, is replaced by a uniform one, times
        2^64.
    repeats
        How often a record is sent.
    slots
        The number of bins of a record that are drawn and sent; 0 if all are sent.
    """

    bins: int
    most_set: int | None
    threshold: int | None
    record: str | None
    people: int
    whole: int
    coin: int
    blanks: int | None
    planes: int | None
    shape: tuple[bool, int, int, bool] | None
    crowd: bool
    cap: int | None
    replaced: int = 0
    repeats: int = 1
    slots: int = 0

    def __post_init__(self) -> None:
        flips = self.threshold is None or 0 < 2 * self.threshold < SCALE
        counts = min(self.bins, self.whole + 1, (self.blanks or 0) + 1) > 0
        if not (flips and counts and 0 <= self.coin < SCALE and 0 <= self.replaced < SCALE):
            raise ValueError(f"{self}")

    @property
    def protocol(self) -> str:
        """The name of the mechanism."""
        if self.replaced:
            return "kary-response"
        if self.threshold is None:
            return "clear-shaped" if self.shape is not None else "clear-uniform"
        if self.record == "uniform":
            return "flip-uniform"
        if self.most_set is None:
            return "single-bit" if self.bins == 1 else "flip"
        return "flip" if self.record is None and self.blanks is None else "flip-blank"

    @property
    def is_set_in_clear(self) -> bool:
        """Whether a record consists of several messages."""
        return self.threshold is None and self.most_set != 1 and self.slots != 1

    @property
    def set_messages(self) -> int:
        """The number of messages of a record in clear: all of its bins, or the drawn slots."""
        return self.slots or self.most_set or 1

    @property
    def cells(self) -> Fraction:
        """The number of bins, divided by the number of bins of a record if one slot is sent."""
        return Fraction(self.bins, (self.most_set or 1) if self.slots == 1 else 1)

    @property
    def has_two_bins(self) -> bool:
        """Whether messages have two outputs and are hidden by other people's replaced values."""
        return bool(self.replaced) and self.bins == 2 and self.planes is None

    @property
    def sent_fakes(self) -> list[tuple[int, Fraction]]:
        """Return pairs of a number of fakes and the probability that each arrives."""
        certain = self.people * self.whole if self.blanks is None else self.blanks
        found = [(certain, SCALE), (self.people, self.coin)]
        return [(many, Fraction(one, SCALE)) for many, one in found if many > 0 and one]

    @property
    def fakes(self) -> list[tuple[int, Fraction]]:
        """Return pairs of a number of messages and the probability that each counts as a fake.

        These messages are the fakes, and the messages of other people that have the distribution of
        a fake, whatever their values are. The value of such a message was replaced, or none of the
        bits that may be set was kept.
        """
        others = self.people - 1 if self.crowd else 0
        if not others:
            return self.sent_fakes
        if self.threshold is not None:
            return [*self.sent_fakes, (others, self.blank_share)]
        replaced = Fraction(self.replaced, SCALE)
        return self.sent_fakes + [((self.most_set or 1) * others, replaced)] * bool(replaced)

    @property
    def blank_share(self) -> Fraction:
        """Return (q/p)^k for records of at most k set bits, flipped with probability q = 1 - p.

        With this probability, a flipped record counts as a flipped blank, whatever the record is.
        """
        assert self.threshold is not None
        return Fraction(self.threshold, SCALE - self.threshold) ** (self.most_set or 1)

    @property
    def is_bit_in_crowd(self) -> bool:
        """Whether messages are single bits, hidden by other people's flips."""
        return self.crowd and self.threshold is not None and (self.bins, self.most_set) == (1, None)

    @property
    def cell(self) -> Fraction:
        """Return a lower bound of the probability that a uniform message names a given bin.

        Over planes, this is the event that the message names a plane of a given member of a set,
        and of no other member.
        """
        if self.planes is None:
            return Fraction(1, self.bins)
        p, t = self.bins, self.planes
        meeting = Fraction(p ** (t - 1) - 1, p**t - 1)
        return (1 - ((self.most_set or 1) - 1) * meeting) / p

    @property
    def most_fakes(self) -> int:
        """Return the largest number of fakes that the proof counts, whatever the coins show."""
        if self.blanks is not None:
            return self.blanks
        return self.people * (self.whole + (self.coin > 0))


def honest_people(plan: Plain) -> int:
    """Return the honest share of people, times the minimum crowd, rounded down.

    The share is taken exactly as its decimals are written.
    """
    share = Fraction(repr(float(plan["honest_share"])))
    return int(share * _integer(plan["minimum_crowd"]))


def promised_epsilon(plan: Plain) -> float:
    """Return the epsilon of all messages jointly; raise PlanError if ``plan`` is not a plan."""
    try:
        epsilon = float(plan["guarantee"]["epsilon"])
        if not 0.0 < epsilon < math.inf:
            raise ValueError(epsilon)
    except (KeyError, TypeError, ValueError) as error:
        raise _plan_format_error(error) from error
    return epsilon


def count_messages(plan: Plain) -> int:
    """Return the number of messages that a person sends in all collections, without fakes."""
    try:
        return _integer(plan["collections"]) * sum(_integer(p["repeats"]) for p in plan["parts"])
    except (KeyError, TypeError, ValueError) as error:
        raise _plan_format_error(error) from error


def streams(plan: Plain) -> list[Stream]:
    """Return the parts of a plan in their order; raise PlanError if ``plan`` is not a plan."""
    try:
        if plan["version"] != _VERSION:
            raise ValueError(f"version {plan['version']!r}")
        people = 0 if plan["cover"] == _EVERY_MIX else honest_people(plan)
        return [_stream(part, people, bool(plan["count_flips"])) for part in plan["parts"]]
    except (KeyError, TypeError, ValueError) as error:
        raise _plan_format_error(error) from error


def _plan_format_error(error: Exception) -> PlanError:
    return PlanError(
        "plan",
        expected=f"the fields of version {_VERSION}",
        got=f"something else ({error!r})",
        do="take the file as it was published",
    )


def _stream(part: Plain, people: int, count_flips: bool) -> Stream:
    own, recipe = part["own"] or {}, part["recipe"]
    kind = recipe["type"]
    shaped, paired = ("shaped", "gaussian"), ("paired", "paired-gaussian")
    if kind not in ("none", "blanks", "uniform", *shaped, *paired):
        raise ValueError(kind)
    blanks, shape = None, None
    if kind in ("blanks", "uniform"):
        blanks = _integer(recipe["count"])
    if kind in (*shaped, *paired):
        bell = kind in ("gaussian", "paired-gaussian")
        first, shift = _integer(recipe["variance" if bell else "ratio"]), _integer(recipe["shift"])
        shape = bell, first, shift, kind in paired
        if kind in paired and (_integer(part["bins"]), _integer(part["most_set"])) != (2, 1):
            raise ValueError(kind)
    planes = part["planes"]
    most = _optional_integer(part["most_set"])
    slots = _optional_integer(part["slots"]) or 0
    pads = most if part["threshold"] is None and most and most > 1 else 0
    cells = _integer(part["layout"]["bins"]) if slots else _integer(part["bins"]) + pads
    if slots and (planes is not None or part["replaced"] is not None or shape is not None):
        raise ValueError("slots with planes, shapes or replaced values")
    if slots and not (most and slots < most and 2 * most <= cells):
        raise ValueError(f"{slots} slots of {most}, of {cells} cells")
    return Stream(
        bins=cells if planes is None else _integer(planes["prime"]),
        most_set=most,
        threshold=_optional_integer(part["threshold"]),
        record=own.get("record"),
        people=people,
        whole=_integer(own.get("whole", 0)),
        coin=_integer(own.get("coin", 0)),
        blanks=blanks,
        planes=None if planes is None else _integer(planes["digits"]),
        shape=shape,
        crowd=count_flips
        and people > 0
        and (part["threshold"] is not None or part["replaced"] is not None),
        replaced=_optional_integer(part["replaced"]) or 0,
        repeats=_integer(part["repeats"]),
        cap=_optional_integer(part["layout"]["cap"]),
        slots=slots,
    )


def _integer(written: Any) -> int:
    """Return an integer; those above 2^53 are written as text."""
    if isinstance(written, bool) or not isinstance(written, int | str):
        raise ValueError(f"{written!r} for an integer")
    return int(written)


def _optional_integer(written: Any) -> int | None:
    return None if written is None else _integer(written)
