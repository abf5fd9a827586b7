"""Open domains: everybody's word travels as a plane of its point, and listed words are counted."""

import numpy as np

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.truth import Truth, Values, size_figures
from mixtally.model.question import Kind, Question
from mixtally.model.word_list import WordList
from mixtally.primitives.draw import Integers
from mixtally.protocol.encode.hashed import encode, normalize_text
from mixtally.protocol.estimate.conclude.set_sizes import NAME as SIZES


def hash_words(words: Population, question: Question) -> Population:
    """The crowd of ``words``, whose bins are the words themselves, by their points: those of a set
    once, -1 for none.

    Raises PlanError for a question that is not open, DataError for words that are no text.
    """
    points = encode(question, words.question.labels or ())
    if words.question.kind is Kind.ONE:
        return Population(question, points[words.codes])
    if words.records.dtype != np.int64:
        raise TypeError("sets of words are bin numbers, not bits")
    lacking = max(0, question.max_set - words.records.shape[1])
    sets: Integers = np.pad(words.records, ((0, 0), (0, lacking)), constant_values=-1)
    return Population(question, _drop_repeats(np.where(sets < 0, -1, points[sets])))


def count_true_words(crowd: Population, sought: WordList) -> Truth:
    """How many of ``crowd``, whose bins are the words themselves, hold each line, and others."""
    line = dict(zip(sought.words, sought.line_of.tolist(), strict=True))
    words = map(normalize_text, crowd.question.labels or ())
    line_of = np.array([*(line.get(word, -1) for word in words), -1])
    held = crowd.records.reshape(crowd.users, -1)
    lines = line_of[held]
    figures: dict[str, Values] = {"others": (int(((held >= 0) & (lines < 0)).sum()),)}
    if crowd.question.kind is Kind.SET:
        figures[SIZES] = size_figures(crowd)
    lines = _drop_repeats(lines)
    return Truth(np.bincount(lines[lines >= 0], minlength=len(sought.lines)), figures)


def _drop_repeats(rows: Integers) -> Integers:
    """Rows with -1 in place of a number that stands there before, in any order."""
    rows = np.sort(rows, axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = -1
    return rows
