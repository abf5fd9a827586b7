"""Results: promise first, true counts in the simulation alone, frames of the values' library."""

import inspect
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as arrow
import pytest

from helpers.small_plan import PEOPLE, fruit_plan
from mixtally import api as door
from mixtally.api import Result, delta, plan, plots, simulate
from mixtally.app.outcome import outcome_of_study
from mixtally.errors import DataError, ParameterError
from mixtally.lab.simulation.truth import Truth
from mixtally.model.contract import read_plan

VALUES = ["apple", "pear", "plum", "pear"] * (PEOPLE // 4)
TRUTH = [100, 200, 100]


def played(values=VALUES, **changes):
    return simulate(values, plan=fruit_plan(), **changes)


def test_counts_come_with_intervals_and_the_promise_comes_first():
    result = played(seed=3)
    assert [row.label for row in result.rows] == ["apple", "pear", "plum"]
    off = [abs(row.estimate - true) for row, true in zip(result.rows, TRUTH, strict=True)]
    assert max(off) < 6 * result.error
    hidden, price, error = result.lines
    assert hidden.startswith("Protects: ")
    assert price.startswith("epsilon = 1, delta <= ")
    assert "Assumes: the mix is honest" in price
    assert error.startswith("Expected error of each count: at most ")
    unseeded = played()
    assert tuple(repr(unseeded).splitlines()[:3]) == unseeded.lines
    assert unseeded._repr_html_().startswith("<p>Protects: ")


def test_two_counts_of_a_result_are_compared():
    """False alarm below 10^-8: within six standard errors."""
    result = played(seed=3)
    row = result.difference("pear", "plum")
    assert row.label == "pear - plum"
    assert row.estimate == result["pear"].estimate - result["plum"].estimate
    assert abs(row.estimate - 100) < 6 * row.standard_error
    assert result.error < row.standard_error < 2 * result.error
    assert row.lower < row.estimate < row.upper
    with pytest.raises(ParameterError, match="expected one of apple, pear, plum, got 'pea'"):
        result.difference("pear", "pea")


def test_counts_of_a_group_are_added_up():
    """False alarm below 10^-8: within six standard errors."""
    result = played(seed=3)
    row = result.total(["pear", "plum"])
    assert row.estimate == pytest.approx(result["pear"].estimate + result["plum"].estimate)
    assert abs(row.estimate - TRUTH[1] - TRUTH[2]) < 6 * row.standard_error
    assert row.lower <= row.estimate <= row.upper
    everybody = result.total(["plum", "pear", "apple"])
    assert (everybody.lower, everybody.upper) == (sum(TRUTH), sum(TRUTH))
    with pytest.raises(ParameterError, match="expected one of apple, pear, plum, got 'pea'"):
        result.total(["pear", "pea"])
    with pytest.raises(ParameterError, match="a label in each group"):
        result.total([])


def test_a_seed_repeats_and_says_that_it_hides_nothing():
    one, two, other = played(seed=3), played(seed=3), played(seed=4)
    assert [r.estimate for r in one.rows] == [r.estimate for r in two.rows]
    assert [r.estimate for r in one.rows] != [r.estimate for r in other.rows]
    for text in (repr(one), one.promise):
        assert text.startswith("SIMULATION ONLY: the noise follows from seed 3")


def test_without_a_seed_two_plays_differ():
    """Two plays are equal less than once in 100 times: ten of ten with a chance below 10^-20."""
    first = [row.estimate for row in played().rows]
    assert any([row.estimate for row in played().rows] != first for _ in range(10))


@pytest.mark.parametrize(
    ("maker", "kind"),
    [(pd.Series, pd.DataFrame), (lambda values: arrow.chunked_array([values]), arrow.Table)],
)
def test_a_frame_is_of_the_values_own_library(maker, kind):
    result = played(maker(VALUES), seed=1)
    frame = result.to_frame()
    assert isinstance(frame, kind)
    assert list(result.to_narwhals()["label"]) == ["apple", "pear", "plum"]
    assert "truth" not in result.to_narwhals().columns
    assert isinstance(result.simulation.to_frame(), kind)


def test_true_counts_stand_in_the_simulation_alone():
    result = played(seed=3)
    assert result.simulation.truth == TRUTH
    assert repr(result.simulation).startswith("SIMULATION ONLY. Raw counts of real people")
    assert 0 <= result.simulation.coverage <= 1
    found = np.array([row.estimate for row in result.rows])
    measured = np.sqrt(np.mean((found - TRUTH) ** 2))
    assert result.simulation.measured_error == pytest.approx(measured)


def test_files_are_the_same_whatever_the_truth_was(tmp_path):
    """The same messages, another truth: only what stands under simulation/ differs."""
    result = played()
    folders = []
    for name, truth in (("one", TRUTH), ("two", [1, 2, 397])):
        known = result.outcome.found
        replaced = outcome_of_study(replace(known, truth=Truth(np.array(truth))), 20, ())
        Result(replaced).save(tmp_path / name, simulation=True)
        folders.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir() if p.is_file()})
    one, two = folders
    assert one == two
    assert set(one) == {"report.html", "result.json", "estimates.csv", "plan.json"}
    raw = [(tmp_path / name / "simulation/estimates.csv").read_text() for name in ("one", "two")]
    assert raw[0] != raw[1]
    assert all("raw counts" in text.splitlines()[0] for text in raw)


def test_no_file_holds_a_formula(tmp_path):
    labels = ["=1+1", "@SUM(A1)"]
    simulate(labels * 200, epsilon=1, delta=1e-6, labels=labels, mix_fakes=True).save(
        tmp_path, simulation=True
    )
    for path in tmp_path.rglob("*.csv"):
        assert "'=1+1" in path.read_text()


def test_a_result_is_saved_without_a_simulation_unless_asked(tmp_path):
    result = played()
    result.save(tmp_path)
    assert not (tmp_path / "simulation").exists()
    assert read_plan((tmp_path / "plan.json").read_bytes(), "it") == fruit_plan().record
    facts = json.loads((tmp_path / "result.json").read_text())
    assert [row["estimate"] for row in facts["releases"][0]["estimates"]] == [
        r.estimate for r in result.rows
    ]


def test_a_seeded_run_writes_a_simulation_only(tmp_path):
    played(seed=3).save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"simulation", "plan.json"}


def test_numbers_clipped_are_told_in_the_simulation_alone(tmp_path):
    values = [1.0, 5.0, 99.0, 7.0] * 100
    result = simulate(values, epsilon=1, delta=1e-6, number=(0, 20), mix_fakes=True)
    result.save(tmp_path)
    assert "100 of 400" in repr(result.simulation)
    for path in tmp_path.iterdir():
        assert "clipped" not in path.read_text()
        assert "100 of 400" not in path.read_text()


def test_a_plan_is_written_and_read(tmp_path):
    (path,) = fruit_plan().save(tmp_path / "plan.json")
    again = type(fruit_plan()).load(path)
    assert again.fingerprint == fruit_plan().fingerprint
    assert again.error == fruit_plan().error
    assert repr(again).splitlines()[0].startswith("Protects: ")
    assert "epsilon = 1" in again.promise


def test_attributes_are_planned_played_and_written(tmp_path):
    asked = plan({"c": ["r", "b"], "s": ["1", "2", "3"]}, epsilon=3, delta=1e-5, users=600,
                 mix_fakes=True, protocol="clear-shaped")  # fmt: skip
    assert len(asked.record.parts) == 2
    values = {"c": ["r", "b"] * 300, "s": [1, 2, 3] * 200}
    result = simulate(values, plan=asked, seed=1)
    assert result.simulation.truth == [300, 300, 200, 200, 200]
    (path,) = asked.save(tmp_path / "p.json")
    assert type(asked).load(path).fingerprint == asked.fingerprint
    assert asked.certificate.epsilon == 3


def test_a_chart_needs_a_library(monkeypatch):
    monkeypatch.setattr(plots, "find_spec", lambda _: None)
    with pytest.raises(DataError, match=r"pip install 'mixtally\[plot\]'"):
        played(seed=1).plot()


def test_a_chart_of_altair_has_every_bin_with_its_ends():
    result = played(seed=1)
    drawn = result.plot().to_dict()
    (rows,) = {json.dumps(v) for v in [drawn["data"]["values"]]}
    assert [row["label"] for row in json.loads(rows)] == ["apple", "pear", "plum"]
    assert [row["upper"] for row in json.loads(rows)] == [row.upper for row in result.rows]
    assert "epsilon = 1" in drawn["title"]["subtitle"][0]


def test_without_a_library_of_frames_a_dict_of_columns(monkeypatch):
    monkeypatch.setattr("mixtally.api.simulated_result.find_spec", lambda _: None)
    frame = played(seed=1).to_frame()
    assert frame["label"] == ["apple", "pear", "plum"]


def test_numbers_say_what_they_rest_on():
    found = delta("clear-uniform", epsilon=1, bins=10, fakes=1000)
    assert (found.observer, found.status) == ("messages", "proved")
    assert "come from honest parties" in found.assumption
    assert sys.float_info.min < found.lower <= found.upper < 1e-11


FROM_DATA = "; not covered: the list of answers was read from the data; give labels."


def test_labels_that_were_read_off_the_values_make_a_simulation(tmp_path):
    result = simulate([*VALUES, "durian"], epsilon=4, delta=1e-6, mix_fakes=True)
    assert result.from_data == ("labels",)
    assert result.lines[1].endswith(FROM_DATA)
    head, _, second, *_ = repr(result).splitlines()
    assert head == "SIMULATION ONLY: nothing of this may be published."
    assert second.endswith(FROM_DATA)
    assert FROM_DATA in result._repr_html_().partition("<table")[0]
    assert result.promise.endswith("give labels.")
    result.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["simulation"]
    made = {path.name for path in (tmp_path / "simulation").iterdir()}
    assert made == {"report.html", "result.json", "estimates.csv", "plan.json"}
    told = json.loads((tmp_path / "simulation" / "result.json").read_text())
    assert told["not_covered"] == ["the list of answers was read from the data; give --labels"]


@pytest.mark.parametrize("declare", ["labels", "categories"])
def test_labels_that_were_declared_make_a_release(declare, tmp_path):
    names = ["apple", "durian", "pear", "plum"]
    values = pd.Categorical(VALUES, categories=names) if declare == "categories" else VALUES
    given = {} if declare == "categories" else {"labels": names}
    result = simulate(pd.Series(values), epsilon=4, delta=1e-6, mix_fakes=True, **given)
    assert (result.from_data, [row.label for row in result.rows]) == ((), names)
    assert "not covered" not in repr(result)
    result.save(tmp_path)
    assert "report.html" in {path.name for path in tmp_path.iterdir()}


def test_the_largest_set_is_given_too():
    given = {"labels": ["a", "b"], "epsilon": 4, "delta": 1e-6, "mix_fakes": True}
    sets = [["a"], ["a", "b"], []] * 200
    assert simulate(sets, **given).lines[1].endswith("the largest set was read from the data; "
                                                     "give max_set.")  # fmt: skip
    assert simulate(sets, max_set=2, **given).from_data == ()


def test_values_that_name_people_are_refused():
    given = {"epsilon": 4, "delta": 1e-6, "mix_fakes": True}
    with pytest.raises(
        DataError, match=r"column 'answer': .* it is likely an identifier. .*ith labels"
    ):
        simulate([f"{i} High Street" for i in range(300)], **given)
    with pytest.raises(DataError, match="3 of 3 that only one person gave: too few people"):
        simulate(["yes", "no", "maybe"], **given)
    labels = ["yes", "no", "maybe"]
    assert simulate(labels * 2, labels=labels, epsilon=20, delta=0.1, mix_fakes=True).people == 6


def test_a_result_is_read_like_a_collection():
    counted = played(seed=1)
    assert len(counted) == counted.record.question.bins
    assert [row.label for row in counted] == [row.label for row in counted.rows]
    for row in counted:
        assert counted[row.label] == row
    with pytest.raises(ParameterError, match=r"label: expected one of .*, got 'nobody'"):
        counted["nobody"]


def test_a_result_as_json_has_it():
    counted = played(seed=1)
    told = json.loads(json.dumps(counted.facts))
    (release,) = told["releases"]
    assert told["promise"] == list(counted.lines)
    assert release["delta"] == counted.certificate.upper
    assert [row["estimate"] for row in release["estimates"]] == [row.estimate for row in counted]
    assert "truth" not in json.dumps(told)


def test_numbers_have_a_mean_and_quantiles():
    ages = [float(one % 100) for one in range(3000)]
    found = simulate(ages, number=(0, 100), epsilon=4, delta=1e-4, seed=1)
    assert found.mean.lower <= 49.5 <= found.mean.upper
    assert found.mean.resolution is None
    assert found.quantiles[0.5].lower <= 49.5 <= found.quantiles[0.5].upper
    finer = simulate(ages, points=90, number=(0, 100), epsilon=4, delta=1e-4, seed=1)
    assert finer.quantiles[0.5].resolution == pytest.approx(200 / 89)
    assert len(finer) == 90
    assert next(row["label"] for row in found.facts["releases"][0]["numbers"]) == "mean"


def test_a_printed_number_is_its_mean_with_its_error():
    """The mean stands above the counts, with its interval and its error, rounded outwards."""
    ages = [float(one % 100) for one in range(3000)]
    found = simulate(ages, number=(0, 100), epsilon=4, delta=1e-4, seed=1)
    mean = found.mean
    line = re.search(r"mean: (\S+) \((\S+) \.\. (\S+)\), standard error (\S+)", repr(found))
    shown, lower, upper, error = map(float, line.groups())
    assert shown == pytest.approx(mean.estimate, abs=mean.standard_error / 10)
    assert lower <= mean.lower
    assert mean.upper <= upper
    assert error == pytest.approx(mean.standard_error, rel=0.06)
    assert repr(found).index("mean: ") < repr(found).index(f"{found.rows[0].label}: ")
    assert line[0] in found._repr_html_()
    assert "mean: " not in repr(played(seed=1))


def test_labels_and_bins_have_no_mean():
    counted = played(seed=1)
    cut = simulate([1.0, 7.0] * 200, bins=4, number=(0, 9), epsilon=4, delta=1e-4, seed=1)
    assert cut.figures == {}
    assert len(cut) == 4
    with pytest.raises(
        ParameterError,
        match=r"mean: expected a question about numbers that are rounded.* Give number=",
    ):
        counted.mean  # noqa: B018


@pytest.mark.parametrize("name", ["plan", "simulate", "delta", "calibrate", "attack"])
def test_editors_see_every_option(name):
    taken = inspect.signature(getattr(door, name)).parameters
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())
    assert "honest_share" in taken
    assert {"hops", "mixes"} & set(taken)


def test_a_plan_is_a_file_or_a_page_and_knows_other_models(tmp_path):
    found = plan(100, epsilon=1, delta=1e-6, users=10**6)
    (file,), (page,) = found.save(tmp_path / "plan.json"), found.save(tmp_path / "plan.html")
    assert door.Plan.load(file).fingerprint == found.fingerprint
    assert page.read_text().startswith("<!doctype html>")
    assert found.fingerprint in page.read_text()
    assert found.elsewhere["central model"] < found.error < found.elsewhere["local model"]
