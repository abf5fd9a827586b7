"""Private counting in the shuffle model of differential privacy.

Each person sends a randomized answer. Independent servers, the mixes, shuffle all answers and add
dummy messages. The package plans such collections, proves their (epsilon, delta), simulates and
runs them, and estimates counts with confidence intervals. Each name in ``__all__`` is imported from
``mixtally.api`` when it is first used.
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
        PrivacyCurve,
        Question,
        RandomizerDelta,
        Result,
        Sent,
        SimulatedResult,
        attack,
        calibrate,
        conclude,
        curve,
        delta,
        epsilon,
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
    "PrivacyCurve",
    "Question",
    "RandomizerDelta",
    "Result",
    "Sent",
    "SimulatedResult",
    "attack",
    "calibrate",
    "conclude",
    "curve",
    "delta",
    "epsilon",
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
    """Import a public name at its first use, because the modules behind it load slowly."""
    if name == "__version__":
        return import_module("mixtally.version").VERSION
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module("mixtally.api"), name)
    return found


def __dir__() -> list[str]:
    return __all__
