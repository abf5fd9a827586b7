"""Bars on standard error: how far long work is, how fast it goes, how long it still takes."""

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

from mixtally.cli.display import console_of
from mixtally.cli.terminal import is_watched
from mixtally.primitives.progress import Progress
from mixtally.report.numbers import number


class _Rate(ProgressColumn):
    """What is done a second, to two digits; the unit is that of the step."""

    def render(self, task: Task) -> RichText:
        speed = task.finished_speed or task.speed
        return RichText("" if not speed else f"{number(speed, 2)}/s", style="dim")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Bars on standard error while it is a terminal; one bar a step, its rate and the time left."""
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
