"""Findings: a statement of a document, the computed number, and the verdict."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from mixtally.report.numbers import number

Steps = Callable[[int, int], None]
"""A function that receives the number of finished steps and the number of all steps."""

REPRODUCES, DIFFERS, FALSE, COMPUTED = "reproduces", "differs", "false", "computed"
_HALF = 0.5 + 1e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """One number or one claim of a document.

    Attributes
    ----------
    document : str
        The number of the document, such as "000".
    place : str
        The equation, table or section.
    printed : str or None
        The number with its printed digits; None for a claim.
    computed : float or tuple of float
        The computed number, or its lower and upper bound.
    unit : str
        The unit; empty for a pure number.
    holds : bool or None
        Whether a claim is true by the exact distributions; None for a number.
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
        """The lower and the upper bound of the computed number."""
        return self.computed if isinstance(self.computed, tuple) else (self.computed, self.computed)

    @property
    def word(self) -> str:
        """The verdict: "reproduces", "differs", "false", or "computed" without a comparison."""
        if self.holds is False:
            return FALSE
        if self.printed is not None:
            return REPRODUCES if rounds_to(self.bounds, self.printed) else DIFFERS
        return COMPUTED if self.holds is None else REPRODUCES

    def computed_text(self) -> str:
        """Return the computed number with two digits more than are printed."""
        digits = 2 if self.printed is None else len(Decimal(self.printed).as_tuple().digits)
        low, high = (number(end, digits + 2) for end in self.bounds)
        return low if low == high else f"{low} to {high}"

    @property
    def subject(self) -> str:
        """The statement without its case, up to the first comma or colon."""
        return re.split("[,:] ", self.what)[0]

    def facts(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
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
    """Return the findings of all parts, and report a step for each; charts are the last step."""
    found: list[Finding] = []
    for done, part in enumerate(parts, start=1):
        found += part()
        progress(done, len(parts) + 1)
    return found


def rounds_to(bounds: tuple[float, float], printed: str) -> bool:
    """Return whether a number within the bounds rounds to ``printed``, to half of its last unit."""
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
    """Return the finding of a statement without a printed number."""
    return Finding(document, place, what, None, computed, unit, note, bool(holds))


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One row of the verdict table, made from findings or from the audit."""

    document: str
    place: str
    promise: str
    truth: str
    factor: str
    word: str

    def facts(self) -> dict[str, str]:
        """Return the row as a JSON object."""
        return asdict(self)
