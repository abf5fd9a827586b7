"""Arrays of integers of up to 16 bytes: the big-endian bytes of each, in an array of type S16.

NumPy orders and compares such bytes as it does the integers. Messages that name planes have up to
16 bytes if sets are large (``device.contract.planes``). An array of *numbers* has the type int64 if
all of them are below 2^63, and the type S16 otherwise.

Arithmetic uses four *limbs* of 32 bits, the most significant first, shape (4, numbers). A limb and
a remainder by a divisor below 2^31 fit in 64 bits.

Source: Knuth, The Art of Computer Programming, volume 2 (1997), section 4.3.1, exercise 16.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.chance import Chance, Words
from mixtally.primitives.draw import draw_below

Numbers = NDArray[Any]
MOST_NARROW = 1 << 63
"""Numbers below this limit are stored as int64."""
WIDE_BYTES = 16
_WIDE = np.dtype(f"S{WIDE_BYTES}")
_LIMB = np.uint64(32)


def number_type(bound: int) -> np.dtype[Any]:
    """Return the type of an array of numbers below ``bound``: int64 or S16."""
    return np.dtype(np.int64) if bound <= MOST_NARROW else _WIDE


def make_numbers(integers: Iterable[int], bound: int) -> Numbers:
    """Return an array of integers, of eight or sixteen bytes each as ``bound`` requires.

    Parameters
    ----------
    integers : iterable of int
        The integers, in [0, ``bound``).
    bound : int
        A number above all integers.
    """
    if bound <= MOST_NARROW:
        return np.array(list(integers), dtype=np.int64)
    return np.array([one.to_bytes(WIDE_BYTES, "big") for one in integers], dtype=_WIDE)


def is_wide(numbers: Numbers) -> bool:
    """Return whether each number has 16 bytes (type S16), not 8."""
    return numbers.dtype == _WIDE


def is_below(numbers: Numbers, bound: int) -> NDArray[np.bool_]:
    """Return whether each number is in [0, ``bound``).

    Parameters
    ----------
    numbers : Numbers
        Integers as int64 or S16.
    bound : int
        The bound, at most 2^127.
    """
    if not is_wide(numbers):
        return np.asarray((numbers >= 0) & (numbers < bound))
    return np.asarray(numbers < make_numbers([bound], 1 << 128)[0])


def to_plain(numbers: Numbers) -> list[int | str]:
    """Return numbers for JSON: 32 hexadecimal digits each if they have 16 bytes."""
    if not is_wide(numbers):
        return list(numbers.tolist())
    return [bytes(one).hex() for one in _to_bytes(numbers)]


def from_plain(plain: Sequence[int | str]) -> Numbers:
    """Return the array of numbers from which ``to_plain`` made ``plain``."""
    if not any(isinstance(one, str) for one in plain):
        return np.array(plain, dtype=np.int64)
    return np.array([bytes.fromhex(str(one)) for one in plain], dtype=_WIDE)


def from_little_endian(rows: NDArray[np.uint8]) -> Numbers:
    """Return the numbers of little-endian bytes, shape (numbers, bytes), with at most 16 bytes."""
    wide = np.zeros((len(rows), WIDE_BYTES), dtype=np.uint8)
    wide[:, WIDE_BYTES - rows.shape[1] :] = rows[:, ::-1]
    return wide.view(_WIDE).reshape(-1)


def to_little_endian(numbers: Numbers, size: int) -> NDArray[np.uint8]:
    """Return the least significant bytes of wide numbers, shape (numbers, size).

    Parameters
    ----------
    numbers : Numbers
        The numbers, of 16 bytes each.
    size : int
        The number of bytes, at most 16.
    """
    return np.ascontiguousarray(_to_bytes(numbers)[:, ::-1][:, :size])


def draw_numbers(chance: Chance, bound: int, count: int) -> Numbers:
    """Draw ``count`` independent uniform integers in [0, ``bound``).

    For a bound above 2^63 a number is drawn as two words. The high bits that no number below
    ``bound`` has are cleared. Numbers that are not below ``bound`` are drawn again.

    Parameters
    ----------
    chance : Chance
        The source of the random words.
    bound : int
        A bound in [1, 2^128).
    count : int
        The number of integers.
    """
    if bound <= MOST_NARROW:
        return draw_below(chance, bound, count)
    mask, least = (1 << (bound - 1).bit_length()) - 1, (1 << 64) - 1
    high_mask, high_bound = np.uint64(mask >> 64), np.uint64(bound >> 64)
    low_bound = np.uint64(bound & least)
    low, high = np.empty((2, count), dtype=np.uint64)
    again = np.arange(count)
    while again.size:
        words = chance.words(2 * again.size).reshape(-1, 2)
        some, above = words[:, 0] & np.uint64(mask & least), words[:, 1] & high_mask
        low[again], high[again] = some, above
        again = again[(above > high_bound) | ((above == high_bound) & (some >= low_bound))]
    return _join_words(high, low)


def _to_bytes(numbers: Numbers) -> NDArray[np.uint8]:
    return np.ascontiguousarray(numbers).view(np.uint8).reshape(-1, WIDE_BYTES)


def _join_words(high: Words, low: Words) -> Numbers:
    return np.stack([high, low], axis=1).astype(">u8").view(_WIDE).reshape(-1)


def divide(numbers: Numbers, divisor: int) -> tuple[Numbers, NDArray[np.int64]]:
    """Return the quotients and the remainders of a division.

    Parameters
    ----------
    numbers : Numbers
        The dividends.
    divisor : int
        The divisor, in [1, 2^31).
    """
    if not is_wide(numbers):
        quotients, remainders = np.divmod(numbers, divisor)
        return quotients, remainders
    limbs = _to_limbs(numbers)
    remainders = _divide_limbs(limbs, divisor)
    return _from_limbs(limbs), remainders


def digits_in_base(numbers: Numbers, base: int, count: int) -> NDArray[np.int64]:
    """Return the least significant digits of each number, units first, shape (count, numbers).

    Parameters
    ----------
    numbers : Numbers
        Integers as int64 or S16.
    base : int
        The base, in [2, 2^31).
    count : int
        The number of digits.
    """
    if not is_wide(numbers):
        return np.stack([numbers // base**place % base for place in range(count)])
    limbs = _to_limbs(numbers)
    found = np.empty((count, len(numbers)), dtype=np.int64)
    for place in range(count):
        # The remaining quotient is below 2^128 / base^place, so its first limbs are 0.
        first = 3 - (((1 << 128) - 1) // base**place).bit_length() // 32
        found[place] = _divide_limbs(limbs[max(0, first) :], base)
    return found


def multiply_add(numbers: Numbers, factor: int, more: NDArray[np.int64]) -> Numbers:
    """Return numbers * factor + more.

    Parameters
    ----------
    numbers : Numbers
        Integers as int64 or S16.
    factor : int
        The factor, below 2^31.
    more : ndarray of int64
        The summands, in [0, ``factor``).
    """
    if not is_wide(numbers):
        return np.asarray(numbers * factor + more)
    limbs, carry = _to_limbs(numbers), more.astype(np.uint64)
    for limb in limbs[::-1]:
        limb *= np.uint64(factor)
        limb += carry
        carry = limb >> _LIMB
        limb &= np.uint64(0xFFFFFFFF)
    return _from_limbs(limbs)


def _to_limbs(numbers: Numbers) -> NDArray[np.uint64]:
    limbs = np.ascontiguousarray(numbers).view(">u4").reshape(-1, 4)
    return np.ascontiguousarray(limbs.T).astype(np.uint64)


def _from_limbs(limbs: NDArray[np.uint64]) -> Numbers:
    return np.ascontiguousarray(limbs.T.astype(">u4")).view(_WIDE).reshape(-1)


def _divide_limbs(limbs: NDArray[np.uint64], divisor: int) -> NDArray[np.int64]:
    """Divide numbers in place by a divisor below 2^31, and return the remainders."""
    by, remainder = np.uint64(divisor), np.zeros(limbs.shape[1], dtype=np.uint64)
    for limb in limbs:
        dividend = remainder << _LIMB | limb
        np.floor_divide(dividend, by, out=limb)
        remainder = dividend - limb * by
    return remainder.astype(np.int64)
