"""The work of a mix: shuffle messages and, where the plan asks for it, add fakes."""

from mixtally.protocol.mixing.added import added
from mixtally.protocol.mixing.shaped import shaped_fakes
from mixtally.protocol.mixing.shuffle import shuffle

__all__ = ["added", "shaped_fakes", "shuffle"]
