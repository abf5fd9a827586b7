"""Small valid records for tests; every field can be replaced."""

from typing import Any

from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import Guarantee, Observer
from mixtally.records.mechanism.named import flip_blank
from mixtally.records.plan import PLAN_VERSION, Plan
from mixtally.records.question import Question


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
    fields = {
        "version": PLAN_VERSION,
        "question": Question(name="fruit", bins=3, labels=("apple", "pear", "plum")),
        "guarantee": Guarantee(epsilon=1.0, delta=1e-6),
        "users": 1000,
        "honest_share": 0.5,
        "mechanism": flip_blank(bins=3, fakes=2000, threshold=1 << 60),
        "certificate": a_certificate(),
    }
    return Plan(**fields | changes)
