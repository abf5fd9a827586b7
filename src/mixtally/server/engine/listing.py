"""Writing of arrival lists: tags of received items, sorted in bounded memory and cut into files.

A *tag* is a short hash of an item, a received bundle or envelope.
"""

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
    """Write the arrival list with the tags of all items, and return its files.

    Parameters
    ----------
    items : iterable of bytes
        What a role received, in any order.
    tag : callable
        Returns the tag of an item.
    put : callable
        Stores a file, given its SHA-256 and its bytes.
    folder : Path
        Folder for temporary files, if the tags need more than ``most_held`` bytes. The files are
        encrypted.
    most_held : int
        Maximum size of the tags in memory, in bytes.
    """
    # This randomness only encrypts temporary files, so it need not be the source of the fakes.
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
    """Join byte strings, and yield pieces of ``most`` bytes, of which the last may be shorter."""
    buffer = bytearray()
    for some in several:
        buffer += some
        while len(buffer) >= most:
            yield bytes(buffer[:most])
            del buffer[:most]
    if buffer:
        yield bytes(buffer)
