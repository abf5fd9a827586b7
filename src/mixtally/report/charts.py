"""The two pictures: the largest bins with their intervals, and the error among other models."""

import math
from collections.abc import Callable

import numpy as np

from mixtally.report.study import Study
from mixtally.report.svg import Markup, el, join
from mixtally.report.words import number

_ROW = 22
_WIDTH = 920
_LABELS, _BARS, _GAP, _ERRORS = 120, 430, 70, 270
_TOP = 46


def bins_chart(study: Study, top: int) -> Markup:
    """Bars of the ``top`` largest estimates; beside them the interval, about the truth or itself.

    At the scale of the bars the intervals are often thinner than a line, so they get an axis of
    their own.
    """
    chosen = study.ranked()[:top].tolist()
    found, question = study.main.estimate, study.main.question
    middles = found.counts if study.truth is None else study.truth
    lower, upper = found.each.lower[chosen], found.each.upper[chosen]
    shown = np.concatenate([lower, upper, found.counts[chosen], middles[chosen]])
    largest = max(1.0, float(shown.max()))
    widest = max(1.0, float(np.abs(shown - np.tile(middles[chosen], 4)).max()))
    height = _TOP + _ROW * len(chosen) + 8
    left = _LABELS + _BARS + _GAP

    def bar(value: float) -> float:
        return _LABELS + _BARS * max(0.0, value) / largest

    def apart(value: float) -> float:
        return left + _ERRORS * (0.5 + 0.48 * value / widest)

    about = "the estimate" if study.truth is None else "the truth"
    parts = [
        el("text", "count (bar: estimate, line: interval, ring: truth)"
           if study.truth is not None else "count (bar: estimate, line: interval)",
           x=_LABELS, y=16, class_="axis"),
        el("text", f"distance from {about}, in counts", x=left, y=16, class_="axis"),
        *_ticks(_nice_ticks(0.0, largest, 5), bar, height),
        *_ticks(_nice_ticks(-widest, widest, 5), apart, height),
        el("line", x1=apart(0), x2=apart(0), y1=_TOP - 6, y2=height - 8, class_="zero"),
    ]  # fmt: skip
    for row, i in enumerate(chosen):
        y = _TOP + _ROW * row + _ROW / 2
        low, high = float(found.each.lower[i]), float(found.each.upper[i])
        count, middle = float(found.counts[i]), float(middles[i])
        held = study.truth is None or low <= middle <= high
        mark = "whisker" if held else "whisker missed"
        tip = f"{question.label(i)}: {count:,.1f}, interval {low:,.0f} .. {high:,.0f}"
        if study.truth is not None:
            tip += f", truth {middle:,.0f}"
        parts.append(
            el(
                "g",
                el("title", tip),
                el("text", _short(question.label(i)), x=_LABELS - 8, y=y + 4, class_="label"),
                el("rect", x=_LABELS, y=y - 7, width=bar(count) - _LABELS, height=14, class_="bar"),
                el("line", x1=bar(low), x2=bar(high), y1=y, y2=y, class_=mark),
                *(_ring(bar(middle), y) if study.truth is not None else ()),
                el(
                    "line", x1=apart(low - middle), x2=apart(high - middle), y1=y, y2=y, class_=mark
                ),
                el("circle", cx=apart(count - middle), cy=y, r=3.2, class_="point"),
            )
        )
    return _picture(height, f"The {len(chosen)} largest bins with their intervals", parts)


def error_chart(study: Study) -> Markup:
    """Expected and measured error of every release between the central and the local model."""
    lines: list[tuple[str, float, float | None]] = [
        ("central model: someone sees all answers", study.central_error, None)
    ]
    lines += [
        (f"{r.name}, {r.messages / r.plan.users:.3g} messages a user",
         r.estimate.standard_error, study.measured_error(r))
        for r in study.releases
    ]  # fmt: skip
    lines.append(("local model: nobody is trusted, no mixes", study.local_error, None))
    values = [v for _, expected, measured in lines for v in (expected, measured) if v]
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values) * 1.0001))
    start, span = 330, _WIDTH - 330 - 90
    height = _TOP + 30 * len(lines) + 8

    def at(value: float) -> float:
        return start + span * (math.log10(value) - low) / (high - low)

    parts = [
        el("text", "error of one bin, in counts (logarithmic)", x=start, y=16, class_="axis"),
        *_ticks([10.0**k for k in range(low, high + 1)], at, height),
    ]
    for row, (name, expected, measured) in enumerate(lines):
        y = _TOP + 30 * row + 15
        kind = "stem own" if 0 < row < len(lines) - 1 else "stem"
        parts += [
            el("text", name, x=start - 10, y=y + 4, class_="label"),
            el("line", x1=start, x2=at(expected), y1=y, y2=y, class_=kind),
            el("circle", cx=at(expected), cy=y, r=5, class_=kind.replace("stem", "point")),
            el(
                "text",
                number(expected),
                x=at(max(expected, measured or 0.0)) + 12,
                y=y + 4,
                class_="value",
            ),
        ]
        if measured:
            parts += _ring(at(measured), y)
    return _picture(height, "Error of one bin in each model", parts)


def _ring(x: float, y: float) -> list[Markup]:
    return [el("circle", cx=x, cy=y, r=4.5, class_="truth")]


def _ticks(values: list[float], at: Callable[[float], float], height: float) -> list[Markup]:
    return [
        join([
            el("line", x1=at(v), x2=at(v), y1=_TOP - 6, y2=height - 8, class_="grid"),
            el("text", f"{v:,.10g}", x=at(v), y=_TOP - 12, class_="tick"),
        ])
        for v in values
    ]  # fmt: skip


def _nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most about ``most``."""
    rough = (high - low) / most
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * m for m in (1, 2, 5, 10) if scale * m >= rough)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _short(label: str, most: int = 16) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


def _picture(height: float, title: str, parts: list[Markup]) -> Markup:
    return el(
        "svg",
        el("title", title),
        *parts,
        viewBox=f"0 0 {_WIDTH} {height:g}",
        role="img",
        aria_label=title,
        xmlns="http://www.w3.org/2000/svg",
    )
