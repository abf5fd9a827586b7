"""What the same guarantee gives when someone is trusted with everybody's answers."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Baseline:
    """One mechanism of the central model, for a histogram with one record substituted.

    where
      epsilon, delta   what the library's own map states at ``scale``; a delta of 0 is pure
      scale            of the noise, in counts
      standard_error   of one count; None for a mechanism that names a bin and publishes no count
      level            confidence of the accuracy statement
      one_within       at this confidence one count errs by at most so much; of a mechanism that
                       names a bin: the bin's count is at most so much below the largest
      all_within       the same for all counts at once; None where only a bin is named
      source           the library and its version
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
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Central:
    """The mechanisms that were built, and in one line what is missing; empty when nothing is."""

    lines: tuple[Baseline, ...] = ()
    note: str = "central baselines: not drawn"


NOT_DRAWN = Central()
