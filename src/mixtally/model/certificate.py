"""A privacy number that knows its side, its observer, its proof and its assumption."""

from enum import StrEnum

import msgspec

from mixtally.errors import AccountingError
from mixtally.model.guarantee import Observer
from mixtally.primitives.codec import convert_to_floats


class Status(StrEnum):
    """How well a certificate is founded."""

    PROVED = "proved"
    """A theorem covers every dataset; the arithmetic is bounded upwards."""


class Certificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """lower <= delta(epsilon) <= upper, the true hockey-stick divergence in both directions.

    It is the divergence of what ``assumption`` counts on: where that is fakes alone, a crowd hides
    better still. Only ``upper`` may be promised. Raises AccountingError when the numbers cannot be
    right.
    """

    epsilon: float
    lower: float
    upper: float
    observer: Observer
    status: Status
    source: str
    assumption: str

    def __post_init__(self) -> None:
        convert_to_floats(self, "epsilon", "lower", "upper")
        if not 0.0 <= self.lower <= self.upper <= 1.0:  # NaN fails every comparison
            raise AccountingError(
                f"certificate: expected 0 <= lower <= upper <= 1, got {self.lower} and "
                f"{self.upper}; "
                "nothing may be promised from it"
            )

    def terms(self) -> dict[str, str]:
        """Who looks, what was proved, where, and what it rests on: a part of a result's facts."""
        return {
            "observer": self.observer,
            "status": self.status,
            "source": self.source,
            "assumption": self.assumption,
        }
