"""Values of a column in one batch: the distinct values as texts, and the value of each row.

All functions work on Arrow arrays. ``rows``, ``labels`` and the forms in ``lab.data.forms`` use
them, and ``api`` for values in memory.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.label_merging import normalize_nfc, value_text

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
LIST_START, LIST_PART_END = "\x01", "\x02"
"""Start of a list that is stored as one text, and end of each label in the list."""
_WIDE = 1 << 62
"""Bound of whole numbers, so that their differences stay within 64 bits."""
_NARROW = 1 << 12
"""Width of a range of whole numbers that is indexed directly, which is faster than hashing."""


class Column(NamedTuple):
    """A column without gaps: its distinct values as ``texts``, in the order of their first rows.

    ``first_rows`` has the index of the first row with each value, shape (texts,). ``codes`` has for
    each row the index of its value in ``texts``, shape (rows,).
    """

    texts: list[str]
    first_rows: Codes
    codes: Codes


def simplify_types(array: Array) -> Array | None:
    """Return ``array`` with texts and bytes as strings, and timestamps in microseconds.

    Other single values are unchanged. Returns None if the values are lists, or have another type
    that is not a single value.
    """
    kind, types = array.type, pyarrow.types
    if types.is_dictionary(kind):
        values = simplify_types(array.dictionary)
        if values is None:
            return None
        return pyarrow.DictionaryArray.from_arrays(array.indices, values)
    if types.is_string(kind) or types.is_boolean(kind) or types.is_null(kind):
        return array
    if types.is_large_string(kind) or types.is_string_view(kind) or _is_bytes(kind):
        return array.cast(pyarrow.string())
    if types.is_timestamp(kind):
        return array.cast(pyarrow.timestamp("us", kind.tz), safe=False)
    single = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return array if single or types.is_date(kind) or types.is_time(kind) else None


def join_lists(array: Array) -> Array | None:
    """Return each list of single values as one text; None if ``array`` is not of such lists.

    `split_labels` undoes the join. A missing label in a list becomes an empty label. Raises
    DataError if a label contains the character ``LIST_PART_END``, which ends each label.
    """
    kind = array.type
    if not (pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)):
        return None
    inside = simplify_types(array.flatten())
    if inside is None:
        return None
    if not pyarrow.types.is_dictionary(inside.type):
        inside = inside.dictionary_encode()
    texts = _texts(inside.dictionary)
    strange = [text for text in texts if LIST_PART_END in text]
    if strange:
        raise DataError(
            "a label in a list",
            expected="text without control characters",
            got=repr(strange[0]),
            do="clean the text",
        )
    # Joining once for each distinct label, not for each row, keeps lists as fast as texts.
    ended = pyarrow.array([text + LIST_PART_END for text in texts], pyarrow.string())
    sizes = compute.fill_null(compute.list_value_length(array), 0).to_numpy()
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    labels = compute.fill_null(ended.take(inside.indices), LIST_PART_END)
    joined = compute.binary_join(pyarrow.ListArray.from_arrays(ends, labels), "")
    marked = compute.binary_join_element_wise(LIST_START, joined, "")
    return compute.if_else(array.is_valid(), marked, pyarrow.scalar(None, pyarrow.string()))


def join_lists_and_singles(lists: Array, singles: Array) -> Array:
    """Return one text for each row: a joined list, or else a single value.

    Each row is null in ``lists`` or in ``singles``.
    """
    return compute.coalesce(join_lists(lists), singles)


def has_list_cells(array: Array) -> bool:
    """Return whether some cells are lists: of a list type of Arrow, or joined by `join_lists`."""
    kind = array.type
    if pyarrow.types.is_string(kind):
        return bool(compute.any(compute.starts_with(array, LIST_START)).as_py())
    return bool(pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind))


def split_labels(text: str, separator: str | None) -> list[str]:
    """Return the labels in a cell: those of a joined list, or the parts between separators."""
    if is_list(text):
        return text[1:].split(LIST_PART_END)[:-1]
    return [text] if separator is None else text.split(separator)


def is_list(text: str) -> bool:
    """Return whether ``text`` is a list that `join_lists` has joined."""
    return text.startswith(LIST_START) and text.endswith((LIST_START, LIST_PART_END))


def can_have_lists(array: Array) -> bool:
    """Return whether some text of ``array`` may be a joined list."""
    texts = array.dictionary if pyarrow.types.is_dictionary(array.type) else array
    if not pyarrow.types.is_string(texts.type):
        return True
    return bool(compute.any(compute.starts_with(texts, LIST_START)).as_py())


def _is_bytes(kind: Array) -> bool:
    types = pyarrow.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


def encode_texts(array: Array) -> Array:
    """Return an array of texts as a dictionary array, and any other ``array`` unchanged."""
    return array.dictionary_encode() if pyarrow.types.is_string(array.type) else array


def find_gaps(array: Array) -> Flags:
    """Return a flag for each row, true if it has no value: null, NaN, or text of spaces only."""
    if pyarrow.types.is_dictionary(array.type):
        # A null has code -1, which selects the appended last entry.
        present = np.append(~find_gaps(array.dictionary), False)
        return ~present[_codes(array)]
    if pyarrow.types.is_string(array.type):
        blank = compute.or_(
            compute.equal(compute.binary_length(array), 0), compute.utf8_is_space(array)
        )
        return _flags(compute.fill_null(blank, True))
    if pyarrow.types.is_floating(array.type):
        return _flags(compute.is_null(array, nan_is_null=True))
    return _flags(compute.is_null(array))


def _flags(array: Array) -> Flags:
    found: Flags = array.to_numpy(zero_copy_only=False)
    return found


def _codes(array: Array) -> Codes:
    """Return for each row of a dictionary array the index of its value, -1 for null."""
    found: Codes = compute.fill_null(array.indices.cast(pyarrow.int64()), -1).to_numpy()
    return found


def encode_column(array: Array) -> Column:
    """Return the `Column` of an array without gaps."""
    if pyarrow.types.is_integer(array.type):
        narrow = _encode_narrow_integers(array)
        if narrow is not None:
            return narrow
    if not pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    order, first, codes = _order_codes(_codes(array), len(array.dictionary))
    return Column(_texts(array.dictionary.take(pyarrow.array(order))), first, codes)


def levels_of(array: Array) -> list[str]:
    """Return the texts of all values in the dictionary of ``array``, used or not, in its order."""
    values = array.dictionary
    return _texts(values.filter(pyarrow.array(~find_gaps(values))))


def match_texts(array: Array, test: Callable[[str], bool]) -> Flags:
    """Return a flag for each row, true if it has a value and ``test`` is true of its text."""
    if not pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    found = [text is not None and test(text) for text in texts_of(array.dictionary)]
    return np.append(np.array(found, dtype=np.bool_), False)[_codes(array)]


def texts_of(array: Array) -> list[str | None]:
    """Return the text of every row, None for a missing value."""
    return [value_text(value) for value in array.to_pylist()]


def row_texts(array: Array) -> list[str]:
    """Return the text of every row of an array without gaps."""
    plain = array.dictionary_decode() if pyarrow.types.is_dictionary(array.type) else array
    return _texts(plain)


def _encode_narrow_integers(array: Array) -> Column | None:
    """Return the column of whole numbers in a narrow range; None for other numbers."""
    ends = compute.min_max(array).as_py()
    low, high = ends["min"], ends["max"]
    if low is None or high - low >= _NARROW or not -_WIDE < low <= high < _WIDE:
        return None
    codes = array.cast(pyarrow.int64()).to_numpy() - low
    order, first, codes = _order_codes(codes, high - low + 1)
    return Column([str(low + code) for code in order.tolist()], first, codes)


def _order_codes(codes: Codes, size: int) -> tuple[Codes, Codes, Codes]:
    """Return three arrays that describe ``codes``, all of which are below ``size``.

    The first array has the distinct codes, in the order of the first rows in which they occur. The
    second array has these first rows. The third array has for each row the index of its code in the
    first array.
    """
    rows = len(codes)
    first = np.full(size, rows, dtype=np.int64)
    # NumPy keeps the last of several assignments, so assigning in reverse keeps the first row.
    first[codes[::-1]] = np.arange(rows - 1, -1, -1)
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < rows)]
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(len(order))
    return order, first[order], place[codes]


def _texts(values: Array) -> list[str]:
    if pyarrow.types.is_string(values.type) and values.null_count == 0:
        texts: list[str] = values.to_pylist()
        return texts if all(map(str.isascii, texts)) else [*map(normalize_nfc, texts)]
    if pyarrow.types.is_float16(values.type) or pyarrow.types.is_float32(values.type):
        # The text of a 32-bit number is shorter than its value as a double: 0.7, not 0.699999988.
        found: list[object] = [float(str(value)) for value in values.to_numpy()]
    else:
        found = values.to_pylist()
    return [value_text(value) or "" for value in found]


def _is_rounded_in_a_cast(kind: Array) -> bool:
    """Return whether casting values of type ``kind`` to double can differ from parsing their texts.

    For example, the cast of a 32-bit 0.7 gives 0.699999988. Arrow casts a decimal by multiplying it
    by an inexact power of ten.
    """
    types = pyarrow.types
    return bool(types.is_float16(kind) or types.is_float32(kind) or types.is_decimal(kind))


def parse_numbers(array: Array) -> NDArray[np.float64] | None:
    """Return the numbers of an array without gaps; None if a value is not a plain finite number."""
    if pyarrow.types.is_dictionary(array.type):
        inside = parse_numbers(array.dictionary)
        return None if inside is None else inside[_codes(array)]
    if pyarrow.types.is_boolean(array.type):
        return None
    if _is_rounded_in_a_cast(array.type):
        distinct = array.dictionary_encode()
        texts = pyarrow.array(_texts(distinct.dictionary), pyarrow.string())
        return parse_numbers(pyarrow.DictionaryArray.from_arrays(distinct.indices, texts))
    try:
        found: NDArray[np.float64] = array.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowException:
        return None
    return found if bool(np.isfinite(found).all()) else None


def parse_digits(array: Array) -> NDArray[np.uint8] | None:
    """Return strings of zeros and ones as a matrix, shape (rows, digits); None for other values."""
    if pyarrow.types.is_dictionary(array.type):
        inside = parse_digits(array.dictionary)
        return None if inside is None else inside[_codes(array)]
    if not pyarrow.types.is_string(array.type) or not len(array):
        return None
    lengths = compute.min_max(compute.binary_length(array)).as_py()
    width = lengths["max"]
    if not width or lengths["min"] != width:
        return None
    _, offsets, data = array.buffers()
    start = int(np.frombuffer(offsets, dtype=np.int32)[array.offset])
    table = np.frombuffer(data, dtype=np.uint8)[start : start + len(array) * width]
    found = (table - ord("0")).reshape(-1, width)
    return found if int(found.max()) <= 1 else None


def fill_gaps(array: Array, gap: Flags, label: str) -> Array:
    """Return ``array`` with ``label`` in the rows that ``gap`` flags, as a dictionary of texts."""
    column = encode_column(array.filter(pyarrow.array(~gap)))
    codes = np.full(len(gap), len(column.texts), dtype=np.int64)
    codes[~gap] = column.codes
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array([*column.texts, label]))
