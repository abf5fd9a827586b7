"""The two pictures: the largest bins with their intervals, and the error among other models."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mixtally.report.axes import TOP, WIDTH, Marks, picture, ring, round_numbers, short, ticks
from mixtally.report.document import Picture
from mixtally.report.svg import Markup, el
from mixtally.report.words import error_text

_ROW = 22
_LABELS, _BARS, _GAP, _ERRORS = 150, 400, 70, 270


class Bar(NamedTuple):
    """One estimate with its interval; ``mark`` is what it is compared with, None for nothing."""

    label: str
    estimate: float
    lower: float
    upper: float
    mark: float | None = None

    @property
    def middle(self) -> float:
        """What distances are measured from."""
        return self.estimate if self.mark is None else self.mark

    @property
    def held(self) -> bool:
        """Whether the interval holds the mark, if there is one."""
        return self.mark is None or self.lower <= self.mark <= self.upper


class Line(NamedTuple):
    """One way to publish the counts.

    where
      expected   standard error of an empty bin, in counts; None where only a bin is named
      measured   the error seen here, None where none was
      bound      of the central mechanisms: how far off one answer is at most, at their confidence
      messages   a user sends
      own        whether it is one of ours
    """

    name: str
    expected: float | None
    measured: float | None
    bound: int | None
    messages: float
    own: bool = False


def rows_chart(rows: Sequence[Bar], title: str, marked: str = "true count") -> Picture:
    """Bars of estimates; beside them the interval, about their marks or the estimates.

    At the scale of the bars the intervals are often thinner than a line, so they get an axis of
    their own. All ``rows`` have a mark, which is called ``marked``, or none has.
    """
    known = any(row.mark is not None for row in rows)
    shown = [(v, row.middle) for row in rows for v in (*row[1:4], row.middle)]
    largest = max([1.0, *(v for v, _ in shown)])
    widest = max([1.0, *(abs(v - middle) for v, middle in shown)])
    height = TOP + _ROW * len(rows) + 8
    left = _LABELS + _BARS + _GAP

    def bar(value: float) -> float:
        return _LABELS + _BARS * max(0.0, value) / largest

    def apart(value: float) -> float:
        return left + _ERRORS * (0.5 + 0.48 * value / widest)

    about = f"the {marked}" if known else "the estimate"
    marks = "bar: estimate, line: interval" + f", ring: {marked}" * known
    parts = [
        el("text", f"count ({marks})", x=_LABELS, y=16, class_="axis"),
        el("text", f"distance from {about}, in counts", x=left, y=16, class_="axis"),
        *ticks(round_numbers(0.0, largest, 5), bar, height),
        *ticks(round_numbers(-widest, widest, 5), apart, height),
        el("line", x1=apart(0), x2=apart(0), y1=TOP - 6, y2=height - 8, class_="zero"),
    ]
    for place, row in enumerate(rows):
        parts.append(_bin(row, marked, TOP + _ROW * place + _ROW / 2, bar, apart))
    drawn = picture(height, title, parts, _seen(rows, widest, about, marked))
    reading = (
        "A line of the chart is a bin. On the left its bar is as long as its estimate; on the "
        f"right, on a scale of its own, is how far the ends of its interval lie from {about}. "
        "A short line is a precise count."
    )
    return Picture(drawn, title, _bar_marks(rows, about, marked), reading)


def _bar_marks(rows: Sequence[Bar], about: str, marked: str) -> Marks:
    held = [row.held for row in rows]
    return (
        ("bar", "estimate, left"),
        *([("whisker", "interval")] if any(held) else []),
        *([("whisker missed", f"interval that misses the {marked}")] if not all(held) else []),
        ("point own", "estimate, right"),
        *([("truth", marked)] if any(row.mark is not None for row in rows) else []),
        ("zero", f"no distance from {about}"),
    )


def _seen(rows: Sequence[Bar], widest: float, about: str, marked: str) -> str:
    """What the chart shows, in words."""
    if not rows:
        return "No bin is shown."
    most, least = (f(rows, key=lambda row: row.estimate) for f in (max, min))
    text = (
        f"Of the {len(rows):,} bins drawn the largest estimate is {most.estimate:,.0f} "
        f"({most.label}), the smallest {least.estimate:,.0f} ({least.label}); no end of an "
        f"interval lies further than {widest:,.0f} from {about}."
    )
    if any(row.mark is not None for row in rows):
        missed = sum(not row.held for row in rows)
        text += f" {missed:,} of the {len(rows):,} intervals miss the {marked}."
    return text


def _bin(
    row: Bar,
    marked: str,
    y: float,
    bar: Callable[[float], float],
    apart: Callable[[float], float],
) -> Markup:
    """One line of the picture; red where the interval misses the mark."""
    low, high, middle = row.lower, row.upper, row.middle
    mark = "whisker" if row.held else "whisker missed"
    tip = f"{row.label}: {row.estimate:,.1f}, interval {low:,.0f} .. {high:,.0f}"
    if row.mark is not None:
        tip += f", {marked} {middle:,.0f}"
    return el(
        "g",
        el("title", tip),
        el("text", short(row.label), x=_LABELS - 8, y=y + 4, class_="label"),
        el("rect", x=_LABELS, y=y - 7, width=bar(row.estimate) - _LABELS, height=14, class_="bar"),
        el("line", x1=bar(low), x2=bar(high), y1=y, y2=y, class_=mark),
        *(ring(bar(middle), y) if row.mark is not None else ()),
        el("line", x1=apart(low - middle), x2=apart(high - middle), y1=y, y2=y, class_=mark),
        el("circle", cx=apart(row.estimate - middle), cy=y, r=3.2, class_="point"),
    )


def error_chart(shown: Sequence[Line]) -> Picture:
    """Expected and measured error of every way to publish the counts.

    The central mechanisms are drawn through all rows, with their accuracy statements as bars.
    """
    values = [v for line in shown for v in (line.expected, line.measured, line.bound) if v]
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values) * 1.0001))
    start, span = 330, WIDTH - 330 - 90
    height = TOP + 30 * len(shown) + 8

    def at(value: float) -> float:
        return start + span * (math.log10(value) - low) / (high - low)

    parts = [
        el("text", "error of one bin, in counts (logarithmic)", x=start, y=16, class_="axis"),
        *ticks([10.0**k for k in range(low, high + 1)], at, height),
        *_through([v.expected for v in shown if v.bound is not None and v.expected], at, height),
    ]
    for row, line in enumerate(shown):
        parts += _error_row(line, TOP + 30 * row + 15, at, start)
    title = "Error of one bin in each model"
    reading = (
        "A line of the chart is a way to publish the counts; the further left it ends, the smaller "
        "its error. From one number above to the next the error is ten times as large."
    )
    return Picture(
        picture(height, title, parts, _errors_seen(shown)), title, _kinds(shown), reading
    )


def _kinds(shown: Sequence[Line]) -> Marks:
    drawn = [line for line in shown if line.expected]
    marks = (
        ("stem own", "expected error of a plan shown here", any(v.own for v in drawn)),
        ("stem", "expected error in another model", any(not v.own for v in drawn)),
        ("truth", "error measured here", any(v.measured for v in shown)),
        ("bound", "how far off one answer is at most", any(v.bound for v in shown)),
        ("central", "expected errors of the central model", any(v.bound for v in drawn)),
    )
    return tuple((kind, text) for kind, text, there in marks if there)


def _errors_seen(shown: Sequence[Line]) -> str:
    """What the chart shows, in words."""
    texts = []
    for line in shown:
        said = [f"expected {error_text(line.expected)}"] if line.expected else []
        said += [f"measured {error_text(line.measured)}"] if line.measured else []
        said += [f"one answer off by at most {line.bound:,}"] if line.bound is not None else []
        texts.append(f"{line.name}: {', '.join(said) or 'nothing drawn'}")
    return f"Errors in counts. {'; '.join(texts)}."


def _error_row(line: Line, y: float, at: Callable[[float], float], start: float) -> list[Markup]:
    kind = "stem own" if line.own else "stem"
    sent = f"{line.messages:.4g} message{'s' * (line.messages != 1)} a user"
    name = f"{line.name}, {sent}" if line.own else line.name
    parts = [el("text", name, x=start - 10, y=y + 4, class_="label")]
    if line.expected:
        x = at(line.expected)
        parts += [
            el("line", x1=start, x2=x, y1=y, y2=y, class_=kind),
            el("circle", cx=x, cy=y, r=5, class_=kind.replace("stem", "point")),
        ]
    if line.bound:
        x = at(line.bound)
        parts.append(el("line", x1=x, x2=x, y1=y - 7, y2=y + 7, class_="bound"))
    if line.measured:
        parts += ring(at(line.measured), y)
    drawn = [v for v in (line.expected, line.measured, line.bound) if v]
    bound = f"at most {line.bound:,}" if line.bound is not None else ""
    text = ", ".join(filter(None, [error_text(line.expected) if line.expected else "", bound]))
    end = at(max(drawn)) if drawn else start
    return [*parts, el("text", text, x=end + 12, y=y + 4, class_="value")]


def _through(values: list[float], at: Callable[[float], float], height: float) -> list[Markup]:
    """Lines from top to bottom that every row is held against."""
    return [
        el("line", x1=at(v), x2=at(v), y1=TOP - 6, y2=height - 8, class_="central") for v in values
    ]
