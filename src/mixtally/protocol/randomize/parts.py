"""All messages that people send for one part of a plan: randomized records and their own fakes.

A *part* is one of the messages in which a record travels. The simulation and the vectors call this
module. The distribution is the same as if every device drew for itself. Each device flips every bit
of every message independently. A message that has more set bits than the cap is drawn again. A coin
decides whether a device sends one more fake (dummy message). Messages of the form ``positions`` are
drawn as positions of set bits, span by span, so that memory contains little more than the messages.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixtally.device.contract.planes import TEXT_BINS
from mixtally.errors import MessageError, pluralize
from mixtally.model.contract import FakeRecord, OwnFakes, Part, Planes
from mixtally.model.layout import Form, Layout
from mixtally.model.planes import bin_points, plane_messages
from mixtally.primitives.bits import Rows, row_bytes, spans
from mixtally.primitives.capped_flips import Flips, SetBits, flip_positions, flip_rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import Integers, draw_below
from mixtally.primitives.memo import Memo
from mixtally.primitives.wide import Numbers, draw_numbers
from mixtally.protocol.randomize.bins import Records, check_bin_numbers, to_array
from mixtally.protocol.randomize.sets import draw_set_planes

# Bytes of messages, and random decisions, that are drawn at a time to limit memory.
_SPAN_BYTES = 1 << 22
_SPAN_COINS = 1 << 19
_NONE = np.zeros(0, dtype=np.int64)


def randomize_records(
    part: Part, records: Records | ArrayLike, chance: Chance, memo: Memo | None = None
) -> Rows:
    """Randomize the records of all people, shape (people * messages of a record, message bytes).

    A record that is sent several times is randomized anew each time. The messages of one record are
    adjacent rows. A set in clear becomes one message for each member and, for each missing member,
    a *pad*: a message with an additional bin. If the slots of records are sampled, only the drawn
    bins of a record become messages.

    Raises MessageError for a number that is not a bin, and for bits that the part cannot encode or
    does not protect. Raises ParameterError if hardly any record satisfies the cap of the part.

    Parameters
    ----------
    part : Part
        The part to which the messages belong.
    records : Records or ArrayLike
        Bin numbers, shape (people,), or packed bits, shape (people, row bytes) and dtype uint8.
        Sets in clear may also be bin numbers of shape (people, maximum number of members), with -1
        for a missing member.
    chance : Chance
        The source of randomness.
    memo : Memo or None
        A cache of tables that calls may share.
    """
    given = to_array(records)
    if part.pads or part.slots is not None:
        cells = _cells(part, given)
        if part.slots is not None:
            return part.layout.rows(_draw_slots(cells, part.slots, chance).reshape(-1))
        if part.planes is not None:
            cells = draw_set_planes(part.planes.device_planes, cells, part.bins, chance)
        return part.layout.rows(_replace_randomly(part, cells.reshape(-1), chance))
    if part.repeats > 1:
        given = np.repeat(given, part.repeats, axis=0)
    if part.layout.form is not Form.POSITIONS:
        return _randomize_rows(part, given, chance, memo)
    out, filled = part.layout.blank_rows(len(given)), 0
    for some in _iterate_records(part, given):
        ones = flip_positions(some, _make_flips(part), chance, memo)
        out[filled : filled + some.count] = part.layout.write_positions(*ones, some.count)
        filled += some.count
    return out


def draw_part_fakes(
    part: Part, contributors: int, chance: Chance, memo: Memo | None = None
) -> tuple[Rows, int]:
    """Draw the fakes that all devices send, and return them with their number.

    The fakes have the shape (fakes, message bytes) and are not shuffled. There are none if the part
    has no fakes of devices. Raises ParameterError if hardly any fake satisfies the cap of the part.

    Parameters
    ----------
    part : Part
        The part to which the fakes belong.
    contributors : int
        The number of devices.
    chance : Chance
        The source of randomness.
    memo : Memo or None
        A cache of tables that calls may share.
    """
    own = part.own
    if own is None:
        return part.layout.blank_rows(0), 0
    number = contributors * own.whole + _draw_coin_count(own, contributors, chance)
    return _draw_fakes(part, own, number, chance, memo), number


def _draw_coin_count(own: OwnFakes, contributors: int, chance: Chance) -> int:
    """Draw the number of devices, out of ``contributors``, that send one more fake.

    A device does so if its random word is below ``own.coin``.
    """
    if not own.coin:
        return 0
    coin = np.uint64(own.coin)
    return sum(
        int((chance.words(span.stop - span.start) < coin).sum())
        for span in spans(contributors, _SPAN_COINS)
    )


def _draw_fakes(part: Part, own: OwnFakes, number: int, chance: Chance, memo: Memo | None) -> Rows:
    """Draw ``number`` fakes: first the content, then its flips."""
    uniform, layout = own.record is FakeRecord.UNIFORM, part.layout
    out, few = layout.blank_rows(number), layout.form is Form.POSITIONS
    size = _make_flips(part).rows_at_once() if few else max(1, _SPAN_BYTES // layout.message_bytes)
    for span in spans(number, size):
        count = span.stop - span.start
        codes = draw_numbers(chance, layout.bins, count) if uniform else _NONE
        if few:
            kept = SetBits(np.arange(len(codes)), codes, count)
            out[span] = layout.write_positions(
                *flip_positions(kept, _make_flips(part), chance, memo), count
            )
            continue
        if uniform:
            out[span] = layout.rows(codes)
        if part.threshold is not None:
            out[span] = flip_rows(out[span], _make_flips(part), chance, memo)
    return out


def _draw_slots(cells: Integers, count: int, chance: Chance) -> Integers:
    """Draw ``count`` of the cells of each record without replacement, shape (people, count)."""
    cells, people = cells.copy(), np.arange(len(cells))
    for place in range(count):
        other = place + draw_below(chance, cells.shape[1] - place, len(cells))
        first = cells[:, place].copy()
        cells[:, place], cells[people, other] = cells[people, other], first
    return cells[:, :count]


def _cells(part: Part, given: NDArray[Any]) -> NDArray[np.int64]:
    """Return the cells of sets in clear, shape (people, messages of a record).

    The cells are the bins of the set in ascending order, then one pad for each missing member.
    """
    most = part.most_set or 1
    if given.ndim == 2 and given.dtype == np.int64:
        return _cells_of_numbers(part, given)
    if given.ndim != 2:
        members, sizes = check_bin_numbers(given, part.bins), np.ones(len(given), dtype=np.int64)
    else:
        people, members = _find_set_bits(_check_bits(part, given))
        sizes = np.bincount(people, minlength=len(given))
    if part.is_full and len(sizes) and int(sizes.min()) < most:
        raise MessageError(
            "records",
            expected=f"{pluralize(most, 'bin')} in each, one for each attribute or bit",
            got=f"{int(sizes.min())}",
            do="make a missing answer a value of the attribute",
        )
    places = np.arange(most) - sizes[:, None]
    cells = part.bins + places
    cells[places < 0] = members
    return cells


def _cells_of_numbers(part: Part, given: Integers) -> Integers:
    """Return the cells of sets whose bins are given as numbers, as ``_cells`` does.

    A row of ``given`` has the numbers of a set's bins, and -1 in place of each missing member.
    """
    most, lacking = part.most_set or 1, (given < 0).sum(axis=1)
    bins = min(part.bins, TEXT_BINS)  # no record has more bins, although there may be more points
    cells = np.sort(np.where(given < 0, bins, given), axis=1)
    places = np.arange(most) + lacking[:, None] - most
    twice = (cells[:, 1:] == cells[:, :-1]) & (cells[:, 1:] < bins)
    if given.shape[1] != most or twice.any() or (part.is_full and lacking.any()):
        raise MessageError(
            "records",
            expected=f"at most {pluralize(most, 'different bin')} in each, -1 for none",
            got="a bin twice" if twice.any() else f"rows of shape {given.shape}",
            do="name every member of a set once",
        )
    check_bin_numbers(given[given >= 0], part.bins)
    return np.where(places < 0, cells, bins + places)


def _randomize_rows(part: Part, given: NDArray[Any], chance: Chance, memo: Memo | None) -> Rows:
    """Randomize records whose messages are packed bits or one index."""
    if given.ndim == 2:
        rows = _check_bits(part, given)
    else:
        rows = part.layout.rows(_encode_bins(part, check_bin_numbers(given, part.bins), chance))
    if part.threshold is None:
        return rows
    # The rows may be the array of the caller, which must not change.
    out = np.empty_like(rows)
    for span in spans(len(rows), max(1, _SPAN_BYTES // part.layout.message_bytes)):
        out[span] = flip_rows(rows[span], _make_flips(part), chance, memo)
    return out


def _encode_bins(part: Part, codes: NDArray[np.int64], chance: Chance) -> NDArray[np.int64]:
    """Return the number that each message names: a bin, or a random plane through its point.

    Some numbers are replaced by random ones, if the part replaces values.
    """
    out = codes
    if part.planes is not None:
        points = bin_points(part.planes.device_planes, codes, part.bins)
        out = _draw_planes(part.planes, points, chance)
    return _replace_randomly(part, out, chance)


def _replace_randomly(part: Part, named: Numbers, chance: Chance) -> Numbers:
    """Replace each number, with the probability of the part, by a uniformly random one.

    A number is replaced if its random word is below ``part.replaced``.
    """
    if part.replaced is None:
        return named
    # ``named`` may be the array of the caller, which must not change.
    out = named.copy()
    for span in spans(len(out), _SPAN_COINS):
        some = out[span]
        gone = chance.words(len(some)) < np.uint64(part.replaced)
        some[gone] = draw_numbers(chance, part.layout.bins, int(gone.sum()))
    return out


def _draw_planes(planes: Planes, points: Integers, chance: Chance) -> Integers:
    """Draw a direction for each point, and return the plane in this direction through the point."""
    numbers = draw_below(chance, planes.device_planes.directions, len(points))
    return plane_messages(points, numbers, planes.prime, planes.digits)


def _iterate_records(part: Part, given: NDArray[Any]) -> Iterator[SetBits]:
    """Yield the bins that records set, for some records at a time."""
    size = _make_flips(part).rows_at_once()
    if given.ndim != 2:
        codes = check_bin_numbers(given, part.bins)
        for span in spans(len(codes), size):
            some = codes[span]
            yield SetBits(np.arange(len(some)), some, len(some))
        return
    for span in spans(len(given), min(size, max(1, _SPAN_BYTES // row_bytes(part.bins)))):
        yield SetBits(*_find_set_bits(_check_bits(part, given[span])), span.stop - span.start)


def _find_set_bits(rows: Rows) -> tuple[Integers, Integers]:
    """Return the row and the column of every set bit, ascending by row and then by column."""
    row, byte = np.nonzero(rows)
    place, bit = np.nonzero(np.unpackbits(rows[row, byte, None], axis=1, bitorder="little"))
    return row[place], 8 * byte[place] + bit


def _check_bits(part: Part, given: NDArray[Any]) -> Rows:
    """Return records as packed bits.

    Raises MessageError if the part cannot encode bits, or if a record sets more bits than the
    certificate covers.
    """
    plain = Layout(Form.BITS, part.bins)
    holds_bits = part.threshold is not None or part.pads > 0 or part.slots is not None
    if not holds_bits or given.ndim != 2 or given.dtype != np.uint8:
        raise MessageError(
            "records",
            expected="one bin number a person" + ", or packed bits of type uint8" * holds_bits,
            got=f"{given.dtype} rows of shape {given.shape}",
            do="send bits with a protocol that flips bits, packed as "
            "mixtally.protocol.encode.bits does",
        )
    rows = plain.check_rows(given)
    largest = int(np.bitwise_count(rows).sum(axis=1, dtype=np.int64).max(initial=0))
    # The certificate covers records with at most this many set bits.
    if largest > (part.most_set or part.bins):
        raise MessageError(
            "records",
            expected=f"at most {pluralize(part.most_set or part.bins, 'set bit')} in each",
            got=f"{largest}",
            do="plan with a larger --max-set, or send fewer of them",
        )
    return rows


def _make_flips(part: Part) -> Flips:
    return Flips(part.bins, part.threshold or 0, part.layout.cap)
