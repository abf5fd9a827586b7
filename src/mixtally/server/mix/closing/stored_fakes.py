"""Fakes of a part, which are drawn once, encrypted, and stored before they are used.

If fakes (dummy messages) were drawn again after a failure, the next hop could compare the two
batches. The stored file is encrypted with a key of the round, so that nobody can find out later
which envelopes were fakes.
"""

import hmac
from collections.abc import Iterator
from pathlib import Path

from mixtally.errors import DataError
from mixtally.model.job import Stream
from mixtally.primitives.chance import Chance
from mixtally.protocol.mixing import draw_recipe_messages
from mixtally.server.engine.pool import CHUNK, Pool
from mixtally.server.node import disk
from mixtally.server.node.disk import Step
from mixtally.server.node.wrapping import KeyPurpose, unwrap_secret, wrap_secret

_FRAME_BYTES = 1 << 24
"""Size of the pieces in which the file is encrypted, in bytes."""
_LENGTH_BYTES = 4


class StoredFakes:
    """The stored fakes of a round.

    The key under which the fakes are stored is derived from ``sort_key``, a secret of the round.
    """

    def __init__(self, folder: Path, sort_key: bytes, chance: Chance, step: Step) -> None:
        self._folder, self._order, self._chance, self._step = folder, sort_key, chance, step

    def envelopes(self, part: int, stream: Stream, pool: Pool) -> bytes:
        """Return the concatenated envelopes of a part's fakes.

        The first call draws the fakes and stores them.
        """
        path = self._folder / f"drawn-{part}"
        if not path.exists():
            sealed = b"".join(self._seal_fakes(part, stream, pool))
            disk.put(path, b"".join(self._frames(part, sealed)), "fakes")
            self._step("after drawn")
        return b"".join(self._unwrap_frames(part, disk.read_file(path, "fakes")))

    def _seal_fakes(self, part: int, stream: Stream, pool: Pool) -> Iterator[bytes]:
        rows = draw_recipe_messages(stream.recipe, stream.layout, self._chance)
        chunks = (rows[i : i + CHUNK].tobytes() for i in range(0, len(rows), CHUNK))
        return pool.seal_chunks(part, chunks, stream.layout.message_bytes)

    def _frames(self, part: int, sealed: bytes) -> Iterator[bytes]:
        starts = range(0, len(sealed), _FRAME_BYTES)
        for number, start in enumerate(starts):
            # The name binds each frame to its position and to the number of frames, so that frames
            # cannot be moved or removed.
            name = f"{part} {number} {len(starts)}"
            plain = sealed[start : start + _FRAME_BYTES]
            data = wrap_secret(self._key, KeyPurpose.DRAWN, name, plain, self._chance)
            yield len(data).to_bytes(_LENGTH_BYTES) + data

    def _unwrap_frames(self, part: int, data: bytes) -> Iterator[bytes]:
        frames, offset = [], 0
        while offset < len(data):
            size = int.from_bytes(data[offset : offset + _LENGTH_BYTES])
            frames.append(data[offset + _LENGTH_BYTES : offset + _LENGTH_BYTES + size])
            offset += _LENGTH_BYTES + size
        if offset != len(data):
            raise DataError(
                "stored fakes", expected="whole frames", got="a part of one", do="check the disk"
            )
        for number, frame in enumerate(frames):
            yield unwrap_secret(
                self._key, KeyPurpose.DRAWN, f"{part} {number} {len(frames)}", frame
            )

    @property
    def _key(self) -> bytes:
        return hmac.digest(self._order, KeyPurpose.DRAWN.value, "sha256")
