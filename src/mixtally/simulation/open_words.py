"""Open domains: everybody's word travels as a plane of its point, and listed words are counted."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mixtally.data.population import Population
from mixtally.encode.hashed import encode, normalized
from mixtally.errors import DataError
from mixtally.estimate.listed import Listed
from mixtally.records.question import Question
from mixtally.simulation.truth import Truth


def hashed(words: Population, question: Question) -> Population:
    """The crowd of ``words``, whose bins are the words themselves, by their points.

    Raises PlanError for a question that is not open, DataError for words that are no text.
    """
    return Population(question, encode(question, words.question.labels or ())[words.codes])


def listed(question: Question, words: Sequence[str]) -> Listed:
    """``words`` to look for with their points.

    Raises DataError for a word that stands twice, and as ``encode`` and ``Listed`` do.
    """
    names = [normalized(word) for word in words]
    if len(set(names)) < len(names):
        (name, times), *_ = Counter(names).most_common(1)
        raise DataError(
            "words to look for",
            wanted="different words",
            got=f"{name!r} {times} times once spellings are one (Unicode NFC)",
            do="keep one of them",
        )
    return Listed(tuple(names), encode(question, names))


def truth_of_words(crowd: Population, sought: Listed) -> Truth:
    """How many of ``crowd``, whose bins are the words themselves, hold each line, and others."""
    held: Counter[str] = Counter()
    for word, count in zip(crowd.question.labels or (), crowd.truth.tolist(), strict=True):
        held[normalized(word)] += count
    counts = np.zeros(len(sought.lines), dtype=np.int64)
    np.add.at(counts, sought.line_of, [held[name] for name in sought.words])
    return Truth(counts, {"others": (crowd.users - int(counts.sum()),)})
