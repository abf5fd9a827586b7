"""Paths and contracts as arguments, and files that get their names only when they are complete."""

import os
from collections.abc import Mapping
from pathlib import Path

from mixtally.api.checks import describe_value
from mixtally.errors import DataError, ParameterError
from mixtally.primitives.files import read_bytes, resolve_target, write_atomically
from mixtally.primitives.lock import exclusive_lock

_MAKE_CONTRACT = "make one with `mixtally contract new` or Plan.save_contract"


def file_at(path: object) -> Path:
    """Return ``path`` as a Path, or raise ParameterError if it cannot name a file."""
    if isinstance(path, str | os.PathLike) and _can_name_a_file(str(path)):
        return Path(path)
    raise ParameterError(
        "path",
        expected="the name of a file or folder",
        got=describe_value(path),
        do="give a str or a Path",
    )


def _can_name_a_file(text: str) -> bool:
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # half of a surrogate pair has no bytes
        return False


def contract_bytes(given: object) -> bytes:
    """Return the bytes of a contract; the argument is a path or the bytes themselves.

    Raises
    ------
    DataError
        If the file cannot be read.
    ParameterError
        If the argument has another type.
    """
    if isinstance(given, bytes):
        return given
    if not isinstance(given, str | os.PathLike):
        raise ParameterError(
            "contract",
            expected="a mixtally.Plan, or the path or the bytes of a contract",
            got=describe_value(given),
            do=_MAKE_CONTRACT,
        )
    return read_bytes(file_at(given), "a contract", _MAKE_CONTRACT)


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write ``files``, by name, into ``folder``, which is created if necessary.

    A file gets its name only when it is complete. Returns the paths of all files.

    Raises
    ------
    DataError
        If the operating system refuses, or if a folder or a device has the name of a file.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            str(folder),
            expected="a folder to write to",
            got="a file" if isinstance(error, FileExistsError | NotADirectoryError) else error,
            do="choose another place",
        ) from error
    places = [resolve_target(folder / name) for name in files]
    for place in places:
        if place.exists() and not place.is_file():
            raise DataError(
                str(place),
                expected="the name of a new or existing file",
                got="a folder, device or pipe",
                do="choose another name",
            )
    # The lock prevents a mixture of the files of two results. It is optional, because each single
    # file is complete without it.
    with exclusive_lock(folder, required=False):
        for place, data in zip(places, files.values(), strict=True):
            write_atomically(place, data, what=place.name)
    return places
