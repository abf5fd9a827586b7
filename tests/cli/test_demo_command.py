"""``mixtally demo``: real data, two releases, errors where they were said to be."""

import dataclasses
import json

import pytest

from mixtally.cli.plan_files import read_plan
from mixtally.lab.simulation import demo as lab_demo


def near_expected(facts):
    """Whether every release erred within 25 % of what was expected."""
    return all(
        abs(release["measured_error"] / release["standard_error"] - 1) < 0.25
        for release in facts["releases"]
    )


@pytest.fixture
def demo(cli, tmp_path):
    """Plays the demo with seed 7 and returns its facts and its folder."""

    def call(*more):
        outcome = cli("demo", "--seed", 7, "--out", tmp_path / "out", "--json", *more)
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return json.loads(outcome.out), tmp_path / "out"

    return call


@pytest.mark.seconds
def test_two_releases_of_all_flights_the_first_the_planners_choice(demo):
    facts, out = demo()
    first, second = facts["releases"]
    for release in (first, second):
        assert (release["users"], release["bins"]) == (336_776, 105)
        assert len(release["estimates"]) == 105
        assert release["delta"] <= release["delta_target"] == 1e-6
    assert facts["reason"].startswith(f"{first['protocol']} has the smallest standard error")
    assert first["standard_error"] <= second["standard_error"]
    assert (second["protocol"], second["fakes"]) == ("flip-blank", 336_776)
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.*")) == [
        "plan-flip-blank.json", "plan.json", "simulation/estimates.csv", "simulation/report.html",
        "simulation/result.json",
    ]  # fmt: skip
    for name, release in (("plan.json", first), ("plan-flip-blank.json", second)):
        assert read_plan(out / name).protocol == release["protocol"]


@pytest.mark.seconds
def test_errors_lie_where_they_were_said_to_between_the_other_models(demo):
    """False alarm of a fresh seed: below 10^-3.

    The mean square of 105 nearly normal errors is chi-square over 105, outside (0.75^2, 1.25^2)
    with probability 3 x 10^-4, for each of two releases.
    """
    facts, _ = demo()
    assert near_expected(facts)
    central, local = facts["central_standard_error"], facts["local_standard_error"]
    for release in facts["releases"]:
        assert central < release["standard_error"] < local
        assert central < release["measured_error"] < local


@pytest.mark.seconds
def test_twin_without_subtracting_the_offset_is_caught(demo, plant):
    """The planted bug: the counts are reported as they were tallied."""

    def biased(honest, plan, *more, **named):
        found = honest(plan, *more, **named)
        result = found.conclusion
        (part,) = result.plan.parts
        made = part.mechanism(fakes=result.messages - result.plan.users)
        counts = result.estimate.counts + made.offset(result.messages)
        estimate = dataclasses.replace(result.estimate, counts=counts)
        return dataclasses.replace(found, conclusion=dataclasses.replace(result, estimate=estimate))

    plant(lab_demo, "simulate_release", biased)
    assert not near_expected(demo()[0])


@pytest.mark.seconds
def test_the_table_names_both_releases(cli, tmp_path):
    outcome = cli("demo", "--seed", 7, "--out", tmp_path / "out", "--top", 3)
    assert outcome.status == 0
    for text in ("clear-uniform", "flip-blank", "ORD", "central model", "local model"):
        assert text in outcome.out


@pytest.mark.seconds
@pytest.mark.parametrize("bad", [("--epsilon", 0), ("--delta", "nan"), ("--level", 1)])
def test_bad_numbers_are_refused_and_nothing_is_written(refused, tmp_path, bad):
    refused("demo", "--out", tmp_path / "out", *bad)
    assert not (tmp_path / "out").exists()
