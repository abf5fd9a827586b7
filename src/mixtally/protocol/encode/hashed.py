"""Texts of an open domain: the point that a plan's keyed hash gives them.

A text is normalized (Unicode form NFC, so that one spelling has one point), written in UTF-8 and
hashed by HMAC-SHA-256, the plan's seed being the key. The digest is a big-endian integer; modulo
the number of points it is the point, which no point is likelier to be than another by more than
2^-193. Letters keep their case and spaces stay.

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
    """The one form of ``text`` that is hashed; raises DataError for no text or half characters."""
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
    """The point of every text, shape (texts,).

    Raises PlanError for a question that is not open, DataError as ``normalized`` does.
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
    """Words to look for, in their one form.

    Raises DataError for a word that stands twice, and as ``encode`` and ``Listed`` do.
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
    digest = hmac.digest(key, normalize_text(text).encode("utf-8"), "sha256")
    return int.from_bytes(digest, "big") % points
