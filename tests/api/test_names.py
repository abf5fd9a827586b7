"""Arguments have the names of the command line; what people type instead is understood."""

import pytest

from mixtally.api import Budget, plan, simulate, simulate_baskets
from mixtally.app.options import parameters_of
from mixtally.app.plan import PlanOptions
from mixtally.errors import DataError, ParameterError, check_names

WISH = {"epsilon": 1, "delta": 1e-6}
CROWD = {"users": 1000, **WISH}
NUMBERS = [float(one % 11) for one in range(400)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"bins": 3}, {"question": 3}),
        ({"labels": ["a", "b"]}, {"question": ["a", "b"]}),
        ({"labels": {"x": ["a", "b"], "y": ["c", "d"]}},
         {"question": {"x": ["a", "b"], "y": ["c", "d"]}}),
        ({"bins": 5, "max_set": 2}, {"question": 5, "max_set": 2}),
        ({"number": (0, 10), "bins": 5}, {"question": 5, "number": [0.0, 10.0]}),
    ],
)  # fmt: skip
def test_a_question_is_said_by_name_or_in_one(one, other):
    assert plan(**one, **CROWD).fingerprint == plan(**other, **CROWD).fingerprint


def test_python_asks_by_the_names_of_the_command_line():
    taken = plan.__signature__.parameters
    assert {one.name for one in parameters_of(PlanOptions, extras=False)} <= set(taken)
    assert "number" in simulate.__signature__.parameters


def test_a_number_is_rounded_between_its_ends():
    found = plan(number=(0, 10), points=7, **CROWD)
    grid = found.record.grid
    assert (grid.low, grid.high, grid.points) == (0.0, 10.0, 7)
    played = simulate(NUMBERS, number=(0, 10), seed=1, **WISH)
    assert played.mean.lower <= sum(NUMBERS) / len(NUMBERS) <= played.mean.upper


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bins": 3, "labels": ["a", "b"]}, "labels: expected 3 labels, got 2"),
        ({"question": 3, "bins": 3}, "got question and bins"),
        ({"labels": "yes"}, "labels: expected a list of labels"),
        ({"bins": 2.5}, "bins: expected a whole number"),
        ({"number": 3}, r"expected a range of two numbers.* got int 3. Write number=\(0, 10\)"),
        ({"number": (0, 1, 2)}, "expected a range of two numbers"),
        ({"number": ("a", 1)}, "low end: expected a finite number"),
        ({"points": 7}, "points: expected number with it, got none"),
        (
            {"number": (0, 1), "bins": 5, "points": 5},
            "number: expected points without bins, got both",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        plan(**given, **CROWD)


@pytest.mark.parametrize(
    ("call", "typed", "meant"),
    [
        (plan, "eps", "epsilon"), (simulate, "eps", "epsilon"), (simulate, "EPS", "epsilon"),
        (simulate, "ε", "epsilon"), (plan, "n", "users"), (plan, "categories", "labels"),
        (plan, "low", "number"), (simulate, "high", "number"), (simulate, "range", "number"),
        (simulate, "random_state", "seed"), (plan, "mixes", "hops"), (plan, "protocl", "protocol"),
        (plan, "label", "labels"), (simulate_baskets, "confidance", "confidence"),
        (plan, "number_of_users", None), (plan, "zebra", None),
    ],
)  # fmt: skip
def test_another_name_is_told_the_right_one(call, typed, meant):
    with pytest.raises(ParameterError) as refused:
        check_names(call.__name__, [typed], list(call.__signature__.parameters))
    hint = f"Did you mean {meant}?" if meant else f"See help(mixtally.{call.__name__})."
    assert str(refused.value).endswith(f"got {typed!r}. {hint}")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"column": "city"}, 'Give the column as the values, frame["city"] for example.'),
        ({"columns": "city"}, 'Give the column as the values, frame["city"] for example.'),
        ({"person_column": "who"}, "Did you mean person?"),
        ({"set": ";"}, "Did you mean separator?"),
    ],
)
def test_an_option_of_the_command_line_is_told_its_argument(typed, said):
    with pytest.raises(ParameterError) as refused:
        simulate({"city": ["a", "b"]}, **typed, **WISH)
    (name,) = typed
    assert str(refused.value).endswith(f"got {name!r}. {said}")


def test_values_of_options_are_quoted_in_advice():
    with pytest.raises(DataError) as refused:
        simulate(["a", "b"], labels=["a", "b"], person=["x", "x"], **WISH)
    assert 'with several="first" or last, or join the rows with several="set"' in str(refused.value)


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda: Budget(3, 1e-5), "mixtally.Budget(epsilon=3, delta=1e-05)"),
        (lambda: Budget(3, delta=1e-5), "mixtally.Budget(epsilon=3, delta=1e-6)"),
        (lambda: Budget(3), "mixtally.Budget(epsilon=3, delta=1e-6)"),
        (lambda: Budget("b.json", 3, 1e-5), "mixtally.Budget('b.json', epsilon=3, delta=1e-05)"),
        (lambda: plan(3, 1, 1e-6, 1000), "mixtally.plan(3, epsilon=1, delta=1e-06, users=1000)"),
        (lambda: simulate(NUMBERS, 1, delta=1e-6), "mixtally.simulate(.., epsilon=1, delta=1e-06)"),
    ],
)
def test_a_call_without_names_is_told_the_right_call(call, right):
    with pytest.raises(ParameterError) as refused:
        call()
    assert right in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_right_call_is_right():
    budget = Budget(epsilon=3, delta=1e-5)
    assert (budget.epsilon, budget.delta) == (3, 1e-5)


def test_more_arguments_than_there_are_have_no_right_call():
    with pytest.raises(ParameterError, match=r"too many positional arguments\. Look at"):
        Budget("a", 1, 2, 3, 4)
