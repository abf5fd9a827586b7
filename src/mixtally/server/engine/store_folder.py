"""Files in a store that many machines can access, which are written once and verified when read.

The store is a URL of any file system that Arrow supports, such as ``file:///...``, ``s3://...``,
``gs://...`` or ``hdfs://...``. The same functions find the files that a user names by path or URL.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import quote

from mixtally.errors import DataError


class Slice(NamedTuple):
    """A range of bytes in a file, with its SHA-256 in hexadecimal digits."""

    name: str
    start: int
    length: int
    sha256: str


class StoreFolder:
    """A folder in a store; raises DataError for an invalid URL."""

    def __init__(self, url: str, folder: str) -> None:
        from pyarrow.fs import FileSystem

        self.url, self.folder = url, folder
        with translate_errors(url):
            system, path = FileSystem.from_uri(url)
        self._system: Any = system
        self._path = f"{path.rstrip('/')}/{folder}"

    def put(self, name: str, data: bytes) -> Slice:
        """Write a file, and return a slice of the whole file, with which it can be read."""
        with self.writer(name) as file:
            file.write(data)
        return Slice(name, 0, len(data), sha256(data).hexdigest())

    @contextmanager
    def writer(self, name: str) -> Iterator[BinaryIO]:
        """Open a file for writing, and create the folder if needed."""
        with translate_errors(self._describe(name)):
            self._system.create_dir(self._path, recursive=True)
            with self._system.open_output_stream(f"{self._path}/{name}") as file:
                yield cast("BinaryIO", file)

    def read_slice(self, part: Slice) -> bytes:
        """Return the bytes of a slice; raises DataError if they are missing or changed."""
        where = self._describe(part.name)
        with (
            translate_errors(where),
            self._system.open_input_file(f"{self._path}/{part.name}") as file,
        ):
            data = cast("bytes", file.read_at(part.length, part.start))
        if len(data) != part.length or sha256(data).hexdigest() != part.sha256:
            raise DataError(
                where,
                expected=f"the {part.length:,} bytes that were written from {part.start:,} on",
                got=f"{len(data):,}" if len(data) != part.length else "others",
                do="check the store, then repeat the work: none of its results are used",
            )
        return data

    def clear(self) -> None:
        """Remove the folder and its files, if it exists."""
        from pyarrow.fs import FileType

        with translate_errors(self._describe("")):
            if self._system.get_file_info(self._path).type == FileType.Directory:
                self._system.delete_dir(self._path)

    def _describe(self, name: str) -> str:
        return f"{self.url}: {self.folder}/{name}"


@contextmanager
def open_url(url: str) -> Iterator[Any]:
    """Open the file at a URL with Arrow; errors while it is open become DataError."""
    from pyarrow.fs import FileSystem

    with translate_errors(url):
        system, path = FileSystem.from_uri(url)
        with system.open_input_file(path) as file:
            yield file


def to_url(text: str) -> str:
    """Return ``text`` if it is a URL, or else the URL of the file or folder with this path."""
    return text if "://" in text else Path(text).absolute().as_uri()


def list_files(texts: Sequence[str], endings: tuple[str, ...]) -> list[str]:
    """Return the URLs of the files at paths or URLs, in the order of ``texts``.

    Folders are replaced by the files in them whose names have one of the ``endings``.

    Raises
    ------
    DataError
        If a file or folder does not exist.
    """
    return [found for text in texts for found in list_files_at(to_url(text), endings)]


def list_files_at(url: str, endings: tuple[str, ...]) -> list[str]:
    """Return the URL of a file, or of the files with these endings below a folder, sorted by name.

    Raises DataError if nothing exists at the URL.
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
    """Convert errors of a file system into DataError that names the file."""
    try:
        yield
    # Errors of Arrow are subclasses of these types.
    except (OSError, ValueError, NotImplementedError) as error:
        raise DataError(
            where,
            expected="a place that can be read and written",
            got=(str(error).splitlines() or [type(error).__name__])[0],
            do="give a URL that every machine of the cluster can access, with enough free space",
        ) from error
