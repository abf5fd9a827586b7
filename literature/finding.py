"""What a document says beside what follows, and the word for the two."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from mixtally.report.numbers import number

Steps = Callable[[int, int], None]
"""Called with how many steps are done and how many there are."""

REPRODUCES, DIFFERS, FALSE, COMPUTED = "reproduces", "differs", "false", "computed"
_HALF = 0.5 + 1e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """One number or one claim of a document.

    where
      document   its number, e.g. "000"
      place      equation, table or section
      printed    the number with the digits that are printed; None when only a claim is made
      computed   the number that follows, or the two bounds between which it lies
      unit       what is counted; empty for a pure number
      holds      of a claim: whether it is so, by the exact distributions; None for a number
    """

    document: str
    place: str
    what: str
    printed: str | None
    computed: float | tuple[float, float]
    unit: str = ""
    note: str = ""
    holds: bool | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """The two bounds of what was computed."""
        return self.computed if isinstance(self.computed, tuple) else (self.computed, self.computed)

    @property
    def word(self) -> str:
        """reproduces, differs or false; computed where nothing is printed and nothing claimed."""
        if self.holds is False:
            return FALSE
        if self.printed is not None:
            return REPRODUCES if rounds_to(self.bounds, self.printed) else DIFFERS
        return COMPUTED if self.holds is None else REPRODUCES

    def computed_text(self) -> str:
        """What was computed, for people: as many digits as are printed, and two more."""
        digits = 2 if self.printed is None else len(Decimal(self.printed).as_tuple().digits)
        low, high = (number(end, digits + 2) for end in self.bounds)
        return low if low == high else f"{low} to {high}"

    @property
    def subject(self) -> str:
        """What it is about, without the case: up to the first comma or colon."""
        return re.split("[,:] ", self.what)[0]

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        low, high = self.bounds
        return {
            "document": self.document,
            "place": self.place,
            "what": self.what,
            "printed": None if self.printed is None else float(self.printed),
            "printed_text": self.printed,
            "computed": low if low == high else [low, high],
            "unit": self.unit,
            "word": self.word,
            "note": self.note,
        }


def gather(parts: Sequence[Callable[[], list[Finding]]], progress: Steps) -> list[Finding]:
    """The findings of all parts, a step each; one step is left for the charts."""
    found: list[Finding] = []
    for done, part in enumerate(parts, start=1):
        found += part()
        progress(done, len(parts) + 1)
    return found


def rounds_to(bounds: tuple[float, float], printed: str) -> bool:
    """Whether some number between ``ends`` is ``printed``, to half a unit of its last digit."""
    unit = 10.0 ** int(Decimal(printed).as_tuple().exponent)
    value = float(printed)
    return bounds[0] - _HALF * unit <= value <= bounds[1] + _HALF * unit


def claim(
    document: str,
    place: str,
    what: str,
    holds: bool,
    computed: float | tuple[float, float],
    note: str = "",
    unit: str = "",
) -> Finding:
    """A statement without a printed number, and the number that decides it."""
    return Finding(document, place, what, None, computed, unit, note, bool(holds))


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One line of the verdict table, every field made from findings or from the audit."""

    document: str
    place: str
    promise: str
    truth: str
    factor: str
    word: str

    def facts(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)
