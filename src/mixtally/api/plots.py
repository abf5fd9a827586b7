"""Charts of counts with their intervals, drawn by Altair, or by matplotlib if Altair is missing.

Notebooks store the charts as pictures, which need no network connection to be shown.
"""

import io
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mixtally.errors import DataError
from mixtally.model.estimates import Row
from mixtally.report.charts import Bar, rows_chart
from mixtally.report.style import standalone_picture


def chart(rows: Sequence[Row], title: str, lines: Sequence[str]) -> Any:
    """Return an Altair chart or a matplotlib figure, or raise DataError if neither is installed."""
    if find_spec("altair") is not None:
        return _draw_altair(rows, title, lines)
    if find_spec("matplotlib") is not None:
        return _draw_matplotlib(rows, title, lines)
    raise DataError(
        "plot",
        expected="altair or matplotlib",
        got="neither is installed",
        do="pip install 'mixtally[plot]'",
    )


def _draw_altair(rows: Sequence[Row], title: str, lines: Sequence[str]) -> Any:
    alt = import_module("altair")
    values = [
        {"label": r.label, "estimate": r.estimate, "lower": r.lower, "upper": r.upper} for r in rows
    ]
    base = alt.Chart(alt.Data(values=values)).encode(y=alt.Y("label:N", sort=None, title=None))
    ends = base.mark_rule().encode(x=alt.X("lower:Q", title="people"), x2="upper:Q")
    bars = base.mark_bar(opacity=0.5).encode(x=alt.X("estimate:Q", title="people"))
    bins = [Bar(r.label, r.estimate, r.lower, r.upper) for r in rows]
    drawn = standalone_picture(rows_chart(bins, f"{title}: {lines[1]}"))
    first: dict[str, Any] = {}  # the unchanged chart, to notice changes by the user

    class StaticChart(alt.LayerChart):  # type: ignore[misc, name-defined]
        """A chart that is shown as a picture until a user changes it."""

        def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
            if self.to_dict() != first:
                return super()._repr_mimebundle_(*args, **options)
            return {"image/svg+xml": drawn, "text/plain": repr(self)}

    shown = StaticChart(layer=[bars, ends], title=alt.TitleParams(title, subtitle=list(lines[1:])))
    first.update(shown.to_dict())
    return shown


def _draw_matplotlib(rows: Sequence[Row], title: str, lines: Sequence[str]) -> Any:
    class StaticFigure(import_module("matplotlib.figure").Figure):  # type: ignore[misc]
        """A figure that notebooks show as a picture."""

        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, format="png")
            return data.getvalue()

    figure = StaticFigure(layout="constrained")
    axes = figure.subplots()
    places = range(len(rows))
    axes.barh(places, [r.estimate for r in rows], alpha=0.5)
    axes.hlines(places, [r.lower for r in rows], [r.upper for r in rows])
    axes.set_yticks(places, [r.label for r in rows])
    axes.invert_yaxis()
    axes.set(title=title, xlabel=f"people\n{lines[1]}")
    return figure
