"""A round that is closed becomes a manifest and its pieces.

Each part is a stream of its own: copies dropped, layers opened, the whole recipe added, everything
ordered by a keyed hash of what leaves. All but the fakes follows from what is stored, and they are
stored before they are used: whenever this is interrupted and done again, the same bytes leave.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.bundle import PartShape
from mixtally.device.wire.manifest import MOST_PIECE_BYTES, TOO_FEW, Manifest, PartManifest, Piece
from mixtally.device.wire.sheet import Sheet
from mixtally.model.job import Job, Stream
from mixtally.primitives.chance import Chance
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.envelope_worker import Secrets
from mixtally.server.engine.mixing import LocalMixer, Mixer, MixWork
from mixtally.server.engine.pool import Pool
from mixtally.server.mix.closing.source import BundleSource, OpenedPart, PieceSource, Source
from mixtally.server.mix.closing.stored_fakes import StoredFakes
from mixtally.server.node import disk
from mixtally.server.node.copies import HASH_BYTES
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.keys import RoundKey


class PrecedingManifest(NamedTuple):
    """What the preceding hop said, and SHA-256 of it."""

    hash: str
    manifest: Manifest


class ClosingRound(NamedTuple):
    """A round that is to be closed.

    where
      folder       of the round
      sheet_hash   SHA-256 of the sheet, in hexadecimal digits
      before       None at the first hop
      overruled    roles that were not waited for
      engine       who opens and orders
    """

    job: Job
    folder: Path
    sheet: Sheet
    sheet_hash: str
    key: RoundKey
    before: PrecedingManifest | None
    overruled: tuple[str, ...]
    chance: Chance
    engine: Engine = Engine()
    step: Step = no_step

    @property
    def place(self) -> int:
        """Of this hop, from 1."""
        return self.job.place

    def manifest(
        self, crowd: "BundleCount", parts: list[PartManifest], end: str | None
    ) -> Manifest:
        """What this hop will say; of people, what the first hop said."""
        if self.before is not None:
            said = self.before.manifest
            crowd = BundleCount(said.bundles, said.left_out)
        return Manifest(
            self.sheet_hash,
            self.place,
            crowd.bundles,
            crowd.left_out,
            end,
            None if self.before is None else self.before.hash,
            tuple(parts),
            self.overruled,
        )

    def empty_manifest(self, end: str, crowd: "BundleCount | None" = None) -> Manifest:
        """What it says of a round of which nothing leaves."""
        parts = [PartManifest(0) for _ in self.job.streams]
        return self.manifest(crowd or BundleCount(0), parts, end)


class BundleCount(NamedTuple):
    """How many bundles count, and how many were left out whole."""

    bundles: int
    left_out: int = 0


def bundle_shapes(job: Job) -> tuple[PartShape, ...]:
    """Return the slots of the bundles that a job takes."""
    return tuple(
        PartShape(one.slots, one.most_padding, sizes[0])
        for one, sizes in zip(job.streams, job.sizes, strict=True)
    )


def close_round(closing: ClosingRound) -> Manifest:
    """Make the pieces that leave; what is to be signed of them.

    At the first hop whoever sends may send anything. A bundle counts if all of its envelopes open
    here and no part has more padding than its device may send. Of fewer bundles that count than the
    minimum crowd nothing leaves. Where fewer bundles came than that, none is opened.
    """
    job, before = closing.job, closing.before
    if before is not None:
        if before.manifest.destroyed is not None:
            return closing.empty_manifest(before.manifest.destroyed)
        sizes = [one[job.place - 1] for one in job.sizes]
        parts, _ = _mix_parts(closing, PieceSource(closing.folder, before.manifest, sizes))
        return closing.manifest(BundleCount(0), parts, None)
    bundles = BundleSource(closing.folder, bundle_shapes(job))
    crowd = BundleCount(bundles.bundles)
    closing.step("after count")
    if crowd.bundles < job.minimum_crowd:
        return closing.empty_manifest(TOO_FEW, crowd)
    parts, opened = _mix_parts(closing, bundles)
    padding = bundles.leave_out(opened)
    if bundles.bundles < crowd.bundles:
        crowd = BundleCount(bundles.bundles, crowd.bundles - bundles.bundles)
        if crowd.bundles < job.minimum_crowd:
            _remove_leftovers(closing.folder)
            return closing.empty_manifest(TOO_FEW, crowd)
        parts, opened = _mix_parts(closing, bundles)  # nothing of a bundle that was left out leaves
        padding = bundles.leave_out(opened)
    return closing.manifest(crowd, _without_padding(parts, opened, padding), None)


def _without_padding(
    parts: list[PartManifest], opened: list[OpenedPart], slots: list[int]
) -> list[PartManifest]:
    """Count padding neither as received nor as copies; ``slots`` is how many slots held it."""
    different = [len(one.padding) // HASH_BYTES for one in opened]
    return [
        part._replace(received=part.received - every, copies=part.copies - (every - once))
        for part, every, once in zip(parts, slots, different, strict=True)
    ]


def _mix_parts(
    closing: ClosingRound, source: Source
) -> tuple[list[PartManifest], list[OpenedPart]]:
    """Make the pieces of all parts, and tell the envelopes that were not passed on."""
    job = closing.job
    _remove_leftovers(closing.folder)
    secrets = Secrets(
        job.suite,
        closing.key.private,
        bytes.fromhex(closing.sheet_hash),
        job.place,
        closing.key.order,
        closing.sheet.keys[job.place :],
    )
    engine, folder = closing.engine, closing.folder
    with (
        Pool(secrets, engine.processes) as pool,
        open_mixer(engine, secrets, pool, folder, closing.chance, closing.step) as by,
    ):
        made = [_mix_part(closing, source, place, pool, by) for place in range(len(job.streams))]
    return [part for part, _ in made], [opened for _, opened in made]


def _mix_part(
    closing: ClosingRound, source: Source, part: int, pool: Pool, mixer: Mixer
) -> tuple[PartManifest, OpenedPart]:
    stream: Stream = closing.job.streams[part]
    size, expected = closing.job.sizes[part][closing.place - 1 : closing.place + 1]
    drawn = StoredFakes(closing.folder, closing.key.order, closing.chance, closing.step)
    fakes = drawn.envelopes(part, stream, pool)
    mixed = mixer.mix(
        MixWork(part, size, expected, partial(source.envelopes, part), source.is_distinct, fakes)
    )
    closing.step("after opened")
    said = PartManifest(
        received=mixed.received,
        copies=mixed.copies,
        unopened=mixed.unopened,
        malformed=mixed.malformed,
        added=len(fakes) // expected,
        pieces=tuple(_write_pieces(closing, mixed.messages, expected)),
    )
    return said, OpenedPart(mixed.bad, mixed.padding)


def _write_pieces(closing: ClosingRound, messages: Iterator[bytes], size: int) -> Iterator[Piece]:
    """Write what leaves, in order, in files of their own names."""
    most = MOST_PIECE_BYTES // size * size
    held = bytearray()
    for some in messages:
        held += some
        while len(held) >= most:
            yield _write_piece(closing, bytes(held[:most]), size)
            del held[:most]
    if held:
        yield _write_piece(closing, bytes(held), size)


def _write_piece(closing: ClosingRound, data: bytes, size: int) -> Piece:
    name = sha256(data).hexdigest()
    disk.put(closing.folder / f"out-{name}", data, "a piece")
    closing.step("after piece out")
    return Piece(name, len(data) // size)


def _remove_leftovers(folder: Path) -> None:
    """Remove what an earlier attempt has left of its own files."""
    disk.make_folder(folder)
    for path in [*folder.glob("spill-*"), *folder.glob(".*.part"), *folder.glob("out-*")]:
        path.unlink(missing_ok=True)


@contextmanager
def open_mixer(
    engine: Engine, secrets: Secrets, pool: Pool, folder: Path, chance: Chance, step: Step = no_step
) -> Iterator[Mixer]:
    """Whoever mixes, as long as the context lasts; ``folder`` is for what memory does not hold."""
    if engine.cluster is None:
        yield LocalMixer(pool, folder, chance, step, engine.most_held)
        return
    from mixtally.server.engine.spark.mixing import SparkMixer
    from mixtally.server.engine.spark.session import open_session

    with open_session(engine.cluster) as spark:
        yield SparkMixer(spark, engine.cluster, secrets, chance, folder.name)
