"""Messages have one length, and only bins that exist can be read from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import MessageError
from mixtally.model.layout import Form, Layout
from mixtally.primitives.wide import make_numbers


def layout_of(form, bins):
    """A layout of any form; positions for at most nine bins."""
    return Layout(form, bins, cap=min(9, bins) if form is Form.POSITIONS else None)


CASES = st.integers(2, 70_000).flatmap(
    lambda d: st.tuples(st.just(d), st.lists(st.integers(0, d - 1), max_size=20))
)


@pytest.mark.parametrize(
    ("form", "bins", "width"),
    [
        (Form.BITS, 2, 1),
        (Form.BITS, 8, 1),
        (Form.BITS, 9, 2),
        (Form.BITS, 105, 14),
        (Form.BITS, 10**7, 1_250_000),
        (Form.INDEX, 2, 1),
        (Form.INDEX, 256, 1),
        (Form.INDEX, 257, 2),
        (Form.INDEX, 65_536, 2),
        (Form.INDEX, 65_537, 3),
        (Form.INDEX, 10**7, 3),
    ],
)
def test_a_message_is_as_wide_as_its_bins_need(form, bins, width):
    layout = Layout(form, bins)
    assert layout.message_bytes == width
    last = layout.rows(np.array([0, bins - 1]))
    assert last.shape == (2, width)
    assert np.array_equal(layout.check_rows(last), last)


@given(CASES)
def test_codes_come_back_from_indexes(case):
    bins, codes = case
    layout = Layout(Form.INDEX, bins)
    rows = layout.rows(np.array(codes, dtype=np.int64))
    assert rows.dtype == np.uint8
    assert layout.codes(layout.check_rows(rows)).tolist() == codes
    assert [int.from_bytes(bytes(row), "little") for row in rows] == codes


@given(CASES)
def test_codes_come_back_from_bits(case):
    bins, codes = case
    layout = Layout(Form.BITS, bins)
    rows = layout.check_rows(layout.rows(np.array(codes, dtype=np.int64)))
    ones = [np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist() for row in rows]
    assert ones == [[code] for code in codes]


@given(CASES, st.sampled_from(Form))
def test_messages_come_back_as_rows(case, form):
    bins, codes = case
    layout = layout_of(form, bins)
    rows = layout.rows(np.array(codes, dtype=np.int64))
    assert np.array_equal(layout.parse_messages([bytes(row) for row in rows]), rows)


@pytest.mark.parametrize("form", Form)
def test_no_messages_are_no_rows(form):
    layout = layout_of(form, 300)
    assert layout.parse_messages([]).shape == (0, layout.message_bytes)


def test_a_blank_has_no_bit_set():
    blank = Layout(Form.BITS, 9).blank_rows(3)
    assert blank.tolist() == [[0, 0]] * 3
    assert blank.dtype == np.uint8


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("change", [-1, 1, 14])
def test_a_message_of_the_wrong_length_is_refused(form, change):
    layout = layout_of(form, 300)
    good = bytes(layout.message_bytes)
    bad = bytes(layout.message_bytes + change)
    with pytest.raises(MessageError, match=rf"message 1: .* {len(bad)} bytes"):
        layout.parse_messages([good, bad, good])


def test_lengths_that_even_out_are_still_refused():
    layout = Layout(Form.INDEX, 300)
    with pytest.raises(MessageError, match="message 0"):
        layout.parse_messages([b"\0", b"\0\0\0"])


@pytest.mark.parametrize("bit", range(105, 112))
def test_a_set_padding_bit_is_refused(bit):
    message = bytearray(14)
    message[bit // 8] |= 1 << bit % 8
    with pytest.raises(MessageError, match=r"message 2: .* a bin past the last"):
        Layout(Form.BITS, 105).parse_messages([bytes(14), bytes(14), bytes(message)])


@pytest.mark.parametrize(
    ("bins", "index"), [(2, 2), (2, 255), (257, 257), (257, 0xFFFF), (10**7, 10**7)]
)
def test_an_index_past_the_last_is_refused(bins, index):
    layout = Layout(Form.INDEX, bins)
    width = layout.message_bytes
    with pytest.raises(MessageError, match=r"message 1: .* a bin past the last"):
        layout.parse_messages([bytes(width), index.to_bytes(width, "little")])


def test_every_byte_is_an_index_among_256_bins():
    layout = Layout(Form.INDEX, 256)
    assert layout.codes(layout.parse_messages([b"\0", b"\xff"])).tolist() == [0, 255]


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 3), (1, 3, 2)])
def test_an_array_of_the_wrong_shape_is_refused(shape):
    with pytest.raises(MessageError, match="an array of shape"):
        Layout(Form.BITS, 9).check_rows(np.zeros(shape, dtype=np.uint8))


@pytest.mark.parametrize("bins", [(1 << 63) + 1, (1 << 100) + 7, 1 << 127])
def test_numbers_of_up_to_sixteen_bytes_come_back_and_none_is_past_the_last(bins):
    layout = Layout(Form.INDEX, bins)
    codes = make_numbers([0, 1, 255, 1 << 63, bins - 1], bins)
    rows = layout.rows(codes)
    assert rows.shape == (5, layout.message_bytes)
    assert bytes(rows[4]) == (bins - 1).to_bytes(layout.message_bytes, "little")
    assert (layout.read_bins(rows) == codes).all()
    for past in (bins, (1 << 8 * layout.message_bytes) - 1):
        bad = np.frombuffer(past.to_bytes(layout.message_bytes, "little"), dtype=np.uint8)
        with pytest.raises(MessageError, match="a bin past the last"):
            layout.check_rows(np.concatenate([rows, bad[None]]))
