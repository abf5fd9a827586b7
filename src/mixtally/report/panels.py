"""Small multiples: one panel for each line over time, with the interval of every point.

The documents of series in ``lab.simulation`` contain such panels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.report.axes import Marks, legend, picture, short
from mixtally.report.document import Picture
from mixtally.report.svg import Markup, el, join

_WIDTH, _HEIGHT = 306, 150
"""Pixels of a panel; a page has as many panels in a row as fit."""
_LEFT, _RIGHT, _HEAD, _FOOT = 62, 12, 26, 24


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One line over time; all arrays have the shape (points,).

    ``marks`` are the true values, if they are known.
    """

    name: str
    values: NDArray[np.float64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    marks: NDArray[np.integer] | None
    zero: bool = False
    """Whether a horizontal line at zero is drawn."""

    def count_missed(self) -> int:
        """Return the number of intervals that do not cover the true value."""
        if self.marks is None:
            return 0
        return int(((self.marks < self.lower) | (self.marks > self.upper)).sum())


def panels_chart(title: str, panels: list[Panel], points: list[str]) -> Picture:
    """Return a chart of several panels under one title.

    Parameters
    ----------
    title : str
        The common title.
    panels : list of Panel
        The panels, in the order in which they are drawn.
    points : list of str
        The names of the points along the horizontal axis, which all panels share.
    """
    every = [picture(_WIDTH, _HEIGHT, panel.name, _panel(panel, points)) for panel in panels]
    reading = (
        "Each panel is one answer, with a scale of its own; time runs to the right. Each vertical "
        "line is the interval of one estimate. If two of them do not overlap, the count has "
        "probably changed."
    )
    heard = f"{title}. {_describe_panels(panels, points)}"
    drawn = el("div", *every, class_="panels", role="group", aria_label=heard)
    return Picture(drawn, title, _panel_legend(panels), reading)


def _panel_legend(panels: list[Panel]) -> Marks:
    """Return the legend of the panels."""
    missed = sum(panel.count_missed() for panel in panels)
    return legend(
        ("point own", "estimate", True),
        ("line", "from one estimate to the next", True),
        ("whisker", "interval", sum(panel.values.size for panel in panels) > missed),
        ("whisker missed", "interval that misses the truth", missed > 0),
        ("truth", "truth", any(panel.marks is not None for panel in panels)),
        ("zero across", "zero", any(panel.zero for panel in panels)),
    )


def _describe_panels(panels: list[Panel], points: list[str]) -> str:
    """Describe the chart in words."""
    if not panels:
        return "No bin is shown."
    texts = [
        f"{panel.name}: {panel.values[0]:,.0f} to {panel.values[-1]:,.0f}, least "
        f"{panel.values.min():,.0f}, most {panel.values.max():,.0f}"
        for panel in panels
    ]
    every = sum(panel.values.size for panel in panels)
    missed = sum(panel.count_missed() for panel in panels)
    ends = f"from {points[0]} to {points[-1]}" if len(points) > 1 else f"at {points[0]}"
    text = f"{len(panels):,} bins {ends}. {'; '.join(texts)}."
    if any(panel.marks is not None for panel in panels):
        text += f" {missed:,} of the {every:,} intervals miss the truth."
    return text


def _panel(panel: Panel, epochs: list[str]) -> list[Markup]:
    shown = [panel.lower.astype(float), panel.upper.astype(float), panel.values]
    shown += [panel.marks.astype(float)] if panel.marks is not None else []
    shown += [np.zeros(1)] if panel.zero else []
    low, high = float(min(map(np.min, shown))), float(max(map(np.max, shown)))
    right, foot = _WIDTH - _RIGHT, _HEIGHT - _FOOT
    step = (right - _LEFT) / len(epochs)

    def x(place: int) -> float:
        return _LEFT + step * (place + 0.5)

    def y(value: float) -> float:
        # Small margins keep marks away from the frame. The least height of 1 avoids a division by
        # zero if all values are equal.
        return foot - (foot - _HEAD) * (0.04 + 0.92 * (value - low) / max(high - low, 1.0))

    zero, points = y(0.0), [f"{x(k):.2f},{y(float(v)):.2f}" for k, v in enumerate(panel.values)]
    ends = [(epochs[0], x(0))] + ([(epochs[-1], x(len(epochs) - 1))] if len(epochs) > 1 else [])
    return [
        el("rect", x=_LEFT, y=_HEAD, width=right - _LEFT, height=foot - _HEAD, class_="frame"),
        el("text", short(panel.name, 26), x=_LEFT, y=_HEAD - 8, class_="name"),
        el("text", f"{high:,.0f}", x=_LEFT - 6, y=y(high) + 8, class_="axis end"),
        el("text", f"{low:,.0f}", x=_LEFT - 6, y=y(low), class_="axis end"),
        *[el("text", short(name, 10), x=at, y=_HEIGHT - 8, class_="tick") for name, at in ends],
        *([el("line", x1=_LEFT, x2=right, y1=zero, y2=zero, class_="zero across")] * panel.zero),
        el("polyline", points=" ".join(points), class_="line"),
        *[_point(panel, k, epochs[k], x(k), y) for k in range(len(epochs))],
    ]


def _point(panel: Panel, k: int, epoch: str, x: float, y: Callable[[float], float]) -> Markup:
    low, high, value = int(panel.lower[k]), int(panel.upper[k]), float(panel.values[k])
    tip = f"{panel.name}, {epoch}: {value:,.1f}, interval {low:,} .. {high:,}"
    truth = None if panel.marks is None else int(panel.marks[k])
    is_covered = truth is None or low <= truth <= high
    kind = "whisker" if is_covered else "whisker missed"
    parts = [
        el("line", x1=x, x2=x, y1=y(low), y2=y(high), class_=kind),
        el("circle", cx=x, cy=y(value), r=2.2, class_="point"),
    ]
    if truth is not None:
        tip += f", truth {truth:,}"
        parts.append(el("circle", cx=x, cy=y(truth), r=3.6, class_="truth"))
    return el("g", el("title", tip), join(parts))
