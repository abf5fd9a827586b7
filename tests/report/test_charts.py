"""The pictures: every coordinate a finite number inside the frame, labels kept short."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixtally.lab.simulation.model_comparison import compare_models
from mixtally.lab.simulation.study_document import build_counts_view
from mixtally.report.charts import Bar, error_chart, rows_chart
from mixtally.report.document import Document, Section
from mixtally.report.page import page
from simulation.studies import with_estimate

NUMBERS = ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height")
TRUTHS = {
    "two bins": [700, 300],
    "many bins": [2] * 2000,
    "equal counts": [100] * 10,
    "empty bins": [1000] + [0] * 40,
    "one large bin": [3000, 1, 1, 1],
}


def elements(picture):
    """The elements of an SVG picture without the namespace in their names."""
    root = ET.fromstring(picture)
    for element in root.iter():
        element.tag = element.tag.split("}")[-1]
    return root


def inside(picture):
    """Whether every coordinate is a finite number within the picture's frame."""
    root = elements(picture)
    height = float(root.get("height"))
    for element in root.iter():
        for name in NUMBERS:
            value = element.get(name, "0")
            low, limit = (-9, height) if name in ("y", "y1", "y2", "cy", "height") else (0, 100)
            number = float(value.removesuffix("%"))
            if not (math.isfinite(number) and low <= number <= limit):
                return False
    ends = [share(e, "x") + share(e, "width") for e in root.iter("rect")]
    return max(ends, default=0.0) <= 100.01


def share(element, name):
    """A place across the page, in per cent of its width."""
    assert element.get(name).endswith("%")
    return float(element.get(name).removesuffix("%"))


def unmarked(study):
    """The largest bins without anything that they are compared with."""
    main = study.main_result
    rows = [main.row(i) for i in main.rank_bins()[:30].tolist()]
    bars = [Bar(row.label, row.estimate, row.lower, row.upper) for row in rows]
    return rows_chart(bars, "Estimates alone").markup


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_coordinates_are_finite_and_inside_the_frame(study, truth):
    made = study(truth)
    assert inside(build_counts_view(made).chart(30).markup)
    assert inside(unmarked(made))
    assert inside(error_chart(compare_models(made)).markup)


def test_the_twin_with_a_count_that_is_no_number_is_caught(study):
    broken = with_estimate(study([700, 300, 0]), counts=np.array([700.0, math.nan, 0.0]))
    assert not inside(build_counts_view(broken).chart(30).markup)


@pytest.mark.seconds
@given(truth=st.lists(st.integers(0, 300), min_size=2, max_size=40).filter(lambda t: sum(t) > 99))
@example(truth=[0, 105])
@example(truth=[1000] + [0] * 29)
@settings(max_examples=15, deadline=None)
def test_marks_stay_in_the_picture(study, truth):
    """Also where the estimate lies outside its interval: below zero, or above everybody."""
    assert inside(build_counts_view(study(truth)).chart(30).markup)


def test_the_interval_stands_beside_its_label():
    bars = [Bar("yes", 700.4, 690.0, 710.0), Bar("no", -3.0, 0.0, 9.0)]
    texts = [e.text for e in elements(rows_chart(bars, "Bars").markup).iter("text")]
    assert texts[-4:] == ["yes", "700 (690 .. 710)", "no", "0 (0 .. 9)"]


def test_a_bar_ends_where_its_scale_has_its_value():
    root = elements(rows_chart([Bar("a", 50.0, 0.0, 100.0), Bar("b", 25.0, 0.0, 50.0)], "").markup)
    first, second = root.iter("rect")
    long = next(e for e in root.iter("line") if e.get("class") == "whisker")
    assert share(first, "width") == pytest.approx(2 * share(second, "width"), abs=0.02)
    assert share(long, "x2") - share(long, "x1") == pytest.approx(
        2 * share(first, "width"), abs=0.02
    )


def test_at_most_the_asked_number_of_bins_is_drawn_largest_first(study):
    made = study([2] * 40 + [500, 300], labels=tuple(f"v{i}" for i in range(42)))
    tips = [e.text for e in elements(build_counts_view(made).chart(30).markup).iter("title")][1:]
    assert len(tips) == 30
    assert tips[0].startswith(("v41: ", "v40: "))
    counts = [float(re.search(r": (-?[\d,.]+),", tip)[1].replace(",", "")) for tip in tips]
    assert counts == sorted(counts, reverse=True)


def test_numbers_stand_in_their_order(study):
    made = study([2] * 40 + [500, 300])
    tips = [e.text for e in elements(build_counts_view(made).chart(30).markup).iter("title")][1:]
    places = [int(tip.split(":")[0]) for tip in tips]
    assert places == sorted(places)
    assert places[-2:] == [40, 41]


def test_a_long_label_is_shortened_with_an_ellipsis(study):
    long = "a" * 40
    root = elements(build_counts_view(study([700, 300], labels=(long, "b" * 16))).chart(30).markup)
    shown = {e.text for e in root.iter("text") if e.get("class") == "label"}
    assert shown == {"a" * 19 + "…", "b" * 16}
    assert any(long in e.text for e in root.iter("title"))


def test_a_wide_script_is_shortened_to_the_same_room(study):
    root = elements(
        build_counts_view(study([700, 300], labels=("語" * 11, "語" * 10))).chart(30).markup
    )
    shown = {e.text for e in root.iter("text") if e.get("class") == "label"}
    assert shown == {"語" * 9 + "…", "語" * 10}


def test_an_interval_is_marked_as_missed_exactly_when_it_misses_the_truth(study):
    made = study([100] * 60, level=0.5)
    each = made.main_result.estimate.individual
    true = made.truth.counts
    held = (each.lower <= true) & (true <= each.upper)
    lines = elements(build_counts_view(made).chart(60).markup).iter("line")
    missed = sum(line.get("class") == "whisker missed" for line in lines)
    assert missed == np.count_nonzero(~held) > 0


def test_no_interval_is_called_missed_when_the_truth_is_not_known(study):
    """An estimate below zero lies outside its interval, which says nothing about the truth."""
    made = study([1000] + [0] * 29)
    assert made.main_result.estimate.counts.min() < 0
    assert "missed" not in unmarked(made)
    assert "truth" not in unmarked(made)


def test_every_release_has_a_line_between_the_other_models(study):
    made = study([700, 300], protocols=("clear-uniform", "flip-blank"))
    names = [
        e.text
        for e in elements(error_chart(compare_models(made)).markup).iter("text")
        if e.get("class") == "label"
    ]
    assert [name.split()[0].rstrip(",") for name in names] == [
        "central", "clear-uniform", "flip-blank", "local",
    ]  # fmt: skip


def test_rings_mark_measured_errors_only_where_the_truth_is_known(study):
    assert 'class="truth"' in error_chart(compare_models(study([700, 300]))).markup
    nothing_measured = [line._replace(measured=None) for line in compare_models(study([700, 300]))]
    assert 'class="truth"' not in error_chart(nothing_measured).markup


@pytest.mark.parametrize(
    "label", ["tea", "a label of twenty", "\N{CJK UNIFIED IDEOGRAPH-8336}" * 9]
)
def test_on_a_wide_page_a_row_is_one_line_without_overlap(label):
    """Label, marks and numbers: a letter of twelve pixels is 1.15 % of 652 pixels wide."""
    picture = rows_chart([Bar(label, 17_302, 17_289, 17_315, 17_300), Bar("b", 5, 1, 9)], "t").wide
    *_, first, _ = elements(picture)
    name, value = (next(t for t in first.iter("text") if t.get("class") == c)
                   for c in ("label", "value"))  # fmt: skip
    (plot,) = first.iter("svg")
    assert name.get("y") == value.get("y")
    start, width = (float(plot.get(end).rstrip("%")) for end in ("x", "width"))
    letters = sum(2 if letter > "\u2e80" else 1 for letter in name.text)
    assert 1.15 * letters <= start
    assert start + width <= 100.0 - 1.15 * len(value.text)
    assert width > 30.0


def test_a_page_shows_the_picture_that_fits():
    picture = rows_chart([Bar("a", 5, 1, 9)], "t")
    shown = page_of(picture)
    assert f'<div class="chart narrow">{picture.markup}</div>' in shown
    assert f'<div class="chart broad">{picture.wide}</div>' in shown
    assert "@media (min-width:700px){.chart.broad{display:block}" in shown


def page_of(picture):
    section = Section("s", (picture,))
    return page(
        Document(
            title="t", source="", promise=("", "", ""), sections=lambda: (section,),
            summary=tuple, facts=dict,
        )
    )  # fmt: skip
