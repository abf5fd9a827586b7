"""Mistakes by name: what does it, the subject of the refusal, what it says."""

import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as arrow

from helpers.small_plan import (
    FRUIT,
    PEOPLE,
    by_mixes,
    by_people,
    fruit_plan,
    mixed,
    other_plan,
    sent,
)
from mixtally.api import (
    Budget,
    Device,
    Plan,
    attack,
    calibrate,
    conclude,
    delta,
    mix,
    plan,
    simulate,
)
from mixtally.model.estimates import Tally

YES = ["yes", "no"] * 200
WISH = {"epsilon": 1, "delta": 1e-6}
LIMITS = {"epsilon": 3, "delta": 0.1}


def play(values=YES, **changes):
    return simulate(values, **{**WISH, **changes})


def made(shape=3, **changes):
    return plan(shape, **{"users": 1000, **WISH, **changes})


def planned(values):
    return simulate(values, plan=fruit_plan())


def codes(values):
    """Values that should be the numbers of three bins."""
    return simulate(values, plan=made(3, users=len(values)))


def people(count, data=None, value="pear"):
    data = by_people() if data is None else data
    return [Device(data, **LIMITS).messages(value) for _ in range(count)]


def cut(data):
    """One person's messages without the fakes."""
    several = people(40, data)
    one = several[0]
    object.__setattr__(one, "parts", tuple(part[:1] for part in one.parts))
    return mix(several, data)


def shorter(batch, count):
    """A batch that lost all but so many messages."""
    return replace(batch, parts=tuple(rows[: count - 1] for rows in batch.parts))


def longer(one):
    """Somebody's messages, each a byte longer."""
    return replace(one, parts=tuple(tuple(m + b"a" for m in part) for part in one.parts))


def corrupt(folder):
    path = folder / "budget.json"
    Budget(path, epsilon=2, delta=1e-6)
    path.write_bytes(path.read_bytes().replace(b"2.0", b"3.0"))
    return Budget(path)


def truncated(folder):
    path = folder / "budget.json"
    Budget(path, epsilon=2, delta=1e-6)
    path.write_bytes(path.read_bytes()[:-9])
    return Budget(path)


def gone(folder):
    budget = Budget(folder / "budget.json", epsilon=2, delta=1e-6)
    (folder / "budget.json").unlink()
    budget.charge(fruit_plan())


def rolled_back(folder):
    path = folder / "budget.json"
    budget = Budget(path, epsilon=2, delta=1e-5)
    old = path.read_bytes()
    budget.charge(fruit_plan())
    path.write_bytes(old)
    budget.charge(fruit_plan())


def started_over(folder):
    Budget(folder / "budget.json", epsilon=2, delta=1e-6)
    Budget(folder / "budget.json", epsilon=9, delta=1e-6)


def altered_plan(folder):
    (path,) = fruit_plan().save(folder / "plan.json")
    path.write_bytes(path.read_bytes().replace(b'"epsilon": 1.0', b'"epsilon": 0.5'))
    return Plan.load(path)


def false_plan(folder):
    (path,) = made(users=1000, protocol="clear-uniform").save(folder / "plan.json")
    data = re.sub(rb'"whole": \d+', b'"whole": 0', path.read_bytes())
    path.write_bytes(re.sub(rb'"coin": "?\d+"?', b'"coin": 1', data))
    return Plan.load(path)


def spend_twice(_):
    budget = Budget(epsilon=1, delta=1e-6)
    budget.charge(fruit_plan())
    budget.charge(fruit_plan())


def play_past_budget(_):
    budget = Budget(epsilon=1, delta=1e-6)
    values = list(FRUIT) * 133 + ["pear"]
    simulate(values, plan=fruit_plan(), budget=budget)
    simulate(values, plan=fruit_plan(), budget=budget)


def answer_twice(_):
    device = Device(by_mixes(), **LIMITS)
    device.messages("pear")
    device.messages("pear")


def late(frame_column, place, value):
    values = list(frame_column)
    values[place] = value
    return values


WRONG = {
    # values that are no records
    "a code that is no bin": lambda _: codes([0, 1, 2, 3] * 100),
    "a negative code": lambda _: codes([0, 1, 2, -1] * 100),
    "a code with a fraction": lambda _: codes([0.0, 1.0, 1.5, 2.0] * 100),
    "a code that is not a number": lambda _: codes([0.0, 1.0, float("nan"), 2.0] * 100),
    "an infinite code": lambda _: codes([0.0, 1.0, float("inf"), 2.0] * 100),
    "a code far above 64 bits": lambda _: codes([0, 1, 2, 2**70] * 100),
    "codes in another array type": lambda _: codes(np.array([0, 1, 2, 300] * 100, dtype=np.uint16)),
    "a complex code": lambda _: codes([0, 1, 2, 1j] * 100),
    "a label that the plan does not have": lambda _: planned(late(FRUIT * 134, 7, "fig")[:PEOPLE]),
    "a label spelled with a space": lambda _: play(late(YES, 3, "yes ")),
    "a missing value": lambda _: play(late(YES, 3, None)),
    "a missing value in pandas": lambda _: play(pd.Series(late(YES, 3, None))),
    "a missing whole number in pandas": lambda _: play(pd.Series([1, 2, None] * 9, dtype="Int64")),
    "a missing value in Arrow": lambda _: play(arrow.array(late(YES, 3, None))),
    "an empty text": lambda _: play(late(YES, 3, "")),
    "a missing bit": lambda _: play({"a": [True, None] * 200, "b": [True, False] * 200}),
    "a label for missing bits": lambda _: play(
        {"a": [True, None] * 200, "b": [True, False] * 200}, kind="bits", missing="no answer"
    ),
    "only missing values": lambda _: play([None] * 100, missing="drop"),
    "numbers and text": lambda _: play([1, "1"] * 200),
    "numbers and booleans": lambda _: play([1, True, 0] * 200),
    "bytes for text": lambda _: play([b"yes", b"no"] * 200),
    "a table in a cell": lambda _: play([{"a": 1}, {"b": 2}] * 200),
    "no data": lambda _: play([]),
    "one row": lambda _: play(["yes"], labels=["yes", "no"]),
    "one distinct value": lambda _: play(["yes"] * 400),
    "text for a column": lambda _: play("yes"),
    "a set of values": lambda _: play({"yes", "no"}),
    "a number for a column": lambda _: play(7),
    "an array of three dimensions": lambda _: play(np.zeros((3, 3, 3))),
    "columns of unequal length": lambda _: play({"a": [True] * 9, "b": [True] * 8}),
    "two columns of one name": lambda _: play(pd.DataFrame([[1, 2]] * 400, columns=["a", "a"])),
    "several columns for one value": lambda _: play({"a": YES, "b": YES}, kind="one"),
    "text that should be a set": lambda _: play(["a;b", "b"] * 200, kind="set"),
    "a member that is missing": lambda _: play([["a", None], ["b"]] * 200),
    "a list in a list": lambda _: play([[["a"], ["b"]], [["b"]]] * 200),
    "lists that are no sets": lambda _: play([["a"], "b"] * 200, kind="one"),
    "a set larger than is hidden": lambda _: play([["a", "b"], ["b"]] * 200, max_set=1),
    "text for a number": lambda _: play(["1", "x"] * 200, bins=5, number=(0, 9)),
    "a truth value for a number": lambda _: play([True, False] * 200, number=(0, 9)),
    "an infinite number": lambda _: play([1.0, float("inf")] * 200, number=(0, 9)),
    "no number": lambda _: play([1.0, "nan"] * 200, number=(0, 9)),
    "numbers without their ends": lambda _: play([1.0, 2.0] * 200, bins=5),
    "ends in the wrong order": lambda _: play([1.0, 2.0] * 200, bins=5, number=(9, 0)),
    # labels and questions
    "labels that are alike": lambda _: play(labels=["yes", "no", "no"]),
    "an empty label": lambda _: made(["yes", ""]),
    "labels of a plan that are alike": lambda _: made(["yes", "yes"]),
    "text for labels": lambda _: play(labels="yes"),
    "labels beside a plan": lambda _: simulate(YES, plan=fruit_plan(), labels=["yes", "no"]),
    "one bin": lambda _: made(1),
    "a label that moves the cursor": lambda _: made(["yes", "\x1b[2J"]),
    "an attribute without labels": lambda _: made({"color": "red"}),
    "a kind there is not": lambda _: play(kind="sets"),
    # promises
    "epsilon 0": lambda _: play(epsilon=0),
    "a negative epsilon": lambda _: play(epsilon=-1),
    "an epsilon that is not a number": lambda _: play(epsilon=float("nan")),
    "text for epsilon": lambda _: play(epsilon="1"),
    "True for epsilon": lambda _: made(epsilon=True),
    "delta 1": lambda _: play(delta=1),
    "delta 0": lambda _: made(delta=0),
    "no promise": lambda _: simulate(YES),
    "a promise without its delta": lambda _: simulate(YES, epsilon=1),
    "a promise beside a plan": lambda _: simulate(YES, plan=fruit_plan(), **WISH),
    "a plan as a dict": lambda _: simulate(YES, plan={"users": 400}),
    "half a person": lambda _: made(users=10.5),
    "one user": lambda _: made(users=1),
    "text for users": lambda _: made(users="1000"),
    "a level above 1": lambda _: play(level=95),
    "a protocol there is not": lambda _: made(protocol="laplace"),
    "less than one message": lambda _: made(messages_per_user=0.5),
    "a wish nothing keeps": lambda _: made(users=3),
    # plans and messages
    "a plan for another crowd": lambda _: planned(list(FRUIT) * 100),
    "a plan for another kind": lambda _: planned([["apple"], ["pear"]] * 200),
    "a plan that was altered": altered_plan,
    "a plan whose promise is false": false_plan,
    "a plan that is not there": lambda folder: Plan.load(folder / "none.json"),
    "messages that nobody mixed": lambda _: conclude(fruit_plan(), sent()),
    "messages of a batch that were lost": lambda _: conclude(fruit_plan(), shorter(mixed(), 400)),
    "fewer people than planned": lambda _: mix(sent()[:-1], fruit_plan()),
    "somebody's messages twice": lambda _: mix([*sent(), *sent()[:5]], fruit_plan()),
    "messages as text": lambda _: mix(["a"] * 500, fruit_plan()),
    "messages as an array": lambda _: mix(mixed().parts[0], fruit_plan()),
    "messages as floats": lambda _: mix(np.zeros((500, 1)), fruit_plan()),
    "one message alone": lambda _: mix(b"a", fruit_plan()),
    "messages of another length": lambda _: mix([longer(sent()[0]), *sent()[1:]], fruit_plan()),
    "another plan's batch": lambda _: conclude(other_plan(), mixed()),
    "a batch of other labels": lambda _: conclude(
        made(["fig", "kiwi", "lime"], users=PEOPLE), mixed()
    ),
    "a tally for a batch": lambda _: conclude(fruit_plan(), Tally(np.array([9, 9, 9]), 500)),
    "numbers with a kind": lambda _: made(20, number=(0, 1), kind="bits"),
    "numbers of labels": lambda _: made(["a", "b"], number=(0, 1)),
    "numbers with one end": lambda _: made(20, number=(0,)),
    "a range of one number": lambda _: made(None, number=(1, 1)),
    "a grid of one point": lambda _: made(None, number=(0, 1), points=1),
    "bins and points": lambda _: made(20, number=(0, 1), points=20),
    "points without ends": lambda _: made(None, points=20),
    "nothing asked": lambda _: made(None),
    "ends beside a plan": lambda _: simulate([1.0] * 400, plan=fruit_plan(), bins=3, number=(0, 2)),
    "a number that is none under a plan": lambda _: Device(made(None, number=(0, 1))).messages("x"),
    "an answer too many under a plan": lambda _: [
        device.messages("pear") for device in [Device(fruit_plan())] * 2
    ],
    "a plan past the person's limit": lambda _: Device(fruit_plan(), epsilon=0.5),
    "a plan with fewer mixes than expected": lambda _: Device(fruit_plan(), hops=2),
    # contracts and devices
    "a contract that is not there": lambda folder: Device(folder / "none.json"),
    "a contract that was altered": lambda _: Device(
        by_mixes().replace(b'"shift": 20', b'"shift": 4'), **LIMITS
    ),
    "a contract past the person's limit": lambda _: Device(by_mixes(), delta=1e-9),
    "a record of a plan": lambda _: Device(fruit_plan().record),
    "an answer there is not": lambda _: Device(by_mixes(), **LIMITS).messages("fig"),
    "no answer": lambda _: Device(by_mixes(), **LIMITS).messages(None),
    "an answer too many": answer_twice,
    "fakes a device forgot": lambda _: cut(by_people()),
    "another contract's messages": lambda _: mix(people(40), by_mixes()),
    "one person's messages twice": lambda _: mix(people(1) * 40, by_people()),
    "too few people": lambda _: mix(people(39), by_people()),
    "nobody": lambda _: mix([], by_people()),
    "messages that were not mixed": lambda _: conclude(by_people(), people(40)),
    "another contract's batch": lambda _: conclude(by_mixes(), mix(people(40), by_people())),
    "a copied device": lambda _: copy.copy(Device(by_mixes(), **LIMITS)),
    "a pickled device": lambda _: pickle.dumps(Device(by_mixes(), **LIMITS)),
    # budgets
    "a budget without numbers": lambda _: Budget(),
    "a budget without delta": lambda _: Budget(epsilon=1),
    "a negative budget": lambda _: Budget(epsilon=-1, delta=1e-6),
    "a budget of text": lambda _: Budget(epsilon="2", delta=1e-6),
    "a budget that is spent": spend_twice,
    "a round past the budget": play_past_budget,
    "charged zero times": lambda _: Budget(epsilon=2, delta=1e-5).charge(fruit_plan(), 0),
    "charged half a time": lambda _: Budget(epsilon=2, delta=1e-5).charge(fruit_plan(), 0.5),
    "a charge of no plan": lambda _: Budget(epsilon=2, delta=1e-5).charge("plan.json"),
    "a path for a budget": lambda _: play(budget="budget.json"),
    "a seed beside a budget": lambda _: play(seed=1, budget=Budget(epsilon=2, delta=1e-5)),
    "a budget file that is not there": lambda folder: Budget(folder / "none.json"),
    "a folder for a budget file": lambda folder: Budget(folder),
    "a budget file that was altered": corrupt,
    "a budget file cut short": truncated,
    "a budget file that is gone": gone,
    "an older budget file put back": rolled_back,
    "a budget started over": started_over,
    "a copied budget": lambda _: copy.deepcopy(Budget(epsilon=2, delta=1e-5)),
    "a pickled budget": lambda _: pickle.dumps(Budget(epsilon=2, delta=1e-5)),
    # numbers about privacy
    "delta of no protocol": lambda _: delta("laplace", epsilon=1),
    "delta without its fakes": lambda _: delta("clear-uniform", epsilon=1, bins=9),
    "delta with text for fakes": lambda _: delta("clear-uniform", epsilon=1, bins=9, fakes="9"),
    "delta at epsilon 0": lambda _: delta("clear-uniform", epsilon=0, bins=9, fakes=99),
    "a flip of one half and more": lambda _: delta("flip-blank", epsilon=1, fakes=99, flip=0.6),
    "negative fakes": lambda _: delta("clear-uniform", epsilon=1, bins=9, fakes=-1),
    "nothing left out to calibrate": lambda _: calibrate("clear-uniform", bins=9, fakes=9, **WISH),
    "calibrated to delta 1": lambda _: calibrate("clear-uniform", epsilon=1, delta=1, bins=9),
    "an observer there is not": lambda _: delta(
        "flip", epsilon=1, users=99, flip=0.3, bins=4, observer="everybody"
    ),
    "an attack there is not": lambda _: attack(fruit_plan(), only="guessing"),
    "an attack on nothing": lambda _: attack("flip"),
    "a claim beside a plan": lambda _: attack(fruit_plan(), epsilon=1, delta=1e-6),
    "half a game": lambda _: attack(fruit_plan(), runs=100.5),
    "too few games": lambda _: attack(fruit_plan(), runs=3),
    # what is asked of results
    "a simulation of messages alone": lambda folder: conclude(fruit_plan(), mixed()).save(
        folder, simulation=True
    ),
    "a result saved to a number": lambda _: conclude(fruit_plan(), mixed()).save(3),
    "a seed of text": lambda _: play(seed="1"),
}
