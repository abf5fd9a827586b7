"""Closing of a round, which produces a manifest and the outgoing pieces.

Each part of the plan is processed separately. Copies are dropped, layers are opened, the fakes of
the recipe are added, and the messages are sorted by a keyed hash. The keyed hash acts as a secret
random order. Everything but the fakes depends only on stored data, and the fakes are stored before
they are used. So an interrupted closing that is repeated sends the same bytes.

Every envelope is opened once. The first hop knows which bundles to drop only after it has opened
the envelopes of all parts. So it omits the messages of these bundles while it writes the sorted
messages.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.arrivals import ArrivalLists, ListFile, make_tagger
from mixtally.device.wire.bundle import PartShape
from mixtally.device.wire.manifest import MOST_PIECE_BYTES, TOO_FEW, Manifest, PartManifest, Piece
from mixtally.device.wire.sheet import Sheet
from mixtally.model.job import Job, Stream
from mixtally.primitives.chance import Chance
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.envelope_worker import Secrets
from mixtally.server.engine.listing import cut_pieces, write_list
from mixtally.server.engine.mixing import LocalMixer, MixedPart, Mixer, MixWork
from mixtally.server.engine.pool import Pool
from mixtally.server.mix.closing.source import (
    BundleSource,
    PieceSource,
    Selection,
    Source,
    select_all,
)
from mixtally.server.mix.closing.stored_fakes import StoredFakes
from mixtally.server.node import disk
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
    """Names of silent peers for which the operator decided not to wait."""
    chance: Chance
    put_list: Callable[[str, bytes], object]
    """Stores a file of an arrival list of this hop, given its SHA-256 and its bytes."""
    engine: Engine = Engine()
    """How envelopes are opened and sorted."""
    step: Step = no_step

    @property
    def place(self) -> int:
        """Position of this hop, from 1."""
        return self.job.place

    def manifest(
        self,
        crowd: "BundleCount",
        parts: list[PartManifest],
        end: str | None,
        arrivals: ArrivalLists = (),
    ) -> Manifest:
        """Return the manifest of this hop.

        ``crowd`` has the numbers of bundles at the first hop; later hops repeat these numbers from
        the preceding manifest.
        """
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
            arrivals,
        )

    def empty_manifest(self, end: str, crowd: "BundleCount | None" = None) -> Manifest:
        """Return the manifest of a round in which this hop sends nothing; ``end`` is the reason."""
        parts = [PartManifest(0) for _ in self.job.streams]
        return self.manifest(crowd or BundleCount(0), parts, end)


class BundleCount(NamedTuple):
    """The number of bundles whose messages are sent, and the number of bundles that are dropped."""

    bundles: int
    left_out: int = 0


def bundle_shapes(job: Job) -> tuple[PartShape, ...]:
    """Return the shape of each part in a bundle: how many envelopes it has, and of which size."""
    return tuple(
        PartShape(one.slots, one.most_padding, sizes[0])
        for one, sizes in zip(job.streams, job.sizes, strict=True)
    )


def close_round(closing: ClosingRound) -> Manifest:
    """Write the outgoing pieces, and return the manifest to be signed.

    Anyone can send any bytes to the first hop. A bundle is valid if all its envelopes can be opened
    and no part has more padding than a device may send. If there are fewer valid bundles than the
    minimum crowd, nothing is sent. If fewer bundles than the minimum crowd were received, no
    envelope is opened.
    """
    job, before, places = closing.job, closing.before, range(len(closing.job.streams))
    if before is not None:
        if before.manifest.destroyed is not None:
            return closing.empty_manifest(before.manifest.destroyed)
        pieces = PieceSource(
            closing.folder, before.manifest, [one[job.place - 1] for one in job.sizes]
        )
        with _open_part_mixer(closing) as mix:
            mixed = ((part, mix(pieces, part)) for part in places)
            parts = [_write_part(closing, part, one, select_all(one)) for part, one in mixed]
        lists = tuple(_write_list(closing, pieces.envelopes(part), part) for part in places)
        return closing.manifest(BundleCount(0), parts, None, lists)
    bundles = BundleSource(closing.folder, bundle_shapes(job), closing.engine.most_held)
    received = bundles.bundles
    # Counted before any envelope is opened, so that the bundles of a small crowd are never opened.
    closing.step("after count")
    if received < job.minimum_crowd:
        return closing.empty_manifest(TOO_FEW, BundleCount(received))
    with _open_part_mixer(closing) as mix:
        opened = [mix(bundles, part) for part in places]
        selections = bundles.leave_out(opened)
        crowd = BundleCount(bundles.bundles, received - bundles.bundles)
        if crowd.bundles < job.minimum_crowd:
            return closing.empty_manifest(TOO_FEW, crowd)
        parts = [
            _write_part(closing, part, *one)
            for part, one in enumerate(zip(opened, selections, strict=True))
        ]
    # Invalid bundles are listed, too, so that the list does not show which bundles are valid.
    listed = _write_list(closing, bundles.iterate_received(), 0)
    return closing.manifest(crowd, parts, None, (listed,))


@contextmanager
def _open_part_mixer(closing: ClosingRound) -> Iterator[Callable[[Source, int], MixedPart]]:
    """Yield a function of a source and the number of a part, which mixes this part."""
    job, engine, folder = closing.job, closing.engine, closing.folder
    # An interrupted attempt may have left pieces that the manifest will not name.
    _remove_leftovers(folder)
    secrets = Secrets(
        job.suite,
        closing.key.private,
        bytes.fromhex(closing.sheet_hash),
        job.place,
        closing.key.sort_key,
        closing.sheet.keys[job.place :],
    )
    # The first hop holds the messages of all parts at the same time, so they share the memory.
    part_engine = engine._replace(most_held=engine.most_held // len(job.streams))
    with (
        Pool(secrets, engine.processes) as pool,
        open_mixer(part_engine, secrets, pool, folder, closing.chance, closing.step) as by,
    ):
        yield partial(_mix_part, closing, pool, by)


def _mix_part(
    closing: ClosingRound, pool: Pool, mixer: Mixer, source: Source, part: int
) -> MixedPart:
    stream: Stream = closing.job.streams[part]
    size, expected = closing.job.sizes[part][closing.place - 1 : closing.place + 1]
    drawn = StoredFakes(closing.folder, closing.key.sort_key, closing.chance, closing.step)
    fakes = drawn.envelopes(part, stream, pool)
    mixed = mixer.mix(
        MixWork(part, size, expected, partial(source.envelopes, part), source.is_distinct, fakes)
    )
    closing.step("after opened")
    return mixed


def _write_part(
    closing: ClosingRound, part: int, mixed: MixedPart, selection: Selection
) -> PartManifest:
    """Write the outgoing pieces of a part, and return its entry in the manifest."""
    size = closing.job.sizes[part][closing.place]
    pieces = tuple(_write_pieces(closing, mixed.messages(selection.sent), size))
    return selection.manifest._replace(added=mixed.added, pieces=pieces)


def _write_pieces(closing: ClosingRound, messages: Iterator[bytes], size: int) -> Iterator[Piece]:
    """Write the outgoing messages in order, as files named by their SHA-256."""
    for data in cut_pieces(messages, MOST_PIECE_BYTES // size * size):
        name = sha256(data).hexdigest()
        disk.put(closing.folder / f"out-{name}", data, "a piece")
        closing.step("after piece out")
        yield Piece(name, len(data) // size)


def _write_list(closing: ClosingRound, items: Iterator[bytes], part: int) -> tuple[ListFile, ...]:
    """Write the arrival list of this hop for a part: the tags of all received items."""
    tag = make_tagger(bytes.fromhex(closing.sheet_hash), closing.place, part)
    return write_list(items, tag, closing.put_list, closing.folder, closing.engine.most_held)


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
        mixer = SparkMixer(spark, engine.cluster, secrets, chance, folder.name)
        yield mixer
        mixer.clear()
