"""The wheel, built once, and interpreters that see it and what it says it needs, nothing else."""

import subprocess
import sys
import zipfile
from email import message_from_string
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
BEGIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); "


class Installed(NamedTuple):
    """A folder with the wheel unpacked and links to the distributions that were asked for."""

    folder: Path

    def run(self, program, *arguments, where):
        """``program`` in a fresh interpreter; -I and -S leave the standard library alone."""
        return subprocess.run(
            [sys.executable, "-I", "-S", "-c", BEGIN + program, self.folder, *map(str, arguments)],
            cwd=where,
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )

    def command(self, *arguments, where):
        """The command line, as the installed script starts it."""
        return self.run("from mixtally.cli.main import run; run()", *arguments, where=where)

    def megabytes(self):
        """The size of everything, without what Python compiles."""
        files = [path for top in self.folder.iterdir() for path in walked(top.resolve())]
        return sum(path.stat().st_size for path in files) / 1e6


def walked(top):
    return [
        path
        for path in ([top] if top.is_file() else top.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]


def needed(requirements, extras):
    """The names of all distributions that ``requirements`` lead to under ``extras``."""
    found, left = set(), [(text, extra) for text in requirements for extra in ("", *extras)]
    while left:
        text, extra = left.pop()
        wanted = Requirement(text)
        name = canonicalize_name(wanted.name)
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": extra})):
            continue
        found.add(name)
        below = distribution(name).requires or []
        left += [(line, more) for line in below for more in ("", *wanted.extras)]
    return found


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def metadata(wheel):
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(packed.read(name).decode())


@pytest.fixture
def installed(wheel, metadata, tmp_path):
    """Lays out the wheel with the given extras; ``without`` leaves a distribution out."""

    def lay_out(*extras, without=()):
        folder = tmp_path / "-".join(["site", *extras, *without])
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder)
        for name in needed(metadata.get_all("Requires-Dist"), extras) - {*without}:
            for file in distribution(name).files or []:
                top = Path(file).parts[0]
                if top not in ("..", "__pycache__") and not (folder / top).exists():
                    (folder / top).symlink_to(Path(distribution(name).locate_file(top)).resolve())
        return Installed(folder)

    return lay_out
