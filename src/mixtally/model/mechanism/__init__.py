"""Mechanisms: how a record is sent, which fakes protect it, and which people the proof counts on.

A fake is a dummy message that carries no answer. Each mechanism has a class in a file of its own.
The file of the same name in ``accounting/divergence`` computes its delta, and a registry lists all
of them. A part of a plan is priced and counted through its ``Shuffled`` mechanism.
"""

from mixtally.errors import not_one_of
from mixtally.model.mechanism.base import Mechanism, Shuffled
from mixtally.model.mechanism.bit_flips import BitFlips
from mixtally.model.mechanism.fakes import (
    BlankFakes,
    FakeSource,
    NoFakes,
    ShapedFakes,
    UniformFakes,
)
from mixtally.model.mechanism.in_clear import InClear
from mixtally.model.mechanism.kary_response import KaryResponse
from mixtally.model.mechanism.memoized import Memoized
from mixtally.model.mechanism.parameters import Parameter

__all__ = [
    "BitFlips", "BlankFakes", "FakeSource", "InClear", "KaryResponse", "Mechanism", "Memoized",
    "NoFakes", "Parameter", "ShapedFakes", "Shuffled", "UniformFakes",
    "mechanism_of", "mechanisms", "protocols",
]  # fmt: skip

_KINDS: tuple[type[Shuffled], ...] = (BitFlips, InClear, KaryResponse)
"""All mechanisms whose messages are shuffled by mixes."""


def mechanism_of(name: str) -> type[Shuffled]:
    """Return the mechanism class that has a protocol ``name``; raise ParameterError if none has."""
    for kind in _KINDS:
        if name in kind.PROTOCOLS:
            return kind
    memory = "use `mixtally simulate memoized`: memoized answers need no mix and have no plan"
    raise not_one_of("protocol", name, protocols(), memory if name == "memory" else "")


def protocols() -> tuple[str, ...]:
    """Return the names of all protocols."""
    return tuple(name for kind in _KINDS for name in kind.PROTOCOLS)


def mechanisms() -> tuple[type[Mechanism], ...]:
    """Return the classes of all mechanisms that users can name, memoized answers last."""
    return (*_KINDS, Memoized)
