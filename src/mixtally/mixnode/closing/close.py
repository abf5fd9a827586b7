"""A round that is closed becomes a manifest and its pieces.

Each part is a stream of its own: copies dropped, layers opened, the whole recipe added, everything
ordered by a keyed hash of what leaves. All but the fakes follows from what is stored, and they are
stored before they are used: whenever this is interrupted and done again, the same bytes leave.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import compress, islice
from pathlib import Path
from typing import NamedTuple

from mixtally.ground.chance import Chance
from mixtally.mixnode.closing.drawn import Drawn
from mixtally.mixnode.closing.sorting import KEY_BYTES, MOST_HELD_BYTES, Sorter
from mixtally.mixnode.closing.source import FromBundles, FromPieces, Source
from mixtally.node import disk
from mixtally.node.copies import digests, not_copies
from mixtally.node.disk import Step, no_step
from mixtally.node.keys import RoundKey
from mixtally.node.opening.hands import Secrets
from mixtally.node.opening.pool import CHUNK, Pool
from mixtally.records.job import Job, Stream
from mixtally.wire.bundle import PartShape
from mixtally.wire.manifest import MOST_PIECE_BYTES, TOO_FEW, Manifest, PartManifest, Piece
from mixtally.wire.sheet import Sheet


class Before(NamedTuple):
    """What the preceding hop said, and SHA-256 of it."""

    hash: str
    manifest: Manifest


class Closing(NamedTuple):
    """A round that is to be closed.

    where
      folder       of the round
      sheet_hash   SHA-256 of the sheet, in hexadecimal digits
      before       None at the first hop
      overruled    roles that were not waited for
      processes    that open envelopes beside this one; 0 for none
      most_held    bytes of messages that are held in memory
    """

    job: Job
    folder: Path
    sheet: Sheet
    sheet_hash: str
    key: RoundKey
    before: Before | None
    overruled: tuple[str, ...]
    chance: Chance
    processes: int = 0
    step: Step = no_step
    most_held: int = MOST_HELD_BYTES

    @property
    def place(self) -> int:
        """Of this hop, from 1."""
        return self.job.place

    def manifest(self, bundles: int, parts: list[PartManifest], end: str | None) -> Manifest:
        """What this hop will say."""
        return Manifest(
            self.sheet_hash,
            self.place,
            bundles,
            end,
            None if self.before is None else self.before.hash,
            tuple(parts),
            self.overruled,
        )

    def nothing(self, end: str, bundles: int = 0) -> Manifest:
        """What it says of a round of which nothing leaves."""
        if self.before is not None:
            bundles = self.before.manifest.bundles
        return self.manifest(bundles, [PartManifest(0) for _ in self.job.streams], end)


def shapes(job: Job) -> tuple[PartShape, ...]:
    """How the bundles of a job are made."""
    return tuple(
        PartShape(one.least, one.most, sizes[0])
        for one, sizes in zip(job.streams, job.sizes, strict=True)
    )


def closed(closing: Closing) -> Manifest:
    """Make the pieces that leave; what is to be signed of them.

    Of fewer bundles than the minimum nothing is opened.
    """
    job, before = closing.job, closing.before
    if before is not None and before.manifest.destroyed is not None:
        return closing.nothing(before.manifest.destroyed)
    _clear(closing.folder)
    if before is None:
        bundles = FromBundles(closing.folder, shapes(job))
        source: Source = bundles
        count = bundles.bundles
        closing.step("after count")
        if count < job.minimum_crowd:
            return closing.nothing(TOO_FEW, count)
    else:
        sizes = [one[job.place - 1] for one in job.sizes]
        source, count = FromPieces(closing.folder, before.manifest, sizes), before.manifest.bundles
    secrets = Secrets(
        job.suite,
        closing.key.private,
        bytes.fromhex(closing.sheet_hash),
        job.place,
        closing.key.order,
        closing.sheet.keys[job.place :],
    )
    with Pool(secrets, closing.processes) as pool:
        parts = [_part(closing, source, place, pool) for place in range(len(job.streams))]
    return closing.manifest(count, parts, None)


def _part(closing: Closing, source: Source, part: int, pool: Pool) -> PartManifest:
    stream: Stream = closing.job.streams[part]
    size, wanted = closing.job.sizes[part][closing.place - 1 : closing.place + 1]
    drawn = Drawn(closing.folder, closing.key.order, closing.chance, closing.step)
    fakes = drawn.envelopes(part, stream, pool)
    kept = None if source.distinct else not_copies(digests(source.envelopes(part)))
    sorter = Sorter(closing.folder, wanted, closing.chance, closing.most_held)
    good = unopened = malformed = 0
    own = source.envelopes(part)
    if kept is not None:
        own = compress(own, kept.tolist())
    for opened in pool.opened(part, _chunks(own), size, wanted):
        closing.step("chunk")
        sorter.add(opened.order, opened.messages)
        good += len(opened.order) // KEY_BYTES
        unopened += opened.unopened
        malformed += opened.malformed
    for start in range(0, len(fakes), CHUNK * wanted):
        some = pool.hands.order(part, fakes[start : start + CHUNK * wanted], wanted)
        sorter.add(some.order, some.messages)
    closing.step("after opened")
    pieces = tuple(_pieces(closing, sorter, wanted))
    different = good + unopened + malformed
    received = different if kept is None else len(kept)
    return PartManifest(
        received=received,
        copies=received - different,
        unopened=unopened,
        malformed=malformed,
        added=len(fakes) // wanted,
        pieces=pieces,
    )


def _chunks(envelopes: Iterator[bytes]) -> Iterator[bytes]:
    while some := b"".join(islice(envelopes, CHUNK)):
        yield some


def _pieces(closing: Closing, sorter: Sorter, size: int) -> Iterator[Piece]:
    """Write what leaves, in order, in files of their own names."""
    most = MOST_PIECE_BYTES // size * size
    held = bytearray()
    for some in sorter.ordered():
        held += some
        while len(held) >= most:
            yield _piece(closing, bytes(held[:most]), size)
            del held[:most]
    if held:
        yield _piece(closing, bytes(held), size)


def _piece(closing: Closing, data: bytes, size: int) -> Piece:
    name = sha256(data).hexdigest()
    disk.put(closing.folder / f"out-{name}", data, "a piece")
    closing.step("after piece out")
    return Piece(name, len(data) // size)


def _clear(folder: Path) -> None:
    """Remove what a process that was killed has left of its own files."""
    disk.make_folder(folder)
    for path in [*folder.glob("spill-*"), *folder.glob(".*.part")]:
        path.unlink(missing_ok=True)
