"""A partition as its task sees it: in order, copies dropped, nothing lost."""

import pyarrow as pa
import pytest

from mixtally.errors import DataError
from mixtally.server.engine.spark.partition import Partition
from mixtally.server.engine.spark.tasks import FAKE, GOOD, HASH_BYTES, UNOPENED
from mixtally.server.engine.spark.work import _check


def key(first, digest, kind):
    return bytes([first]) * HASH_BYTES + bytes([digest]) * HASH_BYTES + bytes([kind])


def batch(*rows):
    keys, messages = zip(*rows, strict=True)
    columns = [pa.array([0] * len(rows)), pa.array(keys, pa.binary()), pa.array(messages)]
    return pa.record_batch(columns, ["partition", "key", "message"])


ONE, TWO = (key(1, 7, GOOD), b"one"), (key(2, 8, GOOD), b"two")
FAKES = (key(3, 0, FAKE), b"fak")
JUNK = (key(4, 4, UNOPENED), b"")


def read(*batches):
    partition = Partition(batches)
    return b"".join(partition.messages()), partition


def test_copies_are_dropped_and_fakes_are_not():
    found, partition = read(batch(ONE, ONE, TWO), batch(TWO, FAKES, FAKES, JUNK), batch(JUNK))
    assert found == b"onetwofakfak"
    assert partition.rows == 8
    assert partition.kinds == {GOOD: 2, FAKE: 2, UNOPENED: 1}
    assert bytes(partition.bad) == JUNK[0][32:64]


def test_the_same_inside_two_envelopes_is_no_copy():
    other = (key(1, 9, GOOD), b"one")
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
    low, high = (key(0x7F, 1, GOOD), b"a"), (key(0x80, 1, GOOD), b"b")
    assert read(batch(low, high))[0] == b"ab"


def test_a_row_that_is_missing_or_twice():
    found = [{"partition": 0, "rows": 3}, {"partition": 2, "rows": 4}]
    _check(found, 7)
    with pytest.raises(DataError, match="expected 8 rows, every partition once, got 7"):
        _check(found, 8)
    with pytest.raises(DataError, match="a partition twice"):
        _check([found[0], found[0]], 6)
