"""Prefixes of a round that searches for words: given by the operator, or found by the last round.

Such a question finds words of any length in several rounds. Each round counts the extensions of the
prefixes that the last round has found. A *letter* is a symbol of the alphabet.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
from msgspec.structs import replace

from mixtally.device.contract.spelling import END
from mixtally.errors import DataError, ParameterError
from mixtally.model.contract import Plan
from mixtally.model.estimates import Estimate
from mixtally.model.plan import Prefixes
from mixtally.model.question import Question
from mixtally.protocol.encode.spelling import Spelling
from mixtally.report.numbers import printable

Symbols = tuple[tuple[int, ...], ...]
"""Several prefixes, each a tuple of the numbers of its letters in the alphabet."""


def spell_prefixes(question: Prefixes, words: Sequence[str]) -> Symbols:
    """Return the prefixes that the operator wrote, with each letter replaced by its number.

    Raises
    ------
    ParameterError
        If the prefixes differ in length, occur twice, are too long or are too many.
    """
    spelling = Spelling(question.alphabet)
    found = []
    for word in words:
        row = spelling.spell([word], question.longest)[0].tolist() if word else []
        found.append(tuple(symbol for symbol in row if symbol != END))
    lengths = {len(one) for one in found}
    right = len(lengths) == 1 and max(lengths) < question.longest
    if not right or not 1 <= len(set(found)) == len(found) <= question.most:
        raise ParameterError(
            "prefixes",
            expected=f"1 to {question.most:,} different ones of one length "
            f"below {question.longest}",
            got=f"{len(found):,}, of {len(lengths)} lengths",
            do="write one prefix per line, all of one length",
        )
    return tuple(found)


def extend_prefixes(question: Prefixes, given: Symbols | None, estimate: Estimate) -> Symbols:
    """Return the prefixes of the next round: extensions whose count is significantly above zero.

    ``given`` are the prefixes of the round with this ``estimate``; None in the first round. If more
    extensions qualify than a round may have prefixes, those with the largest counts are returned.
    All bins of the round are tested together, at the level of the estimate's simultaneous
    intervals. Raises DataError if no extension qualifies, or if words cannot be longer.
    """
    prefixes, size = given or ((),), len(question.alphabet) + 2
    level = size**question.symbols
    if len(prefixes[0]) + question.symbols >= question.longest:
        raise DataError(
            "prefixes",
            expected=f"words longer than the {question.longest} symbols of the question",
            got=f"prefixes of {len(prefixes[0])}",
            do="the search is over: this was its last round",
        )
    extended = [
        bin_index
        for bin_index in np.flatnonzero(
            estimate.simultaneous.lower[: len(prefixes) * level]
        ).tolist()
        if END not in _symbols(bin_index % level, size, question.symbols)
    ]
    if not extended:
        raise DataError(
            "prefixes",
            expected="one whose continuation is distinguishable from zero",
            got=f"none of {len(prefixes):,}",
            do="the search is over: no longer word is frequent enough to be seen",
        )
    extended.sort(key=lambda bin_index: -estimate.counts[bin_index])
    return tuple(
        (*prefixes[one // level], *_symbols(one % level, size, question.symbols))
        for one in extended[: question.most]
    )


def _symbols(followed: int, size: int, letters: int) -> tuple[int, ...]:
    """Return the numbers of the letters that a bin adds to its prefix.

    These are the ``letters`` digits of the number ``followed`` in base ``size``, highest first.
    """
    return tuple(followed // size**place % size for place in reversed(range(letters)))


def _describe_continuation(letters: tuple[str, ...]) -> str:
    """Return the text of an extension; an empty letter is the end of a word."""
    shown = "".join(letters)
    if letters[-1]:
        return shown if all(letters) else f"{shown} (no word)"
    return f"{shown} (ends)" if all(letters[: len(shown)]) else f"{shown} (no word)"


def name_prefix_bins(plan: Plan, prefixes: Symbols | None) -> Question:
    """Return the question of a round, with bins labeled by prefixes and their extensions.

    A question that does not search for words is returned unchanged.
    """
    asked, question = plan.prefixes, plan.question
    if asked is None:
        return question
    spelling = Spelling(asked.alphabet)
    labels = []
    for prefix in prefixes or ((),):
        begun = printable(spelling.format_prefix(prefix))
        letters = ("", *asked.alphabet, "…")
        labels += [
            begun + _describe_continuation(one) for one in product(letters, repeat=asked.symbols)
        ]
    labels += [f"(bin {place}: not asked)" for place in range(len(labels), question.bins - 1)]
    labels.append("(all others)")
    several = Counter(labels)
    named = [
        one if several[one] == 1 else f"{one} (bin {place})" for place, one in enumerate(labels)
    ]
    return replace(question, labels=tuple(map(printable, named)))
