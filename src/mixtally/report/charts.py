"""Charts of the largest bins with intervals, and of the error in several privacy models.

``counts_view`` and the documents of ``lab.simulation`` draw these charts.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from mixtally.report.axes import (
    ChartRow,
    Marks,
    Scale,
    bar,
    dot,
    interval_line,
    legend,
    ring,
    rows_pictures,
    short,
)
from mixtally.report.document import Facts, Picture
from mixtally.report.numbers import error_text
from mixtally.report.svg import Markup, el


class Bar(NamedTuple):
    """One estimate with its interval; ``mark`` is the true value, or None if it is unknown."""

    label: str
    estimate: float
    lower: float
    upper: float
    mark: float | None = None

    @property
    def covers_mark(self) -> bool:
        """Whether the interval covers the mark, or there is no mark."""
        return self.mark is None or self.lower <= self.mark <= self.upper

    @property
    def value_text(self) -> str:
        """The text of the estimate, clipped to its interval, and of the interval."""
        value = min(max(self.estimate, self.lower), self.upper)
        return f"{value:,.0f} ({self.lower:,.0f} .. {self.upper:,.0f})"


def bars_of(
    rows: Iterable[Facts],
    name: Callable[[Facts], str],
    keys: tuple[str, str, str] = ("estimate", "lower", "upper"),
) -> list[Bar]:
    """Return one bar for each row of facts, with the true value if the row has one.

    Parameters
    ----------
    rows : iterable of Facts
        The rows, with the numbers under ``keys`` and perhaps a true value under "truth".
    name : callable
        Returns the label of a row.
    keys : tuple of str
        The keys of the estimate, of the lower end and of the upper end.
    """
    value, low, high = keys
    return [Bar(name(row), row[value], row[low], row[high], row.get("truth")) for row in rows]


class Line(NamedTuple):
    """The error of one way to publish the counts.

    Attributes
    ----------
    expected : float or None
        The standard error of an empty bin, in counts; None if it is unknown.
    measured : float or None
        The error measured in this run, in counts; None if it was not measured.
    bound : int or None
        For central mechanisms, the largest error of one count at their confidence level, in counts.
        None for others.
    messages : float
        The mean number of messages of a user.
    is_plan : bool
        Whether the counts are those of a plan of this run, not of another model.
    """

    name: str
    expected: float | None
    measured: float | None
    bound: int | None
    messages: float
    is_plan: bool = False


def rows_chart(rows: Sequence[Bar], title: str) -> Picture:
    """Draw estimates as bars with their intervals.

    An interval that is too short to be seen can be read next to the label.

    Parameters
    ----------
    rows : sequence of Bar
        The bars. Either all of them have a true count, or none has one.
    title : str
        The title of the chart.
    """
    known = any(row.mark is not None for row in rows)
    # At least 1, so that a chart of zeros has a scale.
    scale = Scale(0.0, max([1.0, *(v for row in rows for v in row[1:5] if v is not None)]))
    drawn, wide = rows_pictures(
        title, "count", scale, [_bar_row(row, scale) for row in rows], _describe_bars(rows)
    )
    covered = [row.covers_mark for row in rows]
    marks = legend(
        ("bar", "estimate", True),
        ("whisker", "interval", any(covered)),
        ("whisker missed", "interval that misses the true count", not all(covered)),
        ("truth", "true count", known),
    )
    reading = "Each row is one answer: its estimate and its interval."
    return Picture(drawn, title, marks, reading, wide)


def intervals_chart(rows: Sequence[Bar], what: str) -> Picture:
    """Draw bars with their intervals, under a title that says how many there are.

    Parameters
    ----------
    rows : sequence of Bar
        The bars, in the order in which they are drawn.
    what : str
        The plural noun for the bars in the title.
    """
    return rows_chart(rows, f"The {len(rows):,} {what} with their intervals")


def _describe_bars(rows: Sequence[Bar]) -> str:
    """Describe the chart in words."""
    if not rows:
        return "No bin is shown."
    most, least = (f(rows, key=lambda row: row.estimate) for f in (max, min))
    text = (
        f"Of the {len(rows):,} bins drawn the largest estimate is {most.estimate:,.0f} "
        f"({most.label}), the smallest {least.estimate:,.0f} ({least.label})."
    )
    if any(row.mark is not None for row in rows):
        missed = sum(not row.covers_mark for row in rows)
        text += f" {missed:,} of the {len(rows):,} intervals miss the true count."
    return text


def _bar_row(row: Bar, scale: Scale) -> ChartRow:
    """Return the row of one bar, marked if its interval misses the true count."""
    tip = f"{row.label}: {row.estimate:,.1f}, interval {row.lower:,.0f} .. {row.upper:,.0f}"
    marks = [
        bar(scale, row.estimate),
        interval_line(scale, row.lower, row.upper, covers=row.covers_mark),
    ]
    if row.mark is not None:
        tip += f", true count {row.mark:,.0f}"
        marks.append(ring(scale, row.mark))
    return ChartRow(short(row.label), row.value_text, marks, tip)


def error_chart(ways: Sequence[Line]) -> Picture:
    """Draw the expected and the measured error of every way to publish the counts.

    For central mechanisms, a line through all rows shows the expected error, and a short bar shows
    the largest error of one count at their confidence level.
    """
    values = [v for line in ways for v in (line.expected, line.measured, line.bound) if v]
    # The factor makes the scale end above the largest value even if that is a power of ten.
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values) * 1.0001))
    scale = Scale(10.0**low, 10.0**high, log=True)
    title = "Error of one bin in each model"
    central = [v.expected for v in ways if v.bound is not None and v.expected]
    reading = (
        "Each row is a way to publish the counts: the further left it ends, the smaller its error."
    )
    axis = "error of one count, in people (logarithmic)"
    rows = [_error_row(line, scale) for line in ways]
    drawn, wide = rows_pictures(title, axis, scale, rows, _describe_errors(ways), central)
    return Picture(drawn, title, _error_legend(ways), reading, wide)


def _error_legend(ways: Sequence[Line]) -> Marks:
    """Return the legend of the error chart."""
    drawn = [line for line in ways if line.expected]
    return legend(
        ("stem own", "expected error of a plan shown here", any(v.is_plan for v in drawn)),
        ("stem", "expected error in another model", any(not v.is_plan for v in drawn)),
        ("truth", "error measured here", any(v.measured for v in ways)),
        ("bound", "how far off one answer is at most", any(v.bound for v in ways)),
        ("central", "expected errors of the central model", any(v.bound for v in drawn)),
    )


def _describe_errors(ways: Sequence[Line]) -> str:
    """Describe the error chart in words."""
    texts = []
    for line in ways:
        said = [f"expected {error_text(line.expected)}"] if line.expected else []
        said += [f"measured {error_text(line.measured)}"] if line.measured else []
        said += [f"one answer off by at most {line.bound:,}"] if line.bound is not None else []
        texts.append(f"{line.name}: {', '.join(said) or 'nothing drawn'}")
    return f"Errors in counts. {'; '.join(texts)}."


def _error_row(line: Line, scale: Scale) -> ChartRow:
    """Return the row of one way to publish the counts."""
    kind = "stem own" if line.is_plan else "stem"
    marks: list[Markup] = []
    if line.expected:
        marks += [
            interval_line(scale, scale.low, line.expected, kind),
            dot(scale, line.expected, kind.replace("stem", "point"), 5),
        ]
    if line.bound:
        x = scale.at(line.bound)
        marks.append(el("line", x1=x, x2=x, y1=-7, y2=7, class_="bound"))
    if line.measured:
        marks.append(ring(scale, line.measured))
    expected = error_text(line.expected) if line.expected else ""
    bound = f"at most {line.bound:,}" if line.bound is not None else ""
    sent = f", {line.messages:.4g} message{'s' * (line.messages != 1)} per user" * line.is_plan
    return ChartRow(short(line.name + sent, 36), ", ".join(filter(None, [expected, bound])), marks)
