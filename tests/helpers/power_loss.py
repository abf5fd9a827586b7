"""A disk that loses its power: what was written, named and synced, and what a cut may leave of it.

A file keeps what it held at its last sync. Each sector that was written since is kept or lost by
itself; where a later one is kept alone, zeros stand before it. A name that came or went is as it
was at its folder's last sync, or as it is: of what happened since, a first part holds, or any part
that leaves each name a state it had. A rename happens or does not. After a failing sync what was
written is kept or lost as well, and no later sync brings it back.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from threading import RLock
from typing import NamedTuple

SECTOR = 512
FOLDER = -1
_NEVER = (".db-shm", ".lock")
"""Made anew by whoever finds none."""


class Op(NamedTuple):
    """Something that happened; paths are relative to the root.

    where
      kind   make, folder, write, size, sync, failed (a sync), move, gone, settle (a folder)
    """

    kind: str
    path: Path
    at: int = 0
    data: bytes = b""
    to: Path | None = None


class File:
    """The bytes of a file: those of its last sync, and what was done since."""

    def __init__(self, data: bytes = b"") -> None:
        self.safe, self.since = bytearray(data), []

    def kept(self, chance: Random, share: float) -> bytearray:
        """What a cut leaves: of the sectors written since, about ``share``."""
        held = bytearray(self.safe)
        for op in self.since:
            if op.kind == "size":
                if chance.random() < share:
                    _resize(held, op.at)
                continue
            for start, some in _sectors(op):
                if chance.random() < share:
                    _resize(held, max(len(held), start + len(some)))
                    held[start : start + len(some)] = some
        return held

    def sync(self) -> None:
        """All of it is on the disk."""
        for op in self.since:
            size = op.at if op.kind == "size" else max(len(self.safe), op.at + len(op.data))
            _resize(self.safe, size)
            self.safe[op.at : op.at + len(op.data)] = op.data
        self.since = []


def _sectors(op: Op):
    start, end = op.at, op.at + len(op.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        yield start, op.data[start - op.at : stop - op.at]
        start = stop


def _resize(held: bytearray, size: int) -> None:
    del held[size:]
    held.extend(bytes(size - len(held)))


class State:
    """A disk after some operations: files by number, names as they are and as they are safe."""

    def __init__(self, chance: Random) -> None:
        self.chance, self.files = chance, {}
        self.now, self.safe, self.waiting = {}, {}, []

    def do(self, op: Op) -> None:
        """One more operation."""
        match op.kind:
            case "make":
                self.files[len(self.files)] = File()
                self._name({op.path: len(self.files) - 1})
            case "folder":
                self._name({op.path: FOLDER})
            case "write" | "size":
                self.files[self.now[op.path]].since.append(op)
            case "sync":
                self.files[self.now[op.path]].sync()
            case "failed":
                file = self.files[self.now[op.path]]
                file.safe, file.since = file.kept(self.chance, 0.5), []
            case "move":
                self._name({op.to: self.now[op.path], op.path: None})
            case "gone":
                self._name({op.path: None})
            case "settle":
                for change in [one for one in self.waiting if _in(op.path, one)]:
                    _apply(self.safe, change)
                    self.waiting.remove(change)

    def left(self) -> dict[Path, bytes | None]:
        """What a cut leaves now: files with their bytes, folders with None."""
        chance, names = self.chance, dict(self.safe)
        share = chance.choice([0.0, 0.5, 0.9, 1.0])
        first = chance.randint(0, len(self.waiting)) if chance.random() < 0.5 else None
        skipped: set[Path] = set()
        for number, change in enumerate(self.waiting):
            lost = chance.random() < 0.5 if first is None else number >= first
            if lost or skipped.intersection(change):
                skipped.update(change)
            else:
                _apply(names, change)
        found = {}
        for path, number in sorted(names.items()):
            if all(names.get(one) == FOLDER for one in list(path.parents)[:-1]):
                whole = None if number == FOLDER else self.files[number].kept(chance, share)
                found[path] = whole if whole is None else bytes(whole)
        return found

    def _name(self, change) -> None:
        _apply(self.now, change)
        self.waiting.append(change)


def _in(folder: Path, change) -> bool:
    return any(path.parent == folder for path in change)


def _apply(names, change) -> None:
    for path, number in change.items():
        if number is None:
            names.pop(path, None)
        else:
            names[path] = number


class Seen(NamedTuple):
    """What was put down, and the files as they were seen last: None for folders."""

    ops: list[Op]
    files: dict[Path, bytes | None]


def goes(op: Op) -> None:
    """Nothing fails."""


class Disk:
    """What happens below ``root`` from now on, until the power is cut.

    where
      cut_at    after how many operations it is; None for never
      cut       called then
      fail      told every operation that is about to happen; what it raises happens instead
      earlier   what a process that was killed had seen; else all that is there is safe
    """

    def __init__(self, root: Path, cut_at: int | None = None, earlier: Seen | None = None) -> None:
        self.root, self.dark = root.resolve(), False
        self.fail: Callable[[Op], None] = goes
        self.cut: Callable[[], None] = lambda: None
        self.turn, self.cut_at = RLock(), None
        self.ops, self._known = earlier or Seen([], {})
        if earlier is None:
            self.observe(self.root, deep=True)
            for path, data in self._known.items():
                self.ops.append(Op("settle" if data is None else "sync", path))
            self.ops.append(Op("settle", Path()))
        self.start = len(self.ops)
        self.cut_at = None if cut_at is None else self.start + cut_at

    @property
    def seen(self) -> Seen:
        """For the process that follows."""
        return Seen(self.ops, self._known)

    def do(self, op: Op) -> None:
        """Put down what is about to happen; raises what ``fail`` wants."""
        with self.turn:
            if not self.dark and self.cut_at is not None and len(self.ops) >= self.cut_at:
                self.dark = True
                self.cut()
            if self.dark:
                return
            try:
                self.fail(op)
            except BaseException:
                if op.kind == "sync":
                    self.ops.append(op._replace(kind="failed"))
                raise
            self.ops.append(op)

    def mine(self, path: Path | str) -> Path | None:
        """The path as operations name it; None for one elsewhere."""
        whole = Path(path).absolute()
        return whole.relative_to(self.root) if whole.is_relative_to(self.root) else None

    def observe(self, folder: Path, *, deep: bool = False) -> None:
        """Put down the files of a folder that came or changed by writes nobody told of."""
        with self.turn:
            for place in sorted(folder.iterdir()) if folder.is_dir() else []:
                if place.suffix in _NEVER:
                    continue
                path = place.relative_to(self.root)
                if place.is_dir():
                    if path not in self._known:
                        self._known[path] = None
                        self.do(Op("folder", path))
                    if deep:
                        self.observe(place, deep=True)
                elif deep or not of_database(place):
                    self._file(path, place.read_bytes())
                elif path not in self._known:
                    self.made(path)

    def made(self, path: Path) -> None:
        """Put down a new file."""
        self.do(Op("make", path))
        self._known[path] = b""

    def _file(self, path: Path, data: bytes) -> None:
        if path not in self._known:
            self.made(path)
        before = self._known[path]
        if data != before:
            if len(data) < len(before):
                self.do(Op("size", path, len(data)))
            self.do(Op("write", path, 0, data))
        self._known[path] = data

    def know(self, op: Op) -> None:
        """An operation on names has happened."""
        if op.kind == "move":
            self._known[op.to] = self._known.pop(op.path, b"")
        elif op.kind == "gone":
            self._known.pop(op.path, None)
        elif op.kind == "folder":
            self._known[op.path] = None

    def knows(self, path: Path) -> bool:
        """Whether it was seen before."""
        return path in self._known

    def image(self, place: Path, chance: Random) -> Path:
        """Write what a cut leaves now to the new folder ``place``."""
        state = State(chance)
        for op in self.ops:
            state.do(op)
        return _laid(place, state.left())

    def images(
        self, place: Path, cuts: Iterable[int], chance: Random
    ) -> Iterator[tuple[int, Path]]:
        """The same for cuts after so many operations, ascending; in folders in ``place``."""
        state, done = State(chance), 0
        for cut in cuts:
            for op in self.ops[done:cut]:
                state.do(op)
            done = cut
            yield cut, _laid(place / f"cut-{cut}", state.left())

    def cuts(self, count: int | None, chance: Random) -> list[int]:
        """So many moments at which the power may be cut, or all of them."""
        every = range(self.start, len(self.ops) + 1)
        return list(every) if count is None else sorted(chance.sample(every, count))


def _laid(place: Path, left: dict[Path, bytes | None]) -> Path:
    place.mkdir(mode=0o700, parents=True)
    for path, data in left.items():
        if data is None:
            (place / path).mkdir(mode=0o700)
        else:
            (place / path).write_bytes(data)
            (place / path).chmod(0o600)
    return place


def of_database(place: Path) -> bool:
    """Whether every write of a file is told by SQLite."""
    return place.suffix in (".db", ".db-wal", ".db-journal")
