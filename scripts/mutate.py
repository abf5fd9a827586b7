"""Plant wrong results one at a time, and check that the tests fail.

    .venv/bin/python scripts/mutate.py              # all mutations; run it at low priority
    .venv/bin/python scripts/mutate.py --package mix   # the mutations of one package
    .venv/bin/python scripts/mutate.py --list       # the wrong results

``mutations.toml`` lists the mutations of each package, about ten for large packages. A mutation is
located only by its snippet, which occurs exactly once in ``src``. So it survives moves of files
within its package. If a snippet was rewritten, plant the same mistake in the new code and update
the package. Sources and tests are copied to a temporary folder. There each mutation is planted,
tested with the tests that it names, and removed. The exit status is 1 if a mutation survives or
cannot be tested.
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
"""The folders in which mistakes are planted: the package, and the programs that recompute papers.
"""
MOST_SECONDS = 600.0
"""The timeout of the tests of one mutation."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mistake.

    Attributes
    ----------
    package : str
        The folder of src/mixtally with the snippet, or a folder next to src.
    find : str
        A snippet that occurs once in all of SOURCES.
    replace : str
        The replacement of the snippet.
    why : str
        The wrong result of the replacement.
    tests : tuple of str
        The pytest arguments of tests that must fail.
    """

    id: str
    package: str
    find: str
    replace: str
    why: str
    tests: tuple[str, ...]


def read_mutations(path: Path = LIST) -> tuple[Mutation, ...]:
    """Return all mutations; raise ValueError for a repeated name or a mutation without effect."""
    with path.open("rb") as file:
        tables = tomllib.load(file)["mutation"]
    found = tuple(Mutation(**{**table, "tests": tuple(table["tests"])}) for table in tables)
    names = [one.id for one in found]
    for one in found:
        if names.count(one.id) > 1 or one.find == one.replace or not one.tests:
            raise ValueError(f"{one.id}: expected a name of its own, a change and tests")
    return found


def places(mutations: tuple[Mutation, ...], root: Path) -> dict[str, list[Path]]:
    """Return the files that contain each snippet, once for every occurrence."""
    found: dict[str, list[Path]] = {one.id: [] for one in mutations}
    for path in sorted(path for part in SOURCES for path in (root / part).rglob("*.py")):
        text = path.read_text()
        for one in mutations:
            found[one.id] += [path] * text.count(one.find)
    return found


def find_misplaced(mutations: tuple[Mutation, ...], root: Path) -> list[str]:
    """Return a line for every snippet that does not occur exactly once."""
    return [
        f"{name}: expected its snippet once in the sources, got {len(files)} times"
        for name, files in places(mutations, root).items()
        if len(files) != 1
    ]


def write(path: Path, text: str) -> None:
    """Replace a source file and remove its compiled code."""
    path.write_text(text)
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def run_tests(tests: tuple[str, ...], desk: Path) -> tuple[int, str]:
    """Return the exit status of pytest in ``desk``, and the first test that failed."""
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
    """Plant one mutation, run its tests, remove it, and return whether a test failed."""
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
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(description="Plant wrong results; the tests must fail.")
    parser.add_argument("--package", help="only the mutations of this package")
    parser.add_argument("--only", help="only the mutation of this name")
    parser.add_argument("--list", action="store_true", help="print the wrong results and stop")
    parser.add_argument("--clean", action="store_true", help="first run all tests without mutation")
    asked = parser.parse_args(arguments)
    everything = read_mutations()
    if wrong := find_misplaced(everything, ROOT):
        print("\n".join(wrong))
        return 1
    chosen = tuple(
        one for one in everything
        if asked.package in (None, one.package) and asked.only in (None, one.id)
    )  # fmt: skip
    if not chosen:
        print("no such mutation; --list prints the mutations and their packages")
        return 2
    if asked.list:
        print("\n".join(f"{one.package:14} {one.id}: {one.why}" for one in chosen))
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
