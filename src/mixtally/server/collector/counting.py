"""Counting of a batch: copies are dropped, the last layer is opened and the rows are counted.

The result depends only on stored data, so counting can be repeated after an interruption.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.manifest import Manifest, PartManifest, Piece
from mixtally.errors import DataError
from mixtally.model.contract import Contract, Part
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question
from mixtally.primitives.chance import Chance, SecureChance
from mixtally.primitives.wide import to_plain
from mixtally.protocol.tally.pairs import MOST_PAIRED
from mixtally.server.collector.stored import StoredPartTally, StoredTally
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.envelope_worker import Secrets
from mixtally.server.engine.folding import CountWork, LocalPartCounter, PartCounter
from mixtally.server.engine.pool import Pool
from mixtally.server.node import disk


class CountingTask(NamedTuple):
    """A batch to be counted."""

    contract: Contract
    fingerprint: str
    number: int
    folder: Path
    """Folder with the pieces, named ``in-SHA256``."""
    private: bytes
    """Private bytes of the collector's key for the round."""
    sheet: str
    """SHA-256 of the sheet, in hexadecimal digits."""
    digest: str
    """SHA-256 of the manifest."""
    manifest: Manifest
    engine: Engine = Engine()
    """How the envelopes are opened."""

    def __repr__(self) -> str:
        return f"Batch({self.folder.name})"


def count_batch(batch: CountingTask) -> StoredTally:
    """Return the tally of every part; raises DataError if the disk has lost a piece."""
    plan, place = batch.contract.plan, len(batch.contract.hops) + 1
    secrets = Secrets(batch.contract.suite, batch.private, bytes.fromhex(batch.sheet), place)
    engine, name = batch.engine, batch.folder.name
    with (
        Pool(secrets, engine.processes) as pool,
        open_part_counter(engine, secrets, pool, name, SecureChance()) as by,
    ):
        parts = [
            _count_part(batch, by, number, pairs=can_count_pairs(plan.question, plan.parts))
            for number in range(len(plan.parts))
        ]
    return StoredTally(
        contract=batch.fingerprint,
        round=batch.number,
        manifest=batch.digest,
        parts=tuple(parts),
    )


def can_count_pairs(question: Question, parts: Sequence[Part]) -> bool:
    """Return whether pairs of bins can be counted.

    They can if one message contains all bits of a person, and there are few enough bins.
    """
    if question.kind is Kind.ONE or question.bins < 2 or len(parts) > 1:
        return False
    layout = parts[0].layout
    return layout.form is Form.BITS and layout.bins <= MOST_PAIRED


def _count_part(
    batch: CountingTask, by: PartCounter, number: int, *, pairs: bool
) -> StoredPartTally:
    layout = batch.contract.plan.parts[number].layout
    size = batch.contract.envelope_bytes[number][-1]
    envelopes = partial(_envelopes, batch.folder, batch.manifest.parts[number], size)
    folded = by.count_part(CountWork(number, size, layout, envelopes, pairs))
    pairs_counted, codes = folded.tally.pairs, folded.tally.codes
    return StoredPartTally(
        came=folded.received,
        messages=folded.tally.messages,
        counts=folded.tally.counts.tolist(),
        codes=None if codes is None else to_plain(codes),
        pairs=None if pairs_counted is None else pairs_counted.tolist(),
        dropped=folded.dropped,
    )


def _envelopes(folder: Path, part: PartManifest, size: int) -> Iterator[bytes]:
    for piece in part.pieces:
        data = _read_piece(folder, piece, size)
        for start in range(0, len(data), size):
            yield data[start : start + size]


def _read_piece(folder: Path, piece: Piece, size: int) -> bytes:
    data = disk.read_file(folder / f"in-{piece.sha256}", "a piece")
    if sha256(data).hexdigest() != piece.sha256 or len(data) != piece.messages * size:
        raise DataError(
            f"piece {piece.sha256}",
            expected="the bytes that were received",
            got="others",
            do="check the disk, which has changed or lost them",
        )
    return data


@contextmanager
def open_part_counter(
    engine: Engine, secrets: Secrets, pool: Pool, name: str, chance: Chance
) -> Iterator[PartCounter]:
    """Yield the counter of a round's parts, locally or on a Spark cluster."""
    if engine.cluster is None:
        yield LocalPartCounter(pool)
        return
    from mixtally.server.engine.spark.folding import SparkPartCounter
    from mixtally.server.engine.spark.session import open_session

    with open_session(engine.cluster) as spark:
        yield SparkPartCounter(spark, engine.cluster, secrets, chance, name)
