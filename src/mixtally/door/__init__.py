"""The public door: about a dozen names, each loaded when it is first used.

What is given is checked here, and every refusal is one of ``mixtally.errors``, in Python's words.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixtally.door.attacking import Attacked, attack
    from mixtally.door.batches import Batch, mix
    from mixtally.door.budget import Budget
    from mixtally.door.concluding import conclude
    from mixtally.door.device import Device, Sent
    from mixtally.door.epochs import simulate_epochs
    from mixtally.door.examples import Example, example
    from mixtally.door.lab import simulate
    from mixtally.door.planning import Plan, plan
    from mixtally.door.plays import (
        simulate_baskets,
        simulate_memoized,
        simulate_places,
        simulate_votes,
        simulate_words,
    )
    from mixtally.door.pricing import Calibrated, calibrate, delta
    from mixtally.door.rehearsal import Rehearsal
    from mixtally.door.result import Result
    from mixtally.door.simulated import Simulated
    from mixtally.errors import MixtallyError
    from mixtally.records.certificate import Certificate
    from mixtally.records.guarantee import Guarantee
    from mixtally.records.question import Question

_PLACES = {
    "Attacked": "mixtally.door.attacking",
    "Batch": "mixtally.door.batches",
    "Budget": "mixtally.door.budget",
    "Calibrated": "mixtally.door.pricing",
    "Certificate": "mixtally.records.certificate",
    "Device": "mixtally.door.device",
    "Example": "mixtally.door.examples",
    "Guarantee": "mixtally.records.guarantee",
    "MixtallyError": "mixtally.errors",
    "Plan": "mixtally.door.planning",
    "Question": "mixtally.records.question",
    "Rehearsal": "mixtally.door.rehearsal",
    "Result": "mixtally.door.result",
    "Sent": "mixtally.door.device",
    "Simulated": "mixtally.door.simulated",
    "attack": "mixtally.door.attacking",
    "calibrate": "mixtally.door.pricing",
    "conclude": "mixtally.door.concluding",
    "delta": "mixtally.door.pricing",
    "example": "mixtally.door.examples",
    "mix": "mixtally.door.batches",
    "plan": "mixtally.door.planning",
    "simulate": "mixtally.door.lab",
    "simulate_baskets": "mixtally.door.plays",
    "simulate_epochs": "mixtally.door.epochs",
    "simulate_memoized": "mixtally.door.plays",
    "simulate_places": "mixtally.door.plays",
    "simulate_votes": "mixtally.door.plays",
    "simulate_words": "mixtally.door.plays",
}

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
    "Rehearsal",
    "Result",
    "Sent",
    "Simulated",
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
    "simulate_votes",
    "simulate_words",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    return __all__
