"""A vote on a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mixtally.report.election.rows import VERSIONS, comparison, headings, result_rows
from mixtally.report.election.votes import Election
from mixtally.report.election.words import deniability, method, verdict


def summary(election: Election) -> RenderableType:
    """A table a version, both beside each other, and what an observer can learn."""
    parts: list[RenderableType] = []
    for name, count in election.counts().items():
        title = f"{election.title}: {name} version"
        parts += [
            _grid(title, headings(election, count), result_rows(election, count), right=True),
            Text(verdict(election, count) + "\n"),
        ]
    parts.append(_grid("The two versions", VERSIONS, comparison(election), right=False))
    return Group(*parts, *[Text(text) for text in (*deniability(election), *method())])


def _grid(title: str, names: list[str], rows: list[list[str]], *, right: bool) -> Table:
    table = Table(title=Text(title), title_justify="left", header_style="bold")
    for i, name in enumerate(names):
        table.add_column(Text(name), justify="right" if right and i else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
