"""Bytes of a data file: opened once, decompressed, and the format found from the first bytes.

``tables`` opens every file with `open_source`. Unsupported formats are recognized too, so that the
error can name them.
"""

import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import BinaryIO, cast
from zipfile import BadZipFile, ZipFile

import pyarrow

from mixtally.lab.data.file import DataFile, Origin

HEAD = 1 << 20
"""Bytes that are read at a time. The first of them identify the format."""
_WORKBOOK_PARTS = ("[Content_Types].xml", "mimetype", "content.xml")
"""Files that every workbook of Office or OpenDocument contains."""
_SHOWN = 5
"""Number of names in an archive that a message lists."""
_MOST_UNSEEKABLE_BYTES = 1 << 30
"""Largest Parquet file or workbook from a pipe. Both have their index at the end."""


class Format(Enum):
    """The format of a file's content."""

    TEXT = "text"
    PARQUET = "Parquet"
    WORKBOOK = "Excel"


_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BEGINNINGS = {
    b"PAR1": Format.PARQUET,
    b"PK\x03\x04": Format.WORKBOOK,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": Format.WORKBOOK,
}
_UNSUPPORTED = {
    b"ARROW1": "Arrow or Feather",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"%PDF": "PDF",
    b"SQLite format 3": "SQLite",
}
_STATISTICS = {
    b"$FL2": ("an SPSS file", "pandas.read_spss"),
    b"$FL3": ("an SPSS file", "pandas.read_spss"),
    b"<stata_dta>": ("a Stata file", "pandas.read_stata"),
    b"\x00" * 12 + b"\xc2\xea\x81\x60": ("a SAS file", "pandas.read_sas"),
    b"HEADER RECORD*******": ("a SAS transport file", "pandas.read_sas"),
    b"RDX": ("an R file", "pyreadr.read_r"),
}
_OLD_STATA = re.compile(rb"[\x69-\x73][\x01\x02]\x01\x00")
"""Release, byte order and file type at the beginning of a file of Stata 5 to 12."""


@dataclass(slots=True)
class Source:
    """An open data file: its ``format``, and its content as a decompressed ``stream``.

    ``is_direct`` says whether ``file.path`` itself has this content and can be read in any order.
    ``size`` is the number of bytes on disk; 0 if unknown.
    """

    file: DataFile
    format: Format
    stream: BinaryIO
    is_direct: bool
    size: int
    _raw: BinaryIO

    @property
    def bytes_read(self) -> int:
        """The number of bytes read so far, before they were decompressed."""
        return self._raw.tell() if self.size else 0

    def read_all(self) -> bytes:
        """Return the content; raise DataError for more than 2^30 bytes."""
        found = read_up_to(self.stream, _MOST_UNSEEKABLE_BYTES + 1)
        if len(found) > _MOST_UNSEEKABLE_BYTES:
            raise self.file.unreadable(
                f"{self.format.value} of at most {_MOST_UNSEEKABLE_BYTES:,} bytes in a pipe or "
                f"compressed",
                "more",
                "give the name of a file that is not compressed",
            )
        return found


@contextmanager
def open_source(file: DataFile) -> Iterator[Source]:
    """Open ``file`` to read it once, from the beginning to the end.

    Raises DataError for a folder, a device, a socket, an unsupported format, or a read error.
    Raises DataError at the end if the file has changed meanwhile.
    """
    before = _check_status(file)
    with ExitStack() as stack:
        with explain_errors(file):
            raw: BinaryIO = stack.enter_context(
                # Standard input belongs to the process and stays open.
                os.fdopen(0, "rb", closefd=False) if file.is_piped else file.path.open("rb")
            )
            source = _detect_source(file, raw, before)
        yield source
        _check_unchanged(file, before, _check_status(file))


@contextmanager
def explain_errors(origin: Origin) -> Iterator[None]:
    """Raise DataError instead of errors of the operating system or of a library."""
    try:
        yield
    except (OSError, EOFError, UnicodeError, pyarrow.ArrowException) as error:
        raise origin.unreadable(
            "a file that can be read to its end", error, "repair or re-export it"
        ) from error


def _detect_source(file: DataFile, raw: BinaryIO, status: os.stat_result) -> Source:
    head = read_up_to(raw, HEAD)
    packing = next((name for mark, name in _COMPRESSIONS.items() if head.startswith(mark)), None)
    stream = join_parts(chain([head], iterate_parts(raw)))
    if packing is not None:
        packed = pyarrow.PythonFile(stream, mode="r")
        unpacked = pyarrow.CompressedInputStream(packed, packing)
        head = read_up_to(unpacked, HEAD)
        stream = join_parts(chain([head], iterate_parts(unpacked)))
    regular = stat.S_ISREG(status.st_mode)
    _check_archive(file, head, raw if regular and packing is None and not file.is_piped else None)
    return Source(
        file=file,
        format=_detect_format(file, head),
        stream=stream,
        is_direct=regular and packing is None and not file.is_piped,
        size=status.st_size if regular else 0,
        _raw=raw,
    )


def _check_archive(file: DataFile, head: bytes, raw: BinaryIO | None) -> None:
    """Raise DataError for a ZIP archive that is not a workbook; ``raw`` is None for a pipe."""
    if not head.startswith(b"PK\x03\x04"):
        return
    names = []
    with suppress(BadZipFile):
        # The index of an archive is at its end. From a pipe it can be read only if the whole
        # archive fits into ``head``. Reading the index moves the position in a file, so the
        # position is restored.
        begun = None if raw is None else raw.tell()
        with ZipFile(io.BytesIO(head) if raw is None else raw) as archive:
            names = archive.namelist()
        if raw is not None and begun is not None:
            raw.seek(begun)
    if names and not any(name in _WORKBOOK_PARTS for name in names):
        raise file.unreadable(
            "CSV, JSON lines, Excel or Parquet, plain or packed with gzip or zstd",
            f"a ZIP archive of {', '.join(map(repr, names[:_SHOWN]))}",
            "unpack it and name the file inside",
        )


def _check_status(file: DataFile) -> os.stat_result:
    try:
        status = os.fstat(0) if file.is_piped else file.path.stat()
    except OSError as error:
        raise file.unreadable("a data file", "no file there", "check the path") from error
    mode = status.st_mode
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or (file.is_piped and stat.S_ISSOCK(mode)):
        return status
    kind = "a folder" if stat.S_ISDIR(mode) else "a device or a socket"
    raise file.unreadable("a data file or a pipe", kind, "name a file, or pipe one in and name -")


def _detect_format(file: DataFile, head: bytes) -> Format:
    kinds = [kind for beginning, kind in _STATISTICS.items() if head.startswith(beginning)]
    if _OLD_STATA.match(head):
        kinds.append(_STATISTICS[b"<stata_dta>"])
    for name, read_with in kinds:
        raise file.unreadable(
            "CSV, JSON lines, Excel or Parquet",
            name,
            f"export it as CSV, or read it with {read_with} in Python",
        )
    for beginning, name in _UNSUPPORTED.items():
        if head.startswith(beginning):
            raise file.unreadable(
                "CSV, JSON lines, Excel or Parquet, plain or packed with gzip or zstd",
                name,
                "convert it to one of these",
            )
    for beginning, found in _BEGINNINGS.items():
        if head.startswith(beginning):
            return found
    return Format.TEXT


def _check_unchanged(file: DataFile, before: os.stat_result, after: os.stat_result) -> None:
    if not stat.S_ISREG(before.st_mode):
        return
    # Replacing, resizing or rewriting the file changes at least one of these.
    names = ("st_ino", "st_size", "st_mtime_ns")
    if any(getattr(before, name) != getattr(after, name) for name in names):
        raise file.unreadable(
            "a file that stays as it is while it is read",
            "one that changed meanwhile",
            "read a copy of it",
        )


def read_up_to(stream: BinaryIO, most: int) -> bytes:
    """Read ``most`` bytes, or fewer if the stream ends."""
    found = bytearray()
    while len(found) < most and (more := stream.read(min(HEAD, most - len(found)))):
        found += more
    return bytes(found)


def iterate_parts(stream: BinaryIO) -> Iterator[bytes]:
    """Return an iterator over the rest of ``stream``."""
    return iter(lambda: stream.read(HEAD), b"")


class _PartStream(io.RawIOBase):
    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._buffer = parts, bytearray()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        while size < 0 or len(self._buffer) < size:
            more = next(self._parts, None)
            if more is None:
                break
            self._buffer += more
        size = len(self._buffer) if size < 0 else size
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found


def join_parts(parts: Iterator[bytes]) -> BinaryIO:
    """Return ``parts`` as a stream."""
    return cast("BinaryIO", _PartStream(parts))
