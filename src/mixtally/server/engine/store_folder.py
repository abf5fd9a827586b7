"""A folder that many machines reach, named by a URL: files that are written once and checked.

Any file system that Arrow knows: ``file:///...``, ``s3://...``, ``gs://...``, ``hdfs://...``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import quote

from mixtally.errors import DataError


class Slice(NamedTuple):
    """Some bytes of a file, and SHA-256 of them in hexadecimal digits."""

    name: str
    start: int
    length: int
    sha256: str


class StoreFolder:
    """The files of one folder under a URL; raises DataError for one that leads nowhere."""

    def __init__(self, url: str, folder: str) -> None:
        from pyarrow.fs import FileSystem

        self.url, self.folder = url, folder
        with translate_errors(url):
            system, path = FileSystem.from_uri(url)
        self._system: Any = system
        self._path = f"{path.rstrip('/')}/{folder}"

    def put(self, name: str, data: bytes) -> Slice:
        """Write a file; how to read it again."""
        with self.writer(name) as file:
            file.write(data)
        return Slice(name, 0, len(data), sha256(data).hexdigest())

    @contextmanager
    def writer(self, name: str) -> Iterator[BinaryIO]:
        """A file to write to; the folder is made where it is not there."""
        with translate_errors(self._describe(name)):
            self._system.create_dir(self._path, recursive=True)
            with self._system.open_output_stream(f"{self._path}/{name}") as file:
                yield cast("BinaryIO", file)

    def read_slice(self, some: Slice) -> bytes:
        """The bytes of a slice; raises DataError for fewer, and for others than were written."""
        where = self._describe(some.name)
        with (
            translate_errors(where),
            self._system.open_input_file(f"{self._path}/{some.name}") as file,
        ):
            data = cast("bytes", file.read_at(some.length, some.start))
        if len(data) != some.length or sha256(data).hexdigest() != some.sha256:
            raise DataError(
                where,
                expected=f"the {some.length:,} bytes that were written from {some.start:,} on",
                got=f"{len(data):,}" if len(data) != some.length else "others",
                do="look at the store, then do the work again: nothing of it is used",
            )
        return data

    def clear(self) -> None:
        """Remove the folder and all in it, if there is one."""
        from pyarrow.fs import FileType

        with translate_errors(self._describe("")):
            if self._system.get_file_info(self._path).type == FileType.Directory:
                self._system.delete_dir(self._path)

    def _describe(self, name: str) -> str:
        return f"{self.url}: {self.folder}/{name}"


@contextmanager
def open_url(url: str) -> Iterator[Any]:
    """The file at a URL, as Arrow reads it; what goes wrong meanwhile is a DataError."""
    from pyarrow.fs import FileSystem

    with translate_errors(url):
        system, path = FileSystem.from_uri(url)
        with system.open_input_file(path) as file:
            yield file


def to_url(text: str) -> str:
    """``text`` itself where it is a URL, else that of the file or folder of this path."""
    return text if "://" in text else Path(text).absolute().as_uri()


def list_files(texts: Sequence[str], endings: tuple[str, ...]) -> list[str]:
    """The files at paths or URLs, as ``files_at`` has them, in the order of ``texts``."""
    return [found for text in texts for found in list_files_at(to_url(text), endings)]


def list_files_at(url: str, endings: tuple[str, ...]) -> list[str]:
    """The file at a URL, or those below a folder, by their names; others of a folder are left out.

    Raises DataError where there is nothing.
    """
    from pyarrow.fs import FileSelector, FileSystem, FileType

    with translate_errors(url):
        system, path = FileSystem.from_uri(url)
        kind = system.get_file_info(path).type
        if kind == FileType.File:
            return [url]
        if kind != FileType.Directory:
            raise FileNotFoundError("nothing there")
        inside = system.get_file_info(FileSelector(path, recursive=True))
    base = url.rstrip("/")
    names = [one.path[len(path.rstrip("/")) :] for one in inside if one.type == FileType.File]
    return [base + quote(name) for name in sorted(names) if name.endswith(endings)]


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    """What a file system refuses is a DataError."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:  # Arrow's errors are of these kinds
        raise DataError(
            where,
            expected="a place that can be read and written",
            got=(str(error).splitlines() or [type(error).__name__])[0],
            do="give a URL that every machine of the cluster reaches, and make room there",
        ) from error
