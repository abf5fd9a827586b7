"""The result on a terminal: the largest bins with intervals, and the truth where it is known."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mixtally.records.results import Figures
from mixtally.report.models import lines, statements
from mixtally.report.study import Study
from mixtally.report.words import number, seen_by_sums

_FEW = 8


def result_table(study: Study, top: int) -> Table:
    """The ``top`` largest bins of the main release."""
    found, question = study.main.estimate, study.main.question
    level = f"{100 * found.each.level:g} % interval"
    table = Table(title=Text(study.title), title_justify="left", header_style="bold")
    table.add_column(Text(question.name))
    for heading in ("estimate", level, f"{level}, all bins"):
        table.add_column(heading, justify="right")
    if study.truth is not None:
        table.add_column("truth", justify="right")
        table.add_column("error", justify="right")
    for i in study.ranked()[:top].tolist():
        cells: list[RenderableType] = [
            Text(question.label(i)),
            f"{found.counts[i]:,.1f}",
            f"{found.each.lower[i]:,} .. {found.each.upper[i]:,}",
            f"{found.together.lower[i]:,} .. {found.together.upper[i]:,}",
        ]
        if study.truth is not None:
            held = found.each.lower[i] <= study.truth[i] <= found.each.upper[i]
            cells += [
                f"{study.truth[i]:,}",
                Text(f"{found.counts[i] - study.truth[i]:+,.1f}", style="" if held else "yellow"),
            ]
        table.add_row(*cells)
    return table


def error_table(study: Study) -> Table:
    """Standard errors beside the central and the local model."""
    table = Table(header_style="bold")
    for heading, justify in (("who adds the noise", "left"), ("expected error", "right")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    table.add_column("measured", justify="right")
    table.add_column("messages a user", justify="right")
    for line in lines(study):
        if line.expected is not None:
            measured = "" if line.measured is None else number(line.measured)
            sent = f"{line.messages:.3f}" if line.own else "1"
            table.add_row(line.name, number(line.expected), measured, sent)
    return table


def figures_table(figures: Figures, top: int, level: float) -> Table:
    """The first numbers derived from the same messages, all of them where they are few."""
    table = Table(title=Text(figures.title), title_justify="left", header_style="bold")
    table.add_column("")
    rows = figures.rows[: max(top, _FEW)]
    known = any(row.truth is not None for row in rows)
    coarse = any(row.resolution is not None for row in rows)
    for heading in ("estimate", "standard error", f"{100 * level:g} % interval"):
        table.add_column(heading, justify="right")
    for heading in ["resolution"] * coarse + ["truth"] * known:
        table.add_column(heading, justify="right")
    for row in rows:
        cells = [number(row.estimate, 5), _cell(row.standard_error, 3)]
        cells += [f"{number(row.lower, 5)} .. {number(row.upper, 5)}"]
        cells += [_cell(row.resolution, 3)] * coarse + [_cell(row.truth, 5)] * known
        table.add_row(Text(row.label), *cells)
    return table


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else number(value, digits)


def summary(study: Study, top: int) -> RenderableType:
    """All tables and what they show."""
    shown: list[RenderableType] = [result_table(study, top), Text(study.findings())]
    for figures in study.main.figures:
        level = study.main.estimate.each.level
        shown += [figures_table(figures, top, level), Text(figures.note)]
    shown += [error_table(study), *map(Text, statements(study))]
    if study.main.sums is not None:
        shown += [Text(line) for line in seen_by_sums(study.main.certificate, study.main.sums)]
    return Group(*shown)
