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


Marks = tuple[tuple[str, str], ...]
"""The marks of a chart that say something, by their classes, and what each stands for."""


def picture(height: float, title: str, parts: list[Markup], seen: str = "") -> Markup:
    """The svg element around ``parts``, as wide as a page; ``seen`` tells who cannot see it."""
    return el(
        "svg",
        el("title", title),
        *parts,
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_label=". ".join(filter(None, (title, seen))),
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


_ROUND = frozenset({"truth", "point", "dot0", "dot1"})
_FILLED = frozenset({"bar", "share0", "share1"})
_UPRIGHT = frozenset({"zero", "bound", "central"})
_ENDED = {"stem": "point", "ends0": "dot0", "ends1": "dot1"}
"""Lines that are never without a point."""


def swatch(kind: str) -> Markup:
    """A mark of these classes, alone, for a legend."""
    shape = kind.split()[0]
    if shape in _ROUND:
        mark = el("circle", cx=13, cy=7, r=4.5, class_=kind)
    elif shape in _FILLED:
        mark = el("rect", x=1, y=2, width=24, height=10, class_=kind)
    elif shape in _UPRIGHT and "across" not in kind:
        mark = el("line", x1=13, x2=13, y1=0, y2=14, class_=kind)
    else:
        mark = el("line", x1=1, x2=25, y1=7, y2=7, class_=kind)
        if shape in _ENDED:
            end = kind.replace("missed", "").replace(shape, _ENDED[shape]).strip()
            mark = join([mark, el("circle", cx=13, cy=7, r=3.2, class_=end)])
    return el("svg", mark, viewBox="0 0 26 14", aria_hidden="true")


def short(label: str, most: int = 16) -> str:
    """A label that fits: ``most`` letters, of which those of East Asian scripts count twice."""
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in label))
    if not ends or ends[-1] <= most:
        return label
    return label[: bisect_right(ends, most - 1)] + "…"
