"""A number that is added to the one list of numbers stands in every kind of result."""

import csv
import io
import json

import numpy as np
import pytest

import mixtally
from mixtally.report.counts_view import CountsView
from mixtally.report.estimates import Estimates
from mixtally.report.received import count_facts

ANSWERS = ["tea", "milk", "tea", "water"] * 250
BASKETS = [["tea", "milk"], ["tea", "milk", "water"], ["tea"], ["water"]] * 250
END = {"epsilon": 4.0, "delta": 1e-6, "seed": 1}
WEEKS = {"answer": ANSWERS * 2, "week": ["1"] * 1000 + ["2"] * 1000}


def counts():
    found = mixtally.simulate(ANSWERS, **END)
    (told,) = found.facts["releases"]
    round_told = count_facts(CountsView(found.record))
    return [told["estimates"], found.simulation.rows(), round_told["estimates"]]


def figures():
    found = mixtally.simulate(
        np.arange(1000.0) % 100, number=(0, 100), epsilon=4, delta=1e-6, seed=1
    )
    return [found.facts["releases"][0]["numbers"]]


def simulated(found, *names):
    """The rows of JSON under some names, with the truth and without; and of every CSV file."""
    for facts in (found.facts, found.simulation.facts):
        json.dumps(facts)
        yield from (facts[name] for name in names)
    yield from written(found)


def written(found):
    """The rows of every CSV file, with the truth, as they are written."""
    for name, text in found.outcome.files().items():
        if name.endswith(".csv"):
            yield list(csv.DictReader(io.StringIO("".join(text).split("\r\n", 1)[1])))


def epochs():
    found = mixtally.simulate_epochs(WEEKS, epochs="week", rows_are_people=True, **END)
    yield from simulated(found, "changes")
    yield from (epoch["estimates"] for epoch in found.simulation.facts["epochs"])


def votes():
    found = mixtally.simulate(ANSWERS, winner=True, **END)
    yield from written(found)
    yield from (found.simulation.facts["winner"][name]["results"] for name in ("local", "shuffle"))


KINDS = {
    "counts": counts,
    "figures": figures,
    "epochs": epochs,
    "words": lambda: simulated(mixtally.simulate_words(ANSWERS, top=2, **END), "words"),
    "baskets": lambda: simulated(mixtally.simulate_baskets(BASKETS, **END), "items", "sets"),
    "memoized": lambda: simulated(
        mixtally.simulate_memoized(ANSWERS, epsilon=2, reports=3, seed=1), "estimates"
    ),
    "votes": votes,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_is_added_stands_in_every_kind_of_result(kind, plant):
    """Planted: the list of numbers has one more."""
    plant(
        Estimates,
        "columns",
        lambda honest, numbers: {**honest(numbers), "planted": [7.5] * len(numbers.labels)},
    )
    every = list(KINDS[kind]())
    assert every
    for rows in every:
        assert rows
        for row in rows:
            planted = [row[name] for name in row if name.endswith("planted")]
            assert 7.5 in map(float, planted), row


def test_it_stands_in_none_of_them_otherwise():
    for rows in KINDS["counts"]():
        assert not any(name.endswith("planted") for row in rows for name in row)
