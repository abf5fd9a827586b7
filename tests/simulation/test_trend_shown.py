"""Reports over time: well-formed pages, every point where it belongs, nothing lost in export."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from examples.ask_again import best_plan
from mixtally.lab.data.population import Population
from mixtally.lab.data.turnover import simulate_turnover
from mixtally.lab.simulation.epochs import collect_epochs
from mixtally.lab.simulation.lab import Lab, Provenance
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.trend import facts as numbers
from mixtally.lab.simulation.trend.charts import changes_chart, counts_chart
from mixtally.lab.simulation.trend.document import document
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.report.page import page as html
from mixtally.report.terminal import render_summary
from mixtally.report.texts import files

LABELS = ("a", "<b>&", "c\nd", "ééé", "a label that is far too long for the small panels")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def trend():
    first = Population(Question(name="<q>", bins=5, labels=LABELS), np.arange(2000) % 5)
    promised = Guarantee(epsilon=1.0, delta=1e-6)
    timeline = simulate_turnover(first, 3, join=0.2, leave=0.5, change=0.2, chance=SeededChance(1))
    plan = best_plan(timeline, promised, 3)
    about = Provenance(title="T & t", source="<s>", seed=2)
    return collect_epochs(plan, timeline, promised, Lab(SeededChance(2)), provenance=about)


@pytest.fixture(scope="module")
def unknown(trend):
    """The same without knowing who is who."""
    spending = tuple(replace(spent, people=None) for spent in trend.spending)
    about = replace(trend.provenance, seed=None)
    return replace(trend, truth=replace(trend.truth, spending=spending), provenance=about)


def page(trend):
    return html(document(trend, 2))


def text_of(trend, width=120):
    console = Console(width=width, file=io.StringIO())
    console.print(render_summary(document(trend, 2)))
    return console.file.getvalue()


def test_no_guarantee_in_the_table_is_rounded_down(trend):
    promised = Guarantee(epsilon=1.2345642, delta=1.2345642e-6)
    shown = page(replace(trend, guarantee=promised))
    assert "epsilon at delta 1.23457e-06" in shown
    assert "delta at epsilon 1.23457" in shown


@pytest.mark.seconds
def test_the_page_is_one_safe_file(trend, unknown):
    for text in map(page, (trend, unknown)):
        assert "<b>" not in text
        assert "&lt;b&gt;&amp;" in text
        assert "src=" not in text
        assert "<script" not in text
        for section in ("Counts over time", "Who spends what", "What is not promised"):
            assert section in text
        start = text.index("<svg")
        ET.fromstring(text[start : text.index("</svg>") + 6])


def test_json_makes_the_rows_of_an_epoch_once(trend, watch):
    rows = len(trend.epochs) + len(trend.steps)
    seen = watch(numbers, "rows_of", most=rows)
    files(document(trend, 2))
    assert len(seen) == rows


def test_a_panel_a_bin_and_a_point_an_epoch(trend):
    for chart, points in ((counts_chart, 3), (changes_chart, 2)):
        root = ET.fromstring(chart(trend, 4).markup)
        panels = root.findall(f"{SVG}svg")
        assert len(panels) == 4
        for panel in panels:
            assert len(panel.findall(f"{SVG}g")) == points
            line = panel.find(f"{SVG}polyline").get("points").split()
            assert len(line) == points


def test_points_lie_inside_their_intervals_and_panels(trend):
    """Heights fall as values rise; whisker, point and ring stay in the frame."""
    for panel in ET.fromstring(counts_chart(trend, 5).markup).findall(f"{SVG}svg"):
        frame = panel.find(f"{SVG}rect")
        top = float(frame.get("y"))
        bottom = top + float(frame.get("height"))
        for point in panel.findall(f"{SVG}g"):
            whisker = point.find(f"{SVG}line")
            low, high = float(whisker.get("y1")), float(whisker.get("y2"))
            estimate, truth = (float(c.get("cy")) for c in point.findall(f"{SVG}circle"))
            assert top <= high < estimate < low <= bottom
            assert top <= truth <= bottom
            held = high - 0.02 <= truth <= low + 0.02
            assert ("missed" in whisker.get("class")) != held


def test_a_single_epoch_has_neither_changes_nor_a_chart_of_them(trend):
    one = replace(
        trend, users=trend.users[:1],
        truth=replace(trend.truth, counts=trend.truth.counts[:1]),
        series=replace(
            trend.series, names=trend.epochs[:1], results=trend.series.results[:1], steps=()
        ),
    )  # fmt: skip
    assert "Changes from epoch" not in page(one)
    (heading,) = files(document(one.without_truth(), 2))["changes.csv"]
    assert heading.startswith("from,to,bin,label,change,")
    assert "first-last" not in text_of(one)


def test_json_of_a_long_series_lists_the_largest_bins_and_files_have_all(trend, monkeypatch):
    whole = "".join(files(document(trend, 2))["counts.csv"])
    monkeypatch.setattr(numbers, "MOST_LISTED", 29)
    monkeypatch.setattr(numbers, "LARGEST", 2)
    made = files(document(trend, 2))
    told = json.loads(made["result.json"])
    changed = np.flatnonzero(trend.series.is_significant).tolist()
    largest = trend.series.rank_bins()[:2].tolist()
    rest = [i for i in trend.series.rank_bins().tolist() if i in changed and i not in largest]
    listed = sorted({*largest, *rest[:2]})
    assert told["bins_listed"] == len(listed) < 5
    for epoch in told["epochs"]:
        assert [row["bin"] for row in epoch["estimates"]] == listed
    assert [row["bin"] for row in told["changes"]] == listed * len(trend.steps)
    assert "".join(made["counts.csv"]) == whole
    assert any("JSON lists" in line for line in document(trend, 2).prose)
    monkeypatch.setattr(numbers, "MOST_LISTED", 30)
    assert "bins_listed" not in json.loads(files(document(trend, 2))["result.json"])


def test_csv_and_json_hold_the_same_numbers(trend):
    made = files(document(trend, 2))
    counts, changes = (
        list(csv.DictReader(io.StringIO("".join(made[name]).split("\n", 1)[1])))
        for name in ("counts.csv", "changes.csv")
    )
    assert (len(counts), len(changes)) == (15, 15)
    told = json.loads(made["result.json"])
    assert told.items() >= json.loads(json.dumps(document(trend, 2).facts())).items()
    assert [row["label"] for row in counts[:5]] == list(LABELS)
    flat = [row for epoch in told["epochs"] for row in epoch["estimates"]]
    assert [float(row["estimate"]) for row in counts] == [row["estimate"] for row in flat]
    for row in changes:
        sure = int(row["lower_simultaneous"]) > 0 or int(row["upper_simultaneous"]) < 0
        assert row["significant"] == str(sure)
    assert told["changes_covered"] == trend.coverage().share


def test_who_is_who_is_said_to_be_unknown_where_it_is(unknown):
    assert "does not identify people" in text_of(unknown)


def test_the_table_marks_significant_changes_and_rounds_what_is_spent_up(trend):
    text = text_of(trend)
    assert "people" in text
    assert any(step.change.significant.any() for step in trend.steps)
    assert " *" in text
    last = trend.spending[-1]
    shown = [line for line in text.splitlines() if line.lstrip("│ ").startswith("3 ")]
    assert float(shown[-1].split("│")[3]) >= last.epsilon
    assert float(shown[-1].split("│")[4]) >= last.delta


def test_coverage_counts_every_interval_of_every_change(trend):
    """The planted bug: a truth that is not these people's is held far less often."""
    honest = trend.coverage().share
    assert honest == np.mean([
        (step.change.individual.lower <= trend.true_change(step))
        & (trend.true_change(step) <= step.change.individual.upper)
        for step in trend.steps
    ])  # fmt: skip
    turned = replace(trend, truth=replace(trend.truth, counts=trend.truth.counts[::-1]))
    assert turned.coverage().share < honest


def test_what_may_be_published_says_nothing_of_who_took_part(trend):
    assert all(spent.people is not None for spent in trend.spending)
    released = trend.without_truth()
    (worst,) = document(released, 2).facts()["spending"]
    assert (worst["epochs"], worst["people"]) == (3, None)
    assert "true count" not in text_of(released)
