"""Categorical values: a value belongs to the bin that has it as a label."""

from collections.abc import Iterable
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.model.question import Question


def encode(question: Question, values: Iterable[str]) -> NDArray[np.int64]:
    """Return the bin number of every value, shape (values,).

    Values and labels are compared in Unicode form NFC. Without labels, the value is the bin number
    itself.

    Parameters
    ----------
    question : Question
        The question, whose labels are the possible values.
    values : iterable of str
        The answer of each person.

    Raises
    ------
    DataError
        If a value is not a label of the question.
    """
    if question.labels is None:
        bins = {str(number): number for number in range(question.bins)}
    else:
        bins = {normalize("NFC", label): number for number, label in enumerate(question.labels)}
    return np.fromiter((_bin(question, bins, value) for value in values), dtype=np.int64)


def _bin(question: Question, bins: dict[str, int], value: str) -> int:
    """Return the number of the bin of one value."""
    found = bins.get(normalize("NFC", value))
    if found is None:
        raise DataError(
            f"value of {question.name!r}",
            expected=f"one of the {question.bins:,} labels of the question",
            got=repr(value),
            do="plan with a bin for it, or with a bin for everything else",
        )
    return found
