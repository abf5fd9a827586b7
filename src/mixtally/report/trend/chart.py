"""Small multiples: a panel a bin, a line over the epochs with the interval of every point."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.report.axes import WIDTH, picture, short
from mixtally.report.svg import Markup, el, join
from mixtally.report.trend.trend import Trend

STYLE = """
.line{fill:none;stroke:var(--own);stroke-width:1.2}.frame{fill:none;stroke:var(--line)}
svg .name{font-weight:600}svg .end{text-anchor:end}
"""
_COLUMNS, _PANEL = 3, 150
_LEFT, _RIGHT, _HEAD, _FOOT = 62, 12, 26, 24


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One line: arrays of shape (points,), ``truth`` None where it is not known."""

    name: str
    values: NDArray[np.float64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    truth: NDArray[np.int64] | None
    zero: bool = False
    """Whether a line at zero is drawn."""


def counts_chart(trend: Trend, top: int) -> Markup:
    """The estimates of the ``top`` largest bins in every epoch."""
    counts, question = trend.counts, trend.plan.question
    panels = [
        Panel(
            name=question.label(i),
            values=counts[:, i],
            lower=np.array([r.estimate.each.lower[i] for r in trend.releases]),
            upper=np.array([r.estimate.each.upper[i] for r in trend.releases]),
            truth=None if trend.truth is None else trend.truth[:, i],
        )
        for i in trend.ranked()[:top].tolist()
    ]
    return _grid("Counts of the largest bins over time", panels, list(trend.epochs))


def changes_chart(trend: Trend, top: int) -> Markup:
    """The change from each epoch to the next of the ``top`` largest bins."""
    question = trend.plan.question
    steps = trend.steps[: len(trend.epochs) - 1]
    panels = []
    for i in trend.ranked()[:top].tolist():
        rises = [trend.true_change(step) for step in steps]
        truth = [int(rise[i]) for rise in rises if rise is not None]
        panels.append(
            Panel(
                name=question.label(i),
                values=np.array([step.change.counts[i] for step in steps]),
                lower=np.array([step.change.each.lower[i] for step in steps]),
                upper=np.array([step.change.each.upper[i] for step in steps]),
                truth=np.array(truth) if truth else None,
                zero=True,
            )
        )
    return _grid("Changes of the largest bins", panels, list(trend.epochs[1:]))


def _grid(title: str, panels: list[Panel], epochs: list[str]) -> Markup:
    wide, rows = WIDTH / _COLUMNS, -(-len(panels) // _COLUMNS)
    parts = [
        el(
            "g",
            *_panel(panel, epochs, wide),
            transform=f"translate({wide * (k % _COLUMNS):.2f} {_PANEL * (k // _COLUMNS)})",
        )
        for k, panel in enumerate(panels)
    ]
    return picture(_PANEL * rows, title, parts)


def _panel(panel: Panel, epochs: list[str], wide: float) -> list[Markup]:
    shown = [panel.lower.astype(float), panel.upper.astype(float), panel.values]
    shown += [panel.truth.astype(float)] if panel.truth is not None else []
    shown += [np.zeros(1)] if panel.zero else []
    low, high = float(min(map(np.min, shown))), float(max(map(np.max, shown)))
    right, foot = wide - _RIGHT, _PANEL - _FOOT
    step = (right - _LEFT) / len(epochs)

    def x(place: int) -> float:
        return _LEFT + step * (place + 0.5)

    def y(value: float) -> float:
        return foot - (foot - _HEAD) * (0.04 + 0.92 * (value - low) / max(high - low, 1.0))

    ends = [(epochs[0], x(0))] + ([(epochs[-1], x(len(epochs) - 1))] if len(epochs) > 1 else [])
    return [
        el("rect", x=_LEFT, y=_HEAD, width=right - _LEFT, height=foot - _HEAD, class_="frame"),
        el("text", short(panel.name, 26), x=_LEFT, y=_HEAD - 8, class_="name"),
        el("text", f"{high:,.0f}", x=_LEFT - 6, y=y(high) + 8, class_="axis end"),
        el("text", f"{low:,.0f}", x=_LEFT - 6, y=y(low), class_="axis end"),
        *[el("text", short(name, 10), x=at, y=_PANEL - 8, class_="tick") for name, at in ends],
        *([_across(y(0.0), right)] if panel.zero else []),
        _line([(x(k), y(float(v))) for k, v in enumerate(panel.values)]),
        *[_point(panel, k, epochs[k], x(k), y) for k in range(len(epochs))],
    ]


def _across(height: float, right: float) -> Markup:
    return el("line", x1=_LEFT, x2=right, y1=height, y2=height, class_="zero")


def _line(points: list[tuple[float, float]]) -> Markup:
    return el("polyline", points=" ".join(f"{x:.2f},{y:.2f}" for x, y in points), class_="line")


def _point(panel: Panel, k: int, epoch: str, x: float, y: Callable[[float], float]) -> Markup:
    low, high, value = int(panel.lower[k]), int(panel.upper[k]), float(panel.values[k])
    tip = f"{panel.name}, {epoch}: {value:,.1f}, interval {low:,} .. {high:,}"
    truth = None if panel.truth is None else int(panel.truth[k])
    held = truth is None or low <= truth <= high
    parts = [
        el(
            "line",
            x1=x,
            x2=x,
            y1=y(low),
            y2=y(high),
            class_="whisker" if held else "whisker missed",
        ),
        el("circle", cx=x, cy=y(value), r=2.2, class_="point"),
    ]
    if truth is not None:
        tip += f", truth {truth:,}"
        parts.append(el("circle", cx=x, cy=y(truth), r=3.6, class_="truth"))
    return el("g", el("title", tip), join(parts))
