"""A map of hexagons, which are darker the more people they have.

``app.places`` draws maps with this module. A hexagon is shaded only if its simultaneous interval
excludes zero; the others are outlines. So the probability that any hexagon without people is shaded
is at most the error probability of the intervals.
"""

import math
from collections.abc import Callable, Sequence
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Estimate
from mixtally.report.axes import drawing, short
from mixtally.report.style import CHART
from mixtally.report.svg import Markup, el, join

Outline = Sequence[tuple[float, float]]
"""The corners of a hexagon as (latitude, longitude) in degrees."""

_WIDTH, _MARGIN, _TOP, _LINE = 328.0, 4.0, 24.0, 16.0
_CLASSES = 5
_LETTERS = 50
"""The number of letters in a line below the map."""
_STYLE = (
    ".cell{fill:none;stroke:var(--line);stroke-width:.7}.full{fill:var(--own);stroke:var(--own)}"
    "svg.map{font-family:sans-serif}"
)


def hexmap(
    title: str, outlines: Sequence[Outline], names: Sequence[str], estimate: Estimate, note: str
) -> Markup:
    """Draw the map as SVG, with its legend and ``note`` below.

    Parameters
    ----------
    title : str
        The title of the map.
    outlines : sequence of Outline
        The corners of the hexagon of each of the first bins. The other bins are not on the map.
    names : sequence of str
        The name of each hexagon, in the same order.
    estimate : Estimate
        The counts of all bins with their simultaneous intervals.
    note : str
        The text below the map.
    """
    at, height = _projection(outlines)
    ends = estimate.simultaneous
    counts, above = estimate.counts[: len(outlines)], ends.lower[: len(outlines)] > 0
    edges = _edges(counts[above])
    parts = [el("text", short(title, 48), x=_MARGIN, y=14.0)]
    # Shaded hexagons are drawn last, above the outlines of the others.
    for i in np.argsort(above, kind="stable").tolist():
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*corner) for corner in outlines[i]))
        tip = f"{names[i]}: {counts[i]:,.1f}, "
        tip += f"all hexagons: {ends.lower[i]:,} .. {ends.upper[i]:,}"
        shade = int(np.searchsorted(edges, counts[i], side="right"))
        look = ("cell full", _opacity(shade)) if above[i] else ("cell", 1.0)
        parts.append(
            el("polygon", el("title", tip), points=points, class_=look[0], fill_opacity=look[1])
        )
    summary = (
        f"{int(above.sum()):,} of {len(outlines):,} hexagons are distinguishable from zero. {note}"
    )
    notes = wrap(summary, _LETTERS)
    parts += _legend(edges, height, notes, shaded=bool(above.any()))
    whole = height + _LINE * (len(notes) + 2)
    paper = el("rect", width="100%", height="100%", fill="var(--paper)")
    return drawing(
        title,
        _describe_map(names, estimate, above),
        [el("style", Markup(CHART + _STYLE)), paper, *parts],
        viewBox=f"0 0 {_WIDTH:g} {whole:g}",
        class_="map",
    )


def _describe_map(names: Sequence[str], estimate: Estimate, above: NDArray[np.bool_]) -> str:
    """Describe the map in words."""
    if not above.any():
        return "No hexagon is distinguishable from zero."
    counts = np.where(above, estimate.counts[: len(above)], -np.inf)
    most = int(counts.argmax())
    return (
        f"{int(above.sum()):,} of {len(above):,} hexagons are distinguishable from zero; the "
        f"largest is {names[most]} with {counts[most]:,.0f}."
    )


def _projection(
    outlines: Sequence[Outline],
) -> tuple[Callable[[float, float], tuple[float, float]], float]:
    """Return the function from latitude and longitude to a position, and the largest y, in pixels.

    The projection is equirectangular. It shows distances at the middle latitude without distortion.
    """
    corners = np.array([corner for outline in outlines for corner in outline])
    (south, west), (north, east) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    squeeze = math.cos(math.radians((south + north) / 2.0))
    scale = (_WIDTH - 2.0 * _MARGIN) / ((east - west) * squeeze)

    def at(latitude: float, longitude: float) -> tuple[float, float]:
        x = _MARGIN + (longitude - west) * squeeze * scale
        return x, _TOP + (north - latitude) * scale

    return at, _TOP + (north - south) * scale


def _edges(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the counts between the shades: round numbers, about evenly spaced in logarithm."""
    if not counts.size:
        return np.zeros(0)
    # Counts below 1 have no place on a logarithmic scale of people.
    low, high = math.log(max(float(counts.min()), 1.0)), math.log(max(float(counts.max()), 2.0))
    inner = [math.exp(low + (high - low) * k / _CLASSES) for k in range(1, _CLASSES)]
    # Rounding can make limits equal.
    return np.unique([_round(edge) for edge in inner])


def _round(value: float) -> float:
    """Round down to 1, 2 or 5 times a power of ten."""
    unit = 10.0 ** math.floor(math.log10(value))
    return max(m * unit for m in (1.0, 2.0, 5.0) if m * unit <= value * 1.0001)


def _opacity(shade: int) -> float:
    return 0.2 + 0.8 * shade / (_CLASSES - 1)


def _legend(
    edges: NDArray[np.float64], height: float, notes: Sequence[str], *, shaded: bool
) -> list[Markup]:
    """Draw the shades with their limits, and the lines of text below the map."""
    y, parts = height + _LINE, []
    limits = [f"{edge:,.0f}" for edge in edges]
    texts = ([f"< {limits[0]}", *[f"{a} +" for a in limits]] if limits else ["all equal"]) * shaded
    for shade, text in enumerate(texts):
        x = _MARGIN + (_WIDTH - _MARGIN) / _CLASSES * shade
        box = el(
            "rect", x=x, y=y - 10, width=10, height=10, class_="full", fill_opacity=_opacity(shade)
        )
        parts += [box, el("text", text, x=x + 13.0, y=y)]
    lines = [
        el("text", line, x=_MARGIN, y=y + _LINE * (place + 1), class_="axis")
        for place, line in enumerate(notes)
    ]
    return [join(parts), *lines]
