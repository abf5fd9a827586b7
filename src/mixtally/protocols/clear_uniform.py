"""clear-uniform: records travel in clear among fakes that fall uniformly over the bins.

Source: notes 004 section 5.1.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from mixtally.protocols.base import FakeSource, Protocol
from mixtally.records.layout import Form, Layout


@dataclass(frozen=True, slots=True)
class ClearUniform(Protocol):
    """Its only parameter is the number of fakes."""

    name: ClassVar[str] = "clear-uniform"
    fake_source: ClassVar[FakeSource] = FakeSource.USERS

    @property
    def layout(self) -> Layout:
        """The bin's number."""
        return Layout(Form.INDEX, self.bins)

    @property
    def flip_threshold(self) -> None:
        """Records travel in clear."""
        return

    @property
    def local_epsilon(self) -> float:
        """Infinite: a message that is known to be someone's tells their value."""
        return math.inf

    @property
    def gain(self) -> float:
        """1."""
        return 1.0

    def offset(self, messages: int) -> float:  # noqa: ARG002
        """K / d."""
        return self.fakes / self.bins

    def variance(self, messages: int) -> float:  # noqa: ARG002
        """(K / d) (1 - 1/d).

        Source: notes 004, standard error below (5.10).
        """
        return self.fakes / self.bins * (1.0 - 1.0 / self.bins)
