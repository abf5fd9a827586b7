"""Mechanisms: how a record is sent, which fakes hide it, and what of the crowd is counted on.

Each mechanism has one file, whose class is in ``_KINDS``. The file of the same name in
``accounting/divergence`` has its divergence, and the registry there lists it. Whoever prices or
counts a part of a plan asks it for its ``Shuffled`` one.
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
"""All mechanisms whose messages go through mixes."""


def mechanism_of(name: str) -> type[Shuffled]:
    """The mechanism of which ``name`` is a protocol; raises ParameterError for an unknown one."""
    for kind in _KINDS:
        if name in kind.PROTOCOLS:
            return kind
    memory = "use `mixtally simulate memoized`: a memory relies on no mix and has no plan"
    raise not_one_of("protocol", name, protocols(), memory if name == "memory" else "")


def protocols() -> tuple[str, ...]:
    """The names of all protocols."""
    return tuple(name for kind in _KINDS for name in kind.PROTOCOLS)


def mechanisms() -> tuple[type[Mechanism], ...]:
    """Return the classes of all mechanisms that people can name, memoized answers last."""
    return (*_KINDS, Memoized)
