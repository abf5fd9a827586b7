"""What nobody should give as an argument, and every public call with arguments that are right."""

import datetime
from decimal import Decimal
from functools import cache
from itertools import chain

import msgspec
import numpy as np
import pandas as pd

import mixtally
from helpers import contracts
from helpers.small_plan import by_people, fruit_plan, mixed, sent
from mixtally.api import (
    Budget,
    Device,
    Guarantee,
    Plan,
    Question,
    conclude,
    simulate,
    simulate_baskets,
    simulate_epochs,
    simulate_memoized,
    simulate_places,
    simulate_words,
)  # fmt: skip
from mixtally.api.pricing import Parameters
from mixtally.app.options import parameters_of
from mixtally.app.plan import PlanOptions


class Awkward:
    """An object of which nothing can be asked."""

    def __getattr__(self, name):
        raise ValueError(name)

    def __repr__(self):
        raise KeyError("repr")

    def __len__(self):
        raise TypeError("len")

    def __iter__(self):
        raise AttributeError("iter")


def holds_itself():
    found = []
    found.append(found)
    return found


NAIVE = datetime.datetime(2027, 1, 10)
AWARE = NAIVE.replace(tzinfo=datetime.UTC)
PAIRS = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
TWICE = [*"abab"] * 50
HOSTILE = {
    "nothing": None, "true": True, "minus one": -1, "zero": 0, "a half": 0.5,
    "not a number": np.nan,
    "infinity": float("inf"), "a googol": 10**100, "a long number": 10**5000, "a complex": 1j,
    "a decimal": Decimal("0.1"), "no text": "", "a zero byte": "\x00", "half a letter": "\ud800",
    "text": "a", "bytes": b"\xff", "a number of NumPy": np.int64(3), "text of NumPy": np.str_("a"),
    "no list": [], "a list in a list": [[]], "lists of unequal length": [[1], [1, 2]] * 50,
    "a list that holds itself": holds_itself(), "a dict": {"a": 1}, "no dict": {},
    "a dict of numbers": {1: [1, 2]}, "a dict of lists in lists": {"a": [[]], "b": [[]]},
    "a set": {1, 2}, "an object": object(), "an awkward one": Awkward(), "a type": int,
    "a function": len, "a range": range(3), "a generator": chain([1]), "a module": datetime,
    "an array of objects": np.array([1, "a", None], dtype=object), "a cube": np.zeros((2, 2, 2)),
    "an array of nothing": np.array(1), "records": np.zeros(3, dtype=[("a", "i4"), ("b", "f8")]),
    "dates of two types": [NAIVE, NAIVE.date()] * 100, "two time zones": [NAIVE, AWARE] * 100,
    "numbers and text": [1, "a", 2.5, None] * 50, "complex numbers": [1j, 2j] * 100,
    "objects": [object(), object()] * 100, "awkward ones": [Awkward()] * 200,
    "dicts": [{"a": 1}, {}] * 100,
    "durations": [datetime.timedelta(1), datetime.timedelta(2)] * 100,
    "a frame": pd.DataFrame({"a": TWICE}), "no frame": pd.DataFrame(),
    "a frame with numbers for names": pd.DataFrame({0: TWICE, 1: TWICE}),
    "a frame with pairs for names": pd.DataFrame([["a", "b"], ["b", "a"]] * 100, columns=PAIRS),
    "a series of intervals": pd.Series(pd.interval_range(0, 200, periods=200)),
    "a series of periods": pd.Series(pd.period_range("2027", periods=200, freq="D")),
    "an index": pd.Index([1, 2] * 100),
}  # fmt: skip
HOPS, COLLECTOR = msgspec.to_builtins(contracts.network(1))
NETWORK = {"name": "a", "hops": HOPS, "collector": COLLECTOR}
WISH = {"epsilon": 1, "delta": 1e-6}
WORDS = ["ab", "cd"] * 200
BASKETS = [["tea", "milk"], ["tea"]] * 200
COSTS = {
    "messages_per_user": 2, "bytes_per_user": 1000, "collections": 1, "mix_fakes": False,
    "hops": None, "mix_messages": None,
    "count_crowd": False, "local_epsilon": None, "protocol": None, "honest_share": 1.0,
    "minimum_crowd": None, "error_at": None,
}  # fmt: skip
PLANNED = {one.name: one.default for one in parameters_of(PlanOptions, extras=False)}
PLANNED |= {"question": 3, "users": 100, "kind": None, **COSTS, **WISH}
PARAMETERS = {one.name: None for one in parameters_of(Parameters, extras=False)}
SEEN = {
    "level": 0.95,
    "missing": "refuse",
    "empty_sets": False,
    "name": "answer",
    "seed": 1,
    "pairs": False,
}


@cache
def shown():
    """Results of small crowds, made once."""
    return simulate(TWICE, seed=1, **WISH), simulate_words(WORDS, top=1, seed=1, **WISH)


def calls(folder):
    """Every public call by its name: what is called, and arguments that are right."""
    plan, budget = fruit_plan(), Budget(epsilon=2, delta=1e-5)
    result, words = shown()
    simulation = result.simulation
    values = {"values": TWICE, **WISH, **SEEN}
    left_out = (
        "plan budget kind max_set bins number points repeats labels separator person several "
        "counts group_by"
    )
    nothing = dict.fromkeys(left_out.split())
    plays = {"seed": 1, **WISH}
    read = {"labels": None, "level": 0.95, "missing": "refuse", "missing_values": (), "name": "a"}
    merged = {"strip": False, "ignore_case": False, "other": None}
    read |= merged
    cost = {"fakes_per_user": None, **COSTS, "messages_per_user": None}
    batch = {
        "plan_or_contract": plan, "batch": mixed(), "level": 0.95, "candidates": None,
        "compare": None,
        "total": None, "shares": False, "tallies": None, "processes": None,
    }  # fmt: skip
    flips = {"target": "flip", "users": 100, "bits": 1, "flip": 0.4, "only": "n-1", **WISH}
    return {
        "plan": (mixtally.plan, PLANNED),
        "simulate": (simulate, {
            **values, **nothing, **COSTS, **merged, "rows_are_people": False}),
        "simulate_words": (simulate_words, {
            "values": WORDS, **plays, "missing": "refuse", "missing_values": (), "name": "a",
            "top": 1, "longest": 2, "symbols": 1, "survivors": None, "outside": 0,
            "alphabet": None, "alphabet_from_data": False, "way": None,
            "error_rate": 0.05, "messages_per_user": 4.0, "mix_fakes": False}),
        "simulate_baskets": (simulate_baskets, {
            "values": BASKETS, **plays, "labels": None, "max_set": None, "separator": None,
            "empty_sets": False, "level": 0.95, "name": "a", "support": 0, "confidence": 0.0,
            "largest": 2, **cost, **merged}),
        "simulate_places": (simulate_places, {
            "values": {"lat": [40.0, 41.0] * 100, "lon": [-74.0, -73.0] * 100}, **plays,
            "box": (38, 44, -76, -70), "resolution": 1, "level": 0.95, "missing": "refuse",
            **cost}),
        "simulate_memoized": (simulate_memoized, {
            "values": TWICE, **plays, **read, "candidates": None, "permanent": None, "p": None,
            "q": None, "reports": 1, "bloom_bits": None, "hashes": None, "cohorts": None}),
        "simulate_epochs": (simulate_epochs, {
            "values": TWICE, "epochs": [1] * 100 + [2] * 100, "person": None, "order": None,
            "rows_are_people": False,
            **plays, **read, **cost, "collections": 2}),
        "Result.to_frame of words": (words.to_frame, {"table": None}),
        "Result.save of words": (words.save, {"folder": folder / "words"}),
        "Device": (Device, {"plan_or_contract": by_people(), "epsilon": 3, "delta": 1e-3, "hops": 2,
                            "local_epsilon": None}),
        "Device.messages": (lambda **given: Device(by_people(), epsilon=3, delta=1e-3).messages(
            **given), {"value": "apple"}),
        "mix": (mixtally.mix, {"messages": sent(), "plan_or_contract": plan}),
        "conclude": (conclude, batch),
        "delta": (mixtally.delta, {**PARAMETERS, "protocol": "clear-uniform", "epsilon": 1,
                                   "bins": 10, "fakes": 1000, "observer": "messages",
                                   "split": False, "count_crowd": False, "honest_share": 1.0}),
        "epsilon": (mixtally.epsilon, {**PARAMETERS, "protocol": "clear-uniform", "delta": 1e-6,
                                       "bins": 10, "fakes": 1000}),
        "epsilon of a matrix": (mixtally.epsilon, {
            "protocol": [["3/4", "1/4"], ["1/4", "3/4"]], "delta": 1e-3, "users": 100,
            "fakes": None, "fake_row": None, "rounds": 1, "normalize": False, "groups": ()}),
        "curve": (mixtally.curve, {**PARAMETERS, "protocol": "clear-uniform", "bins": 10,
                                   "fakes": 1000, "epsilons": [0.5, 1.0]}),
        "calibrate": (mixtally.calibrate, {"protocol": "clear-uniform", "bins": 10, **WISH}),
        "attack": (mixtally.attack, {**flips, "runs": 100, "drawn": 100, "level": 0.9999,
                                     "seed": 1}),
        "Budget": (Budget, {"path": None, "epsilon": 2, "delta": 1e-5}),
        "Budget.charge": (budget.charge, {"plan": plan, "times": 1, "note": ""}),
        "Budget.times_left": (budget.times_left, {"plan": plan}),
        "Budget.show": (budget.show, {"plan": plan}),
        "Plan.save": (plan.save, {"path": folder / "plan.json"}),
        "Plan.save_contract": (plan.save_contract, {"path": folder / "c.json", "network": NETWORK}),
        "Plan.load": (Plan.load, {"path": folder / "plan.json"}),
        "Plan.lines": (plan.lines, {}),
        "Result.save": (result.save, {"folder": folder / "result", "simulation": False}),
        "Result.plot": (result.plot, {}),
        "Result.difference": (result.difference, {"first": "a", "second": "b"}),
        "Result.total": (result.total, {"labels": ["a", "b"]}),
        "Result.to_frame": (result.to_frame, {}),
        "Result.to_narwhals": (result.to_narwhals, {}),
        "SimulatedResult.rows": (simulation.rows, {}),
        "SimulatedResult.to_frame": (simulation.to_frame, {}),
        "Question": (Question, {"name": "a", "bins": 3, "labels": None, "kind": "one",
                                "max_set": 1, "attributes": None, "hashed": None}),
        "Guarantee": (Guarantee, {"epsilon": 1.0, "delta": 1e-6, "observer": "messages"}),
        "example": (mixtally.example, {"column": "fruit"}),
    }  # fmt: skip
