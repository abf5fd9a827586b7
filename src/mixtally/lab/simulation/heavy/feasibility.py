"""Checks that a search can find the words of a crowd, made before any round is played.

A search spends the whole privacy budget, whatever it finds. It never finds words that are too long
for its rounds, or that fewer people hold than its threshold requires. A simulation knows the words
in advance, so ``app.words`` refuses such a search and names the options that help.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.simulation.heavy.design import Design
from mixtally.lab.simulation.heavy.search import MOST_ROUNDS, Search
from mixtally.protocol.encode.spelling import MOST_CHARACTERS, Spelling, to_nfc

Integers = NDArray[np.int64]

MOST_UNFIT = 0.01
"""Largest share of people whose words may be too long for a search."""
_LIST = "count a list of words with `mixtally simulate --candidates FILE`"


def collect_alphabet(vocabulary: Sequence[str], people: Integers) -> str:
    """Return the characters of a crowd's words, in the order of their code points.

    Parameters
    ----------
    vocabulary : Sequence[str]
        The distinct words that people hold.
    people : ndarray of int64, shape (words,)
        Number of people who hold each word.

    Returns
    -------
    str
        At most 200 characters, the most frequent ones if there are more. If the words have only one
        character, the first other letter of the default alphabet is added.
    """
    holders: dict[str, int] = {}
    for word, many in zip(vocabulary, people.tolist(), strict=True):
        for character in set(to_nfc(word)):
            holders[character] = holders.get(character, 0) + many
    most = sorted(holders, key=lambda one: (-holders[one], one))[:MOST_CHARACTERS]
    if len(most) == 1:
        most.append(next(one for one in Spelling().characters if one not in most))
    return "".join(sorted(most))


def check_lengths(
    search: Search,
    vocabulary: Sequence[str],
    people: Integers,
    design_for: Callable[[Search], Design],
    *,
    longest: int,
    outside: int,
) -> None:
    """Check that the rounds ask for enough symbols to spell the words of 99 % of the people.

    Parameters
    ----------
    search : Search
        The search that is to be played.
    vocabulary : Sequence[str]
        The distinct words that people hold.
    people : ndarray of int64, shape (words,)
        Number of people who hold each word.
    design_for : Callable[[Search], Design]
        A function that designs another search. Options are advised only if the design of a search
        with these options shows that it would find a word.
    longest, outside : int
        The largest number of characters of a word, as requested by the user, and the number of
        these characters that may be outside of the alphabet.

    Raises
    ------
    DataError
        If more than 1 % of the people hold a word with more symbols than the rounds ask for. The
        message names options with which at most 1 % of the people do.
    """
    spelling = search.spelling
    strange, lengths, symbols = _measure_words(spelling, vocabulary)
    unfit = symbols > search.rounds * search.symbols
    share = float(people[unfit].sum()) / search.users
    if share <= MOST_UNFIT:
        return
    got, needed = f"{100 * share:.3g} % that are longer", _covering_number(symbols, people)
    # If too many people have words with more than ``outside`` characters outside of the alphabet,
    # the advice must differ from the advice for long words.
    if int(people[strange > outside].sum()) <= MOST_UNFIT * search.users:
        whole = needed - outside * spelling.digits
        got += f", of up to {lengths[unfit].max():,} characters"
        options = f"give --longest {whole}"
    else:
        whole = max(longest, _covering_number(lengths, people))
        longer = f" --longest {whole}" if whole > longest else ""
        more = max(1, -(-(needed - whole) // spelling.digits))
        got += (
            f": a character outside the alphabet takes {1 + spelling.digits} places, and these "
            f"words have up to {strange[unfit].max():,}"
        )
        options = (
            f"give --alphabet with the characters of the language{longer}, or in a rehearsal "
            f"--alphabet-from-data{longer}, or --outside {more}{longer}"
        )
    raise DataError(
        f"column {search.name!r}",
        expected=f"words of up to {longest:,} characters of the alphabet from 99 % of the people",
        got=got,
        do=_advise(search, design_for, whole, int(people.max()), options),
    )


def _advise(
    search: Search, design_for: Callable[[Search], Design], longest: int, most: int, options: str
) -> str:
    """Return the advice to use ``options``, or to list the words, which needs no search.

    If no search for words of ``longest`` characters would find a word, the advice is only to list
    the words. ``most`` is the number of people with the most frequent word.
    """
    # Advice must not lead to a search that is refused or finds nothing, so it is checked first.
    rounds = -(-longest // search.symbols)
    if rounds > MOST_ROUNDS:
        return f"{_LIST}: a search has at most {MOST_ROUNDS} rounds"
    least = design_for(replace(search, rounds=rounds)).least_count
    if most >= least:
        return f"{options}, or {_LIST}"
    return (
        f"{_LIST}: a search for words of {longest:,} characters finds none that fewer than about "
        f"{least:,} people hold, and the most frequent word has {most:,}"
    )


def check_frequency(design: Design, vocabulary: Sequence[str], people: Integers) -> None:
    """Raise DataError if the search would probably find no word.

    A search probably finds a word if at least ``design.least_count`` people hold the word, and if
    the word is not too long. ``people`` has the number of people who hold each word of
    ``vocabulary``.
    """
    search, spelling = design.search, design.search.spelling
    _, _, symbols = _measure_words(spelling, vocabulary)
    most = int(people[symbols <= search.rounds * search.symbols].max(initial=0))
    least = design.least_count
    if most >= least:
        return
    raise DataError(
        f"column {search.name!r}",
        expected=f"a word that about {least:,} people hold, as a search of {search.rounds:,} "
        f"rounds "
        "finds no rarer one",
        got=f"{most:,} people with the most frequent word",
        do=f"ask more people, give a larger --epsilon, or {_LIST}",
    )


def _measure_words(
    spelling: Spelling, vocabulary: Sequence[str]
) -> tuple[Integers, Integers, Integers]:
    """Return three counts for each word, as three arrays.

    The counts are the number of characters outside the alphabet, the number of all characters, and
    the number of symbols that ``spelling`` needs for the word.
    """
    strange = spelling.count_outside(vocabulary)
    lengths = np.array([len(to_nfc(word)) for word in vocabulary], dtype=np.int64)
    return strange, lengths, lengths + strange * spelling.digits


def _covering_number(numbers: Integers, people: Integers) -> int:
    """Return the smallest number that is not exceeded by the numbers of 99 % of the people.

    ``people[i]`` people have the number ``numbers[i]``.
    """
    order = np.argsort(numbers, kind="stable")
    within = np.cumsum(people[order])
    # Rounded in favor of covering more people.
    allowed = within[-1] - int(MOST_UNFIT * within[-1])
    return int(numbers[order[np.searchsorted(within, allowed)]])
