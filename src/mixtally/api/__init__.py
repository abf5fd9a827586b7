"""The public Python interface. Each name is imported when it is first used.

The modules check the types of arguments and raise only the errors of ``mixtally.errors``, whose
messages use the names of Python arguments. The use cases in ``mixtally.app``, which the command
line calls, too, do the work.

The terms of the project: A *record* is one person's answer. A *plan* states how a question is asked
with a proved guarantee. A *part* of a plan is a stream of messages, to which every device
contributes the same piece of its record. A *mix* is a server that shuffles messages. A *hop* is the
position of a mix in a row of mixes. A *fake* is a dummy message. A *contract* is a plan and its
operators. A *crowd* is the people who take part; a simulated crowd has known answers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixtally.api.attacks import Attacked as Attacked
    from mixtally.api.attacks import attack as attack
    from mixtally.api.batches import Batch as Batch
    from mixtally.api.batches import mix as mix
    from mixtally.api.budget import Budget as Budget
    from mixtally.api.conclusions import conclude as conclude
    from mixtally.api.device import Device as Device
    from mixtally.api.device import Sent as Sent
    from mixtally.api.examples import Example as Example
    from mixtally.api.examples import example as example
    from mixtally.api.planning import Plan as Plan
    from mixtally.api.planning import plan as plan
    from mixtally.api.pricing import Calibrated as Calibrated
    from mixtally.api.pricing import PrivacyCurve as PrivacyCurve
    from mixtally.api.pricing import RandomizerDelta as RandomizerDelta
    from mixtally.api.pricing import calibrate as calibrate
    from mixtally.api.pricing import curve as curve
    from mixtally.api.pricing import delta as delta
    from mixtally.api.pricing import epsilon as epsilon
    from mixtally.api.result import Result as Result
    from mixtally.api.rounds import simulate as simulate
    from mixtally.api.rounds import simulate_epochs as simulate_epochs
    from mixtally.api.simulated_result import SimulatedResult as SimulatedResult
    from mixtally.api.simulations import simulate_baskets as simulate_baskets
    from mixtally.api.simulations import simulate_memoized as simulate_memoized
    from mixtally.api.simulations import simulate_places as simulate_places
    from mixtally.api.simulations import simulate_words as simulate_words
    from mixtally.errors import MixtallyError as MixtallyError
    from mixtally.model.certificate import Certificate as Certificate
    from mixtally.model.guarantee import Guarantee as Guarantee
    from mixtally.model.question import Question as Question

_PLACES = {
    "Attacked": "mixtally.api.attacks",
    "Batch": "mixtally.api.batches",
    "Budget": "mixtally.api.budget",
    "Calibrated": "mixtally.api.pricing",
    "Certificate": "mixtally.model.certificate",
    "Device": "mixtally.api.device",
    "Example": "mixtally.api.examples",
    "Guarantee": "mixtally.model.guarantee",
    "MixtallyError": "mixtally.errors",
    "Plan": "mixtally.api.planning",
    "PrivacyCurve": "mixtally.accounting.curves",
    "Question": "mixtally.model.question",
    "RandomizerDelta": "mixtally.app.matrix",
    "SimulatedResult": "mixtally.api.simulated_result",
    "Result": "mixtally.api.result",
    "Sent": "mixtally.api.device",
    "attack": "mixtally.api.attacks",
    "calibrate": "mixtally.api.pricing",
    "conclude": "mixtally.api.conclusions",
    "curve": "mixtally.api.pricing",
    "delta": "mixtally.api.pricing",
    "epsilon": "mixtally.api.pricing",
    "example": "mixtally.api.examples",
    "mix": "mixtally.api.batches",
    "plan": "mixtally.api.planning",
    "simulate": "mixtally.api.rounds",
    "simulate_baskets": "mixtally.api.simulations",
    "simulate_epochs": "mixtally.api.rounds",
    "simulate_memoized": "mixtally.api.simulations",
    "simulate_places": "mixtally.api.simulations",
    "simulate_words": "mixtally.api.simulations",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":  # type checkers find the names in the imports above
        return [*_PLACES]
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Assigning the global makes Python call this function only once for each name.
    found = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*_PLACES]
