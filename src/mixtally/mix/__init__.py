"""What a mix does: break the order, and, where the plan trusts it to, add fakes. Knows no value."""

from mixtally.mix.added import added
from mixtally.mix.shaped import shaped_fakes
from mixtally.mix.shuffle import shuffle

__all__ = ["added", "shaped_fakes", "shuffle"]
