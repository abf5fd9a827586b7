"""Random draws of a device: uniform integers, flips, fakes and the order of messages.

SPEC.md fixes how every random word is used, so that clients in all languages agree. Fakes are dummy
messages that carry no answer.
"""

import sys
from array import array
from collections.abc import Callable, Sequence
from typing import TypeVar

from mixtally.device.contract.part import SCALE, ContractPart, Layout
from mixtally.device.contract.planes import Planes
from mixtally.errors import AccountingError

T = TypeVar("T")
# Bytes 0 and 1 as characters, and the lowest byte of a lane of 16 bytes.
_DIGITS, _LANE = bytes.maketrans(b"\0\1", b"01"), b"\1" + bytes(15)
# Far more than any valid contract needs. The limit ends draws from a source that repeats itself.
_MOST_REDRAWS = 10_000


class RandomWords:
    """Independent uniform 64-bit words from a source of random bytes.

    ``source(count)`` returns ``count`` words as 8 bytes each, little-endian. Raises AccountingError
    if the source returns another number of bytes, or if too many draws in a row are rejected.
    """

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source

    def bytes(self, count: int) -> bytes:
        """Return the next ``count`` words as bytes, 8 per word."""
        data = self._source(count)
        if len(data) != 8 * count:
            raise AccountingError(
                f"words: expected {8 * count:,} bytes, got {len(data):,}; nothing may be sent"
            )
        return data

    def take(self, count: int) -> "array[int]":
        """Return the next ``count`` words."""
        words = array("Q")
        words.frombytes(self.bytes(count))
        if sys.byteorder == "big":
            words.byteswap()
        return words

    def uniform(self, bound: int) -> int:
        """Draw a uniform integer in [0, bound).

        A word is drawn again if it is at or above the largest multiple of ``bound`` that is at most
        2^64, so there is no modulo bias. For a bound above 2^63, an integer with as many bits as
        ``bound`` - 1 is drawn, again and again until it is below ``bound``.
        """
        if bound > SCALE >> 1:
            return self._uniform_of_two(bound)
        limit = SCALE // bound * bound
        for _ in range(_MOST_REDRAWS):
            word = self.take(1)[0]
            if word < limit:
                return word % bound
        raise _redraw_error()

    def _uniform_of_two(self, bound: int) -> int:
        mask = (1 << (bound - 1).bit_length()) - 1
        for _ in range(_MOST_REDRAWS):
            low, high = self.take(2)
            number = (high << 64 | low) & mask
            if number < bound:
                return number
        raise _redraw_error()


def draw_fake_counts(parts: Sequence[ContractPart], words: RandomWords) -> list[int]:
    """Draw the number of fakes that the device adds in each part.

    The numbers are drawn before the value is read, so they cannot depend on the value.

    Parameters
    ----------
    parts : sequence of ContractPart
        The parts of the contract.
    words : RandomWords
        The source of random words.
    """
    return [
        part.own.whole + (words.take(1)[0] < part.own.coin) if part.own else 0 for part in parts
    ]


def draw_record(part: ContractPart, bins: Sequence[int], words: RandomWords) -> list[bytes]:
    """Return the randomized messages of a record.

    In clear there is one message for each bin and, for each missing member of a set, one with a
    *pad*, an additional bin. If ``part.slots`` is not None, only this number of the bins and pads
    is drawn and sent. Raise AccountingError for too many bins, for a repeated bin, and for missing
    bins of a record that has no pads.

    Parameters
    ----------
    part : ContractPart
        The part of the contract.
    bins : sequence of int
        The ascending bins of the record.
    words : RandomWords
        The source of random words.
    """
    if part.threshold is not None:
        return [draw_message(part, bins, words) for _ in range(part.repeats)]
    # An impossible record here is a bug. Sending it would reveal more than the guarantee allows.
    most = part.most_set or 1
    lacking = most - len(bins)
    if lacking < 0 or len(set(bins)) < len(bins) or (part.is_full and lacking):
        raise AccountingError(
            f"record: expected {'' if part.is_full else 'at most '}{most} different bins, got "
            f"{list(bins)}; nothing may be sent"
        )
    if part.planes is not None and part.record_messages > 1:
        return _draw_set(part, part.planes, bins, words)
    cells = [*bins, *range(part.bins, part.bins + lacking)]
    if part.slots is not None:
        cells = _draw_slots(cells, part.slots, words)
    return [draw_message(part, (one,), words) for one in cells]


def _draw_slots(cells: list[int], count: int, words: RandomWords) -> list[int]:
    """Draw ``count`` of the cells of a record, without replacement."""
    for place in range(count):
        other = place + words.uniform(len(cells) - place)
        cells[place], cells[other] = cells[other], cells[place]
    return cells[:count]


def draw_message(part: ContractPart, bins: Sequence[int], words: RandomWords) -> bytes:
    """Return a randomized message.

    A flipped message with more set bits than the cap is drawn again. In clear, a uniform message
    replaces the message with probability ``replaced`` / 2^64.

    Parameters
    ----------
    part : ContractPart
        The part of the contract.
    bins : sequence of int
        The ascending bins that the message sets.
    words : RandomWords
        The source of random words.
    """
    if _is_replaced(part, words):
        return _draw_uniform_message(part, words)
    if part.planes is not None:
        return _draw_plane(part.layout, part.planes, part.planes.point(bins[0], part.bins), words)
    if part.threshold is None:
        return write_message(part.layout, bins)
    record = 0
    for place in bins:
        record |= 1 << place
    cap = part.bins if part.layout.cap is None else part.layout.cap
    # All bits are drawn again, so the message has the distribution of independent flips,
    # conditionally on at most ``cap`` set bits.
    for _ in range(_MOST_REDRAWS):
        row = record ^ draw_flips(part.threshold, words.bytes(part.bins))
        if row.bit_count() <= cap:
            return _write_row(part.layout, row)
    raise _redraw_error()


def draw_flips(threshold: int, words: bytes) -> int:
    """Return an integer whose bit j is one if word j, 8 bytes, is below ``threshold``.

    All words are compared at once, in two large integers: one has the even words, and one the odd
    words. Every word has a lane of 16 bytes in its integer. In each lane the number 2^64 +
    threshold - 1 - word is computed. The upper half of the lane is not zero exactly if this number
    is at least 2^64, and so exactly if the word is below the threshold.
    """
    count, lanes = len(words) // 8, -(-len(words) // 16)
    every, ones = int.from_bytes(words, "little"), int.from_bytes(_LANE * lanes, "little")
    word, most = (ones << 64) - ones, ones * (SCALE + threshold - 1)
    even, odd = most - (every & word), most - (every >> 64 & word)
    below = bytearray(2 * lanes)
    below[::2] = even.to_bytes(16 * lanes, "little")[8::16]
    below[1::2] = odd.to_bytes(16 * lanes, "little")[8::16]
    return int(below[count - 1 :: -1].translate(_DIGITS), 2)


def _write_row(layout: Layout, row: int) -> bytes:
    if layout.form == "bits":
        return row.to_bytes(layout.message_bytes, "little")
    return write_message(
        layout, [place for place, one in enumerate(f"{row:b}"[::-1]) if one == "1"]
    )


def draw_fake(part: ContractPart, words: RandomWords) -> bytes:
    """Draw a fake: a record with no bit set or with a uniform bin, flipped as records are.

    Parameters
    ----------
    part : ContractPart
        The part of the contract.
    words : RandomWords
        The source of random words.
    """
    uniform = part.own is not None and part.own.uniform
    if uniform and part.threshold is None:
        return _draw_uniform_message(part, words)
    return draw_message(part, (words.uniform(part.bins),) if uniform else (), words)


def _is_replaced(part: ContractPart, words: RandomWords) -> bool:
    """Return whether a message is replaced: true with probability ``part.replaced`` / 2^64."""
    return part.replaced is not None and words.take(1)[0] < part.replaced


def _draw_uniform_message(part: ContractPart, words: RandomWords) -> bytes:
    """Draw a message that is uniform among all messages."""
    return write_message(part.layout, (words.uniform(part.layout.bins),))


def _draw_plane(layout: Layout, planes: Planes, point: int, words: RandomWords) -> bytes:
    """Draw a direction, and return the message of its plane that contains the point."""
    return write_message(layout, (planes.message(point, words.uniform(planes.directions)),))


def _draw_set(
    part: ContractPart, planes: Planes, bins: Sequence[int], words: RandomWords
) -> list[bytes]:
    """Return a message for each point of a set: a random plane that contains this point.

    The plane contains no other point of the set, as the proof requires. Each message is then
    independently replaced by a uniform one with probability ``part.replaced`` / 2^64, if this is
    not None. Raise AccountingError if there are fewer points than messages.
    """
    points = planes.members(bins, part.bins, part.record_messages)
    if len(points) < part.record_messages:
        raise AccountingError("record: too few points of a set differ; nothing may be sent")
    return [
        _draw_uniform_message(part, words)
        if _is_replaced(part, words)
        else _draw_separate_plane(part.layout, planes, one, points, words)
        for one in points
    ]


def _draw_separate_plane(
    layout: Layout, planes: Planes, point: int, points: Sequence[int], words: RandomWords
) -> bytes:
    """Draw a plane that contains ``point`` but none of the other ``points``."""
    for _ in range(_MOST_REDRAWS):
        number = words.uniform(planes.directions)
        if not planes.has_collision(point, points, number):
            return write_message(layout, (planes.message(point, number),))
    raise _redraw_error()


def write_message(layout: Layout, ones: Sequence[int]) -> bytes:
    """Return the bytes of a message that names the ascending bins ``ones``."""
    if layout.form == "index":
        return ones[0].to_bytes(layout.message_bytes, "little")
    if layout.form == "bits":
        row = bytearray(layout.message_bytes)
        for one in ones:
            row[one >> 3] |= 1 << (one & 7)
        return bytes(row)
    packed, width = 0, layout.position_bits
    for place in reversed(ones):
        packed = packed << width | place
    size = layout.message_bytes - layout.count_bytes
    return len(ones).to_bytes(layout.count_bytes, "little") + packed.to_bytes(size, "little")


def shuffle(several: list[T], words: RandomWords) -> None:
    """Shuffle a list in place (Fisher-Yates, from the last place down)."""
    for place in range(len(several) - 1, 0, -1):
        other = words.uniform(place + 1)
        several[place], several[other] = several[other], several[place]


def _redraw_error() -> AccountingError:
    return AccountingError(
        f"words: {_MOST_REDRAWS:,} draws were refused one after the other: the source repeats, or "
        "the cap is far below what flips set; nothing may be sent"
    )
