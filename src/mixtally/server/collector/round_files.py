"""Files of an exported round, from a folder or an address that anyone may have written.

``mixtally check round`` reads through this module. Sizes and times are bounded, and a link never
leads out of the folder.
"""

import os
import stat
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import monotonic

import msgspec

from mixtally.errors import DataError
from mixtally.primitives.progress import Progress
from mixtally.server.collector.export_index import (
    INDEX,
    MOST_FILES,
    is_export_name,
    max_bytes,
    read_index,
)
from mixtally.server.node import disk
from mixtally.server.node.calls import Answer, SilentError

MOST_SECONDS = 3600
MOST_BYTES = 1 << 36
"""Limits for fetching all files of a round: the total time, and the total size."""
Fetch = Callable[[str, str, str, bytes, int], Answer]
"""Function of (address, method, path, body, maximum length) that returns an answer.

It raises SilentError if there is none, or a longer one.
"""
Send = Callable[[str, str, str, bytes, int, float], Answer]
"""The same function, with the maximum number of seconds as an argument."""
_DO = "name a folder that `mixtally collector export` wrote, or its address"


class RoundFiles:
    """The files of one exported round, in a folder.

    Raises DataError if the folder is missing or a link, has no file of a round, or has too many
    files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if folder.is_symlink() or not folder.is_dir():
            raise DataError(str(folder), expected="a folder", got="none", do=_DO)
        with os.scandir(folder) as entries:
            found = [entry.name for entry in islice(entries, MOST_FILES + 1)]
        self.names = sorted(name for name in found if is_export_name(name) or name == INDEX)
        self._known = frozenset(self.names)
        if not self.names or len(found) > MOST_FILES:
            got = "no file of a round" if not self.names else f"more than {MOST_FILES:,} files"
            raise DataError(str(folder), expected="an exported round", got=got, do=_DO)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if there is none.

        Raises DataError if the name is that of a link or a folder, or if the file is too long.
        """
        if name not in self._known:
            return None
        path, most, got = self._folder / name, max_bytes(name), ""
        try:
            place = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(place, "rb") as file:
                found = os.fstat(place)
                if not stat.S_ISREG(found.st_mode):
                    got = "something else"
                # The file may grow while it is read, so the number of bytes is checked again.
                elif len(data := file.read(min(found.st_size, most) + 1)) <= most:
                    return data
        except OSError as error:
            got = str(error)
        got = got or f"more than {most:,} bytes"
        raise DataError(str(path), expected="a file of an exported round", got=got, do=_DO)


def limit_fetches(send: Send, clock: Callable[[], float] = monotonic) -> Fetch:
    """Return a function that fetches files until ``MOST_SECONDS`` from now have passed.

    All files together may have at most ``MOST_BYTES``. Without these limits, a malicious server
    could be slow with each of many files, or send more bytes than its index states.
    """
    until, remaining = clock() + MOST_SECONDS, MOST_BYTES

    def fetch(address: str, method: str, path: str, body: bytes, most: int) -> Answer:
        nonlocal remaining
        if (seconds := until - clock()) > 0:
            try:
                answer = send(address, method, path, body, min(most, remaining), seconds)
            except SilentError:
                if clock() < until and most <= remaining:
                    raise
            else:
                remaining -= len(answer.body)
                # A body without a stated length is cut off when the time is over.
                if clock() < until:
                    return answer
        limits = f"more than {MOST_SECONDS:,} seconds, or {MOST_BYTES:,} bytes, for all files"
        raise SilentError(f"{address}: {limits}")

    return fetch


def fetch_round(address: str, folder: Path, call: Fetch, progress: Progress) -> None:
    """Download an exported round into an empty folder.

    Nothing is verified here. A file that is missing at the address is missing in the folder.

    Raises
    ------
    DataError
        If the address does not answer in time, has no index, or the disk is too small.
    """
    data = fetch_file(address, INDEX, call)
    try:
        index = read_index(data or b"")
    except (msgspec.MsgspecError, RecursionError) as error:
        where = f"{address}/{INDEX}"
        raise DataError(where, expected="an index", got=ascii(str(error))[:80], do=_DO) from None
    (folder / INDEX).write_bytes(data or b"")
    total, free = sum(file.length for file in index.files.values()), disk.free_bytes(folder)
    if total > MOST_BYTES:
        do = "fetch the folder otherwise, if you trust its address, and name the folder"
        raise DataError(address, expected=f"at most {MOST_BYTES:,} bytes", got=f"{total:,}", do=do)
    if total > free:
        got = f"{free:,} bytes in {folder}"
        do = "free some space, or set TMPDIR"
        raise DataError(address, expected=f"{total:,} free bytes", got=got, do=do)
    for number, (name, file) in enumerate(index.files.items()):
        progress("files", number, len(index.files))
        # One byte more shows that the file is longer than stated. No more is downloaded.
        if (data := fetch_file(address, name, call, file.length + 1)) is not None:
            (folder / name).write_bytes(data)


def fetch_file(address: str, name: str, call: Fetch, most: int | None = None) -> bytes | None:
    """Return the first ``most`` bytes of a file, or all of them if ``most`` is None.

    Returns None if the server answers that the file does not exist (404), unless it is the index.
    Raises DataError if the server does not answer, answers with an error, or sends more bytes than
    a file of this name can have.
    """
    try:
        answer = call(address.rstrip("/"), "GET", f"/{name}", b"", max_bytes(name))
    except SilentError as error:
        got, do = str(error).rpartition(": ")[2], "try again later, or fetch the folder otherwise"
        raise DataError(f"{address}/{name}", expected="a file", got=got, do=do) from None
    if answer.status == 404 and name != INDEX:
        return None
    if answer.status != 200:
        got = f"HTTP {answer.status}"
        raise DataError(f"{address}/{name}", expected="a file", got=got, do=_DO)
    return answer.body[:most]
