"""Counting of a batch: copies are dropped, the last layer is opened and the rows are counted.

The result depends only on stored data, so counting can be repeated after an interruption.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.arrivals import ArrivalLists, make_tagger
from mixtally.device.wire.manifest import Manifest
from mixtally.model.contract import Contract, Part
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question
from mixtally.primitives.chance import Chance, SecureChance
from mixtally.primitives.wide import to_plain
from mixtally.protocol.tally.pairs import MOST_PAIRED
from mixtally.server.collector.kept import KeptPart, keep_pieces
from mixtally.server.collector.stored import StoredPartTally, StoredTally
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.envelope_worker import Secrets
from mixtally.server.engine.folding import CountWork, LocalPartCounter, PartCounter
from mixtally.server.engine.listing import write_list
from mixtally.server.engine.pool import Pool
from mixtally.server.node import disk
from mixtally.server.node.pieces import read_envelopes


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
    kept: Path | None = None
    """Folder for the opened messages and the pieces; None if they are not kept."""

    def __repr__(self) -> str:
        return f"CountingTask({self.folder.name})"


def count_batch(batch: CountingTask) -> StoredTally:
    """Return the tally of every part; raises DataError if the disk has lost a piece."""
    plan, place = batch.contract.plan, len(batch.contract.hops) + 1
    secrets = Secrets(batch.contract.suite, batch.private, bytes.fromhex(batch.sheet), place)
    engine = batch.engine
    if batch.kept is not None:
        # An interrupted count may have left messages, in another random order.
        disk.remove_folder(batch.kept)
        disk.make_folder(batch.kept)
    with (
        Pool(secrets, engine.processes) as pool,
        open_part_counter(engine, secrets, pool, batch.folder, SecureChance()) as by,
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


def list_batch(batch: CountingTask, put_list: Callable[[str, bytes], object]) -> ArrivalLists:
    """Write the arrival lists of a batch, and return their files, part by part.

    An arrival list has a tag, a short hash, of every received envelope of a part.
    ``put_list(sha256, data)`` stores a file. Raises DataError if the disk has lost a piece.
    """
    place, most_held = len(batch.contract.hops) + 1, batch.engine.most_held
    return tuple(
        write_list(
            read_envelopes(batch.folder, part.pieces, batch.contract.envelope_bytes[number][-1]),
            make_tagger(bytes.fromhex(batch.sheet), place, number),
            put_list,
            batch.folder,
            most_held,
        )
        for number, part in enumerate(batch.manifest.parts)
    )


def can_count_pairs(question: Question, parts: Sequence[Part]) -> bool:
    """Return whether pairs of bins can be counted.

    Pairs can be counted if one message contains all bits of a person, and there are few enough
    bins.
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
    pieces = batch.manifest.parts[number].pieces
    envelopes = partial(read_envelopes, batch.folder, pieces, size)
    kept = None
    if batch.kept is not None:
        most = batch.engine.most_held
        kept = KeptPart(batch.kept, number, layout.message_bytes, SecureChance(), most)
    folded = by.count_part(
        CountWork(number, size, layout, envelopes, pairs, None if kept is None else kept.add)
    )
    if batch.kept is not None and kept is not None:
        kept.write()
        keep_pieces(batch.folder, batch.kept, batch.manifest.parts[number])
    pairs_counted, codes = folded.tally.pairs, folded.tally.codes
    return StoredPartTally(
        came=folded.received,
        messages=folded.tally.messages,
        counts=folded.tally.counts.tolist(),
        codes=None if codes is None else to_plain(codes),
        pairs=None if pairs_counted is None else pairs_counted.tolist(),
        dropped=folded.dropped,
    )


@contextmanager
def open_part_counter(
    engine: Engine, secrets: Secrets, pool: Pool, folder: Path, chance: Chance
) -> Iterator[PartCounter]:
    """Yield the counter of a round's parts, locally or on a Spark cluster.

    ``folder`` is for temporary files.
    """
    if engine.cluster is None:
        yield LocalPartCounter(pool, folder, chance, engine.most_held)
        return
    from mixtally.server.engine.spark.folding import SparkPartCounter
    from mixtally.server.engine.spark.session import open_session

    with open_session(engine.cluster) as spark:
        yield SparkPartCounter(spark, engine.cluster, secrets, chance, folder.name)
