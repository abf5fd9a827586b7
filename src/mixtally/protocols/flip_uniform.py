"""flip-uniform: every bit of a record is flipped with q; fakes are flipped uniform records.

A fake sets a uniformly random bin before its flips, so that a bit of it is set with probability
s = q + (p - q) / d. Over all fakes that makes K / d true ones a bin, with a variance of their own.

Source: notes 004 section 5.2.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from mixtally.protocols.flips import Flips


@dataclass(frozen=True, slots=True)
class FlipUniform(Flips):
    """Flips of records and of fakes that look like them; a record sets one bit."""

    name: ClassVar[str] = "flip-uniform"
    uniform_fakes: ClassVar[bool] = True

    @property
    def local_epsilon(self) -> float:
        """2 ln(p/q): two records differ in two bits."""
        return 2.0 * self.odds

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """All of them, each with s."""
        return ((self.fakes, self.flip_probability + self.gain / self.bins),)

    def offset(self, messages: int) -> float:
        """N q + (p - q) K / d: the bits that fakes set are counted as people's are."""
        people = super(FlipUniform, self).offset(messages - self.fakes)
        return people + sum(many * shown for many, shown in self.fake_bits)

    def variance(self, messages: int) -> float:
        """N p q / (p - q)^2 + (K / d) (1 - 1/d), infinite at q = 1/2.

        The variance s (1 - s) of a fake's bit is p q + (p - q)^2 (1/d) (1 - 1/d).

        Source: notes 004, below (5.20) and below (5.10).
        """
        if not self.gain:
            return math.inf
        people = super(FlipUniform, self).variance(messages - self.fakes)
        return people + sum(k * s * (1.0 - s) for k, s in self.fake_bits) / self.gain**2
