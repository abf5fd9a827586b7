"""Whatever is given to a public call, nothing but an error of the one family comes back."""

import inspect

import numpy as np
import pandas as pd
import pytest

import mixtally
from door.hostile import HOSTILE, PAIRS, calls
from mixtally.errors import MixtallyError

GIVEN = {"Attacked", "Batch", "Calibrated", "Certificate", "Example", "Plan", "Rehearsal", "Result",
         "Sent"}  # fmt: skip
"""Classes of what calls give: nobody makes one."""
NAMES = [
    "plan", "simulate", "Device", "Device.messages", "mix", "conclude", "delta", "calibrate",
    "attack", "Budget", "Budget.charge", "Budget.times_left", "Plan.save", "Plan.load",
    "Plan.lines",
    "Result.save", "Result.plot", "Result.to_frame", "Result.to_narwhals", "Rehearsal.rows",
    "Rehearsal.to_frame", "Question", "Guarantee", "example",
]  # fmt: skip


def public():
    """The names of all that can be called: functions, classes, their methods."""
    for name in mixtally.__all__:
        one = getattr(mixtally, name)
        if not isinstance(one, type):
            yield name
        elif not issubclass(one, Exception):
            if name not in GIVEN:
                yield name
            if not one.__module__.startswith("mixtally.door."):  # a record: it has been made
                continue
            for method, what in vars(one).items():
                plain = inspect.isfunction(what) or isinstance(what, classmethod)
                if not method.startswith("_") and plain:
                    yield f"{name}.{method}"


def leaks(call, given):
    """What comes back that is no error of the family; None for nothing."""
    try:
        call(**given)
    except MixtallyError as error:
        return None if str(error).count("\n") == 0 else f"lines: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def tried(name, folder, chosen):
    """Every argument of a call in turn replaced by each hostile value; what leaked."""
    call, right = calls(folder)[name]
    for argument in right:
        for kind in chosen:
            leak = leaks(call, {**right, argument: HOSTILE[kind]})
            if leak is not None:
                yield argument, kind, leak


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_public_call_is_here(folder):
    assert {*public()} == {*NAMES} == {*calls(folder)}


def test_arguments_that_are_right_are_taken(folder):
    """Twin: what is refused is refused for the one argument that is wrong."""
    for call, right in calls(folder).values():
        call(**right)


QUICK = {*NAMES} - {"plan", "simulate", "attack", "Budget.charge"}


@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.seconds) for n in NAMES],
)
def test_nothing_else_comes_from_it(name, folder):
    assert [*tried(name, folder, HOSTILE)] == []


@pytest.mark.parametrize("name", sorted({*NAMES} - QUICK))
def test_a_few_of_these_come_to_nothing_else(name, folder):
    """The quick sibling: what is refused before any work."""
    assert [*tried(name, folder, ["an awkward one", "a complex", "half a letter"])] == []


def test_a_mistake_of_ours_is_not_hidden(monkeypatch, folder):
    """Twins: an error in a room below stays what it is; one while values are read does not."""

    def broken(*_, **__):
        return {}["nothing"]

    monkeypatch.setattr("mixtally.door.lab.crowd_of", broken)
    with pytest.raises(MixtallyError, match="KeyError: 'nothing'") as refused:
        mixtally.simulate(["a", "b"] * 100, epsilon=1, delta=1e-6)
    assert isinstance(refused.value.__cause__, KeyError)
    monkeypatch.undo()
    monkeypatch.setattr("mixtally.simulation.offers.with_gains", broken)
    with pytest.raises(KeyError, match="nothing"):
        mixtally.simulate(["a", "b"] * 100, epsilon=1, delta=1e-6)


@pytest.mark.parametrize("labels", [np.array(["a", "b"]).tolist(), [*np.array(["a", "b"])]])
def test_labels_of_numpy_are_labels(labels):
    values = ["a", "b"] * 100
    assert mixtally.simulate(values, labels=labels, epsilon=1, delta=1e-6).people == 200
    whole = [*np.arange(2)]
    found = mixtally.simulate([0, 1] * 100, labels=whole, epsilon=1, delta=1e-6)
    assert [row.label for row in found.rows] == ["0", "1"]


@pytest.mark.parametrize("names", [[0, 1], PAIRS], ids=["numbers", "pairs"])
def test_columns_may_have_names_that_are_no_text(names):
    frame = pd.DataFrame([["a", "b"], ["b", "a"]] * 100, columns=names)
    texts = ["a/x", "a/y"] if names is PAIRS else ["0", "1"]
    wanted = [f"{name}={one}" for name in texts for one in "ab"]
    for labels in (None, {name: ["a", "b"] for name in names}):
        found = mixtally.simulate(frame, epsilon=1, delta=1e-6, labels=labels)
        assert [row.label for row in found.rows] == wanted


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_there_is_not_is_named_with_the_nearest(name, folder):
    call, right = calls(folder)[name]
    for argument in right:
        with pytest.raises(MixtallyError, match=f"'{argument}_'; did you mean {argument}"):
            call(**right, **{f"{argument}_": 1})
    with pytest.raises(MixtallyError, match="'qqqqqqqq'"):
        call(**right, qqqqqqqq=1)
