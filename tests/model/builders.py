"""Small valid records for tests; every field can be replaced."""

from typing import Any

from helpers.contracts import flipped, plan_of
from mixtally.model.certificate import Certificate, Status
from mixtally.model.contract import FakeRecord, OwnFakes, Plan
from mixtally.model.guarantee import Observer
from mixtally.model.question import Question


def a_certificate(**changes: Any) -> Certificate:
    fields = {
        "epsilon": 1.0,
        "lower": 8e-7,
        "upper": 9e-7,
        "observer": Observer.MESSAGES,
        "status": Status.PROVED,
        "source": "a theorem",
        "assumption": "an honest mix",
    }
    return Certificate(**fields | changes)


def a_plan(**changes: Any) -> Plan:
    question = Question(name="fruit", bins=3, labels=("apple", "pear", "plum"))
    part = flipped(3, q=1 / 16, own=OwnFakes(FakeRecord.BLANK, 2, 0))
    usual = {"certificate": a_certificate(), "honest_share": 0.5, "hops": 1}
    return plan_of(question, [part], delta=1e-6, **{**usual, **changes})
