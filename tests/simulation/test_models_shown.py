"""The lines among other models: central mechanisms in every table and plot, or a word why not."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from html import unescape
from io import StringIO

import pytest
from rich.console import Console

from mixtally.lab.simulation.model_comparison import compare_models, describe_accuracy
from mixtally.model.baseline import Baseline, Central
from mixtally.report.charts import error_chart
from simulation.studies import facts, page, summary

NOISE = Baseline(
    name="some noise", epsilon=1.0, delta=1e-6, scale=2.0, standard_error=3.25, level=0.95,
    one_within=6, all_within=1500, source="Library 1.2",
)  # fmt: skip
NAMING = Baseline(
    name="some naming", epsilon=0.5, delta=0.0, scale=4.0, standard_error=None, level=0.9,
    one_within=12, all_within=None, source="Library 1.2",
)  # fmt: skip
BOTH, ERRORS = Central((NOISE, NAMING), ""), {"some noise": 3.5, "some naming": 0.0}


def told(made):
    out = StringIO()
    Console(file=out, width=200).print(summary(made, 3))
    return out.getvalue()


def rows(picture):
    root = ET.fromstring(picture)
    return [e.text for e in root.iter() if e.get("class") == "label"]


def drawn(picture, kind):
    return [e for e in ET.fromstring(picture).iter() if e.get("class") == kind]


@pytest.fixture(scope="module")
def made(study):
    made = study([700, 300], protocols=("clear-uniform", "flip-blank"), central=BOTH)
    return replace(made, truth=replace(made.truth, central=ERRORS))


def test_central_mechanisms_come_first_and_the_local_model_last(made):
    found = compare_models(made)
    assert [line.name.split(",")[-1].strip() for line in found] == [
        "some noise", "some naming", "clear-uniform", "flip-blank", "nobody is trusted",
    ]  # fmt: skip
    assert [line.is_plan for line in found] == [False, False, True, True, False]


def test_statements_say_what_is_bounded_how_surely_and_by_whom(made):
    noise, naming = describe_accuracy(made)
    assert "95 % one count errs by at most 6, all 2 by at most 1,500" in noise
    assert "epsilon = 1, delta = 1e-06 (Library 1.2)" in noise
    assert "90 % the bin it names is at most 12 below the largest (here 0)" in naming


def test_the_table_has_errors_and_statements(made):
    text = told(made)
    for part in ("central, some noise", "3.2", "3.5", *describe_accuracy(made)):
        assert part in text
    assert "central, some naming" not in text  # it has no error of a count


def test_the_plot_has_a_row_a_bar_and_a_line_through(made):
    picture = error_chart(compare_models(made)).markup
    assert rows(picture)[:2] == ["central, some noise", "central, some naming"]
    assert len(drawn(picture, "bound")) == 2
    (through,) = drawn(picture, "central")
    point = next(e for e in drawn(picture, "point"))
    assert through.get("x1") == through.get("x2") == point.get("cx")
    assert [e.text for e in drawn(picture, "value")][:2] == ["3.2, at most 6", "at most 12"]


@pytest.mark.parametrize("bound", [0, 1, 10**7])
def test_any_bound_can_be_drawn(made, bound):
    both = tuple(replace(line, one_within=bound) for line in BOTH.lines)
    picture = error_chart(compare_models(replace(made, central=Central(both, "")))).markup
    assert len(drawn(picture, "bound")) == (2 if bound else 0)
    assert len(drawn(picture, "central")) == 1


def test_the_page_and_the_facts_hold_them(made):
    text = unescape(page(made))
    assert all(one in text for one in describe_accuracy(made))
    found = facts(made)
    assert found["central"][0]["standard_error"] == 3.25
    assert found["central"][1]["one_within"] == 12
    assert found["central_note"] == ""


@pytest.mark.parametrize("note", ["central baselines: not drawn", "install it"])
def test_what_is_missing_is_said_everywhere(made, note):
    without = replace(made, central=Central(note=note))
    for text in (told(without), unescape(page(without)), facts(without)["central_note"]):
        assert note in text
    assert rows(error_chart(compare_models(without)).markup)[0] == "central model, someone sees all"


def test_a_study_made_without_them_says_so(study):
    assert "central baselines: not drawn" in told(study([700, 300]))


def test_the_twin_that_drops_the_note_is_caught(made):
    silent = replace(made, central=Central(note=""))
    assert "central baselines" not in told(silent)


def test_what_may_be_published_holds_nothing_measured(made):
    released = made.without_truth()
    assert [line["measured"] for line in facts(released)["central"]] == [None, None]
    assert all(line.measured is None for line in compare_models(released))
    assert "(here" not in " ".join(describe_accuracy(released))
    assert "measured" not in told(released)
