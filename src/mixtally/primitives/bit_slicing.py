"""Packed coin flips by bit-slicing: 64 comparisons U < t at once, digit by digit of t.

Lane by lane a 64-bit uniform U is compared with the threshold from the top digit down; a lane is
settled at the first digit where they differ, and only words with unsettled lanes draw more. After
64 digits what is left has U = t, which is not below. The chance of a one is exactly t / 2^64.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives import compiled
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.chance import Chance, Words

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_SPAN_WORDS = 1 << 13
"""Words settled together: small enough for the cache, large enough for the interpreter."""
_DENSE_DIGITS = range(63, 55, -1)
"""Until 2^-8 of the lanes are unsettled too many words hold one for the rest to be worth moving."""
_SAVED_SECONDS_A_WORD = 40e-9


def coin_words(chance: Chance, threshold: int, count: int) -> Words:
    """``count`` words whose bits are independently one with probability threshold / 2^64."""
    fast = compiled.load_kernels(_SAVED_SECONDS_A_WORD * count)
    ones = np.zeros(count, dtype=np.uint64)
    for span in spans(count, _SPAN_WORDS):
        if fast:
            _settle_compiled(fast, chance, threshold, ones[span])
        else:
            _settle(chance, threshold, ones[span])
    return ones


def coin_rows(chance: Chance, threshold: int, like: Rows) -> Rows:
    """New rows of the shape of ``like`` whose bits, padding too, are such coins."""
    words = coin_words(chance, threshold, -(-like.size // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[: like.size].reshape(like.shape)


def _settle(chance: Chance, threshold: int, ones: Words) -> None:
    """Settle every lane of the all-zero ``ones`` in place."""
    unsettled = np.full(len(ones), _ALL)
    for digit, agree in zip(_DENSE_DIGITS, _draw_dense_words(chance, len(ones)), strict=True):
        if _settle_ones(agree, threshold >> digit & 1, unsettled):
            ones |= unsettled
        unsettled = agree
    (index,) = unsettled.astype(bool).nonzero()
    unsettled = unsettled[index]
    for digit in _sparse_digits(threshold):
        if not len(index):
            return
        agree = chance.words(len(index))
        if _settle_ones(agree, threshold >> digit & 1, unsettled):
            ones[index] |= unsettled
        (keep,) = agree.astype(bool).nonzero()
        index, unsettled = index[keep], agree[keep]


def _draw_dense_words(chance: Chance, count: int) -> NDArray[np.uint64]:
    """The words of the dense digits, a row each; drawn at once, as every call takes its time."""
    many = len(_DENSE_DIGITS)
    return chance.words(many * count).reshape(many, count)


def _sparse_digits(threshold: int) -> range:
    """The digits after the dense ones, down to the last one of ``threshold``.

    Behind it what is unsettled cannot be below the threshold.
    """
    top = _DENSE_DIGITS.stop
    rest = threshold & ((2 << top) - 1)
    return range(top, (rest & -rest).bit_length() - 2, -1) if rest else range(0)


def _settle_ones(drawn: Words, digit: int, unsettled: Words) -> bool:
    """Whether this digit settles lanes as ones: ``unsettled`` then keeps these, in place.

    ``drawn`` keeps, in place, the unsettled lanes that agree with the digit.
    """
    if not digit:
        np.invert(drawn, out=drawn)
    drawn &= unsettled
    if digit:
        unsettled ^= drawn
    return bool(digit)


def _settle_compiled(fast: ModuleType, chance: Chance, threshold: int, ones: Words) -> None:
    """The same from the same words."""
    unsettled = np.empty_like(ones)
    fast.settle(_draw_dense_words(chance, len(ones)), np.uint64(threshold), unsettled, ones)
    index = np.empty(len(ones) + 1, dtype=np.int64)
    left = fast.find(unsettled, index)
    for digit in _sparse_digits(threshold):
        if not left:
            return
        drawn = chance.words(left)
        left = fast.settle_found(drawn, bool(threshold >> digit & 1), unsettled, ones, index)
