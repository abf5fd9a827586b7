"""``mixtally check delta``: exact numbers for any parameters."""

import json

import pytest

from mixtally.accounting.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.model.shape import LaplaceShape, ratio_of
from mixtally.primitives.fixed_point import threshold_of

FLIP = ("--protocol", "flip-blank", "--fakes", "1e6", "--flip", "4.2e-5")
UNIFORM = ("--protocol", "clear-uniform", "--fakes", 40_000, "--bins", 1000)
SHAPED = ("--protocol", "clear-shaped", "--shape-decay", 0.5, "--shape-shift", 27)
TRUE = {
    FLIP: lambda: flip_blank.delta(10**6, threshold_of(4.2e-5), 1.0),
    UNIFORM: lambda: clear_uniform.delta(40_000, 1000, 1.0),
    SHAPED: lambda: clear_shaped.delta(LaplaceShape(ratio_of(0.5), 27).weights, 1.0),
}


@pytest.mark.parametrize("given", TRUE, ids=lambda given: given[1])
def test_json_is_the_librarys_number_with_its_observer_and_proof(cli, given):
    outcome = cli("check delta", "--epsilon", 1, *given, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    facts, true = json.loads(outcome.out), TRUE[given]()
    assert (facts["delta"], facts["delta_lower"]) == (true.upper, true.lower)
    assert 0 < facts["delta_lower"] <= facts["delta"] < 1
    assert (facts["observer"], facts["status"]) == ("messages", "proved")
    assert facts["source"]
    assert facts["assumption"]


@pytest.mark.parametrize("given", TRUE, ids=lambda given: given[1])
def test_the_text_rounds_delta_up_and_its_lower_end_down(cli, given):
    outcome, true = cli("check delta", "--epsilon", 1, *given), TRUE[given]()
    *promise, upper, lower, source, assumption, local = outcome.out.splitlines()
    assert [line.split()[0] for line in promise] == ["Protects:", "epsilon", "Expected"]
    assert float(upper.split()[2]) >= true.upper
    assert float(lower.split()[2].rstrip(",")) <= true.lower
    assert source.startswith("source: ")
    assert assumption.startswith("assumption: ")
    assert local.startswith("if every mix colludes: ")


def test_the_text_names_an_epsilon_no_smaller_than_the_one_computed(cli):
    epsilon = 1.00000049
    outcome = cli("check delta", "--epsilon", epsilon, *UNIFORM)
    assert float(outcome.out.split(" at epsilon ")[1].split()[0]) >= epsilon


def test_the_delta_of_a_plan_is_the_delta_of_its_parameters(cli):
    plan = json.loads(
        cli(
            "plan", "--epsilon", 1, "--delta", "1e-6", "--users", "1e6", "--bins", 1000,
            "--protocol", "flip-blank", "--json",
        ).out
    )  # fmt: skip
    assert plan["bytes_per_message"] == [11]  # positions with a cap, which now and then is passed
    given = ("--fakes", plan["fakes"], "--flip", plan["flip_probability"])
    outcome = cli("check delta", "--epsilon", 1, "--protocol", "flip-blank", *given, "--json")
    exact = json.loads(outcome.out)["delta"]
    assert exact <= plan["delta"] <= 1e-6
    assert plan["delta"] == pytest.approx(exact, rel=1e-4)


def test_delta_falls_with_epsilon_and_with_fakes(cli):
    def delta(epsilon, fakes):
        given = ("--protocol", "flip-blank", "--fakes", fakes, "--flip", "1e-4")
        return json.loads(cli("check delta", "--epsilon", epsilon, *given, "--json").out)["delta"]

    assert delta(0.5, "1e5") > delta(1, "1e5") > delta(1, "2e5")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (("flip-blank", "--fakes", 10), "--fakes and --flip"),
        (("flip-blank", "--flip", 0.1), "--fakes and --flip"),
        (("flip-blank",), "--fakes and --flip"),
        (("flip-blank", "--fakes", 10, "--flip", 0.1, "--bits", 3), "--fakes and --flip"),
        (("clear-uniform", "--fakes", 10), "--fakes and --bins"),
        (("clear-uniform", "--fakes", 10, "--flip", 0.1), "--fakes and --bins"),
        (("clear-shaped", "--shape-decay", 0.5), "--shape-decay and --shape-shift"),
        (
            ("clear-shaped", "--shape-decay", 0.5, "--shape-shift", 5, "--fakes", 9),
            "--shape-decay and --shape-shift",
        ),
    ],
)
def test_another_protocols_flags_are_refused(refused, given, wanted):
    assert f"expected {wanted}, got" in refused("check delta", "--epsilon", 1, "--protocol", *given)


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        (("nope", "--fakes", 10), "protocol"),
        (("flip-blank", "--fakes", -1, "--flip", 0.1), "fakes"),
        (("flip-blank", "--fakes", "1e14", "--flip", 0.1), "fakes"),
        (("flip-blank", "--fakes", 10, "--flip", 0), "flip probability"),
        (("flip-blank", "--fakes", 10, "--flip", 0.6), "flip probability"),
        (("flip-blank", "--fakes", 10, "--flip", "nan"), "flip probability"),
        (("clear-uniform", "--fakes", 10, "--bins", 1), "bins"),
        (("clear-shaped", "--shape-decay", 0, "--shape-shift", 5), "shape decay"),
        (("clear-shaped", "--shape-decay", "nan", "--shape-shift", 5), "shape decay"),
        (("clear-shaped", "--shape-decay", 0.5, "--shape-shift", 0), "shape shift"),
        (("clear-shaped", "--shape-decay", 0.5, "--shape-shift", "1e6"), "shape shift"),
    ],
)
def test_numbers_outside_their_range_are_refused(refused, given, subject):
    line = refused("check delta", "--epsilon", 1, "--protocol", *given)
    assert line.startswith(f"mixtally: {subject}: ")


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "inf", 21])
def test_epsilon_outside_its_range_is_refused(refused, epsilon):
    assert "epsilon: expected" in refused("check delta", "--epsilon", epsilon, *UNIFORM)
