"""What is seen while a crowd is played, and of what came of it: bars, tables, JSON, files."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bars

from mixtally.cli.output import print_json, publish_result
from mixtally.data.progress import Progress
from mixtally.report.document import Document
from mixtally.report.terminal import printed
from mixtally.report.texts import files


def show(
    document: Document,
    out: Path | None,
    *,
    json: bool,
    more: Mapping[str, bytes] | None = None,
    beside: Iterable[str] = (),
) -> None:
    """Write the files of a document into ``out`` if any, and print it as JSON or as its summary.

    where
      more   further files of the result
      beside   other files that were written, named last
    """
    written = [] if out is None else publish_result(out, {**files(document), **(more or {})})
    if json:
        print_json(document.facts())
        return
    console = Console()
    console.print(printed(document))
    for line in document.prose:
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    for path in (*written, *beside):
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def warn(text: str) -> None:
    """Say ``text`` on standard error, if there is any: a word of warning, the work goes on."""
    if text:
        sys.stderr.write(f"mixtally: warning: {text}\n")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Bars on standard error while it is a terminal; one bar a step."""
    bars = Bars(
        TextColumn("{task.description:>10}"),
        BarColumn(),
        TaskProgressColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    tasks: dict[str, Any] = {}

    def show(step: str, done: int, total: int) -> None:
        if step not in tasks:
            tasks[step] = bars.add_task(step, total=total)
        bars.update(tasks[step], completed=done, total=total)

    with bars:
        yield show
