"""Bundles: all envelopes that a person sends in one round.

A bundle consists of the envelopes of all parts, in the order of the parts in the contract. Every
part has a fixed number of slots, and all envelopes of a part have one length. So all bundles of a
contract have the same length. A device decides at random whether it sends an additional fake (a
dummy message) in a part. The last slot of the part is for this fake. If the device sends none, the
slot contains padding (``device.wire.envelope``).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mixtally.device.contract.fields import make_refusal


class PartShape(NamedTuple):
    """The slots of a part in every bundle.

    ``slots`` is the number of envelopes of the part in a bundle. At most ``most_padding`` of them
    are padding: 1 if devices may send an additional fake, else 0. ``envelope_bytes`` is the size of
    an envelope that the first hop receives.
    """

    slots: int
    most_padding: int
    envelope_bytes: int


def bundle_bytes(shapes: Sequence[PartShape]) -> int:
    """Return the length of every bundle."""
    return sum(shape.slots * shape.envelope_bytes for shape in shapes)


def write_bundle(parts: Sequence[Sequence[bytes]]) -> bytes:
    """Write a person's envelopes, given as one sequence for each part, as a bundle."""
    return b"".join(envelope for part in parts for envelope in part)


def check_body(body: bytes, shapes: Sequence[PartShape], *, single: bool = False) -> None:
    """Raise RefusedError unless a body consists of one or several whole bundles.

    Parameters
    ----------
    body : bytes
        The body of a request.
    shapes : sequence of PartShape
        The slots and envelope lengths of each part.
    single : bool
        Whether the body must be one bundle, because a one-time code admits only one.
    """
    size = bundle_bytes(shapes)
    if not body or len(body) % size or (single and len(body) > size):
        expected = f"one bundle of {size:,} bytes" + ("" if single else ", or several")
        raise make_refusal("body-length", "body", expected, f"{len(body):,} bytes")


def split_bundles(body: bytes, shapes: Sequence[PartShape]) -> Iterator[bytes]:
    """Yield the bundles of a valid body, in order.

    Parameters
    ----------
    body : bytes
        The body, which ``check_body`` has accepted.
    shapes : sequence of PartShape
        The slots and envelope lengths of each part.
    """
    size = bundle_bytes(shapes)
    return (body[start : start + size] for start in range(0, len(body), size))


def part_envelopes(bundle: bytes, shapes: Sequence[PartShape], part: int) -> list[bytes]:
    """Return the envelopes of one part of a bundle.

    Parameters
    ----------
    bundle : bytes
        The bundle.
    shapes : sequence of PartShape
        The slots and envelope lengths of each part.
    part : int
        The number of the part, from 0.
    """
    start, (slots, _, size) = bundle_bytes(shapes[:part]), shapes[part]
    return [bundle[start + i * size : start + (i + 1) * size] for i in range(slots)]
