"""Packed coin flips by bit-slicing: 64 comparisons U < t at once, digit by digit of t.

Lane by lane a 64-bit uniform U is compared with the threshold from the top digit down; a lane is
settled at the first digit where they differ, and only words with unsettled lanes draw more. After
64 digits what is left has U = t, which is not below. The chance of a one is exactly t / 2^64.
"""

import numpy as np

from mixtally.ground.bits import Rows, spans
from mixtally.ground.chance import Chance, Words

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_SPAN_WORDS = 1 << 13
"""Words settled together: small enough for the cache, large enough for the interpreter."""
_DENSE_DIGITS = 8
"""Until 2^-8 of the lanes are unsettled too many words hold one for the rest to be worth moving."""


def coin_words(chance: Chance, threshold: int, count: int) -> Words:
    """``count`` words whose bits are independently one with probability threshold / 2^64."""
    ones = np.zeros(count, dtype=np.uint64)
    for span in spans(count, _SPAN_WORDS):
        _settle(chance, threshold, ones[span])
    return ones


def coin_rows(chance: Chance, threshold: int, like: Rows) -> Rows:
    """New rows of the shape of ``like`` whose bits, padding too, are such coins."""
    words = coin_words(chance, threshold, -(-like.size // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[: like.size].reshape(like.shape)


def _settle(chance: Chance, threshold: int, ones: Words) -> None:
    """Settle every lane of the all-zero ``ones`` in place."""
    unsettled = np.full(len(ones), _ALL)
    for digit in range(63, 63 - _DENSE_DIGITS, -1):
        ones |= _settled_ones(chance, threshold >> digit & 1, unsettled)
    index = np.flatnonzero(unsettled)
    unsettled = unsettled[index]
    for digit in range(63 - _DENSE_DIGITS, -1, -1):
        if not len(index) or threshold & ((2 << digit) - 1) == 0:
            return  # no ones left in t: what is unsettled cannot be below it
        ones[index] |= _settled_ones(chance, threshold >> digit & 1, unsettled)
        keep = np.flatnonzero(unsettled)
        index, unsettled = index[keep], unsettled[keep]


def _settled_ones(chance: Chance, digit: int, unsettled: Words) -> Words:
    """Lanes settled as ones by this digit; ``unsettled`` keeps, in place, those that agree."""
    drawn = chance.words(len(unsettled))
    if not digit:
        unsettled &= ~drawn
        return np.zeros_like(unsettled)
    below = unsettled & ~drawn
    unsettled &= drawn
    return below
