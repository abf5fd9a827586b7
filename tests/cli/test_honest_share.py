"""``--honest-share`` in ``delta`` and ``calibrate``: fewer hide a person, all add noise."""

import json
import math

import pytest

PROMISE = ("--epsilon", 1, "--delta", "1e-6")
HALF = ("--honest-share", 0.5)


@pytest.fixture
def facts(cli):
    def call(*arguments):
        outcome = cli(*arguments, "--json")
        assert (outcome.status, outcome.err) == (0, "")
        return json.loads(outcome.out)

    return call


@pytest.mark.parametrize(
    "noise", [("clear-uniform", "--bins", 100), ("flip-blank", "--flip", 0.001)]
)
def test_fakes_that_are_sought_are_those_to_promise(facts, cli, noise):
    sure = facts("check noise", *PROMISE, "--protocol", *noise)["fakes"]
    found = facts("check noise", *PROMISE, "--protocol", *noise, *HALF)
    assert (found["fakes"], found["fakes_counted"]) == (2 * sure, sure)
    again = ("--protocol", *noise, "--fakes", found["fakes"], *HALF)
    assert facts("check delta", "--epsilon", 1, *again)["delta"] <= 1e-6
    shown = cli("check noise", *PROMISE, "--protocol", *noise, *HALF).out
    assert f"fakes {2 * sure:,}, {sure:,} of them assumed honest" in shown


def test_errors_are_those_of_everything_that_is_sent(facts):
    found = facts(
        "check noise",
        *PROMISE,
        "--protocol",
        "flip-blank",
        "--fakes",
        10**6,
        "--users",
        10**6,
        *HALF,
    )
    assert (found["fakes"], found["fakes_counted"]) == (10**6, 500_000)
    q = found["flip_probability"]
    expected = math.sqrt(2e6 * q * (1 - q)) / (1 - 2 * q)
    assert found["standard_error"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "law",
    [
        ("flip", "--users", 10_000, "--flip", 0.1),
        ("flip", "--users", 10_000, "--flip", 0.01, "--observer", "sums"),
        ("single-bit", "--users", 10_000, "--fakes", 0, "--flip", 0.01),
        ("flip-uniform", "--users", 10_000, "--fakes", 0, "--bins", 9, "--flip", 0.01, "--split"),
        ("flip-blank", "--users", 10_000, "--fakes", 0, "--flip", 0.1, "--count-crowd"),
    ],
)
def test_where_people_hide_a_person_only_the_honest_ones_do(facts, law):
    half = facts("check delta", "--epsilon", 1, "--protocol", *law, *HALF)
    fewer = [5_000 if word == 10_000 else word for word in law]
    assert half["users_counted"] == 5_000
    assert half["delta"] == facts("check delta", "--epsilon", 1, "--protocol", *fewer)["delta"]


def test_a_share_is_taken_as_it_is_written(facts):
    third = ("--honest-share", "0.3333333333333333", "--epsilon", 9, "--protocol")
    fakes = facts("check delta", *third, "flip-blank", "--fakes", 3, "--flip", 0.1)
    assert fakes["fakes_counted"] == 0
    people = facts("check delta", *third, "single-bit", "--fakes", 0, "--users", 9, "--flip", 0.1)
    assert people["users_counted"] == 2


def test_the_planner_promises_as_many_fakes(facts):
    """But for coins, which take a few more."""
    given = ("--users", 10**6, "--bins", 100, *HALF)
    plan = facts("plan", *PROMISE, *given, "--protocol", "clear-uniform")
    found = facts("check noise", *PROMISE, "--bins", 100, *HALF, "--protocol", "clear-uniform")
    assert found["fakes"] <= plan["fakes"] <= 1.005 * found["fakes"]
    assert plan["delta"] <= 1e-6
    assert plan["standard_error"] == pytest.approx(found["standard_error"], rel=0.0025)


def test_nobody_has_no_error(facts, cli):
    given = (*PROMISE, "--protocol", "flip-blank", "--fakes", 0)
    assert facts("check noise", *given)["standard_error"] is None
    assert "Expected error of each count: unknown" in cli("check noise", *given).out


@pytest.mark.parametrize(
    "law",
    [
        ("flip-blank", "--fakes", "1e5", "--max-set", 2),
        ("flip", "--users", "1e6"),
        ("single-bit", "--users", "1e6", "--fakes", 0),
        ("memory", "--p", 0.5, "--q", 0.75, "--hashes", 1, "--reports", 5),
    ],
)
def test_the_noise_that_is_printed_keeps_the_promise(facts, cli, law):
    first = cli("check noise", *PROMISE, "--protocol", *law).out.splitlines()[3]
    flag = "--permanent" if law[0] == "memory" else "--flip"
    noise = first.replace(",", "").split()[2]
    assert facts("check delta", "--epsilon", 1, "--protocol", *law, flag, noise)["delta"] <= 1e-6


@pytest.mark.parametrize("more", [("--bits", 5, "--bins", 7), ("--background", "zero")])
def test_nothing_that_is_given_is_passed_over(refused, more):
    refused(
        "check delta", "--epsilon", 1, "--protocol", "flip", "--users", 99, "--flip", 0.1, *more
    )
