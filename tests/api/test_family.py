"""Whatever is given to a public call, nothing but an error of the one family comes back."""

import inspect
from types import FunctionType

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mixtally
from api.hostile import AWARE, HOSTILE, NAIVE, PAIRS, TWICE, WISH, calls
from helpers.sampled import exhaustive
from helpers.small_plan import fruit_plan
from mixtally import simulate
from mixtally.errors import DataError, MixtallyError

GIVEN = {"Attacked", "Batch", "Calibrated", "Certificate", "Example", "Plan", "PrivacyCurve",
    "RandomizerDelta",
         "Result", "Sent",
         "SimulatedResult"}  # fmt: skip
"""Classes of what calls give: nobody makes one."""
PLAYS = [
    "simulate_words", "simulate_baskets", "simulate_places", "simulate_memoized",
    "simulate_epochs",
]  # fmt: skip
NAMES = [
    "plan", "simulate", "Device", "Device.messages", "mix", "conclude", "delta", "calibrate",
    "epsilon", "epsilon of a matrix", "curve",
    "attack", "Budget", "Budget.charge", "Budget.times_left", "Budget.show",
    "Plan.save", "Plan.load", "Plan.save_contract", "Plan.lines", "Result.difference",
    "Result.total",
    "Result.save", "Result.plot", "Result.to_frame", "Result.to_narwhals",
    "SimulatedResult.rows", "SimulatedResult.to_frame", "Question", "Guarantee", "example", *PLAYS,
    "Result.to_frame of words", "Result.save of words",
]  # fmt: skip


INNER = {"Budget.change"}
"""What other files of the package call, with functions of their own."""


def public():
    """The names of all that can be called: functions, classes, their methods."""
    for name in mixtally.__all__:
        one = getattr(mixtally, name)
        if not isinstance(one, type):
            yield name
        elif not issubclass(one, Exception):
            if name not in GIVEN:
                yield name
            if not one.__module__.startswith("mixtally.api."):  # a record: it has been made
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


def tried(name, folder, chosen, step=1):
    """Every argument of a call in turn replaced by hostile values; what leaked.

    Of the chosen values every ``step``-th, from another one on for every argument and call.
    """
    call, right = calls(folder)[name]
    for number, argument in enumerate(right, NAMES.index(name)):
        for kind in list(chosen)[number % step :: step]:
            leak = leaks(call, {**right, argument: HOSTILE[kind]})
            if leak is not None:
                yield argument, kind, leak


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_public_call_is_here(folder):
    assert {*NAMES} == {*calls(folder)}
    assert {*public()} - INNER == {name.partition(" of ")[0] for name in NAMES}


def test_arguments_that_are_right_are_taken(folder):
    """Twin: what is refused is refused for the one argument that is wrong."""
    for call, right in calls(folder).values():
        call(**right)


QUICK = {*NAMES} - {"plan", "simulate", "attack", "Budget.charge", *PLAYS}


LONG = sorted({*NAMES} - QUICK)


@pytest.mark.parametrize("name", [*sorted(QUICK), *exhaustive(LONG)])
def test_nothing_else_comes_from_it(name, folder):
    assert [*tried(name, folder, HOSTILE)] == []


@pytest.mark.seconds
@pytest.mark.parametrize("name", LONG)
def test_nothing_else_comes_from_it_for_an_eighth_of_the_values(name, folder):
    assert [*tried(name, folder, HOSTILE, 8)] == []


@pytest.mark.parametrize("name", LONG)
def test_a_few_of_these_come_to_nothing_else(name, folder):
    """The quick sibling: what is refused before any work."""
    assert [*tried(name, folder, ["an awkward one", "a complex", "half a letter"])] == []


def test_a_mistake_of_ours_is_not_hidden(monkeypatch):
    """It stays what it is in this room and below; what an argument raises does not."""

    def fails():
        with pytest.raises(KeyError) as raised:
            mixtally.simulate(["a", "b"] * 100, epsilon=1, delta=1e-6)
        return raised.value.args[0]

    def broken(*_, **__):
        return {}["nothing"]

    for room in ("api.reading.read_shared_crowd", "lab.simulation.plan_choice.explain_choice"):
        inside = FunctionType(broken.__code__, {"__name__": f"mixtally.{room}"})
        monkeypatch.setattr(f"mixtally.{room}", inside)
        assert fails() == "nothing"
        monkeypatch.undo()
    monkeypatch.setattr("mixtally.lab.data.crowd._FORMS", {})
    assert fails() == "one"
    monkeypatch.undo()
    with pytest.raises(DataError, match=r"^values\[1\]: .*KeyError: 'repr'") as refused:
        mixtally.simulate([["a"], Raises(KeyError("repr"))], epsilon=1, delta=1e-6)
    assert isinstance(refused.value.__cause__, KeyError)


class Raises(list):
    """A list that raises an error when anybody looks into it."""

    def __init__(self, error):
        super().__init__("ab" * 100)
        self.error = error

    def __iter__(self):
        raise self.error

    def __len__(self):
        raise self.error


class SilentError(Exception):
    """An error without a text."""

    def __str__(self):
        raise ValueError("text")


READ = {
    "values": lambda one: simulate(one, **WISH),
    "column 'a'": lambda one: simulate({"a": one, "b": TWICE}, **WISH),
    "labels": lambda one: simulate(TWICE, labels=one, **WISH),
    "messages": lambda one: mixtally.mix(one, fruit_plan()),
}


@pytest.mark.parametrize("error", [RuntimeError("gone"), MemoryError("gone"), SilentError()])
@pytest.mark.parametrize("argument", READ)
def test_whatever_an_argument_raises_is_said_with_its_name(argument, error):
    with pytest.raises(DataError, match=f"^{argument}: expected .* got {type(error).__name__}"):
        READ[argument](Raises(error))


@pytest.mark.parametrize("argument", ["values", "column 'a'", "messages"])
def test_so_is_what_an_iterator_of_the_interpreter_raises(argument):
    """Nothing of Python's own lies between this package and such an error."""
    with pytest.raises(DataError, match=f"^{argument}: .* got ValueError: invalid literal"):
        READ[argument](map(int, ["1", "no"]))


WHEN = {"when": [NAIVE, NAIVE.date()] * 100, "b": TWICE}


@pytest.mark.parametrize(
    "values", [{"when": WHEN["when"]}, pd.DataFrame({"when": WHEN["when"]}, dtype=object), WHEN]
)
def test_dates_of_two_types_are_named_with_their_column(values):
    with pytest.raises(DataError, match=r"^column 'when'\[1\]: .* moment as before, got the date"):
        simulate(values, kind=None if len(values.keys()) == 1 else "attributes", **WISH)
    with pytest.raises(DataError, match=r"moment with a time zone.*\. Make them all dates, or all"):
        simulate([NAIVE, AWARE] * 100, **WISH)


@pytest.mark.parametrize(
    "values",
    [
        {1: TWICE, "1": TWICE},
        pd.DataFrame({1: TWICE, "1": TWICE}),
        pd.DataFrame([["a", "b"]] * 9, columns=["1", "1"]),
        pa.table([TWICE, TWICE], names=["1", "1"]),
    ],
)
def test_a_name_of_several_columns_is_named(values):
    with pytest.raises(DataError, match=r"a different name for each column, got .*'1'.*\. Rename"):
        simulate(values, **WISH)


def test_moments_are_written_as_files_have_them():
    """Of every precision, midnight as its day."""
    days = ["2027-01-10", "2027-01-11"]
    for unit in ("D", "s", "ns"):
        found = simulate(np.array(days * 100, dtype=f"datetime64[{unit}]"), **WISH)
        assert [row.label for row in found.rows] == days
    found = simulate(pd.Series(pd.to_datetime(days * 100)), **WISH)
    assert [row.label for row in found.rows] == days


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
        with pytest.raises(MixtallyError, match=f"'{argument}_'. Did you mean {argument}"):
            call(**right, **{f"{argument}_": 1})
    with pytest.raises(MixtallyError, match="'qqqqqqqq'"):
        call(**right, qqqqqqqq=1)
