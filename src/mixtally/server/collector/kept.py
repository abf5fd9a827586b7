"""Opened messages of a round that a collector keeps, so that anyone can count them again.

The collector calls this module while it counts a batch, if the operator serves with
``--keep-messages``. The messages of a part are written in a new random order, which is recorded
nowhere. The observer in the certificate also sees the messages in random order, so the certificate
covers their publication.
"""

import os
import re
from pathlib import Path

from mixtally.device.wire.manifest import MOST_PIECE_BYTES, PartManifest
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.server.engine.listing import cut_pieces
from mixtally.server.engine.sorting import Sorter
from mixtally.server.node import disk

MESSAGES = re.compile(r"messages-([1-9][0-9]{0,4})-[0-9]{6}")
"""Name of a file of messages, with the number of the part, from 1."""
_KEY_BYTES = 8


class KeptPart:
    """The messages of a part, which are collected and then written in random order."""

    def __init__(self, folder: Path, part: int, size: int, chance: Chance, most_held: int) -> None:
        self._folder, self._part, self._chance = folder, part, chance
        self._size = MOST_PIECE_BYTES // size * size
        self._sorter = Sorter(folder, size, chance, most_held, _KEY_BYTES)

    def add(self, rows: Rows) -> None:
        """Add messages, shape (messages, bytes)."""
        self._sorter.add(self._chance.words(len(rows)).tobytes(), rows.tobytes())

    def write(self) -> None:
        """Write all messages, in files that are no longer than a piece."""
        for number, data in enumerate(cut_pieces(self._sorter.iterate_sorted(), self._size), 1):
            path = self._folder / f"messages-{self._part + 1}-{number:06}"
            disk.put(path, data, "opened messages")


def keep_pieces(pieces: Path, folder: Path, part: PartManifest) -> None:
    """Keep the pieces of a part, which would otherwise be deleted after counting."""
    for piece in part.pieces:
        # A link needs no additional space. If counting is repeated, the link exists already.
        if not (kept := folder / f"piece-{piece.sha256}").exists():
            os.link(pieces / f"in-{piece.sha256}", kept)
    disk.sync_folder(folder)
