"""What one part of a plan sends, read from its plain JSON.

Nothing is taken from the records of the package: what a field means is written down here again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mixtally.errors import PlanError

_SCALE = 1 << 64
_VERSION = 6
_EVERY_MIX = "every mix"
Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """Messages of one part, and what certainly hides one of them.

    where
      bins        among how many a message is one: bins, those that stand for what a set in clear
                  lacks among them, or the planes of a direction
      most_set    the most bins that a record sets; None for free bits
      threshold   the chance that a bit is flipped, times 2^64; None where bins travel in clear
      record      "blank" or "uniform" fakes of devices; None without any
      people      honest people who certainly send; 0 where every mix brings the cover
      whole       fakes that each of them sends for certain
      coin        the chance of one more, times 2^64
      blanks      fakes of the one honest mix, uniform where bins travel in clear; None where mixes
                  draw none
      planes      t, where messages name planes of t digits, some of which hold any two values; None
                  where they name none
      shape       (whether it is Gaussian, variance or ratio times 2^64, shift) of the fakes that it
                  draws for every bin; None without
      crowd       whether people's flips or replaced values are part of the cover
      replaced    the chance that a value, or member, is replaced by a uniform one, times 2^64; 0
                  for never
      cap         the most bins that a message names; None for any number
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
    shape: tuple[bool, int, int] | None
    crowd: bool
    cap: int | None
    replaced: int = 0

    def __post_init__(self) -> None:
        flips = self.threshold is None or 0 < 2 * self.threshold < _SCALE
        counts = min(self.bins, self.whole + 1, (self.blanks or 0) + 1) > 0
        if not (flips and counts and 0 <= self.coin < _SCALE and 0 <= self.replaced < _SCALE):
            raise ValueError(f"{self}")

    @property
    def protocol(self) -> str:
        """The name of its mechanism."""
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
        """Whether a record is several messages."""
        return self.threshold is None and self.most_set != 1

    @property
    def has_two_bins(self) -> bool:
        """Whether messages have two outputs, and other people's replaced values hide them."""
        return bool(self.replaced) and self.bins == 2 and self.planes is None

    @property
    def sent_fakes(self) -> list[tuple[int, Fraction]]:
        """How many fakes may arrive, and with what chance each."""
        sure = self.people * self.whole if self.blanks is None else self.blanks
        found = [(sure, _SCALE), (self.people, self.coin)]
        return [(many, Fraction(one, _SCALE)) for many, one in found if many > 0 and one]

    @property
    def fakes(self) -> list[tuple[int, Fraction]]:
        """Messages that may be uniform, fakes and others' alike: how many, with what chance."""
        others = (self.most_set or 1) * (self.people - 1) if self.crowd else 0
        replaced = [(others, Fraction(self.replaced, _SCALE))] if others and self.replaced else []
        return self.sent_fakes + replaced

    @property
    def cell(self) -> Fraction:
        """At least the chance that a uniform message is one of a bin, or of a member of a set and
        of no other one.
        """
        if self.planes is None:
            return Fraction(1, self.bins)
        p, t = self.bins, self.planes
        meeting = Fraction(p ** (t - 1) - 1, p**t - 1)
        return (1 - ((self.most_set or 1) - 1) * meeting) / p

    @property
    def most_fakes(self) -> int:
        """The most fakes that the proof counts, whatever coins show."""
        if self.blanks is not None:
            return self.blanks
        return self.people * (self.whole + (self.coin > 0))


def honest_people(plan: Plain) -> int:
    """floor(h m), exact in the decimals as they are written."""
    share = Fraction(repr(float(plan["honest_share"])))
    return int(share * _integer(plan["minimum_crowd"]))


def promised_epsilon(plan: Plain) -> float:
    """The epsilon of all messages together; raises PlanError for what is no such plan."""
    try:
        epsilon = float(plan["guarantee"]["epsilon"])
        if not 0.0 < epsilon < math.inf:
            raise ValueError(epsilon)
    except (KeyError, TypeError, ValueError) as error:
        raise _plan_format_error(error) from error
    return epsilon


def count_messages(plan: Plain) -> int:
    """How many messages of a person are promised for together, their fakes aside."""
    try:
        return _integer(plan["collections"]) * sum(_integer(p["repeats"]) for p in plan["parts"])
    except (KeyError, TypeError, ValueError) as error:
        raise _plan_format_error(error) from error


def streams(plan: Plain) -> list[Stream]:
    """The parts of a plan, in their order.

    Raises PlanError for what is no such plan.
    """
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
    if kind not in ("none", "blanks", "uniform", "shaped", "gaussian"):
        raise ValueError(kind)
    blanks, shape = None, None
    if kind in ("blanks", "uniform"):
        blanks = _integer(recipe["count"])
    if kind in ("shaped", "gaussian"):
        first = recipe["variance" if kind == "gaussian" else "ratio"]
        shape = kind == "gaussian", _integer(first), _integer(recipe["shift"])
    planes = part["planes"]
    most = _optional_integer(part["most_set"])
    pads = most if part["threshold"] is None and most and most > 1 else 0
    return Stream(
        bins=_integer(part["bins"]) + pads if planes is None else _integer(planes["prime"]),
        most_set=most,
        threshold=_optional_integer(part["threshold"]),
        record=own.get("record"),
        people=people,
        whole=_integer(own.get("whole", 0)),
        coin=_integer(own.get("coin", 0)),
        blanks=blanks,
        planes=None if planes is None else _integer(planes["digits"]),
        shape=shape,
        crowd=count_flips and (part["threshold"] is not None or part["replaced"] is not None),
        replaced=_optional_integer(part["replaced"]) or 0,
        cap=_optional_integer(part["layout"]["cap"]),
    )


def _integer(written: Any) -> int:
    """Integers above 2^53 are written as text."""
    if isinstance(written, bool) or not isinstance(written, int | str):
        raise ValueError(f"{written!r} for an integer")
    return int(written)


def _optional_integer(written: Any) -> int | None:
    return None if written is None else _integer(written)
