"""Arrival lists: the tags of everything that a role received in a round, in ascending order.

    tag = first 8 bytes of SHA-256(LABEL, SHA-256 of the sheet (32 bytes), hop (1), part (2), bytes)

Hop 1 lists its distinct bundles, as part 0. Every later hop and the collector list all envelopes of
each part, copies included. So anyone can compute these lists again from the pieces (files of
messages) that the previous hop has sent. The numbers in the manifest determine how many tags every
list has. Anyone can make different bytes with the same tag, so equal tags are no fault.

The tag of an envelope reveals nothing about the tags of the envelopes inside it. To a reader
without the envelope, its tag is a uniform random number. SPEC.md, section 18, has the argument.
"""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import chain, islice
from operator import le
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, items, make_refusal
from mixtally.device.wire.sheet import read_digest

TAG_BYTES = 8
MOST_LISTED = (1 << 24) // TAG_BYTES
"""The maximum number of tags in one file of a list."""
MOST_FILES = 1 << 16
"""Maximum number of files of a list."""
_LABEL = b"mixtally arrival 1"
_FILE = "sha256 tags"


class ListFile(NamedTuple):
    """Consecutive tags of a list, in a file named by its hash."""

    sha256: str
    tags: int


ArrivalLists = tuple[tuple[ListFile, ...], ...]
"""The files of every list of a role: one list at hop 1, one for each part elsewhere."""


def make_tagger(sheet: bytes, hop: int, part: int = 0) -> Callable[[bytes], bytes]:
    """Return a function that computes the tags of what one role received in one part.

    Parameters
    ----------
    sheet : bytes
        The SHA-256 of the round's sheet.
    hop : int
        The position of the receiver from 1. The collector follows the last hop.
    part : int
        The number of the part, from 0. Bundles, which only hop 1 receives, have part 0.
    """
    start = sha256(_LABEL + sheet + hop.to_bytes(1) + part.to_bytes(2))

    def tag(data: bytes) -> bytes:
        digest = start.copy()
        digest.update(data)
        return digest.digest()[:TAG_BYTES]

    return tag


def make_list(items: Iterable[bytes], tag: Callable[[bytes], bytes]) -> list[bytes]:
    """Return the list of the tags of all ``items``, as the contents of its files in order."""
    data, most = b"".join(sorted(map(tag, items))), MOST_LISTED * TAG_BYTES
    return [data[start : start + most] for start in range(0, len(data), most)]


def check_arrivals(
    lists: ArrivalLists, received: Iterable[Iterable[bytes]], sheet: bytes, hop: int
) -> None:
    """Raise RefusedError unless ``lists`` have the tags of all envelopes that were sent to a role.

    Parameters
    ----------
    lists : tuple of tuple of ListFile
        The lists that the manifest of a later hop, or the collector's receipt, names.
    received : iterable of iterables of bytes
        For each part, all envelopes in the pieces of the preceding hop.
    sheet : bytes
        The SHA-256 of the round's sheet.
    hop : int
        The position of the role whose lists these are.
    """
    for part, (files, sent) in enumerate(zip(lists, received, strict=True)):
        data = make_list(sent, make_tagger(sheet, hop, part))
        if [sha256(one).hexdigest() for one in data] != [file.sha256 for file in files]:
            expected = "the tags of the envelopes that were sent to this role"
            raise make_refusal("arrivals-differ", f"list of part {part}", expected, "others")


def find_tags(
    tags: Iterable[bytes], files: Iterable[ListFile], read: Callable[[str], bytes]
) -> set[bytes]:
    """Return those of ``tags`` that a list contains.

    ``files`` describes the files of the list, and ``read`` returns the bytes of a file by its
    SHA-256. All files are read, so nobody learns which tags are of interest. Raises RefusedError if
    a file does not match its description, or if tags are not in ascending order.
    """
    by_number = {int.from_bytes(tag): tag for tag in tags}
    found, last = set[bytes](), 0
    for file in files:
        listed = _read_tags(read(file.sha256), file, last)
        last = listed[-1]
        for number, tag in by_number.items():
            place = bisect_left(listed, number)
            if place < len(listed) and listed[place] == number:
                found.add(tag)
    return found


def _read_tags(data: bytes, file: ListFile, last: int) -> "array[int]":
    """Return the tags of a file as numbers, or raise RefusedError if it does not match ``file``.

    The tags must be in ascending order, and at least ``last``.
    """
    digest = sha256(data).hexdigest()
    if digest != file.sha256:
        raise make_refusal("piece-differs", "list", file.sha256, digest)
    if len(data) != file.tags * TAG_BYTES:
        expected = f"{file.tags * TAG_BYTES:,} bytes"
        raise make_refusal("piece-length", "list", expected, len(data))
    listed = array("Q", data)
    if sys.byteorder == "little":
        listed.byteswap()
    if last > listed[0] or not all(map(le, listed, islice(listed, 1, None))):
        raise make_refusal("tags-unsorted", "list", "ascending tags", "a smaller one after another")
    return listed


def check_lists(lists: ArrivalLists, counts: Sequence[int], place: str) -> None:
    """Raise RefusedError unless each list has the number of tags in ``counts``, in full files.

    Only the last file of a list may have fewer tags than the maximum.
    """
    sizes = [[file.tags for file in files] for files in lists]
    if sizes != [_file_sizes(count) for count in counts]:
        expected = f"{' and '.join(f'{count:,}' for count in counts) or 'no'} tags, in full files"
        got = " and ".join(f"{sum(one):,}" for one in sizes)
        raise make_refusal("arrivals-miscounted", place, expected, got)
    names = [file.sha256 for file in chain.from_iterable(lists)]
    if len(set(names)) < len(names):
        raise make_refusal("piece-twice", place, "every file once", "one twice")


def _file_sizes(count: int) -> list[int]:
    whole, rest = divmod(count, MOST_LISTED)
    return [MOST_LISTED] * whole + [rest] * (rest > 0)


def write_lists(lists: ArrivalLists) -> list[list[dict[str, object]]]:
    """Return lists as they are written in a manifest or a receipt."""
    return [[file._asdict() for file in files] for files in lists]


def read_lists(fields: Fields) -> ArrivalLists:
    """Read the field ``arrivals`` of a manifest or a receipt, or raise RefusedError."""
    place = fields.at("arrivals")
    return tuple(
        _read_files(items(files, place), f"{place} {number}")
        for number, files in enumerate(fields.items("arrivals"))
    )


def _read_files(files: Sequence[object], place: str) -> tuple[ListFile, ...]:
    if len(files) > MOST_FILES:
        raise make_refusal("too-many-pieces", place, f"at most {MOST_FILES:,}", len(files))
    return tuple(_read_file(one, place) for one in files)


def _read_file(value: object, place: str) -> ListFile:
    fields = Fields(value, f"file of {place}", _FILE)
    return ListFile(
        read_digest(fields, "sha256"), fields.whole("tags", 1, MOST_LISTED, "messages-out-of-range")
    )
