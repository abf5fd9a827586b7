"""Progress bars on standard error, with rate and remaining time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import (
    BarColumn,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text as RichText

from mixtally.cli.common import is_watched
from mixtally.cli.display import console_of
from mixtally.primitives.progress import Progress
from mixtally.report.numbers import number


class _Rate(ProgressColumn):
    """A column with the number of items per second, rounded to two digits."""

    def render(self, task: Task) -> RichText:
        speed = task.finished_speed or task.speed
        return RichText("" if not speed else f"{number(speed, 2)}/s", style="dim")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Provide a function that reports progress; on a terminal, it displays a bar for each step."""
    bars = Bars(
        TextColumn("{task.description:>10}"),
        BarColumn(),
        TaskProgressColumn(),
        _Rate(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=console_of(stderr=True),
        transient=True,
        disable=not is_watched(),
    )
    tasks: dict[str, Any] = {}

    def show(step: str, done: int, total: int) -> None:
        if step not in tasks:
            tasks[step] = bars.add_task(step, total=total)
        bars.update(tasks[step], completed=done, total=total)

    with bars:
        yield show
