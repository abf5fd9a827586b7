"""Values of an open or huge domain: the bin that a plan's hash gives them.

A text is normalized (Unicode form NFC, so that one spelling has one code), written in UTF-8 and
hashed by HMAC-SHA-256, the plan's seed being the key. The first 16 bytes, little-endian, are a
number x below 2^128. Its bin is floor(x * bins / 2^128), which no bin is more probable to be than
another by more than 2^-128. Letters keep their case and spaces stay.

Source: RFC 2104, FIPS 180-4.
"""

import hmac
import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, PlanError
from mixtally.records.question import Question

_DIGEST_BYTES = 16


def normalized(text: str) -> str:
    """The one form of ``text`` that is hashed; raises DataError for no text or half characters."""
    form = unicodedata.normalize("NFC", text)
    if not form or any("\ud800" <= letter <= "\udfff" for letter in form):
        raise DataError(
            "value to hash",
            wanted="text of whole Unicode characters",
            got=ascii(text[:40]),
            do="repair the value, or leave the person out",
        )
    return form


def encode(question: Question, values: Iterable[str]) -> NDArray[np.int64]:
    """The bin number of every value, shape (values,).

    Raises PlanError for a question whose values share no bins, DataError as ``normalized`` does.
    """
    if question.hashed is None:
        raise PlanError(
            f"question {question.name!r}",
            wanted="bins that values share by a hash",
            got=f"{question.bins:,} bins of one value each",
            do="plan with --hash-bins",
        )
    key, bins = bytes.fromhex(question.hashed.seed), question.bins
    return np.fromiter((_bin(key, bins, value) for value in values), dtype=np.int64)


def _bin(key: bytes, bins: int, value: str) -> int:
    digest = hmac.digest(key, normalized(value).encode("utf-8"), "sha256")
    return int.from_bytes(digest[:_DIGEST_BYTES], "little") * bins >> 8 * _DIGEST_BYTES
