"""Private counting through mixes: exact privacy, least error, honest intervals.

The names below are the public door; each is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
<<<<<<< ours
    from mixtally.door import (
        Attacked,
        Batch,
        Budget,
        Calibrated,
        Certificate,
        Device,
        Guarantee,
        MixtallyError,
        Plan,
        Question,
        Rehearsal,
        Result,
        Sent,
        attack,
        calibrate,
        conclude,
        delta,
        mix,
        plan,
        simulate,
    )
=======
    from mixtally.errors import MixtallyError
    from mixtally.estimate.analysis import Analysis
    from mixtally.estimate.conclude import conclude
    from mixtally.ground.chance import SecureChance
    from mixtally.mix.shuffle import shuffle
    from mixtally.planner import PlanRequest
    from mixtally.planner.choose import choose
    from mixtally.privacy.certify import certify
    from mixtally.randomize import fakes, reports
    from mixtally.records.guarantee import Guarantee
    from mixtally.records.question import Question
    from mixtally.tally.fold import tally_messages

_ROOMS = {
    "Analysis": "mixtally.estimate.analysis",
    "Guarantee": "mixtally.records.guarantee",
    "MixtallyError": "mixtally.errors",
    "Question": "mixtally.records.question",
    "SecureChance": "mixtally.ground.chance",
    "PlanRequest": "mixtally.planner",
    "certify": "mixtally.privacy.certify",
    "choose": "mixtally.planner",
    "conclude": "mixtally.estimate.conclude",
    "fakes": "mixtally.randomize",
    "reports": "mixtally.randomize",
    "shuffle": "mixtally.mix",
    "tally_messages": "mixtally.tally.fold",
}
>>>>>>> theirs

__all__ = [
    "Attacked",
    "Batch",
    "Budget",
    "Calibrated",
    "Certificate",
    "Device",
    "Guarantee",
    "MixtallyError",
    "Plan",
    "Question",
    "Rehearsal",
    "Result",
    "Sent",
    "attack",
    "calibrate",
    "conclude",
    "delta",
    "mix",
    "plan",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module("mixtally.door"), name)
    return found


def __dir__() -> list[str]:
    return __all__
