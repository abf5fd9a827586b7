"""Only bins are encoded: missing, cut and foreign numbers are refused by their place."""

import numpy as np
import pytest

from helpers.contracts import flipped, uniform
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.protocol.randomize import randomize_records

PARTS = [
    *(uniform(bins) for bins in (8, 200, 256, 1000, 65536)),
    *(flipped(bins, q=2.0**-40) for bins in (8, 13, 16, 200)),
]


def sent(part, records):
    return randomize_records(part, records, SeededChance(1))


class Column:
    """What numpy is handed by a column of a data frame, or by another library's array."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._values, dtype=dtype)


@pytest.mark.parametrize("part", PARTS, ids=lambda p: f"{p.protocol} {p.bins}")
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8])
def test_a_number_that_is_no_bin_is_refused_by_its_place(part, dtype):
    """-1 is what data frames write for missing; it would be the last bin, or no bin at all."""
    for wrong in (-1, -part.bins, part.bins, part.bins + 100):
        if not np.iinfo(dtype).min <= wrong <= np.iinfo(dtype).max:
            continue
        records = np.array([0, 7, wrong, 1, wrong], dtype=dtype)
        with pytest.raises(MessageError, match=rf"record 2: expected .* got {wrong}\."):
            sent(part, records)
        with pytest.raises(MessageError, match=rf"record 2: expected .* got {wrong}\."):
            sent(part, records.tolist())
        with pytest.raises(MessageError, match="record 0"):
            sent(part, [wrong])


@pytest.mark.parametrize(
    "records",
    [
        [0.9], [0.0, 1.0], [float("nan")], [True, False], ["1"], [None, 1], [2**70], [1j],
        np.ma.masked_array([0, 1], [False, True]), Column([0.0, float("nan")]), [[0], [1, 2]], 3,
        np.array(["2020-01-01"], dtype="datetime64[D]"), {0: 1},
    ],
)  # fmt: skip
@pytest.mark.parametrize("part", [PARTS[0], PARTS[-1]], ids=lambda p: p.protocol)
def test_what_is_no_whole_number_is_never_cast(part, records):
    with pytest.raises(MessageError, match="whole bin numbers"):
        sent(part, records)


def test_whole_numbers_that_are_no_packed_bits_are_refused():
    for part, wanted in ((PARTS[0], "a person, got"), (PARTS[-1], "or packed bits")):
        with pytest.raises(MessageError, match=wanted):
            sent(part, [[0, 1], [1, 0]])


@pytest.mark.parametrize("part", PARTS, ids=lambda p: f"{p.protocol} {p.bins}")
def test_lists_columns_and_every_integer_type_send_the_same(part):
    codes = np.array([0, 3, 7, part.bins - 1])
    every = [codes.tolist(), tuple(codes.tolist()), Column(codes), np.ma.masked_array(codes)]
    widths = ("i4", "u4", "u8", ">i8", "u1", "u2")
    every += [codes.astype(w) for w in widths if codes.max() <= np.iinfo(w).max]
    for records in every:
        assert sent(part, records).tolist() == sent(part, codes).tolist()


def test_nobody_sends_nothing():
    for nobody in ([], np.empty(0, dtype=np.int64)):
        assert sent(PARTS[-1], nobody).shape == (0, 25)


@pytest.mark.parametrize("kind", ["int64", "Int64", "int8", "int64[pyarrow]"])
def test_columns_of_pandas_are_taken_and_missing_values_refused(kind):
    frames = pytest.importorskip("pandas")
    held = frames.Series([4, 0, 7, 1], dtype=kind)
    assert sent(PARTS[0], held[held > 0]).tolist() == [[4], [7], [1]]
    if kind[0] == "I" or "pyarrow" in kind:
        with pytest.raises(MessageError, match="without a value"):
            sent(PARTS[0], frames.Series([4, None], dtype=kind))


def test_a_missing_category_is_no_bin():
    frames = pytest.importorskip("pandas")
    words = frames.Series(["a", None, "b"], dtype="category")
    with pytest.raises(MessageError, match=r"record 1: .* got -1"):
        sent(PARTS[0], words.cat.codes)
    with pytest.raises(MessageError, match="categorical"):
        sent(PARTS[0], words)
