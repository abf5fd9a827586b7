"""The command line shows central baselines, or says in one line why it does not."""

import json
import sys

import pytest

from mixtally.lab.simulation.central import MISSING, SEEDED

ASK = ("--column", "color", "--labels", "colors.txt", "--epsilon", 1, "--delta", "1e-6")
NAMES = ("central, discrete Laplace", "central, discrete Gaussian", "exponential mechanism")


@pytest.fixture
def simulate(cli, crowd, monkeypatch):
    monkeypatch.chdir(crowd)

    def call(*more):
        outcome = cli("simulate", crowd / "crowd.csv", *ASK, *more)
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return outcome.out

    return call


def test_they_stand_in_the_table_with_their_accuracy(simulate):
    out = " ".join(simulate().split())
    for text in (*NAMES, "one count errs by at most 6, all 5 by at most 9;", "(OpenDP 0."):
        assert text in out
    assert "central baselines" not in out


@pytest.mark.seconds
def test_under_a_seed_nothing_is_measured_and_it_is_said(simulate):
    assert SEEDED in simulate("--seed", 1)
    first, again = (json.loads(simulate("--seed", 1, "--json")) for _ in range(2))
    assert first == again
    assert [line["measured"] for line in first["central"]] == [None] * 3


def test_in_the_files_too(simulate, tmp_path):
    simulate("--out", tmp_path / "out")
    for place, measured in (("out/simulation", True), ("out", False)):
        told = json.loads((tmp_path / place / "result.json").read_text())
        assert len(told["central"]) == 3
        assert all((line["measured"] is not None) == measured for line in told["central"])
        assert all(name in (tmp_path / place / "report.html").read_text() for name in NAMES)


def test_without_opendp_the_command_works_and_asks_for_no_package(simulate, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "opendp", None)
    out = simulate("--out", tmp_path / "out")
    assert "install" not in out
    assert "central model, someone sees all" in out
    assert MISSING not in (tmp_path / "out" / "report.html").read_text()  # readers install nothing
    assert MISSING in (tmp_path / "out" / "simulation" / "report.html").read_text()


def test_a_plan_uses_its_own_guarantee(cli, crowd, plan_file):
    outcome = cli("simulate", crowd / "crowd.csv", "--column", "color", "--plan", plan_file,
                  "--json")  # fmt: skip
    assert [line["epsilon"] for line in json.loads(outcome.out)["central"]] == pytest.approx(
        [1.0] * 3
    )
