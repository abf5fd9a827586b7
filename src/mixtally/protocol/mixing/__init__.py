"""What a mix does: break the order, and, where the plan trusts it to, add fakes. Knows no value."""

from mixtally.protocol.mixing.added import added
from mixtally.protocol.mixing.shaped import shaped_fakes
from mixtally.protocol.mixing.shuffle import shuffle

__all__ = ["added", "shaped_fakes", "shuffle"]
