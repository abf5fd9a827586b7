"""Files that appear whole or not at all, JSON on standard output, progress on standard error."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixtally.errors import DataError

if TYPE_CHECKING:
    from mixtally.lab.simulate import Progress


def publish(directory: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write ``files`` into ``directory``: all are written aside first, then moved into place.

    Raises DataError when the disk refuses; what was there before is then still there.
    """
    aside: list[tuple[Path, Path]] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            data = content.encode("utf-8") if isinstance(content, str) else content
            part = directory / f".{name}.{os.getpid()}.part"
            aside.append((part, directory / name))
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for part, place in aside:
            part.replace(place)
    except OSError as error:
        for part, _ in aside:
            part.unlink(missing_ok=True)
        raise DataError(
            str(directory), wanted="room to write the result", got=str(error),
            do="free some space or choose another place",
        ) from error  # fmt: skip
    return [place for _, place in aside]


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    json.dump(value, sys.stdout, indent=1, allow_nan=False)
    sys.stdout.write("\n")


@contextmanager
def progress_bars() -> Iterator["Progress"]:
    """Bars on standard error while it is a terminal; one bar a step."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    bars = Progress(
        TextColumn("{task.description:>10}"),
        BarColumn(),
        TaskProgressColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def show(step: str, done: int, total: int) -> None:
        if step not in tasks:
            tasks[step] = bars.add_task(step, total=total)
        bars.update(tasks[step], completed=done, total=total)

    with bars:
        yield show
