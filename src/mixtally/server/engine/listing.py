"""Writing of arrival lists: tags of received items, sorted in bounded memory and cut into files."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

from mixtally.device.wire.arrivals import MOST_LISTED, TAG_BYTES, ListFile
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.sorting import MOST_HELD_BYTES, Sorter

_AT_ONCE = 10_000


def write_list(
    items: Iterable[bytes],
    tag: Callable[[bytes], bytes],
    put: Callable[[str, bytes], object],
    folder: Path,
    most_held: int = MOST_HELD_BYTES,
) -> tuple[ListFile, ...]:
    """Write the list of the tags of all items, and return its files.

    Parameters
    ----------
    items : iterable of bytes
        What a role received, in any order.
    tag : callable
        Returns the tag of an item.
    put : callable
        Stores a file, given its SHA-256 and its bytes.
    folder : Path
        Folder for tags above ``most_held`` bytes, which are encrypted until they are sorted.
    most_held : int
        Maximum size of the tags in memory.
    """
    # These random words affect nothing that leaves, so they are not those of the fakes.
    sorter = Sorter(folder, 0, SecureChance(), most_held, TAG_BYTES)
    tags = map(tag, items)
    while some := b"".join(islice(tags, _AT_ONCE)):
        sorter.add(some)
    ordered = (rows[order].tobytes() for rows, order in sorter.ordered_buckets())
    files = []
    for data in cut_pieces(ordered, MOST_LISTED * TAG_BYTES):
        files.append(ListFile(sha256(data).hexdigest(), len(data) // TAG_BYTES))
        put(files[-1].sha256, data)
    return tuple(files)


def cut_pieces(several: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield the concatenation of several byte strings in pieces of ``most`` bytes and a rest."""
    buffer = bytearray()
    for some in several:
        buffer += some
        while len(buffer) >= most:
            yield bytes(buffer[:most])
            del buffer[:most]
    if buffer:
        yield bytes(buffer)
