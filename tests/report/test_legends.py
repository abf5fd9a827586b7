"""Every mark has a legend, and whoever cannot see a picture hears what it shows."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from mixtally.lab.simulation.model_comparison import compare_models
from mixtally.lab.simulation.study_document import build_counts_view
from mixtally.report.axes import swatch
from mixtally.report.charts import Bar, error_chart, rows_chart
from mixtally.report.curves import Chart, Curve, draw
from mixtally.report.panels import Panel, panels_chart
from mixtally.report.style import CHART

SAYS_NOTHING = {"grid", "frame", "dot"}
"""Help for the eye, and the points of a curve that is named."""
SHAPES = {"rect", "line", "circle", "polyline"}
BARS = [
    Bar("yes", 700.4, 690.0, 710.0, 705.0), Bar("no", 300.0, 290.0, 310.0, 280.0),
    Bar("unsure", 12.0, 0.0, 22.0, 12.0),
]  # fmt: skip
CHART_OF_CURVES = Chart(
    "000", "Curves", "", "users", "error", (Curve("rising", ((1.0, 2.0), (10.0, 30.0))),
    Curve("flat", ((1.0, 5.0), (10.0, 5.0)), dots=True)), marks=((3.0, "here"),), log_x=True,
)  # fmt: skip


def panel(marks):
    low, high = np.array([5, 6]), np.array([9, 10])
    return Panel("bin", np.array([7.0, 8.0]), low, high, np.array(marks), zero=True)


def kinds(markup):
    """The sets of classes of the shapes in some markup."""
    root = ElementTree.fromstring(f"<g>{markup}</g>")
    shapes = [e for e in root.iter() if e.tag.split("}")[-1] in SHAPES]
    return {frozenset(e.get("class").split()) for e in shapes}


def unnamed(picture):
    """Marks that no legend speaks of."""
    named = kinds("".join(swatch(kind) for kind, _ in picture.marks))
    drawn = [kind for kind in kinds(picture.markup) if not kind & SAYS_NOTHING]
    return [kind for kind in drawn if not any(kind <= one for one in named)]


def test_every_mark_has_a_legend(study):
    made = study([700, 300, 4], protocols=("clear-uniform", "flip-blank"))
    charts = (
        build_counts_view(made).chart(30), rows_chart(BARS, "Bars"),
            error_chart(compare_models(made)),
        draw(CHART_OF_CURVES), panels_chart("Panels", [panel([7, 20])], ["one", "two"]),
    )  # fmt: skip
    for chart in charts:
        assert chart.marks
        assert chart.reading
        assert unnamed(chart) == []


@pytest.mark.parametrize("kind", ["bar", "whisker missed", "truth"])
def test_the_twin_without_one_legend_is_found(kind):
    picture = rows_chart(BARS, "Bars")
    kept = tuple(mark for mark in picture.marks if mark[0] != kind)
    found = unnamed(replace(picture, marks=kept))
    assert found == [frozenset(kind.split())]


def test_no_legend_speaks_of_what_is_not_drawn():
    alone = rows_chart([Bar("yes", 7.0, 6.0, 8.0)], "One")
    assert {kind for kind, _ in alone.marks} == {"bar", "whisker"}


def heard(picture):
    return re.search('aria-label="([^"]*)"', picture.markup)[1]


def test_words_say_what_bars_show():
    assert heard(rows_chart(BARS, "Bars")) == (
        "Bars. Of the 3 bins drawn the largest estimate is 700 (yes), the smallest 12 (unsure). 1 "
        "of the 3 intervals miss the true count."
    )


def test_words_say_what_curves_and_panels_show():
    assert heard(draw(CHART_OF_CURVES)) == (
        "Curves. error by users. rising: 2 points from 2 at 1 to 30 at 10, least 2, most 30; flat: "
        "2 points from 5 at 1 to 5 at 10, least 5, most 5; here at 3."
    )
    assert heard(panels_chart("P", [panel([7, 20])], ["one", "two"])) == (
        "P. 1 bins from one to two. bin: 7 to 8, least 7, most 8. 1 of the 2 intervals miss the "
        "truth."
    )


def test_words_say_every_error(study):
    said = heard(error_chart(compare_models(study([700, 300]))))
    assert "flip-blank" in said
    assert "expected" in said
    assert "measured" in said


def palettes(style):
    """The colors of light and of dark screens by name."""
    light, dark = re.findall(r":root\{([^}]*)\}", style)
    return [dict(re.findall(r"--(\w+):(#\w+)", text)) for text in (light, dark)]


def contrast(one, other):
    def luminance(color):
        digits = color[1:] if len(color) == 7 else "".join(c * 2 for c in color[1:])
        parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def pale(style):
    """What stands out too little: letters below 4.5, marks and what is drawn over bars below 3."""
    found = []
    for colors in palettes(style):
        for name, others, least in (
            ("paper", ("ink", "soft", "own", "truth", "bad"), 4.5),
            ("panel", ("ink", "soft"), 4.5),
            ("paper", ("edge",), 3.0),
            ("bar", ("own", "truth", "bad"), 3.0),
        ):
            found += [(one, name) for one in others if contrast(colors[one], colors[name]) < least]
    return found


def test_colors_stand_out():
    assert contrast("#000000", "#fff") == pytest.approx(21.0)
    assert pale(CHART) == []


def test_the_twin_of_a_pale_edge_is_found():
    assert pale(CHART.replace("#6d8fc0", "#b9cdea")) == [("edge", "paper")]
