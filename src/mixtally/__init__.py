"""Private counting through mixes: exact privacy, least error, honest intervals.

The names below are the public door; each is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixtally.api import (
        Attacked,
        Batch,
        Budget,
        Calibrated,
        Certificate,
        Device,
        Example,
        Guarantee,
        MixtallyError,
        Plan,
        Question,
        Result,
        Sent,
        SimulatedResult,
        attack,
        calibrate,
        conclude,
        delta,
        example,
        mix,
        plan,
        simulate,
        simulate_baskets,
        simulate_epochs,
        simulate_memoized,
        simulate_places,
        simulate_words,
    )

__all__ = [
    "Attacked",
    "Batch",
    "Budget",
    "Calibrated",
    "Certificate",
    "Device",
    "Example",
    "Guarantee",
    "MixtallyError",
    "Plan",
    "Question",
    "Result",
    "Sent",
    "SimulatedResult",
    "attack",
    "calibrate",
    "conclude",
    "delta",
    "example",
    "mix",
    "plan",
    "simulate",
    "simulate_baskets",
    "simulate_epochs",
    "simulate_memoized",
    "simulate_places",
    "simulate_words",
]


__version__: str


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("mixtally.version").VERSION
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module("mixtally.api"), name)
    return found


def __dir__() -> list[str]:
    return __all__
