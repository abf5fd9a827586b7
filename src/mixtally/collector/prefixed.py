"""Prefixes of a round that asks for words: given as words, shown as words beside counts."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from mixtally.encode.spelling import END, Spelling
from mixtally.errors import ParameterError
from mixtally.records.contract import Terms
from mixtally.records.contract.terms import Prefixes
from mixtally.records.question import Question
from mixtally.report.words import printable

Symbols = tuple[tuple[int, ...], ...]


def prefixes_of(asked: Prefixes, words: Sequence[str]) -> Symbols:
    """The prefixes that are spelled like ``words``.

    Raises ParameterError for others than the question allows: of several lengths, twice, too many.
    """
    spelling = Spelling(asked.alphabet)
    found = []
    for word in words:
        row = spelling.spell([word], asked.longest)[0].tolist() if word else []
        found.append(tuple(symbol for symbol in row if symbol != END))
    lengths = {len(one) for one in found}
    right = len(lengths) == 1 and max(lengths) < asked.longest
    if not right or not 1 <= len(set(found)) == len(found) <= asked.most:
        raise ParameterError(
            "prefixes",
            wanted=f"1 to {asked.most:,} different ones of one length below {asked.longest}",
            got=f"{len(found):,}, of {len(lengths)} lengths",
            do="write one a line, all as long as the others",
        )
    return tuple(found)


def with_prefixes(terms: Terms, prefixes: Symbols | None) -> Question:
    """The question of a round, its bins named by the words that they continue."""
    asked, question = terms.prefixes, terms.question
    if asked is None:
        return question
    spelling = Spelling(asked.alphabet)
    labels = []
    for prefix in prefixes or ((),):
        begun = printable(spelling.show(prefix))
        labels += [f"{begun} (ends)", *(begun + one for one in asked.alphabet), f"{begun}…"]
    labels += [f"(bin {place}: not asked)" for place in range(len(labels), question.bins - 1)]
    labels.append("(all others)")
    several = Counter(labels)
    named = [
        one if several[one] == 1 else f"{one} (bin {place})" for place, one in enumerate(labels)
    ]
    return replace(question, labels=tuple(map(printable, named)))
