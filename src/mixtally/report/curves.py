"""Charts of curves as SVG: a chart is data, and ``draw`` turns it into a picture.

The documents of attacks and of memoized collections contain such charts.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from mixtally.report.axes import picture, round_numbers
from mixtally.report.document import Picture
from mixtally.report.svg import Markup, el

# Pixels. The width is that of a phone's page; on wider screens the picture and its letters grow.
_WIDTH, _HEIGHT = 328, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 24, 28, 44
Point = tuple[float, float]
"""The x and the y value of a point."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line through ``points``; with ``dots`` every point has a mark."""

    name: str
    points: tuple[Point, ...]
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """A named area between two lines, for example a confidence band of a curve."""

    name: str
    lower: tuple[Point, ...]
    upper: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over common axes.

    ``bands`` are areas behind the curves, cut off where the axes end. ``marks`` are x values with a
    word, drawn as vertical lines. All values on a logarithmic axis are positive.
    """

    document: str
    title: str
    caption: str
    x_name: str
    y_name: str
    curves: tuple[Curve, ...]
    marks: tuple[tuple[float, str], ...] = ()
    log_x: bool = False
    log_y: bool = False
    bands: tuple[Band, ...] = ()


def draw(chart: Chart) -> Picture:
    """Draw the chart with a legend that names the curves."""
    points = [point for curve in chart.curves for point in curve.points]
    xs = [x for x, _ in points] + [x for x, _ in chart.marks]
    x_at, x_ticks = _axis(xs, chart.log_x, _LEFT, _WIDTH - _RIGHT)
    y_at, y_ticks = _axis([y for _, y in points], chart.log_y, _HEIGHT - _BOTTOM, _TOP)
    parts = [_band(band, x_at, y_at) for band in chart.bands]
    parts += [*_grid(x_ticks, x_at, y_ticks, y_at, chart), *_marks(chart, x_at)]
    for i, curve in enumerate(chart.curves):
        parts += _curve(curve, i, x_at, y_at)
    named = [(f"curve c{i}", curve.name) for i, curve in enumerate(chart.curves)]
    named += [("band", band.name) for band in chart.bands]
    if chart.marks:
        named.append(("zero", ", ".join(dict.fromkeys(word for _, word in chart.marks))))
    drawn = picture(_WIDTH, _HEIGHT, chart.title, parts, _describe_chart(chart))
    return Picture(drawn, chart.title, tuple(named), _explain_chart(chart))


def _explain_chart(chart: Chart) -> str:
    """Explain the axes in sentences."""
    text = f"Horizontal axis: {chart.x_name}. Vertical axis: {chart.y_name}."
    ways = [way for way, log in (("right", chart.log_x), ("upwards", chart.log_y)) if log]
    if ways:
        text += f" Equal steps {' and '.join(ways)} are equal factors."
    return text


def _describe_chart(chart: Chart) -> str:
    """Describe the chart in words."""
    texts = []
    for curve in chart.curves:
        (x, y), (last_x, last_y) = curve.points[0], curve.points[-1]
        ys = [value for _, value in curve.points]
        texts.append(
            f"{curve.name}: {len(ys):,} points from {y:.4g} at {x:.4g} to {last_y:.4g} at "
            f"{last_x:.4g}, least {min(ys):.4g}, most {max(ys):.4g}"
        )
    texts += [f"{band.name}: an area around it" for band in chart.bands]
    marked = [f"{word} at {x:.4g}" for x, word in chart.marks]
    return f"{chart.y_name} by {chart.x_name}. {'; '.join([*texts, *marked])}."


def _axis(
    values: list[float], log: bool, start: float, stop: float
) -> tuple[Callable[[float], float], list[float]]:
    """Return the function from a value to its position in pixels, and the values of the ticks.

    ``start`` and ``stop`` are the positions of the axis's ends.
    """
    low, high = min(values), max(values)
    if log:
        low, high = math.log10(low), math.log10(high)
    else:
        # An axis begins at zero unless this would leave much of the picture empty.
        low = min(low, 0.0) if low < 0.4 * high else low
    # If all values are equal, the axis extends to both sides of them.
    if high - low < 1e-12:
        low, high = low - 0.5, high + 0.5
    ticks = _powers(low, high) if log else round_numbers(low, high, 4)

    def at(value: float) -> float:
        place = math.log10(value) if log else value
        return start + (stop - start) * (place - low) / (high - low)

    return at, ticks


def _powers(low: float, high: float) -> list[float]:
    """Return the ticks of a logarithmic axis between 10^``low`` and 10^``high``.

    They are powers of ten or, if these are too few, also 2 and 5 times powers of ten.
    """
    step = max(1, math.ceil((high - low) / 5))
    found = [10.0**k for k in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1, step)]
    if len(found) >= 3:
        return found
    between = [m * 10.0**k for k in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5)]
    return [v for v in between if low - 1e-9 <= math.log10(v) <= high + 1e-9]


def _tick_text(value: float) -> str:
    """Return a tick as text, with an exponent for very large and very small powers of ten."""
    power = math.log10(value) if value > 0.0 else 0.5
    if abs(power - round(power)) < 1e-9 and not -3 <= power <= 6:
        return f"1e{round(power)}"
    return f"{value:,.7g}"


def _grid(
    x_ticks: list[float],
    x_at: Callable[[float], float],
    y_ticks: list[float],
    y_at: Callable[[float], float],
    chart: Chart,
) -> list[Markup]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for v in x_ticks:
        x = x_at(v)
        parts.append(el("line", x1=x, x2=x, y1=float(_TOP), y2=float(bottom), class_="grid"))
        parts.append(el("text", _tick_text(v), x=x, y=bottom + 16.0, class_="tick"))
    for v in y_ticks:
        y = y_at(v)
        parts.append(el("line", x1=float(_LEFT), x2=float(right), y1=y, y2=y, class_="grid"))
        parts.append(el("text", _tick_text(v), x=_LEFT - 8.0, y=y + 4.0, class_="axis end"))
    middle = (_LEFT + right) / 2
    parts.append(el("text", chart.x_name, x=middle, y=_HEIGHT - 10.0, class_="tick"))
    parts.append(el("text", chart.y_name, x=8.0, y=14.0, class_="axis"))
    return parts


def _marks(chart: Chart, x_at: Callable[[float], float]) -> list[Markup]:
    parts = []
    for value, word in chart.marks:
        x = x_at(value)
        bottom = float(_HEIGHT - _BOTTOM)
        parts.append(el("line", x1=x, x2=x, y1=float(_TOP), y2=bottom, class_="zero"))
        parts.append(el("text", word, x=x + 4.0, y=_TOP + 11.0, class_="mark"))
    return parts


def _band(band: Band, x_at: Callable[[float], float], y_at: Callable[[float], float]) -> Markup:
    """Draw the area between both lines, cut off where the axes end."""
    outline = [*band.upper, *reversed(band.lower)]
    least = sys.float_info.min  # a logarithmic axis has no zero
    places = [
        (
            min(max(x_at(max(x, least)), _LEFT), _WIDTH - _RIGHT),
            min(max(y_at(max(y, least)), _TOP), _HEIGHT - _BOTTOM),
        )
        for x, y in outline
    ]
    return el("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_="band")


def _curve(
    curve: Curve, index: int, x_at: Callable[[float], float], y_at: Callable[[float], float]
) -> list[Markup]:
    places = [(x_at(x), y_at(y)) for x, y in curve.points]
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [el("polyline", points=text, class_=f"curve c{index}")]
    if curve.dots:
        parts += [el("circle", cx=x, cy=y, r=3.5, class_=f"dot c{index}") for x, y in places]
    return parts
