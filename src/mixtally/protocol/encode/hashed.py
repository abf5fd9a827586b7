"""Keyed hashing of texts of an open domain into the points of a plan.

Devices encode their text with this module, and analysts encode the words that they look for. A text
is normalized to Unicode form NFC, so that one spelling has one point. The normalized text is
written in UTF-8 and hashed by HMAC-SHA-256 with the seed of the plan as the key. The digest, read
as a big-endian integer modulo the number of points, is the point. The probabilities of any two
points differ by at most 2^-193. Case and spaces are kept.

Source: RFC 2104, FIPS 180-4.
"""

import hmac
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, PlanError
from mixtally.model.question import Question
from mixtally.model.word_list import WordList


def normalize_text(text: str) -> str:
    """Return ``text`` in Unicode form NFC, the only form that is hashed.

    Raises
    ------
    DataError
        If the text is empty or contains half of a surrogate pair.
    """
    form = unicodedata.normalize("NFC", text)
    if not form or any("\ud800" <= letter <= "\udfff" for letter in form):
        raise DataError(
            "value to hash",
            expected="text of whole Unicode characters",
            got=ascii(text[:40]),
            do="repair the value, or leave the person out",
        )
    return form


def encode(question: Question, texts: Iterable[str]) -> NDArray[np.int64]:
    """Return the point of every text as an integer, shape (texts,).

    Parameters
    ----------
    question : Question
        A question with an open domain.
    texts : iterable of str
        The texts, which are normalized before they are hashed.

    Raises
    ------
    PlanError
        If the question has no open domain.
    DataError
        If a text is empty or contains half of a surrogate pair.
    """
    if question.hashed is None:
        raise PlanError(
            f"question {question.name!r}",
            expected="an open domain",
            got=f"{question.bins:,} bins of one value each",
            do="plan with --open",
        )
    key, points = bytes.fromhex(question.hashed.seed), question.bins
    return np.fromiter((_point(key, points, text) for text in texts), dtype=np.int64)


def look_up_words(question: Question, words: Sequence[str]) -> WordList:
    """Return the words to look for, normalized and with their points.

    Parameters
    ----------
    question : Question
        A question with an open domain.
    words : sequence of str
        The words to look for.

    Raises
    ------
    PlanError
        If the question has no open domain.
    DataError
        If a word is empty or is not text, or if two words are equal after normalization.
    """
    names = tuple(normalize_text(word) for word in words)
    if len(set(names)) < len(names):
        (name, times), *_ = Counter(names).most_common(1)
        raise DataError(
            "words to look for",
            expected="different words",
            got=f"{name!r} {times} times once spellings are one (Unicode NFC)",
            do="keep one of them",
        )
    return WordList(names, encode(question, names))


def _point(key: bytes, points: int, text: str) -> int:
    """Return the number in [0, points) to which a text is hashed with the key."""
    digest = hmac.digest(key, normalize_text(text).encode("utf-8"), "sha256")
    return int.from_bytes(digest, "big") % points
