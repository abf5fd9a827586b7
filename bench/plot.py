"""The plot of every ratio relative to its target, on a logarithmic axis."""

import math
from typing import Any

from mixtally.report.svg import Markup, el, join

_WIDTH, _LEFT, _ROW, _TOP = 900.0, 420.0, 20.0, 44.0
_DECADES = (-1, 2)


def draw_bars(rows: list[dict[str, Any]], title: str) -> Markup:
    """Return an SVG with a bar per row, from a tenth of its target to a hundred times."""
    rated = [row for row in rows if row["got"] is not None and row["least"]]
    height = _TOP + _ROW * len(rated) + 12
    marks = [_line(10.0**decade, height) for decade in range(_DECADES[0], _DECADES[1] + 1)]
    bars = [_bar(row, _TOP + _ROW * place) for place, row in enumerate(rated)]
    return el(
        "svg",
        el("text", f"Measured / at least. {title}", x=8.0, y=18.0, font_weight="bold"),
        join(marks),
        join(bars),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH:g} {height:g}",
        font_family="sans-serif",
        font_size=12.0,
        role="img",
    )


def _at(share: float) -> float:
    low, high = _DECADES
    place = (math.log10(max(share, 1e-9)) - low) / (high - low)
    return _LEFT + (_WIDTH - _LEFT - 60.0) * min(1.0, max(0.0, place))


def _line(share: float, height: float) -> Markup:
    x = _at(share)
    line = el("line", x1=x, x2=x, y1=_TOP - 6, y2=height, stroke="#bbb" if share != 1 else "#333")
    return join([line, el("text", f"{share:g}", x=x, y=_TOP - 10, text_anchor="middle")])


def _bar(row: dict[str, Any], y: float) -> Markup:
    share = row["got"] / row["least"]
    color = "#2b7a4b" if share >= 1.0 else "#b5472b"
    x, zero = _at(share), _at(10.0 ** _DECADES[0])
    return join(
        [
            el("text", str(row["what"]).strip(), x=_LEFT - 8, y=y + 13, text_anchor="end"),
            el("rect", x=zero, y=y + 3, width=max(1.0, x - zero), height=_ROW - 7, fill=color),
            el("text", f"{share:.2g}", x=x + 4, y=y + 13),
        ]
    )
