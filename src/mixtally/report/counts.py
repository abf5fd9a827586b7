"""The parts of a document that a result of counts has: its table, its figures, what it promises."""

from collections.abc import Mapping, Sequence
from typing import Any

from mixtally.ground.codec import fingerprint
from mixtally.records.result import Findings, Result
from mixtally.records.results import Figures, Row
from mixtally.report.document import Cell, Facts, Rows, Table
from mixtally.report.texts import row_facts
from mixtally.report.words import at_most, number

Beside = Mapping[str, Sequence[Cell]]
"""Further columns of a table: a cell a row, by their heading."""


def findings(result: Findings) -> str:
    """What the counts show, in two sentences."""
    found, bins = result.estimate, result.question.bins
    above = int((found.together.lower > 0).sum())
    return (
        f"Intervals are {100 * found.each.level:g} % for each bin alone ({found.each.method}). "
        f"Counting all bins at once, {above:,} of {bins:,} are distinguishable from zero."
    )


def key_figures(result: Result) -> tuple[tuple[str, str], ...]:
    """Names and values that a page of counts opens with."""
    plan, certificate = result.plan, result.certificate
    return (
        ("people", f"{plan.users:,}"),
        ("bins", f"{result.question.bins:,}"),
        ("epsilon", at_most(certificate.epsilon)),
        ("delta at most", at_most(certificate.upper)),
        ("standard error, counts", number(result.estimate.standard_error)),
        ("messages a user", f"{result.messages / plan.users:.3f}"),
    )


def counts_table(
    result: Findings, bins: Sequence[int], beside: Beside, *, title: str, folded: bool = False
) -> Table:
    """The counts of some ``bins`` with both intervals, and what stands ``beside`` them."""
    found = result.estimate
    level = f"{100 * found.each.level:g} % interval"
    columns = dict(beside)
    if found.projected is not None:
        columns = {"simplex": [f"{found.projected[i]:,.1f}" for i in bins], **columns}
    rows = []
    for place, i in enumerate(bins):
        row = result.row(i)
        cells: list[Cell] = [row.label, f"{row.estimate:,.1f}", interval(row), simultaneous(row)]
        rows.append([*cells, *(column[place] for column in columns.values())])
    return Table(
        (result.question.name, "estimate", level, f"{level}, all bins", *columns),
        rows,
        title=title,
        folded=folded,
    )


def interval(row: Row) -> str:
    """The interval of one count alone."""
    return f"{row.lower:,} .. {row.upper:,}"


def simultaneous(row: Row) -> str:
    """The interval that holds for all counts at once."""
    return f"{row.lower_simultaneous:,} .. {row.upper_simultaneous:,}"


def figures_table(
    figures: Figures,
    level: float,
    most: int,
    beside: Mapping[str, Sequence[float | None]],
    *,
    titled: bool,
) -> Table:
    """Numbers derived from the same messages, with or without their title."""
    rows = figures.rows[:most]
    coarse = any(row.resolution is not None for row in rows)
    head = ["", "estimate", "standard error", f"{100 * level:g} % interval"]
    lines = []
    for place, row in enumerate(rows):
        cells = [number(row.estimate, 5), maybe(row.standard_error, 3)]
        cells += [f"{number(row.lower, 5)} .. {number(row.upper, 5)}"]
        cells += [maybe(row.resolution, 3)] * coarse
        cells += [maybe(values[place], 5) for values in beside.values()]
        lines.append([row.label, *cells])
    head += ["resolution"] * coarse
    return Table((*head, *beside), lines, title=figures.title * titled)


def maybe(value: float | None, digits: int) -> str:
    """A number for people, nothing where there is none."""
    return "" if value is None else number(value, digits)


def count_rows(result: Findings, beside: Mapping[str, Sequence[Any]]) -> list[Facts]:
    """One flat object a bin, in the order of the bins."""
    found = result.estimate
    rows = []
    for i in range(result.question.bins):
        row = {
            "bin": i,
            **row_facts(result.row(i)),
            "above_zero": bool(found.together.lower[i] > 0),
        }
        if found.projected is not None:
            row["simplex"] = float(found.projected[i])
        rows.append({**row, **{name: values[i] for name, values in beside.items()}})
    return rows


def figure_rows(figures: Figures, beside: Mapping[str, Sequence[Any]]) -> list[Facts]:
    """One flat object a row."""
    return [
        {
            **row_facts(row),
            "resolution": row.resolution,
            **{name: values[place] for name, values in beside.items()},
        }
        for place, row in enumerate(figures.rows)
    ]


def facts(result: Result, plans: Mapping[str, Any]) -> Facts:
    """What a result says besides its rows; ``plans`` is what its plans say, flat."""
    each = result.estimate.each
    found: Facts = {
        **plans,
        "fingerprint": fingerprint(result.plan),
        "messages": result.messages,
        "confidence_level": each.level,
        "interval_method": each.method,
    }
    if len(result.plans) > 1:
        found["fingerprints"] = [fingerprint(plan) for plan in result.plans]
    return found


def as_csv(rows: Sequence[Facts]) -> Rows:
    """A CSV file of such rows."""
    return Rows(rows, tuple(rows[0]) if rows else ())
