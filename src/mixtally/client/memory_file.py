"""Memoized responses on disk: one file a person, or one for a whole crowd; and that of their key.

A response is on the disk before any report is drawn from it, and reading, drawing and writing back
happen while no other process is at it: no value is ever drawn twice.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mixtally.encode.bloom import bloom
from mixtally.encode.categorical import encode
from mixtally.errors import DataError
from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.randomize.memoized import (
    KEY_BYTES,
    Responses,
    cohort_of,
    new_key,
    recall,
    report,
    value_tag,
)
from mixtally.randomize.sealed import is_sealed, seal, unseal
from mixtally.records.memoized_plan import MemoizedPlan
from mixtally.store.files import clear_aside, read_whole, the_file, write_whole
from mixtally.store.lock import alone

_MOST = 1 << 40
"""Bytes of a memory that are ever read: those of a crowd are many."""


class Report(NamedTuple):
    """What a person sends: the cohort and the packed bits."""

    cohort: int
    bits: bytes


class MemoryFile:
    """What ``owner`` keeps under ``plan`` in the file ``path``, made at the first report."""

    def __init__(self, path: Path, plan: MemoizedPlan, owner: str, key: bytes) -> None:
        self.path, self.plan, self.owner, self.key = the_file(path), plan, owner, key

    def report(self, value: str, chance: Chance) -> Report:
        """The owner's next report of ``value``; the value's response is drawn once and kept.

        Raises DataError for a value that the question does not have, and as ``kept`` does.
        """
        row = self.kept([self.owner], [value], chance)
        cohort = cohort_of(self.key, self.plan.mechanism, self.owner)
        return Report(cohort, report(self.plan.mechanism, row, chance).tobytes())

    def kept(self, persons: Sequence[str], values: Sequence[str], chance: Chance) -> Rows:
        """The kept response of every person for the value beside, shape (persons, row bytes).

        Raises PlanError or DataError for a file that is not this one, and DataError when the
        disk refuses; the file is then as it was.
        """
        records = self._records(persons, values)
        tags = [value_tag(self.key, *pair) for pair in zip(persons, values, strict=True)]
        with alone(self.path.parent, required=True):
            clear_aside(self.path)
            before = self._read()
            after, rows = recall(before, tags, records, chance)
            if after is not before:
                _write(self.path, seal(after, self.key))
        return rows

    def _records(self, persons: Sequence[str], values: Sequence[str]) -> Rows:
        mechanism = self.plan.mechanism
        if not mechanism.hashed:
            return mechanism.layout.rows(encode(self.plan.question, values))
        cohorts = [cohort_of(self.key, mechanism, person) for person in persons]
        return bloom(self.plan, cohorts, values)

    def _read(self) -> Responses:
        try:
            data = read_whole(self.path, most=_MOST)
        except FileNotFoundError:
            return Responses(self.plan, self.owner, {})
        except OSError as error:
            raise DataError(
                str(self.path), wanted="memoized responses", got=str(error), do="look at the file"
            ) from error
        return unseal(data, self.plan, self.owner, self.key, str(self.path))


def key_for(memory: Path, path: Path, chance: Chance) -> bytes:
    """The key in the file ``path``, made there when neither it nor ``memory`` exists yet.

    Of two processes that make it at once one does, and both get that one. Raises DataError for a
    file that holds no key, for a ``memory`` whose key is gone, and for one that is another file.
    """
    path = the_file(path)
    with alone(path.parent, required=True):
        clear_aside(path)
        if not path.exists():
            _check_place(memory)
        if not path.exists() and not memory.exists():
            _write(path, new_key(chance).hex().encode("ascii") + b"\n")
    try:
        key = bytes.fromhex(read_whole(path).decode("ascii").strip())
    except (OSError, ValueError) as error:
        raise _no_key(path, str(error)) from error
    if len(key) != KEY_BYTES:
        raise _no_key(path, f"{len(key)} bytes")
    return key


def _check_place(memory: Path) -> None:
    """Raises DataError when something else than memoized responses is at their place."""
    try:
        got = None if is_sealed(read_whole(memory, most=_MOST)) else "another file"
    except FileNotFoundError:
        return
    except OSError as error:
        got = str(error)
    if got:
        raise DataError(
            str(memory),
            wanted="memoized responses, or no file yet",
            got=got,
            do="choose another place, as nothing is overwritten; a damaged file needs its copy",
        )


def _no_key(path: Path, got: str) -> DataError:
    return DataError(
        str(path),
        wanted=f"a key: {2 * KEY_BYTES} hexadecimal digits",
        got=got,
        do="restore it from a copy: without it the memoized responses cannot be used",
    )


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, for the owner's eyes only."""
    write_whole(path, data, what="memoized responses", mode=0o600)
