"""What protocols in clear share: a message is a bin number, and nothing survives broken mixes."""

import math
from dataclasses import dataclass
from typing import ClassVar

from mixtally.protocols.base import Protocol
from mixtally.records.layout import Form, Layout


@dataclass(frozen=True, slots=True)
class ClearProtocol(Protocol):
    """Records that are not randomized, among fakes that look the same."""

    uniform_fakes: ClassVar[bool] = True

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
        """A person in clear is one count."""
        return 1.0
