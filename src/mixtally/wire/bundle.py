"""A bundle: all that one person sends in a round. Its length follows from the coins alone.

    for each part: its number of messages (2 bytes); then the envelopes, part after part

All envelopes of a part are of one length. A body holds one bundle or several, one after the other.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mixtally.contract.reading import refused

COUNT_BYTES = 2


class PartShape(NamedTuple):
    """How many messages of a part a bundle holds, at least and at most, and their bytes."""

    least: int
    most: int
    envelope_bytes: int


def write_bundle(parts: Sequence[Sequence[bytes]]) -> bytes:
    """The bundle of a person's envelopes, a sequence for each part."""
    counts = b"".join(len(part).to_bytes(COUNT_BYTES) for part in parts)
    return counts + b"".join(envelope for part in parts for envelope in part)


class Split(NamedTuple):
    """A body taken apart: whole bundles in order, and the places of those of a wrong number."""

    bundles: list[bytes]
    wrong: list[int]


def split(body: bytes, shapes: Sequence[PartShape]) -> Split:
    """The bundles of ``body``, not opened.

    A bundle whose numbers are not in their ranges is left out and its place told. Raises
    RefusedError for a body that does not end where a bundle does, and for an empty one.
    """
    bundles, wrong, at, place = [], [], 0, 0
    while at < len(body) or not place:
        counts = _counts(body, at, len(shapes))
        size = COUNT_BYTES * len(shapes)
        size += sum(n * shape.envelope_bytes for n, shape in zip(counts, shapes, strict=True))
        if at + size > len(body):
            got = f"{len(body) - at:,} bytes of {size:,}"
            raise refused("body-length", f"bundle {place + 1}", "whole bundles", got)
        if all(shape.least <= n <= shape.most for n, shape in zip(counts, shapes, strict=True)):
            bundles.append(body[at : at + size])
        else:
            wrong.append(place)
        at, place = at + size, place + 1
    return Split(bundles, wrong)


def envelopes(bundle: bytes, shapes: Sequence[PartShape]) -> Iterator[list[bytes]]:
    """The envelopes of a bundle that was split off, a list for each part."""
    at = COUNT_BYTES * len(shapes)
    for count, shape in zip(_counts(bundle, 0, len(shapes)), shapes, strict=True):
        size = shape.envelope_bytes
        yield [bundle[at + i * size : at + (i + 1) * size] for i in range(count)]
        at += count * size


def _counts(body: bytes, at: int, parts: int) -> list[int]:
    head = body[at : at + COUNT_BYTES * parts]
    if len(head) < COUNT_BYTES * parts:
        raise refused("body-length", "body", "whole bundles", f"{len(body):,} bytes")
    return [int.from_bytes(head[i : i + COUNT_BYTES]) for i in range(0, len(head), COUNT_BYTES)]
