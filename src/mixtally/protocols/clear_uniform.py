"""clear-uniform: records travel in clear among fakes that fall uniformly over the bins.

Source: notes 004 section 5.1.
"""

from dataclasses import dataclass
from typing import ClassVar

from mixtally.protocols.base import FakeSource
from mixtally.protocols.clear import ClearProtocol


@dataclass(frozen=True, slots=True)
class ClearUniform(ClearProtocol):
    """Its only parameter is the number of fakes."""

    name: ClassVar[str] = "clear-uniform"
    fake_source: ClassVar[FakeSource] = FakeSource.USERS

    def offset(self, messages: int) -> float:  # noqa: ARG002
        """K / d."""
        return self.true_fakes

    def variance(self, messages: int) -> float:  # noqa: ARG002
        """(K / d) (1 - 1/d).

        Source: notes 004, standard error below (5.10).
        """
        return self.true_fakes * (1.0 - 1.0 / self.bins)
