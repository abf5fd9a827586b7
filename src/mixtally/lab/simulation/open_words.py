"""Open questions: each person's word is sent as a random plane through its point.

The words are not known in advance. A hash maps each word to a *point* of a finite geometry, and a
message names a random *plane* that contains the point. Words on a list are counted afterwards.
``app.count`` and ``cli.batch`` hash a population here.
"""

import numpy as np

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.truth import Truth, Values, size_figures
from mixtally.model.question import Kind, Question
from mixtally.model.word_list import WordList
from mixtally.primitives.draw import Integers
from mixtally.protocol.encode.hashed import encode, normalize_text
from mixtally.protocol.estimate.conclude.set_sizes import NAME as SIZES


def hash_words(words: Population, question: Question) -> Population:
    """Return a population whose words are replaced by their points.

    The bins of ``words`` are the words themselves. If the question asks for sets, each set of the
    result contains a point at most once, and is padded with -1. Raises PlanError if the question is
    not open, DataError for a word that is not valid text.
    """
    points = encode(question, words.question.labels or ())
    if words.question.kind is Kind.ONE:
        return Population(question, points[words.codes])
    if words.records.dtype != np.int64:
        raise TypeError("sets of words are bin numbers, not bits")
    lacking = max(0, question.max_set - words.records.shape[1])
    sets: Integers = np.pad(words.records, ((0, 0), (0, lacking)), constant_values=-1)
    # Two words of a set may have the same point, and a device sends this point only once.
    return Population(question, _drop_repeats(np.where(sets < 0, -1, points[sets])))


def count_true_words(crowd: Population, sought: WordList) -> Truth:
    """Return the true number of people with each sought word, and with any other word.

    The bins of ``crowd`` are the words themselves.
    """
    line = dict(zip(sought.words, sought.line_of.tolist(), strict=True))
    words = map(normalize_text, crowd.question.labels or ())
    # Sets are padded with the index -1, which selects the appended last entry, -1.
    line_of = np.array([*(line.get(word, -1) for word in words), -1])
    records = crowd.records.reshape(crowd.users, -1)
    lines = line_of[records]
    figures: dict[str, Values] = {"others": (int(((records >= 0) & (lines < 0)).sum()),)}
    if crowd.question.kind is Kind.SET:
        figures[SIZES] = size_figures(crowd)
    lines = _drop_repeats(lines)
    return Truth(np.bincount(lines[lines >= 0], minlength=len(sought.lines)), figures)


def _drop_repeats(rows: Integers) -> Integers:
    """Return the rows, each sorted, with every repetition of a number replaced by -1."""
    rows = np.sort(rows, axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = -1
    return rows
