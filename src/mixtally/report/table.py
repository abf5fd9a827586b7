"""The result on a terminal: the largest bins with intervals, and the truth where it is known."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mixtally.report.models import lines, statements
from mixtally.report.study import Study
from mixtally.report.words import number


def result_table(study: Study, top: int) -> Table:
    """The ``top`` largest bins of the main release."""
    found, question = study.main.estimate, study.main.plan.question
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


def summary(study: Study, top: int) -> RenderableType:
    """Both tables and what they show."""
    return Group(
        result_table(study, top), Text(study.findings()), error_table(study),
        *map(Text, statements(study)),
    )  # fmt: skip
