"""How cost grows with people and with bins: a line on logarithmic axes, drawn beside the table."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bench.clock import seconds, sized
from bench.row import Row
from mixtally.ground.chance import SecureChance
from mixtally.ground.fixed import SCALE
from mixtally.randomize import reports
from mixtally.records.mechanism.named import flip
from mixtally.report.svg import Markup, el, join
from mixtally.tally.fold import tally_messages

_BINS, _PEOPLE = 100, sized(1_000_000, 3000)
_MANY = tuple(_PEOPLE // step for step in (100, 10, 3, 1))
_WIDE = (64, 256, 1024, 4096)
_Q = 0.27
_SIDE, _EDGE = 320.0, 48.0
_COLORS = {"randomize": "#2b6ca3", "tally": "#b5472b"}


class Point(NamedTuple):
    """CPU seconds of a step, for so many people and bins."""

    step: str
    people: int
    bins: int
    seconds: float


def rows() -> list[Row]:
    """Benchmark lines: cost a bit at both ends; the picture is ``out/bench/growth.svg``."""
    from pathlib import Path

    found = list(_measured())
    place = Path("out/bench/growth.svg")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(drawn(found))
    out = []
    for step in _COLORS:
        by_people = [one for one in found if one.step == step and one.bins == _BINS]
        by_bins = [one for one in found if one.step == step and one.bins != _BINS]
        for what, some in (("people", by_people), ("bins", by_bins)):
            first, last = some[0], some[-1]
            grown = last.people * last.bins / (first.people * first.bins)
            out.append(
                Row(
                    f"{step}, {grown:,.0f} times the {what}",
                    f"{last.seconds / first.seconds:,.0f} times the time",
                )
            )
    return out


def _measured() -> Iterator[Point]:
    chance = SecureChance()
    for people, bins in [(many, _BINS) for many in _MANY] + [(_PEOPLE // 40, d) for d in _WIDE]:
        mechanism = flip(bins=bins, crowd=10**6, threshold=int(_Q * SCALE))
        codes = np.arange(people, dtype=np.int64) % bins
        batch = reports(mechanism, codes, chance)
        drawing = seconds(lambda m=mechanism, c=codes: reports(m, c, chance), 3)
        counting = seconds(lambda m=mechanism, b=batch: tally_messages(m.layout, b), 3)
        yield Point("randomize", people, bins, drawing)
        yield Point("tally", people, bins, counting)


def drawn(found: list[Point]) -> Markup:
    """Two squares: seconds by people, seconds by bins; dashed is what is just proportional."""
    people = [one for one in found if one.bins == _BINS]
    bins = [one for one in found if one.bins != _BINS]
    return el(
        "svg",
        _square(people, "people", [one.people for one in people], 0.0),
        _square(bins, "bins", [one.bins for one in bins], _SIDE + _EDGE),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {2 * (_SIDE + _EDGE):g} {_SIDE + 2 * _EDGE:g}",
        font_family="sans-serif",
        font_size=12.0,
        role="img",
    )


def _square(some: list[Point], what: str, sizes: list[int], left: float) -> Markup:
    xs, ys = np.log10(sizes), np.log10([one.seconds for one in some])
    low = (float(xs.min()), float(ys.min()))
    span = max(float(np.ptp(xs)), float(np.ptp(ys)), 1e-6)

    def at(x: float, y: float) -> tuple[float, float]:
        right = left + _EDGE + (x - low[0]) / span * (_SIDE - _EDGE)
        return right, _SIDE - (y - low[1]) / span * (_SIDE - _EDGE)

    parts = []
    for step, color in _COLORS.items():
        line = [(x, y) for one, x, y in zip(some, xs, ys, strict=True) if one.step == step]
        (x, y), (end, _) = line[0], line[-1]
        for points, dash in ((line, "none"), ([(x, y), (end, y + end - x)], "4 4")):
            text = " ".join("{:.1f},{:.1f}".format(*at(*point)) for point in points)
            parts.append(
                el("polyline", points=text, fill="none", stroke=color, stroke_dasharray=dash)
            )
        end_x, end_y = at(*line[-1])
        parts.append(el("text", step, x=end_x, y=end_y - 6, fill=color, text_anchor="end"))
    title = f"CPU seconds by {what}, {min(sizes):,} to {max(sizes):,}"
    parts.append(el("text", title, x=left + _EDGE, y=_SIDE + _EDGE))
    return join(parts)
