"""A chart of counts with their intervals: by Altair, or by matplotlib where only that is."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mixtally.errors import DataError
from mixtally.records.results import Row


def chart(rows: Sequence[Row], title: str, lines: Sequence[str]) -> Any:
    """An Altair chart or a matplotlib figure; DataError when neither is installed."""
    if find_spec("altair") is not None:
        return _altair(rows, title, lines)
    if find_spec("matplotlib") is not None:
        return _matplotlib(rows, title, lines)
    raise DataError(
        "plot",
        wanted="altair or matplotlib",
        got="neither is installed",
        do="pip install 'mixtally[plot]'",
    )


def _altair(rows: Sequence[Row], title: str, lines: Sequence[str]) -> Any:
    alt = import_module("altair")
    values = [
        {"label": r.label, "estimate": r.estimate, "lower": r.lower, "upper": r.upper} for r in rows
    ]
    base = alt.Chart(alt.Data(values=values)).encode(y=alt.Y("label:N", sort=None, title=None))
    ends = base.mark_rule().encode(x=alt.X("lower:Q", title="people"), x2="upper:Q")
    bars = base.mark_bar(opacity=0.5).encode(x=alt.X("estimate:Q", title="people"))
    titled = alt.TitleParams(title, subtitle=list(lines[1:]))
    return alt.layer(bars, ends).properties(title=titled)


def _matplotlib(rows: Sequence[Row], title: str, lines: Sequence[str]) -> Any:
    figure = import_module("matplotlib.figure").Figure(layout="constrained")
    axes = figure.subplots()
    places = range(len(rows))
    axes.barh(places, [r.estimate for r in rows], alpha=0.5)
    axes.hlines(places, [r.lower for r in rows], [r.upper for r in rows])
    axes.set_yticks(places, [r.label for r in rows])
    axes.invert_yaxis()
    axes.set(title=title, xlabel=f"people\n{lines[1]}")
    return figure
