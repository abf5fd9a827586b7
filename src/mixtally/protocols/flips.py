"""Protocols whose records are bits, every one of them flipped with q.

Source: notes 004 sections 4 and 5.3.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from mixtally.ground.fixed import SCALE, checked_threshold
from mixtally.protocols.base import FakeSource, Protocol
from mixtally.records.guarantee import checked_users
from mixtally.records.layout import Form, Layout


@dataclass(frozen=True, slots=True)
class Flips(Protocol):
    """What flipped records have in common; fakes, if any, are flipped too.

    where
      threshold   the flip probability q times 2^64, an integer in [2^24, 2^63]
      crowd       honest people whose own flips are counted on as fakes, 0 for none
    """

    fake_source: ClassVar[FakeSource] = FakeSource.USERS

    threshold: int
    crowd: int = 0

    def __post_init__(self) -> None:
        super(Flips, self).__post_init__()
        checked_threshold(self.threshold)
        if self.crowd:
            checked_users(self.crowd)

    def facts(self) -> dict[str, float]:
        """The flip probability, and the integer over 2^64 that everything is computed from."""
        return {
            "flip_probability": self.flip_probability,
            "flip_threshold": self.threshold,
            "crowd_counted": self.crowd,
        }

    @property
    def layout(self) -> Layout:
        """One bit a bin, packed."""
        return Layout(Form.BITS, self.bins)

    @property
    def flip_threshold(self) -> int:
        """Flip probability times 2^64."""
        return self.threshold

    @property
    def flip_probability(self) -> float:
        """The chance q that a bit is flipped."""
        return self.threshold / SCALE

    @property
    def odds(self) -> float:
        """ln(p/q), what one flipped bit tells at most."""
        return math.log((SCALE - self.threshold) / self.threshold)

    @property
    def contrast(self) -> float:
        """What a set bit of one message adds to its expected count: p - q."""
        return (SCALE - 2 * self.threshold) / SCALE

    @property
    def gain(self) -> float:
        """The contrast, as often as a person sends their record.

        Source: notes 004 (5.20).
        """
        return self.messages_per_record * self.contrast

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """Fakes that are no flipped blanks: how many, and how likely one sets a given bit."""
        return ()

    def offset(self, messages: int) -> float:
        """N q: every message sets every bit with probability q unless the bit is its own."""
        return messages * self.flip_probability

    def variance(self, messages: int) -> float:
        """N p q / (p - q)^2, infinite at q = 1/2.

        Source: notes 004, below (5.20), with blank fakes.
        """
        q = self.flip_probability
        return messages * q * (1.0 - q) / self.gain**2 if self.gain else math.inf
