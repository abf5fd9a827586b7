"""Building blocks of charts with one row per value: a scale, ticks, marks, legends and pictures.

``charts`` draws bars with this module, and ``curves``, ``panels`` and ``hexmap`` use its pictures.
Every chart of rows is drawn twice. On a phone the label and the numbers of a row are above its
marks. From a width of 700 pixels on, label, marks and numbers share one line. A page shows the
picture that fits. Horizontal positions are percentages of the width, so that letters keep their
size on any screen.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import east_asian_width

from mixtally.report.svg import Markup, el, join

_TOP, _ROW, _MARKS = 44, 42, 28
"""Pixels: height of the axis, height of a row, and distance from its top to the marks' middle."""
_LEFT, _RIGHT = 1.5, 98.5
"""Percentages of the width at the ends of the scale; the margins are for marks at the ends."""

_LINE, _MIDDLE = 26, 12
"""Pixels, for rows on one line: height of a row, and distance from its top to the marks' middle."""
_LETTER, _SPACE = 1.15, 1.5
"""Percentages of a page of 652 pixels: the width of a letter, and of the gaps around the marks."""
_MOST_LABEL, _MOST_VALUE = 42.0, 34.0
"""The largest percentages of the width for labels, and for the numbers of rows."""

Marks = tuple[tuple[str, str], ...]
"""The marks in a chart, each with its CSS classes and its meaning."""


def legend(*marks: tuple[str, str, bool]) -> Marks:
    """Return the marks that occur in a chart.

    Each argument has the CSS classes and the meaning of a mark, and whether the mark occurs.
    """
    return tuple((kind, text) for kind, text, occurs in marks if occurs)


@dataclass(frozen=True, slots=True)
class Scale:
    """The map from values to horizontal positions.

    Values in [``low``, ``high``] are drawn to scale, and all others at the nearer end of the scale.
    If ``log`` is true, the scale is logarithmic, and both ends are positive.
    """

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> str:
        """Return the position of a value in percent of the width."""
        return f"{self._place(value):.2f}%"

    def between(self, start: float, stop: float) -> str:
        """Return the distance of two values in percent of the width."""
        return f"{abs(self._place(stop) - self._place(start)):.2f}%"

    def ticks(self) -> list[float]:
        """Return round numbers on the scale."""
        if self.log:
            powers = range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)
            return [10.0**power for power in powers]
        return round_numbers(self.low, self.high, 4)

    def _place(self, value: float) -> float:
        """Return the position of a value in percent of the width, as a number."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        share = (value - low) / (high - low)
        return _LEFT + (_RIGHT - _LEFT) * min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One row of a chart: its label, its value as text, a tooltip, and its marks.

    ``marks`` are drawn at vertical positions relative to the middle of the row's space for marks.
    """

    label: str
    value: str
    marks: Sequence[Markup]
    tip: str = ""


def rows_pictures(
    title: str,
    axis: str,
    scale: Scale,
    rows: Sequence[ChartRow],
    alt_text: str,
    lines: Sequence[float] = (),
) -> tuple[Markup, Markup]:
    """Draw the picture of rows for a phone, and the same picture for a page of at least 700 pixels.

    ``title`` and ``axis`` name the picture and its axis, and ``alt_text`` describes it for readers
    who cannot see it. A vertical line crosses all rows at each of the values in ``lines``.
    """
    height, broad_height = _TOP + _ROW * len(rows), _TOP + _LINE * len(rows)
    parts = _axis(axis, scale, height, lines, inside=True)
    parts += [_row(row, _TOP + _ROW * place) for place, row in enumerate(rows)]
    broad = _rows_on_lines(_axis(axis, scale, broad_height, lines, inside=False), rows)
    return (
        drawing(title, alt_text, parts, width="100%", height=height),
        drawing(title, alt_text, broad, width="100%", height=broad_height),
    )


def _axis(
    name: str, scale: Scale, height: float, lines: Sequence[float], *, inside: bool
) -> list[Markup]:
    """Draw the name of an axis, its ticks, and the lines that cross all rows.

    If ``inside``, the texts of the ticks at the ends of the scale stay inside the picture.
    """
    down = {"y1": _TOP - 8, "y2": height}
    parts = [el("text", name, x=0, y=14, class_="axis")]
    for value in scale.ticks():
        x = scale.at(value)
        end = {0.0: " first", 1.0: " last"}.get(_side(x), "") if inside else ""
        parts.append(el("line", x1=x, x2=x, **down, class_="grid"))
        parts.append(el("text", f"{value:,.10g}", x=x, y=_TOP - 12, class_=f"tick{end}"))
    return parts + [
        el("line", x1=scale.at(v), x2=scale.at(v), **down, class_="central") for v in lines
    ]


def _rows_on_lines(axis: Sequence[Markup], rows: Sequence[ChartRow]) -> list[Markup]:
    """Draw rows whose label, marks and numbers share one line, in front of the marks of ``axis``.

    The axis takes the width that the longest label and the longest number leave.
    """
    left = min(_MOST_LABEL, _LETTER * max((_letters(row.label) for row in rows), default=0))
    right = min(_MOST_VALUE, _LETTER * max((_letters(row.value) for row in rows), default=0))
    plot = {
        "x": f"{left + _SPACE:.2f}%",
        # The texts of the first and the last tick extend beyond the plot, so its overflow is
        # visible.
        "width": f"{100 - left - right - 2 * _SPACE:.2f}%",
        "overflow": "visible",
    }
    parts = [el("svg", *axis, y=0, height=_TOP + _LINE * len(rows), **plot)]
    for place, row in enumerate(rows):
        marks = el("g", *row.marks, transform=f"translate(0 {_MIDDLE})")
        parts.append(
            el(
                "g",
                *([el("title", row.tip)] if row.tip else []),
                el("text", row.label, x=0, y=_MIDDLE + 4, class_="label"),
                el("text", row.value, x="100%", y=_MIDDLE + 4, class_="value"),
                el("svg", marks, y=0, height=_LINE, **plot),
                transform=f"translate(0 {_TOP + _LINE * place})",
            )
        )
    return parts


def _side(place: str) -> float:
    """Return the share of a text's width that is drawn to the left of the position ``place``.

    This is 0.5 for a centered text. Near the ends of the scale it is 0 or 1, which keeps the text
    inside the picture.
    """
    share = float(place.removesuffix("%"))
    return 0.0 if share < 8.0 else 1.0 if share > 92.0 else 0.5


def _row(row: ChartRow, top: float) -> Markup:
    """Draw one row for a phone."""
    tip = [el("title", row.tip)] if row.tip else []
    return el(
        "g",
        *tip,
        el("text", row.label, x=0, y=16, class_="label"),
        el("text", row.value, x="100%", y=16, class_="value"),
        el("g", *row.marks, transform=f"translate(0 {_MARKS})"),
        transform=f"translate(0 {top})",
    )


def bar(scale: Scale, value: float) -> Markup:
    """Draw a bar from zero to ``value``."""
    width = scale.between(0.0, value)
    return el("rect", x=scale.at(0.0), y=-6, width=width, height=12, class_="bar")


def interval_line(
    scale: Scale, start: float, stop: float, kind: str = "whisker", *, covers: bool = True
) -> Markup:
    """Draw an interval as a line; ``covers`` says whether the interval covers the true value."""
    kind += "" if covers else " missed"
    return el("line", x1=scale.at(start), x2=scale.at(stop), y1=0, y2=0, class_=kind)


def dot(scale: Scale, value: float, kind: str, radius: float = 3.2) -> Markup:
    """Draw a point at ``value``."""
    return el("circle", cx=scale.at(value), cy=0, r=radius, class_=kind)


def ring(scale: Scale, value: float) -> Markup:
    """Draw the mark of a true value."""
    return dot(scale, value, "truth", 4.5)


def picture(
    width: float, height: float, title: str, parts: list[Markup], alt_text: str = ""
) -> Markup:
    """Draw a picture whose letters grow with its width.

    ``alt_text`` describes the picture for readers who cannot see it.
    """
    return drawing(title, alt_text, parts, viewBox=f"0 0 {width:g} {height:g}")


def drawing(title: str, alt_text: str, parts: Sequence[Markup], **look: str | float) -> Markup:
    """Combine parts into a picture that screen readers announce by its title and description.

    ``look`` has further attributes of the picture by name.
    """
    heard = ". ".join(filter(None, (title, alt_text)))
    attributes = {"role": "img", "aria_label": heard, "xmlns": "http://www.w3.org/2000/svg"}
    return el("svg", el("title", title), *parts, **look, **attributes)


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """Return evenly spaced round numbers from ``low`` to ``high``: at most ``most`` + 1 numbers."""
    rough = (high - low) / most
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * m for m in (1, 2, 5, 10) if scale * m >= rough)
    # The tolerance keeps an end that is a round number despite rounding errors.
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * k for k in range(first, last + 1)]


_ROUND = frozenset({"truth", "point", "dot0", "dot1"})
_FILLED = frozenset({"bar", "band", "share0", "share1"})
_UPRIGHT = frozenset({"zero", "bound", "central"})
_ENDED = {"stem": "point", "ends0": "dot0", "ends1": "dot1"}
"""The CSS class of the point in which a line ends, by the class of the line."""


def swatch(kind: str) -> Markup:
    """Draw, for a legend, a mark with the CSS classes ``kind``."""
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
    return el("svg", mark, width=26, height=14, viewBox="0 0 26 14", aria_hidden="true")


def _letters(text: str) -> int:
    """Return the width of a text in letters; letters of East Asian scripts count twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def short(label: str, most: int = 20) -> str:
    """Cut a label to ``most`` letters; letters of East Asian scripts count twice."""
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in label))
    if not ends or ends[-1] <= most:
        return label
    return label[: bisect_right(ends, most - 1)] + "…"
