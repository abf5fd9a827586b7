"""Errors of the central model, for comparison: the same guarantee with a trusted curator."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Baseline:
    """One mechanism of the central model, for a histogram in which one record is substituted.

    Attributes
    ----------
    epsilon, delta : float
        The guarantee that the source library states at ``scale``. Delta is 0 for pure privacy.
    scale : float
        The scale of the noise, in counts.
    standard_error : float or None
        The standard error of one count. None for a mechanism that selects a bin without its count.
    level : float
        The confidence level of the error bounds.
    one_within : int
        The error of one count is at most this, at ``level``. For a mechanism that selects a bin,
        the largest count exceeds the selected bin's count by at most this.
    all_within : int or None
        The errors of all counts simultaneously are at most this, at ``level``. None for a mechanism
        that selects a bin.
    source : str
        The library and its version.
    """

    name: str
    epsilon: float
    delta: float
    scale: float
    standard_error: float | None
    level: float
    one_within: int
    all_within: int | None
    source: str

    def facts(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Central:
    """The baselines that were computed, and a note on the missing ones; the note may be empty."""

    lines: tuple[Baseline, ...] = ()
    note: str = "central baselines: not drawn"


NOT_DRAWN = Central()
