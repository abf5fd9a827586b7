"""A crowd of English words, drawn by their frequencies in the word list of ``wordfreq``.

Other examples and the benchmarks use it.
"""

from itertools import accumulate

import numpy as np

from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.population import Population
from mixtally.model.question import Question
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_from_table
from mixtally.primitives.fixed_point import SCALE

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789'"
"""The characters of the words in the list, which has no capitals."""


def english(users: int, vocabulary: int, chance: Chance) -> Population:
    """Return ``users`` people with one of the ``vocabulary`` most frequent English words each.

    The frequencies are rounded to integers over 2^64, and the last word gets the rest.

    Raises
    ------
    DataError
        If the package wordfreq is not installed.
    ParameterError
        If there are fewer than two words or people.
    """
    try:
        import wordfreq  # only this crowd needs it
    except ImportError as error:
        raise DataError(
            "English words",
            expected="the package wordfreq",
            got="it is not installed",
            do="pip install 'mixtally[examples]'",
        ) from error
    if users < 2 or vocabulary < 2:
        raise ParameterError(
            "crowd",
            expected="two people and two words at least",
            got=f"{users:,} people, {vocabulary:,} words",
            do="ask for more",
        )
    words = wordfreq.top_n_list("en", vocabulary)
    shares = [wordfreq.word_frequency(word, "en") for word in words]
    total = sum(shares)
    cumulative = np.array(
        [min(round(part / total * SCALE), SCALE - 1) for part in accumulate(shares[:-1])],
        dtype=np.uint64,
    )
    question = Question(name="word", bins=len(words), labels=tuple(words))
    return Population(question, draw_from_table(chance, cumulative, users))
