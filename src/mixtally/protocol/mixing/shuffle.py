"""A uniform shuffle of a whole batch: after it, place says nothing about sender."""

import numpy as np

from mixtally.errors import ParameterError
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import permutation


def shuffle(batch: Rows, chance: Chance) -> Rows:
    """The messages of ``batch``, shape (messages, bytes), in a uniformly random order."""
    return np.take(batch, permutation(chance, len(batch)), axis=0)


def room_for(messages: int, message_bytes: int, most_bytes: int) -> None:
    """Raises ParameterError when a batch and its shuffled copy would exceed ``most_bytes``."""
    needed = 2 * messages * message_bytes + 32 * messages
    if needed > most_bytes:
        raise ParameterError(
            "batch",
            wanted=f"at most {most_bytes / 1e9:.1f} GB to shuffle it in memory",
            got=f"{needed / 1e9:.1f} GB for {messages:,} messages of {message_bytes:,} bytes",
            do="use fewer users, bins or fakes",
        )
