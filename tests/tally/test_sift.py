"""Messages that nobody honest wrote are dropped and counted; others are counted as they came."""

import numpy as np
import pytest

from helpers.contracts import flipped
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Fault, Form, Layout
from mixtally.protocol.randomize import randomize_records
from mixtally.protocol.tally.fold import tally_messages
from mixtally.protocol.tally.sift import sift

BITS = Layout(Form.BITS, 12, 3)
INDEX = Layout(Form.INDEX, 300)
POSITIONS = Layout(Form.POSITIONS, 300, 3)


def positions(many, *numbers):
    """A message of 300 bins and a cap of 3 as it is written, right or wrong."""
    value = many
    for place, number in enumerate(numbers):
        value |= number << (8 + 9 * place)
    return value.to_bytes(POSITIONS.message_bytes, "little")


CASES = {
    "a bin past the last": (BITS, b"\x01\x10", Fault.PAST_THE_LAST),
    "more bins than the cap": (BITS, b"\x0f\x00", Fault.TOO_MANY),
    "the number of no bin": (INDEX, b"\x2c\x01", Fault.PAST_THE_LAST),
    "a position past the last": (POSITIONS, positions(2, 5, 300), Fault.PAST_THE_LAST),
    "more positions than the cap": (POSITIONS, positions(4, 1, 2, 3), Fault.TOO_MANY),
    "positions that fall": (POSITIONS, positions(3, 7, 5, 9), Fault.UNORDERED),
    "a position twice": (POSITIONS, positions(2, 5, 5), Fault.UNORDERED),
    "a number behind the last": (POSITIONS, positions(1, 5, 6), Fault.NOT_ZERO),
    "a bit where nothing stands": (POSITIONS, positions(0, 0, 0, 1 << 9), Fault.NOT_ZERO),
}
GOOD = {BITS: b"\x07\x00", INDEX: b"\x2b\x01", POSITIONS: positions(3, 1, 5, 299)}


def rows_of(layout, *messages):
    """Messages of one length, a row each."""
    return np.frombuffer(b"".join(messages), dtype=np.uint8).reshape(-1, layout.message_bytes)


@pytest.mark.parametrize(("layout", "bad", "reason"), CASES.values(), ids=CASES)
def test_a_bad_message_is_dropped_and_counted(layout, bad, reason):
    sifted = sift(layout, rows_of(layout, GOOD[layout], bad, GOOD[layout], bad))
    assert sifted.dropped == {reason.value: 2}
    assert sifted.rows.tobytes() == 2 * GOOD[layout]
    assert tally_messages(layout, sifted.rows).messages == 2


@pytest.mark.parametrize(("layout", "bad", "reason"), CASES.values(), ids=CASES)
def test_every_span_of_a_batch_is_sifted(monkeypatch, layout, bad, reason):
    monkeypatch.setattr("mixtally.protocol.tally.sift._SPAN_BYTES", 2 * layout.message_bytes)
    sifted = sift(layout, rows_of(layout, *3 * [bad, GOOD[layout], GOOD[layout]]))
    assert sifted.dropped == {reason.value: 3}
    assert sifted.rows.tobytes() == 6 * GOOD[layout]


@pytest.mark.parametrize("layout", GOOD, ids=str)
def test_random_bytes_are_never_fatal(layout):
    """Every message is kept or dropped for one reason; what is kept can be written again."""
    rows = SeededChance(1).words(20_000 * layout.message_bytes // 8).view(np.uint8)
    rows = rows[: len(rows) // layout.message_bytes * layout.message_bytes]
    rows = rows.reshape(-1, layout.message_bytes)
    sifted = sift(layout, rows)
    assert 0 < len(sifted.rows) + sum(sifted.dropped.values()) == len(rows)
    layout.check_rows(sifted.rows)


def test_nothing_honest_is_dropped():
    part = flipped(300, q=0.02, form=Form.POSITIONS, cap=20)
    rows = randomize_records(part, np.arange(5000) % 300, SeededChance(2))
    sifted = sift(part.layout, rows)
    assert sifted.dropped == {}
    assert sifted.rows is rows


def test_rows_of_another_width_are_refused():
    with pytest.raises(MessageError, match="shape"):
        sift(BITS, np.zeros((2, 3), dtype=np.uint8))
