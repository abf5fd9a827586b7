"""From the pieces of a batch to its tally: copies dropped, the last layer opened, rows counted.

All of it follows from what is stored: done again after an interruption, it comes to the same.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import compress, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mixtally.collector.stored import Counted, PartCounted
from mixtally.errors import DataError
from mixtally.node import disk
from mixtally.node.copies import digests, not_copies
from mixtally.node.opening.hands import Secrets
from mixtally.node.opening.pool import CHUNK, Pool
from mixtally.records.contract import Contract, Part
from mixtally.records.layout import Form
from mixtally.records.question import Kind, Question
from mixtally.tally.fold import add, empty, tally_messages
from mixtally.tally.pairs import MOST_PAIRED
from mixtally.tally.sift import sift
from mixtally.wire.manifest import Manifest, PartManifest, Piece

COPY, UNOPENED = "a copy of another", "not sealed for this round"


class Batch(NamedTuple):
    """What is to be counted.

    where
      folder     where the pieces lie, as ``in-SHA256``
      private    secret bytes of the collector's key of the round
      sheet      SHA-256 of the sheet, in hexadecimal digits
      digest     SHA-256 of the manifest
      processes  that open envelopes beside this one; 0 for none
    """

    contract: Contract
    fingerprint: str
    number: int
    folder: Path
    private: bytes
    sheet: str
    digest: str
    manifest: Manifest
    processes: int = 0

    def __repr__(self) -> str:
        return f"Batch({self.folder.name})"


def counted(batch: Batch) -> Counted:
    """The tally of every part; raises DataError for a piece that the disk has lost."""
    terms, place = batch.contract.terms, len(batch.contract.hops) + 1
    secrets = Secrets(batch.contract.suite, batch.private, bytes.fromhex(batch.sheet), place)
    with Pool(secrets, batch.processes) as pool:
        parts = [
            _part(batch, pool, number, pairs=pairs_told(terms.question, terms.parts))
            for number in range(len(terms.parts))
        ]
    return Counted(
        contract=batch.fingerprint,
        round=batch.number,
        manifest=batch.digest,
        parts=tuple(parts),
    )


def pairs_told(question: Question, parts: Sequence[Part]) -> bool:
    """Whether messages tell which bits one person has together, of few enough bins to count."""
    if question.kind is Kind.ONE or question.bins < 2 or len(parts) > 1:
        return False
    layout = parts[0].layout
    return layout.form is Form.BITS and layout.bins <= MOST_PAIRED


def _part(batch: Batch, pool: Pool, number: int, *, pairs: bool) -> PartCounted:
    layout = batch.contract.terms.parts[number].layout
    size = batch.contract.envelope_bytes[number][-1]
    said = batch.manifest.parts[number]
    first = not_copies(digests(_envelopes(batch.folder, said, size)))
    total, dropped = empty(layout, pairs=pairs), Counter[str]()
    dropped[COPY] = len(first) - int(first.sum())
    own = compress(_envelopes(batch.folder, said, size), first.tolist())
    for opened in pool.opened(number, _chunks(own), size, layout.message_bytes):
        rows = np.frombuffer(opened.messages, dtype=np.uint8).reshape(-1, layout.message_bytes)
        sifted = sift(layout, rows)
        dropped[UNOPENED] += opened.unopened + opened.malformed
        dropped.update(sifted.dropped)
        total = add(total, tally_messages(layout, sifted.rows, pairs=pairs))
    return PartCounted(
        came=len(first),
        messages=total.messages,
        counts=total.counts.tolist(),
        pairs=None if total.pairs is None else total.pairs.tolist(),
        dropped=dict(+dropped),
    )


def _envelopes(folder: Path, part: PartManifest, size: int) -> Iterator[bytes]:
    for piece in part.pieces:
        data = _piece(folder, piece, size)
        for start in range(0, len(data), size):
            yield data[start : start + size]


def _piece(folder: Path, piece: Piece, size: int) -> bytes:
    data = disk.read(folder / f"in-{piece.sha256}", "a piece")
    if sha256(data).hexdigest() != piece.sha256 or len(data) != piece.messages * size:
        raise DataError(
            f"piece {piece.sha256}",
            wanted="the bytes that came",
            got="others",
            do="the disk has lost them: look at it",
        )
    return data


def _chunks(envelopes: Iterator[bytes]) -> Iterator[bytes]:
    while some := b"".join(islice(envelopes, CHUNK)):
        yield some
