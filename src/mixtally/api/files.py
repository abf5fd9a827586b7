"""Files that the door reads, and several whole ones that it writes into a folder."""

import os
from collections.abc import Mapping
from pathlib import Path

from mixtally.api.checks import describe_value
from mixtally.errors import DataError, ParameterError
from mixtally.primitives.files import resolve_target, write_atomically
from mixtally.primitives.lock import exclusive_lock


def file_at(path: object) -> Path:
    """``path`` as a Path; ParameterError for anything that names no file."""
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
    except UnicodeEncodeError:  # half a letter
        return False


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write ``files`` into ``folder``, made when it is not there; each appears whole.

    Raises DataError when the disk refuses, or where a name is a folder's or a device's.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            str(folder), expected="a folder to write to", got=str(error), do="choose another place"
        ) from error
    places = [resolve_target(folder / name) for name in files]
    for place in places:
        if place.exists() and not place.is_file():
            raise DataError(
                str(place),
                expected="the name of a file, new or to be replaced",
                got="a folder, device or pipe",
                do="choose another name",
            )
    # Each file is whole without a lock; two results at once in one folder spend nothing twice.
    with exclusive_lock(folder, required=False):
        for place, data in zip(places, files.values(), strict=True):
            write_atomically(place, data, what=place.name)
    return places
