"""Closing of a round, which produces a manifest and the outgoing pieces.

Each part of the plan is processed separately. Copies are dropped, layers are opened, the fakes of
the recipe are added, and the messages are sorted by a keyed hash. The keyed hash acts as a secret
random order. Everything but the fakes depends only on stored data, and the fakes are stored before
they are used. So an interrupted closing that is repeated sends the same bytes.
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
    """The manifest of the preceding hop, and its SHA-256."""

    hash: str
    manifest: Manifest


class ClosingRound(NamedTuple):
    """A round to be closed."""

    job: Job
    folder: Path
    """Folder of the round."""
    sheet: Sheet
    sheet_hash: str
    """SHA-256 of the sheet, in hexadecimal digits."""
    key: RoundKey
    before: PrecedingManifest | None
    """None at the first hop."""
    overruled: tuple[str, ...]
    """Names of peers that were not waited for."""
    chance: Chance
    engine: Engine = Engine()
    """How envelopes are opened and sorted."""
    step: Step = no_step

    @property
    def place(self) -> int:
        """Position of this hop, from 1."""
        return self.job.place

    def manifest(
        self, crowd: "BundleCount", parts: list[PartManifest], end: str | None
    ) -> Manifest:
        """Return the manifest of this hop; later hops repeat the first hop's number of bundles."""
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
        """Return the manifest of a round in which this hop sends nothing."""
        parts = [PartManifest(0) for _ in self.job.streams]
        return self.manifest(crowd or BundleCount(0), parts, end)


class BundleCount(NamedTuple):
    """Number of bundles that are counted, and number of bundles that were left out."""

    bundles: int
    left_out: int = 0


def bundle_shapes(job: Job) -> tuple[PartShape, ...]:
    """Return the slots of the bundles that a job accepts."""
    return tuple(
        PartShape(one.slots, one.most_padding, sizes[0])
        for one, sizes in zip(job.streams, job.sizes, strict=True)
    )


def close_round(closing: ClosingRound) -> Manifest:
    """Write the outgoing pieces, and return the manifest to be signed.

    Anyone can send anything to the first hop. A bundle counts if all its envelopes open and no part
    has more padding than a device may send. If fewer bundles count than the minimum crowd, nothing
    is sent. If fewer bundles than that were received, none is opened.
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
    # Counted before any envelope is opened, so that a small crowd is destroyed unseen.
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
        # Mixed again without the bundles that were left out, so that no envelope of theirs is sent.
        parts, opened = _mix_parts(closing, bundles)  # now without bundles that were left out
        padding = bundles.leave_out(opened)
    return closing.manifest(crowd, _without_padding(parts, opened, padding), None)


def _without_padding(
    parts: list[PartManifest], opened: list[OpenedPart], slots: list[int]
) -> list[PartManifest]:
    """Subtract padding from the numbers of received messages and of copies.

    ``slots`` contains, for each part, the number of slots with padding.
    """
    different = [len(one.padding) // HASH_BYTES for one in opened]
    return [
        part._replace(received=part.received - every, copies=part.copies - (every - once))
        for part, every, once in zip(parts, slots, different, strict=True)
    ]


def _mix_parts(
    closing: ClosingRound, source: Source
) -> tuple[list[PartManifest], list[OpenedPart]]:
    """Write the pieces of all parts; return the parts' manifests and the dropped envelopes."""
    job = closing.job
    # An interrupted attempt may have left pieces that the new attempt does not name.
    _remove_leftovers(closing.folder)
    secrets = Secrets(
        job.suite,
        closing.key.private,
        bytes.fromhex(closing.sheet_hash),
        job.place,
        closing.key.sort_key,
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
    drawn = StoredFakes(closing.folder, closing.key.sort_key, closing.chance, closing.step)
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
    """Write the outgoing messages in order, as files named by their SHA-256."""
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
    """Remove the outgoing and temporary files of an earlier attempt."""
    disk.make_folder(folder)
    for path in [*folder.glob("spill-*"), *folder.glob(".*.part"), *folder.glob("out-*")]:
        path.unlink(missing_ok=True)


@contextmanager
def open_mixer(
    engine: Engine, secrets: Secrets, pool: Pool, folder: Path, chance: Chance, step: Step = no_step
) -> Iterator[Mixer]:
    """Yield the mixer of a round, local or on a Spark cluster.

    ``folder`` is for temporary files.
    """
    if engine.cluster is None:
        yield LocalMixer(pool, folder, chance, step, engine.most_held)
        return
    from mixtally.server.engine.spark.mixing import SparkMixer
    from mixtally.server.engine.spark.session import open_session

    with open_session(engine.cluster) as spark:
        yield SparkMixer(spark, engine.cluster, secrets, chance, folder.name)
