"""What tests of the door play with: a small plan, a small contract, and their messages."""

from functools import cache

from helpers.contracts import contract_of, plan_of, proved, shaped, uniform
from mixtally.api import Batch, Device, Plan, Sent, mix, plan
from mixtally.model.contract import Contract, write_contract
from mixtally.model.question import Question

FRUIT = ("apple", "pear", "plum")
PEOPLE = 400


@cache
def fruit_plan() -> Plan:
    """Three labels, 400 people, fakes of people."""
    return plan(list(FRUIT), epsilon=1, delta=1e-6, users=PEOPLE, name="fruit")


@cache
def other_plan() -> Plan:
    """The same with another promise."""
    return plan(list(FRUIT), epsilon=2, delta=1e-6, users=PEOPLE, name="fruit")


@cache
def sent() -> list[Sent]:
    """Everybody's messages under the plan."""
    return [Device(fruit_plan()).messages(FRUIT[person % 3]) for person in range(PEOPLE)]


@cache
def mixed() -> Batch:
    """The same, mixed."""
    return mix(sent(), fruit_plan())


def contract(part, name="fruit", **changes) -> Contract:
    """A contract for three labels and at least 40 people."""
    question = Question(name=name, bins=3, labels=FRUIT)
    fields = {"users": 60, "minimum_crowd": 40, "delta": 0.1, "hops": 2, **changes}
    return contract_of(proved(plan_of(question, [part], **fields)))


@cache
def by_mixes() -> bytes:
    """Mixes bring the cover."""
    return write_contract(contract(shaped(3), delta=1e-4))


@cache
def by_people() -> bytes:
    """Every device sends eight fakes of its own."""
    return write_contract(contract(uniform(3, whole=8), epsilon=2.0, delta=1e-3))
