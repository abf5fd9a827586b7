"""Plant wrong results one at a time and see that the tests notice: what is pinned by name.

    .venv/bin/python scripts/mutate.py              # all of them: long, so run it at low priority
    .venv/bin/python scripts/mutate.py --room mix   # one room's
    .venv/bin/python scripts/mutate.py --list       # what each of them plants

``mutations.toml`` beside this program has some for each room, ten where it does much. A mutation is
located by its snippet alone, which stands exactly once in ``src``, so it survives moves of files
within its room; where a snippet was rewritten, plant the same mistake in what replaced it, and name
the room it is in now. Sources and tests are copied to a temporary
folder, and each mutation is planted there, tried by the tests it names, and taken out again.
The status is 1 when one survives or cannot be tried.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("mutations.toml")
COPIED = (
    *("src", "literature", "tests", "docs", "examples", "scripts", "vectors", "pyproject.toml"),
    *("README.md", "SPEC.md", "Makefile"),
)
SOURCES = ("src", "literature")
"""Where mistakes are planted: what is shipped, and what holds papers against it."""
MOST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mistake.

    where
      room      the folder of src/mixtally that it is in, or a folder beside src
      find      a snippet that stands once in all of SOURCES
      replace   what stands there instead
      why       the wrong result it plants
      tests     pytest arguments: what must fail
    """

    id: str
    room: str
    find: str
    replace: str
    why: str
    tests: tuple[str, ...]


def read_mutations(path: Path = LIST) -> tuple[Mutation, ...]:
    """Every mutation in the list; ValueError for a name used twice and for one without effect."""
    with path.open("rb") as file:
        tables = tomllib.load(file)["mutation"]
    found = tuple(Mutation(**{**table, "tests": tuple(table["tests"])}) for table in tables)
    names = [one.id for one in found]
    for one in found:
        if names.count(one.id) > 1 or one.find == one.replace or not one.tests:
            raise ValueError(f"{one.id}: expected a name of its own, a change and tests")
    return found


def places(mutations: tuple[Mutation, ...], root: Path) -> dict[str, list[Path]]:
    """Where in the sources below ``root`` each snippet stands: a file as often as it does."""
    found: dict[str, list[Path]] = {one.id: [] for one in mutations}
    for path in sorted(path for part in SOURCES for path in (root / part).rglob("*.py")):
        text = path.read_text()
        for one in mutations:
            found[one.id] += [path] * text.count(one.find)
    return found


def find_misplaced(mutations: tuple[Mutation, ...], root: Path) -> list[str]:
    """A line for every snippet that does not stand exactly once."""
    return [
        f"{name}: its snippet stands {len(files)} times, not once"
        for name, files in places(mutations, root).items()
        if len(files) != 1
    ]


def write(path: Path, text: str) -> None:
    """Replace a source and forget what was compiled from it."""
    path.write_text(text)
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def run_tests(tests: tuple[str, ...], desk: Path) -> tuple[int, str]:
    """The status of pytest on ``tests`` in ``desk``, and the first test that failed."""
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not exhaustive", *tests]
    environment = {**os.environ, "PYTHONPATH": str(desk / "src")}
    try:
        done = subprocess.run(
            [Path(sys.executable).with_name("pytest"), *arguments], cwd=desk, env=environment,
            capture_output=True, text=True, check=False, timeout=MOST_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1, f"no end within {MOST_SECONDS:g} s"
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - |$)", done.stdout, flags=re.MULTILINE)
    return done.returncode, failed[1] if failed else done.stdout[-300:] + done.stderr[-300:]


def try_mutation(one: Mutation, path: Path, desk: Path) -> bool:
    """Plant one mutation, run its tests, take it out; prints a line and tells whether it died."""
    before, start = path.read_text(), time.monotonic()
    write(path, before.replace(one.find, one.replace))
    try:
        status, failed = run_tests(one.tests, desk)
    finally:
        write(path, before)
    word = {0: "SURVIVED", 1: f"killed by {failed}"}.get(status, f"NOT TRIED: {failed}")
    print(f"{one.id}: {word} ({time.monotonic() - start:.1f} s)", flush=True)
    return status == 1


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Plant wrong results, see that the tests notice.")
    parser.add_argument("--room", help="only the mutations of this room")
    parser.add_argument("--only", help="only the mutation of this name")
    parser.add_argument("--list", action="store_true", help="say what they plant and stop")
    parser.add_argument("--clean", action="store_true", help="first see all tests pass unmutated")
    asked = parser.parse_args(arguments)
    everything = read_mutations()
    if wrong := find_misplaced(everything, ROOT):
        print("\n".join(wrong))
        return 1
    chosen = tuple(
        one for one in everything
        if asked.room in (None, one.room) and asked.only in (None, one.id)
    )  # fmt: skip
    if not chosen:
        print("no such mutation; --list names them and their rooms")
        return 2
    if asked.list:
        print("\n".join(f"{one.room:14} {one.id}: {one.why}" for one in chosen))
        return 0
    with tempfile.TemporaryDirectory() as name:
        desk = Path(name)
        for part in COPIED:
            whole = ROOT / part
            if whole.is_dir():
                shutil.copytree(whole, desk / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(whole, desk / part)
        if asked.clean:
            status, failed = run_tests(
                tuple({test: 0 for one in chosen for test in one.tests}), desk
            )
            print(f"unmutated: {'passed' if status == 0 else failed}", flush=True)
            if status:
                return 1
        where = places(chosen, desk)
        dead = [try_mutation(one, where[one.id][0], desk) for one in chosen]
    print(f"{sum(dead)} of {len(dead)} killed")
    return 0 if all(dead) else 1


if __name__ == "__main__":
    sys.exit(main())
