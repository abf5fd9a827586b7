"""Validation of bin numbers that come from a caller.

Values that are not whole numbers in range are refused. Guessing or clipping would count people in a
bin that they did not choose.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixtally.errors import MessageError
from mixtally.primitives.bits import Rows

Records = NDArray[np.int64] | Rows
"""Bin numbers, shape (people,), or packed bits, shape (people, row bytes) and dtype uint8."""


def to_array(records: ArrayLike) -> NDArray[Any]:
    """Convert an array, a list or a column of a data frame to an array of any type."""
    try:
        return np.asanyarray(records)  # keeps a mask
    except ValueError:
        raise _records_error("rows of several lengths", "give one bin number a person") from None


def check_bin_numbers(codes: NDArray[Any], bins: int) -> NDArray[np.int64]:
    """Return ``codes`` of shape (people,) unchanged if each is a whole number in 0..bins-1.

    Raises MessageError for another shape or type, for masked values, and for a number that is not a
    bin. The message names the first such record.
    """
    if codes.ndim != 1:
        raise _records_error(f"an array of shape {codes.shape}", "give one bin number a person")
    if not codes.size:
        return np.empty(0, dtype=np.int64)
    # A cast to integers would turn 0.9 and missing values into numbers of bins.
    if codes.dtype.kind not in "iu":
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
