"""What is seen while a crowd is played, and of what came of it: bars, tables, JSON, files."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bars

from mixtally.cli.output import print_json, publish_result
from mixtally.data.cells import Progress


def present(
    out: Path | None,
    *,
    json: bool,
    files: Callable[[], Mapping[str, str | bytes]],
    facts: Callable[[], Mapping[str, Any]],
    table: Callable[[], RenderableType],
    prose: Iterable[str] = (),
    wrapped: bool = True,
    kept: Iterable[str] = (),
) -> None:
    """Write a result's ``files`` into ``out`` if any, and print its facts as JSON, or its table.

    where
      prose     sentences below the table; ``wrapped``, or each on a line of its own
      kept      other files that were written, told last
    """
    written = [] if out is None else publish_result(out, files())
    if json:
        print_json(facts())
        return
    console = Console()
    console.print(table())
    for line in prose:
        console.print(line, markup=False, highlight=False, soft_wrap=not wrapped)
    for path in (*written, *kept):
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


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
