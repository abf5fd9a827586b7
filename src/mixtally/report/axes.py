"""What pictures of rows share: ticks above them, marks, labels that fit, the frame around it."""

import math
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from unicodedata import east_asian_width

from mixtally.report.svg import Markup, el, join

WIDTH = 920
TOP = 46
"""Height of the head that holds a picture's axes."""


def picture(height: float, title: str, parts: list[Markup]) -> Markup:
    """The svg element around ``parts``, as wide as a page."""
    return el(
        "svg",
        el("title", title),
        *parts,
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_label=title,
        xmlns="http://www.w3.org/2000/svg",
    )


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most about ``most``."""
    rough = (high - low) / most
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * m for m in (1, 2, 5, 10) if scale * m >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * k for k in range(first, last + 1)]


def ticks(values: list[float], at: Callable[[float], float], height: float) -> list[Markup]:
    """Lines down from the head through all rows, each with its number above."""
    return [
        join(
            [
                el("line", x1=at(v), x2=at(v), y1=TOP - 6, y2=height - 8, class_="grid"),
                el("text", f"{v:,.10g}", x=at(v), y=TOP - 12, class_="tick"),
            ]
        )
        for v in values
    ]


def ring(x: float, y: float) -> list[Markup]:
    """The mark of a truth."""
    return [el("circle", cx=x, cy=y, r=4.5, class_="truth")]


def short(label: str, most: int = 16) -> str:
    """A label that fits: ``most`` letters, of which those of East Asian scripts count twice."""
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in label))
    if not ends or ends[-1] <= most:
        return label
    return label[: bisect_right(ends, most - 1)] + "…"
