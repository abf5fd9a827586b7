"""Output of commands: files (all of them or none), JSON, lines of text and elapsed time.

Every command writes through this module.
"""

import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import typer

from mixtally.cli.common import is_watched
from mixtally.errors import DataError
from mixtally.report.document import SIMULATION, Chunks, Promise


def publish(directory: Path, files: Mapping[str, str | bytes | Chunks]) -> list[Path]:
    """Write files into a directory, all of them or none.

    The files are written under temporary names first and then moved into place.

    Raises
    ------
    DataError
        If the operating system refuses, or if a directory, a device or a pipe has the name of a
        file. In these cases, files that existed before are unchanged.
    """
    # All names are checked before the first file is written.
    for name in files:
        _check_free(directory / name)
    moves = [_PendingFile(directory / name, content) for name, content in files.items()]
    try:
        for folder in {directory, *(move.target.parent for move in moves)}:
            folder.mkdir(parents=True, exist_ok=True)
        for move in moves:
            move.write()
        for move in moves:
            move.place()
    except OSError as error:
        for move in moves:
            move.undo()
        raise DataError(
            str(directory),
            expected="to write the result",
            got=error,
            do="check its permissions and free space, or choose another directory",
        ) from error
    for move in moves:
        move.forget()
    return [move.target for move in moves]


_RESULTS = frozenset(
    name + ".csv"
    for name in (
        "estimates", "numbers", "pairs", "correlations", "tables", "shares", "words", "counts",
        "changes", "differences", "means", "mean_changes", "others", "sizes",
    )
) | {"plan.json", "report.html", "result.json", "report.json", "map.svg"}  # fmt: skip
"""Names of the files of a result, including those of earlier versions."""


def publish_result(directory: Path, files: Mapping[str, str | bytes | Chunks]) -> list[Path]:
    """Write the files of a result as ``publish`` does, and name old files that remain.

    Files of an earlier result in the directory are named on standard error. They are kept, because
    only their owner knows whether they are still needed.
    """
    written = publish(directory, files)
    # Only files with a name that results use are reported. The folder may contain other files.
    there = sorted(path for place in ("", SIMULATION) for path in (directory / place).glob("*"))
    others = [
        str(path.relative_to(directory))
        for path in there
        if str(path.relative_to(directory)) not in files
        and (path.name in _RESULTS or fnmatch(path.name, "plan-*.json"))
    ]
    if others:
        with suppress(OSError):  # standard error is closed; the files are written nevertheless
            sys.stderr.write(
                f"mixtally: note: {directory} also contains {', '.join(others)} from an earlier "
                "run. These files are not part of this result\n"
            )
    return written


def _check_free(target: Path) -> None:
    """Raise DataError if a directory, a device, a pipe or a socket has the name of a file.

    Moving a file over a device would replace the device for all users of the machine.
    """
    if target.is_dir():
        got = "a directory"
    elif target.exists() and not target.is_file():
        got = "a device, pipe or socket"
    else:
        return
    raise DataError(
        str(target),
        expected="the name of a file, new or to be replaced",
        got=got,
        do="choose another name",
    )


class _PendingFile:
    """A file that is written under a temporary name and then moved to its final name.

    The move can be undone, which restores an earlier file of this name.
    """

    def __init__(self, target: Path, content: str | bytes | Chunks) -> None:
        self.target = target
        # The temporary file is in the same directory, because a rename is atomic only within a file
        # system. Its name has the process id, so that concurrent runs use different files.
        self.aside = target.with_name(f".{target.name}.{os.getpid()}.part")
        self.before = self.aside.with_suffix(".before")
        self.content = content.encode("utf-8") if isinstance(content, str) else content
        self.placed = False

    def write(self) -> None:
        with self.aside.open("wb") as file:
            if isinstance(self.content, bytes):
                file.write(self.content)
            else:
                file.writelines(piece.encode("utf-8") for piece in self.content)
            file.flush()
            # The content is synced before the rename. Otherwise a power failure could leave an
            # empty file under the final name.
            os.fsync(file.fileno())

    def place(self) -> None:
        if self.target.is_file():
            # A hard link keeps the old content until all files are in place.
            os.link(self.target, self.before)
        self.aside.replace(self.target)
        self.placed = True

    def undo(self) -> None:
        with suppress(OSError):  # the disk has already failed, and may refuse to restore the file
            if self.placed and self.before.exists():
                self.before.replace(self.target)
            elif self.placed:
                self.target.unlink()
        self.forget()

    def forget(self) -> None:
        for leftover in (self.aside, self.before):
            with suppress(OSError):
                leftover.unlink(missing_ok=True)


def print_result(promise: Promise, facts: Mapping[str, Any]) -> None:
    """Print a result as one JSON object whose first key is the promise."""
    print_json({"promise": list(promise), **facts})


def print_outcome(
    promise: Promise, facts: Mapping[str, Any], more: Iterable[str], *, json: bool
) -> None:
    """Print a result as JSON, or print its promise and then the lines ``more``."""
    if json:
        print_result(promise, facts)
    else:
        print_lines([*promise, *more])


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output."""
    for line in lines:
        typer.echo(line)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output."""
    from mixtally.report.texts import json_text  # keeps the start of a device fast

    sys.stdout.write(json_text(value))


@contextmanager
def show_elapsed_time(what: str) -> Iterator[None]:
    """Show a description and the elapsed seconds on standard error, beginning after one second.

    The line appears on terminals only, and is removed before anything else is printed.
    """
    if not is_watched():
        yield
        return
    done, shown = threading.Event(), [""]

    def tell() -> None:
        seconds = 1
        while not done.wait(1.0):
            shown[0] = f"{what}: {seconds} s"
            sys.stderr.write("\r" + shown[0])
            sys.stderr.flush()
            seconds += 1

    # A daemon thread does not delay the exit of an interrupted process.
    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        # The thread must end before the line is cleared, or it could print the line again.
        teller.join()
        sys.stderr.write("\r" + " " * len(shown[0]) + "\r" * bool(shown[0]))
        sys.stderr.flush()
