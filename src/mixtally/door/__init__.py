"""The public door: about a dozen names, each loaded when it is first used.

What is given is checked here, and every refusal is one of ``mixtally.errors``, in Python's words.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixtally.door.attacking import Attacked as Attacked
    from mixtally.door.attacking import attack as attack
    from mixtally.door.batches import Batch as Batch
    from mixtally.door.batches import mix as mix
    from mixtally.door.budget import Budget as Budget
    from mixtally.door.concluding import conclude as conclude
    from mixtally.door.device import Device as Device
    from mixtally.door.device import Sent as Sent
    from mixtally.door.epochs import simulate_epochs as simulate_epochs
    from mixtally.door.examples import Example as Example
    from mixtally.door.examples import example as example
    from mixtally.door.lab import simulate as simulate
    from mixtally.door.planning import Plan as Plan
    from mixtally.door.planning import plan as plan
    from mixtally.door.plays import simulate_baskets as simulate_baskets
    from mixtally.door.plays import simulate_memoized as simulate_memoized
    from mixtally.door.plays import simulate_places as simulate_places
    from mixtally.door.plays import simulate_votes as simulate_votes
    from mixtally.door.plays import simulate_words as simulate_words
    from mixtally.door.pricing import Calibrated as Calibrated
    from mixtally.door.pricing import calibrate as calibrate
    from mixtally.door.pricing import delta as delta
    from mixtally.door.result import Result as Result
    from mixtally.door.simulated import Simulated as Simulated
    from mixtally.door.simulated_result import SimulatedResult as SimulatedResult
    from mixtally.errors import MixtallyError as MixtallyError
    from mixtally.records.certificate import Certificate as Certificate
    from mixtally.records.guarantee import Guarantee as Guarantee
    from mixtally.records.question import Question as Question

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
    "SimulatedResult": "mixtally.door.simulated_result",
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


def __getattr__(name: str) -> Any:
    if name == "__all__":  # what reads this file alone finds the names in what is imported above
        return [*_PLACES]
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*_PLACES]
