"""Bin numbers as people hold them, taken as they are or refused: nothing is guessed or cut off."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixtally.errors import MessageError
from mixtally.primitives.bits import Rows

Records = NDArray[np.int64] | Rows
"""Bin numbers, shape (people,), or packed bits, shape (people, row bytes) and dtype uint8."""


def to_array(records: ArrayLike) -> NDArray[Any]:
    """An array, a list or a column of a data frame as an array of any kind."""
    try:
        return np.asanyarray(records)  # keeps a mask
    except ValueError:
        raise _records_error("rows of several lengths", "give one bin number a person") from None


def check_bin_numbers(codes: NDArray[Any], bins: int) -> NDArray[np.int64]:
    """``codes`` of shape (people,) as they are, once each is a whole number in 0..bins-1.

    Raises MessageError for anything but whole numbers and, by its place, for the first that is no
    bin, missing ones included.
    """
    if codes.ndim != 1:
        raise _records_error(f"an array of shape {codes.shape}", "give one bin number a person")
    if not codes.size:
        return np.empty(0, dtype=np.int64)
    if codes.dtype.kind not in "iu":  # a cast would make 0.9 and what is missing some bin
        raise _records_error(
            f"{codes.dtype} values, {codes[0]} first",
            "leave out people without a value and give integers; "
            "mixtally.protocol.encode.categorical makes them of labels",
        )
    if np.ma.is_masked(codes):
        raise _records_error("a masked array", "leave out the people whose value is masked")
    if codes.min() < 0 or codes.max() >= bins:
        place = int(np.flatnonzero((codes < 0) | (codes >= bins))[0])
        raise MessageError(
            f"record {place}",
            expected=f"a bin number in 0..{bins - 1}",
            got=f"{codes[place]}",
            do="leave that person out, or plan with a bin for it; -1 often stands for missing",
        )
    return np.asarray(codes, dtype=np.int64)


def _records_error(got: str, do: str) -> MessageError:
    return MessageError("records", expected="whole bin numbers", got=got, do=do)
