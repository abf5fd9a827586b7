"""Reproducible builds: a wheel and an sdist, built twice in different places with equal bytes.

``release.py`` calls ``build_twice``. The source is a tree of git, not the working folder, so
ignored or leftover files are never included. The two builds differ in everything that must not
matter: the folder and the length of its path, the times of files, the umask, the time zone, the
language, and the hash order. They share what may matter: the time of the last commit
(``SOURCE_DATE_EPOCH``), Python, and the build backend. A third wheel is built from the sdist alone,
as by a person without the repository.

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
"""The most differences that a message lists."""


class ReleaseError(InputError):
    """Error: the requested release is not possible, and nothing was written."""


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A tree of git that is built.

    Attributes
    ----------
    commit : str
        The last commit, in hexadecimal.
    tree : str
        The tree that is built; that of the commit if the working folder is clean.
    epoch : int
        The time of the commit, in seconds since 1970.
    changed : tuple of str
        The lines of `git status --porcelain`; empty if the working folder is clean.
    """

    root: Path
    commit: str
    tree: str
    epoch: int
    changed: tuple[str, ...]


def git(root: Path, *arguments: str) -> str:
    """Return the output of git in ``root``; raise ReleaseError if git fails."""
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
    """Return the tree of the last commit; with ``allow_dirty``, include changed tracked files.

    Raises
    ------
    ReleaseError
        If any file that is not ignored differs from the commit, without ``allow_dirty``.
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
    """Write the files of the tree to ``folder``, with the current time."""
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
    """Build the sources in ``folder`` and return the files in ``out`` by name.

    ``only`` restricts the build to one target of hatch.

    Raises
    ------
    ReleaseError
        If the backend fails; the message has the end of its output.
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
    """Return the wheel and the sdist by name; the files are in ``desk``, an empty folder.

    Raises
    ------
    ReleaseError
        If the builds differ; the message names the differences.
    """
    first, second, third = desk / "a", desk / "another" / "and-longer" / "path", desk / "sdist"
    lay_out(source, first)
    once = build(first, desk / "out-1", source.epoch, USUAL, umask=0o022)
    lay_out(source, second)
    for path in second.rglob("*"):
        os.utime(path)  # git archive gives all files the time of the commit; vary it.
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
    """Raise ReleaseError unless both have the same files with the same bytes."""
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
    """Return the members in which two archives differ; "the archive itself" if none differs."""
    left, right = members(one), members(other)
    names = sorted({*left, *right})
    return [name for name in names if left.get(name) != right.get(name)] or ["the archive itself"]


def members(path: Path) -> dict[str, tuple[object, ...]]:
    """Return the digest, the time and the mode of each member of a wheel or sdist."""
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
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
