"""Open domains: everybody's word travels as a plane of its point, and listed words are counted."""

from collections import Counter

import numpy as np

from mixtally.data.population import Population
from mixtally.encode.hashed import encode, normalized
from mixtally.records.listed import Listed
from mixtally.records.question import Question
from mixtally.simulation.truth import Truth


def hashed(words: Population, question: Question) -> Population:
    """The crowd of ``words``, whose bins are the words themselves, by their points.

    Raises PlanError for a question that is not open, DataError for words that are no text.
    """
    return Population(question, encode(question, words.question.labels or ())[words.codes])


def truth_of_words(crowd: Population, sought: Listed) -> Truth:
    """How many of ``crowd``, whose bins are the words themselves, hold each line, and others."""
    held: Counter[str] = Counter()
    for word, count in zip(crowd.question.labels or (), crowd.truth.tolist(), strict=True):
        held[normalized(word)] += count
    counts = np.zeros(len(sought.lines), dtype=np.int64)
    np.add.at(counts, sought.line_of, [held[name] for name in sought.words])
    return Truth(counts, {"others": (crowd.users - int(counts.sum()),)})
