"""True numbers as columns beside a result's own: what makes a document a rehearsal."""

from collections.abc import Sequence
from typing import Any

from mixtally.records.result import Findings
from mixtally.records.results import Figures
from mixtally.report import counts
from mixtally.report.counts import Beside
from mixtally.report.document import Cell, Marked, Tone
from mixtally.report.words import supported
from mixtally.simulation.truth import Truth


def beside(truth: Truth | None, figures: Figures | None = None) -> dict[str, Sequence[Any]]:
    """Columns of a file, beside counts or ``figures``; none without a truth."""
    if truth is None:
        return {}
    return {"truth": truth.counts.tolist() if figures is None else truth.figures[figures.name]}


def errors_beside(result: Findings, truth: Truth, bins: Sequence[int]) -> Beside:
    """True counts and by how much the estimates shown err; marked where an interval misses."""
    found, true, inside = result.estimate, truth.counts, truth.inside(result)
    shown = [counts.inside(found.counts[i], found.each.lower[i], found.each.upper[i]) for i in bins]
    off = [
        supported(value - true[i], found.error_of(i), sign="+")
        for i, value in zip(bins, shown, strict=True)
    ]
    errors: list[Cell] = [
        text if inside[i] else Marked(text, Tone.BAD) for i, text in zip(bins, off, strict=True)
    ]
    return {"true count": [f"{true[i]:,}" for i in bins], "error": errors}
