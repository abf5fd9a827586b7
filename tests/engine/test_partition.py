"""A partition as its task sees it: in order, copies dropped, nothing lost."""

import numpy as np
import pyarrow as pa
import pytest

from mixtally.errors import DataError
from mixtally.server.engine.envelope_worker import Kind
from mixtally.server.engine.spark.partition import Partition
from mixtally.server.engine.spark.tasks import HASH_BYTES
from mixtally.server.engine.spark.work import _check


def key(first, digest, kind, position=0):
    return (
        bytes([first]) * HASH_BYTES
        + bytes([digest]) * HASH_BYTES
        + bytes([kind])
        + position.to_bytes(8)
    )


def batch(*rows):
    keys, messages = zip(*rows, strict=True)
    columns = [pa.array([0] * len(rows)), pa.array(keys, pa.binary()), pa.array(messages)]
    return pa.record_batch(columns, ["partition", "key", "message"])


ONE, TWO = (key(1, 7, Kind.GOOD), b"one"), (key(2, 8, Kind.GOOD), b"two")
FAKES = (key(3, 0, Kind.FAKE), b"fak")
JUNK = (key(4, 4, Kind.UNOPENED), b"")


def read(*batches):
    partition = Partition(batches)
    return b"".join(partition.messages()), partition


def test_copies_are_dropped_and_fakes_are_not():
    found, partition = read(batch(ONE, ONE, TWO), batch(TWO, FAKES, FAKES, JUNK), batch(JUNK))
    assert found == b"onetwofakfak"
    assert partition.rows == 8
    assert partition.kinds == {Kind.GOOD: 2, Kind.FAKE: 2, Kind.UNOPENED: 1}


def test_positions_of_messages_and_of_whatever_else_came():
    """Copies are told with the first of their kind, in whatever batch that was."""
    fakes = [(key(3, 0, Kind.FAKE, 99), b"fak")] * 2
    twice = [(key(1, 7, Kind.GOOD, place), b"one") for place in (4, 300, 301)]
    junk = [(key(4, 4, Kind.UNOPENED, place), b"") for place in (2, 6, 7)]
    zeros = (key(5, 5, Kind.PADDING, 1 << 40), b"")
    rows = [*twice, *fakes, *junk, zeros]
    for cut in range(1, len(rows)):
        found, partition = read(batch(*rows[:cut]), batch(*rows[cut:]))
        assert found == b"onefakfak"
        assert np.concatenate(partition.sent).tolist() == [4, 99, 99]
        assert np.concatenate(partition.others).tolist() == [
            [300, 4], [301, 4], [2, -1 - Kind.UNOPENED], [6, 2], [7, 2],
            [1 << 40, -1 - Kind.PADDING],
        ]  # fmt: skip


def test_the_same_inside_two_envelopes_is_no_copy():
    other = (key(1, 9, Kind.GOOD), b"one")
    assert read(batch(ONE, other))[0] == b"oneone"


def test_a_slice_of_a_batch():
    assert read(batch(ONE, TWO, FAKES).slice(1, 2))[0] == b"twofak"


def test_nothing():
    found, partition = read()
    assert (found, partition.rows) == (b"", 0)
    assert read(batch(ONE).slice(0, 0))[0] == b""


@pytest.mark.parametrize("batches", [[batch(TWO, ONE)], [batch(TWO), batch(ONE)]])
def test_keys_that_fall_are_refused(batches):
    with pytest.raises(DataError, match="ascending keys"):
        read(*batches)


def test_keys_are_compared_as_bytes_without_a_sign():
    low, high = (key(0x7F, 1, Kind.GOOD), b"a"), (key(0x80, 1, Kind.GOOD), b"b")
    assert read(batch(low, high))[0] == b"ab"


def test_a_row_that_is_missing_or_twice():
    found = [{"partition": 0, "rows": 3}, {"partition": 2, "rows": 4}]
    _check(found, 7)
    with pytest.raises(DataError, match="expected 8 rows, every partition once, got 7"):
        _check(found, 8)
    with pytest.raises(DataError, match="a partition twice"):
        _check([found[0], found[0]], 6)
