"""Reproducible build: wheel and sdist, made twice in places that differ, the same byte for byte.

What is built is a tree of git, never the folder at hand: nothing that is ignored or was left behind
gets in. The builds differ in all that must not matter: the folder and the length of its path, the
times of files, umask, time zone, language and the order of hashes. They share what may: the clock
of the last commit (``SOURCE_DATE_EPOCH``), Python and the build backend. A third wheel is made from
the sdist alone, as whoever has no repository would.

Source: reproducible-builds.org, "SOURCE_DATE_EPOCH" 1.1 and "Variations in the build environment".
"""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from mixtally.errors import InputError

BUILD = ("-m", "hatchling", "build")
USUAL = MappingProxyType({"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"})
OTHER = MappingProxyType({"TZ": "Pacific/Chatham", "LC_ALL": "C", "PYTHONHASHSEED": "4242"})
MOST_SHOWN = 5


class ReleaseError(InputError):
    """What was asked for cannot be released; nothing was written."""


@dataclass(frozen=True, slots=True)
class SourceTree:
    """What is built: a tree of git.

    where
      commit   the last commit, in hexadecimal
      tree     the tree that is built: that of the commit if the tree is clean
      epoch    when the commit was made, in seconds since 1970
      changed  lines of `git status --porcelain`; none in a clean tree
    """

    root: Path
    commit: str
    tree: str
    epoch: int
    changed: tuple[str, ...]


def git(root: Path, *arguments: str) -> str:
    """What git prints for ``arguments`` in ``root``; ReleaseError where it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(
            "release",
            expected=f"a git repository with a commit in {root}",
            got=done.stderr.strip(),
            do="make it in a clone",
        )
    return done.stdout


def source_of(root: Path, *, allow_dirty: bool) -> SourceTree:
    """The tree that is released: the last commit; with ``allow_dirty`` changed tracked files too.

    Raises ReleaseError for a tree in which anything but ignored files differs from the commit.
    """
    changed = tuple(git(root, "status", "--porcelain").splitlines())
    if changed and not allow_dirty:
        raise ReleaseError(
            "release",
            expected="a clean tree",
            got=", ".join(changed[:MOST_SHOWN]) + (", ..." if changed[MOST_SHOWN:] else ""),
            do="commit it, or pass --allow-dirty for a trial (its provenance says so)",
        )
    commit = git(root, "rev-parse", "HEAD").strip()
    built = (git(root, "stash", "create").strip() if changed else "") or commit
    return SourceTree(
        root=root,
        commit=commit,
        tree=git(root, "rev-parse", built + "^{tree}").strip(),
        epoch=int(git(root, "show", "--no-patch", "--format=%ct", commit)),
        changed=changed,
    )


def lay_out(source: SourceTree, folder: Path) -> None:
    """Write the tree's files below ``folder``, with the times of now."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", source.tree],
        cwd=source.root,
        capture_output=True,
        check=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def build(
    folder: Path, out: Path, epoch: int, around: Mapping[str, str], *, umask: int, only: str = ""
) -> dict[str, Path]:
    """Build what lies in ``folder`` into ``out``; files by name. ``only`` is a target of hatch.

    Raises ReleaseError, with the last of what was printed, where the backend fails.
    """
    kept = {name: text for name, text in os.environ.items() if not name.startswith("HATCH_")}
    done = subprocess.run(
        [sys.executable, *BUILD, "-d", str(out), *(["-t", only] if only else [])],
        cwd=folder,
        env={**kept, **around, "SOURCE_DATE_EPOCH": str(epoch)},
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(
            "release",
            expected="a build that ends",
            got=" ".join(done.stderr.split())[-300:],
            do="run make wheel and read what it prints",
        )
    return {path.name: path for path in sorted(out.iterdir())}


def build_twice(source: SourceTree, desk: Path) -> dict[str, Path]:
    """The wheel and the sdist, by name; files below ``desk``, an empty folder.

    Raises ReleaseError, which names what differs, unless all builds give the same bytes.
    """
    first, second, third = desk / "a", desk / "another" / "and-longer" / "path", desk / "sdist"
    lay_out(source, first)
    once = build(first, desk / "out-1", source.epoch, USUAL, umask=0o022)
    lay_out(source, second)
    for path in second.rglob("*"):
        os.utime(path)  # a commit's files all have its time: these do not
    again = build(second, desk / "out-2", source.epoch, OTHER, umask=0o077)
    compare(once, again, "two builds")
    (sdist,) = (path for name, path in once.items() if name.endswith(".tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(third, filter="data")
    (unpacked,) = third.iterdir()
    wheel = build(unpacked, desk / "out-3", source.epoch, OTHER, umask=0o022, only="wheel")
    compare({name: once[name] for name in wheel if name in once}, wheel, "a build from the sdist")
    return once


def compare(once: Mapping[str, Path], again: Mapping[str, Path], what: str) -> None:
    """Raises ReleaseError unless both have the same files with the same bytes."""
    if sorted(once) != sorted(again):
        raise ReleaseError(
            "release",
            expected=f"the same files from {what}",
            got=f"{', '.join(sorted(once))} and {', '.join(sorted(again))}",
            do="look for a version or a name that is made up while building",
        )
    for name, path in once.items():
        if path.read_bytes() != again[name].read_bytes():
            differing = differences(path, again[name])
            raise ReleaseError(
                "release",
                expected=f"the same bytes from {what}",
                got=f"{name} that differs in " + ", ".join(differing[:MOST_SHOWN]),
                do="find what puts the time, a path or an order of chance into it",
            )


def differences(one: Path, other: Path) -> list[str]:
    """The members of two archives that are not alike; "the archive itself" where all are."""
    left, right = members(one), members(other)
    names = sorted({*left, *right})
    return [name for name in names if left.get(name) != right.get(name)] or ["the archive itself"]


def members(path: Path) -> dict[str, tuple[object, ...]]:
    """Of each member of a wheel or sdist: its digest, its time and its mode."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as packed:
            return {
                one.filename: (sha256(packed.read(one)), one.date_time, one.external_attr)
                for one in packed.infolist()
            }
    with tarfile.open(path) as archive:
        files = [(one, archive.extractfile(one)) for one in archive if one.isfile()]
        return {
            one.name: (sha256(file.read() if file else b""), one.mtime, one.mode, one.uname)
            for one, file in files
        }


def sha256(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
