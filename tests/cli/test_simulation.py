"""A simulation is not a release: files that could be published owe nothing to the truth.

Every command that plays data is run twice with the same noise, the second time as if the crowd had
held something else when its truth is looked at: all files outside ``simulation/`` stay as they are.
"""

import contextlib
import io
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from cli.json_cases import FAST, SECONDS, SLOW, command_of, lay_out
from mixtally.app import memoized
from mixtally.cli import options
from mixtally.cli.main import run
from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation import epochs as series
from mixtally.lab.simulation import truth
from mixtally.lab.simulation.baskets.facts import BasketFindings
from mixtally.lab.simulation.counts_only import Histogram
from mixtally.lab.simulation.heavy.facts import WordFindings
from mixtally.lab.simulation.memoized.counts import MemoizedFindings
from mixtally.lab.simulation.memoized.crowd import measure_recoveries
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.trend.trend import Trend, TrueSeries
from mixtally.protocol.estimate.memoized import Recovery

PLAYS = {"simulate", "simulate memoized", "simulate epochs", "simulate words",
         "simulate baskets", "demo"}  # fmt: skip
RAW = "holds raw counts"
SURVEY = "simulate survey.csv --column answer --labels words.txt --epsilon 1 --delta 1e-6"


def seedless(case):
    """The commands of a case: the last one without its seed, and with a folder."""
    *before, last = (shlex.split(part) for part in case.split(" && "))
    for flag in ("--seed", "--out"):
        if flag in last:
            at = last.index(flag)
            last = [*last[:at], *last[at + 2 :]]
    return [*before, [*(word for word in last if word != "--json"), "--out", "out"]]


def played(cases):
    return [case for case in cases if command_of(case.split(" && ")[-1]) in PLAYS]


def quietly(arguments, status=0):
    said = io.StringIO()
    end = 0
    with (
        contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said),
        patch.object(sys, "argv", ["mixtally", *arguments]),
    ):  # fmt: skip
        try:
            run()
        except SystemExit as stopped:
            end = stopped.code or 0
    assert end == status, said.getvalue()


@contextlib.contextmanager
def another_truth():
    """Whatever is asked of the truth is answered by another crowd's."""
    counts, epochs = Population.truth.fget, Timeline.attendance.fget
    rolled = property(lambda crowd: np.roll(counts(crowd), 1) + 3)
    people = property(
        lambda line: None if epochs(line) is None else {k: v + 1 for k, v in epochs(line).items()}
    )
    counted = property(lambda crowd: np.roll(crowd.counts, 1) + 3)
    numbers, pairs = truth._number_figures, truth._pair_figures
    with (
        patch.object(Population, "truth", rolled), patch.object(Histogram, "truth", counted),
        patch.object(Timeline, "attendance", people),
        patch.object(series, "TrueSeries",
            lambda counts, *more: TrueSeries(np.roll(counts, 1, axis=1) + 3, *more)),
        patch.object(truth, "_number_figures", lambda *more: _moved(numbers(*more))),
        patch.object(truth, "_pair_figures", lambda *more: _moved(pairs(*more))),
        patch.object(memoized, "measure_recoveries",
            lambda *more: [_other(one) for one in measure_recoveries(*more)]),
    ):  # fmt: skip
        yield


def _other(one):
    return Recovery(1.0 - one.memoized, 0.5 + one.true / 2.0)


def _moved(values):
    return tuple(None if value is None else value + 1.0 for value in values)


def files(case, desk, world=contextlib.nullcontext):
    """What a case leaves, by name: what may be published, and what may not."""
    desk.mkdir()
    lay_out(desk)
    with contextlib.chdir(desk), patch.object(options, "make_chance", lambda _: SeededChance(7)):
        *before, last = seedless(case)
        for arguments in before:
            quietly(arguments)
        with world():
            quietly(last)
        out = Path("out")
        every = {str(path.relative_to(out)): path for path in out.rglob("*") if path.is_file()}
        texts = {name: path.read_bytes().decode() for name, path in every.items()}
    raw = {name: text for name, text in texts.items() if name.startswith("simulation/")}
    return {name: text for name, text in texts.items() if name not in raw}, raw


def differ(one, other):
    """Which files are not the same."""
    assert one.keys() == other.keys()
    return [name for name in one if one[name] != other[name]]


def check(case, tmp_path):
    public, raw = files(case, tmp_path / "one")
    elsewhere, rolled = files(case, tmp_path / "two", another_truth)
    if "not_covered" in json.loads(raw["simulation/result.json"]):  # read off the data
        assert (public, elsewhere) == ({}, {})
        return
    assert {"report.html", "result.json"} <= public.keys()
    assert {f"simulation/{name}" for name in public if not name.startswith("plan")} == raw.keys()
    assert differ(public, elsewhere) == []
    released = json.loads(public["result.json"]).get("releases", ())
    if not any(one["refusal"] for one in released):  # what is refused is not compared
        assert "simulation/result.json" in differ(raw, rolled)
    for text in raw.values():
        assert RAW in text.splitlines()[1 if text.startswith("{") else 0]
    assert next(iter(json.loads(raw["simulation/result.json"]))) == "simulation"
    for text in public.values():
        assert RAW not in text
        assert "were clipped" not in text  # how many is a raw count


@pytest.mark.seconds
@pytest.mark.parametrize("case", played(FAST))
def test_what_may_be_published_owes_nothing_to_the_truth(case, tmp_path):
    check(case.replace("{seed}", "1"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", played((*SECONDS, *SLOW)))
def test_nor_what_takes_longer(case, tmp_path):
    check(case.replace("{seed}", "1"), tmp_path)


LEAKS = {
    Study: SURVEY,
    WordFindings: "simulate words survey.csv --column answer --epsilon 2 --top 2 --delta 1e-6",
    BasketFindings: "simulate baskets survey.csv --column likes --labels drinks.txt --max-set 3 "
    "--set ';' --epsilon 2 --delta 1e-6",
    MemoizedFindings: "simulate memoized survey.csv --column answer --labels words.txt --epsilon 1",
    Trend: "simulate epochs diary.csv --column color --epoch-column week --person-column who "
    "--labels colors.txt --epsilon 1 --delta 1e-6",
}


@pytest.mark.seconds
@pytest.mark.parametrize("kind", LEAKS, ids=lambda kind: kind.__name__)
def test_the_twin_that_publishes_a_true_number_is_found(kind, tmp_path, plant):
    """The planted leak: one true count in a sentence of what may be published."""

    def leaking(honest, whole):
        held = whole.truth
        counts = getattr(held, "counts", getattr(held, "holders", held))
        every = list(counts.values()) if isinstance(counts, Mapping) else np.ravel(counts).tolist()
        return replace(honest(whole), provenance=replace(whole.provenance, source=f"{every[:3]}"))

    plant(kind, "without_truth", leaking)
    public, _ = files(LEAKS[kind], tmp_path / "one")
    elsewhere, _ = files(LEAKS[kind], tmp_path / "two", another_truth)
    assert "result.json" in differ(public, elsewhere)


@pytest.mark.seconds
def test_a_release_with_a_truth_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Study, "without_truth", lambda whole: whole)
    with pytest.raises(TypeError, match="true counts"):
        files(SURVEY, tmp_path / "one")


@pytest.mark.seconds
def test_a_seed_leaves_a_simulation_and_the_plan_alone(tmp_path, cli):
    lay_out(tmp_path)
    with contextlib.chdir(tmp_path):
        outcome = cli(*shlex.split(SURVEY), "--seed", 1, "--out", "out")
    assert outcome.status == 0
    found = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*"))
    assert found == [
        "plan.json", "simulation/estimates.csv", "simulation/report.html", "simulation/result.json",
    ]  # fmt: skip
    assert "the noise follows from the public seed" in outcome.out
    assert outcome.out.splitlines()[3].endswith("are raw data. Do not publish them.")
