"""Frequent coin flips by bit-slicing: 64 comparisons at once.

A coin is one if U < t, for a uniform 64-bit integer U and the threshold t. Each of the 64 bit
positions of a word, called a *lane*, belongs to one coin. U and t are compared one binary digit at
a time, from the most significant digit on, in all lanes at once. A lane is *settled* at the first
digit in which U and t differ. Only words with unsettled lanes draw another digit. A lane that is
unsettled after 64 digits has U = t, so its coin is zero. The probability of a one is exactly t /
2^64.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives import compiled
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.chance import Chance, Words

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
# Number of words settled at once: few enough for the cache, many enough to outweigh the
# interpreter's overhead.
_SPAN_WORDS = 1 << 13
# The digits that are compared in all words, settled or not. After these eight digits, 2^-8 of the
# lanes are unsettled. With fewer digits, too many words have an unsettled lane: selecting these
# words would cost more than it saves.
_DENSE_DIGITS = range(63, 55, -1)
_SAVED_SECONDS_A_WORD = 40e-9


def coin_words(chance: Chance, threshold: int, count: int) -> Words:
    """Draw ``count`` words whose bits are independently one with probability threshold / 2^64."""
    fast = compiled.load_kernels(_SAVED_SECONDS_A_WORD * count)
    ones = np.zeros(count, dtype=np.uint64)
    for span in spans(count, _SPAN_WORDS):
        if fast:
            _settle_compiled(fast, chance, threshold, ones[span])
        else:
            _settle(chance, threshold, ones[span])
    return ones


def coin_rows(chance: Chance, threshold: int, like: Rows) -> Rows:
    """Draw rows of independent bits that are one with a given probability.

    The padding is drawn as well, so the caller must clear it.

    Parameters
    ----------
    chance : Chance
        The source of randomness.
    threshold : int
        The probability of a one, times 2^64.
    like : Rows
        Rows with the shape of the result.
    """
    words = coin_words(chance, threshold, -(-like.size // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[: like.size].reshape(like.shape)


def _settle(chance: Chance, threshold: int, ones: Words) -> None:
    """Write the outcome of every coin to ``ones``, whose bits must all be zero."""
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
    """Draw the words for the digits that are compared in all words, shape (digits, count).

    One call for all of these digits saves overhead.
    """
    many = len(_DENSE_DIGITS)
    return chance.words(many * count).reshape(many, count)


def _sparse_digits(threshold: int) -> range:
    """Return the digits after ``_DENSE_DIGITS``, down to the lowest set digit of ``threshold``.

    All digits of the threshold below this one are zero. So the number of a lane that is still
    unsettled there is not below the threshold, and its coin is zero.
    """
    top = _DENSE_DIGITS.stop
    rest = threshold & ((2 << top) - 1)
    return range(top, (rest & -rest).bit_length() - 2, -1) if rest else range(0)


def _settle_ones(drawn: Words, digit: int, unsettled: Words) -> bool:
    """Compare one digit, and return whether the coins of the lanes that it settles are ones.

    ``drawn`` has a random digit for every lane, and ``digit`` is the digit of the threshold.
    ``unsettled`` has a set bit for every lane that was unsettled before. Both arrays are changed in
    place. Afterwards ``drawn`` has a set bit for every lane that remains unsettled, because its
    digits are equal. If the result is True, ``unsettled`` then has a set bit for every lane that
    was settled now.
    """
    if not digit:
        np.invert(drawn, out=drawn)
    drawn &= unsettled
    if digit:
        unsettled ^= drawn
    return bool(digit)


def _settle_compiled(fast: ModuleType, chance: Chance, threshold: int, ones: Words) -> None:
    """Compute the result of ``_settle`` from the same words with the compiled kernels."""
    unsettled = np.empty_like(ones)
    fast.settle(_draw_dense_words(chance, len(ones)), np.uint64(threshold), unsettled, ones)
    index = np.empty(len(ones) + 1, dtype=np.int64)
    remaining = fast.find(unsettled, index)
    for digit in _sparse_digits(threshold):
        if not remaining:
            return
        drawn = chance.words(remaining)
        remaining = fast.settle_found(drawn, bool(threshold >> digit & 1), unsettled, ones, index)
