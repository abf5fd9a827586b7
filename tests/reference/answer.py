"""From a person's value to the bins that each message of a contract sets, for one person.

The reference for clients: every encoder here is the one that crowds are encoded by.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixtally.errors import DataError
from mixtally.model.contract import Plan
from mixtally.model.question import Kind, Question
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode import categorical, hashed
from mixtally.protocol.encode.numbers import parse_number, round_to_grid
from mixtally.protocol.encode.prefixes import extension_bins
from mixtally.protocol.encode.spelling import Spelling

Prefix = Sequence[Sequence[int]]


def answer(
    plan: Plan,
    value: Any,
    prefixes: Prefix | None = None,
    *,
    closing: bool = False,
    chance: Chance | None = None,
) -> list[tuple[int, ...]]:
    """The bins that ``value`` sets in the message of each part, ascending.

    Where numbers are rounded ``chance`` gives the word that decides.

    Raises DataError for a value that the question does not have.
    """
    question = plan.question
    if plan.edges is not None:
        edges = np.array(plan.edges)
        inside = np.clip(parse_number(repr(value), "value"), edges[0], edges[-1])
        place = int(np.searchsorted(edges, inside, side="right")) - 1
        return [(min(place, question.bins - 1),)]
    if plan.grid is not None and chance is not None:
        values = np.array([parse_number(repr(value), "value")])
        return [(int(round_to_grid(plan.grid, values, chance.words(1))[0]),)]
    if plan.prefixes is not None:
        return [(_extension(plan, value, prefixes or [[]], closing=closing),)]
    if question.hashed is not None and question.kind is Kind.SET:
        return [tuple(np.unique(hashed.encode(question, value or [])).tolist())]
    if question.hashed is not None:
        return [(int(hashed.encode(question, [value])[0]),)]
    if question.kind is Kind.BITS:
        return _bits(plan, value)
    if question.attributes is not None:
        return _attributes(plan, value)
    if question.kind is Kind.SET:
        members = () if value is None else value
        return [tuple(sorted(_code(question, member) for member in members))]
    return [(_code(question, value),)]


def _code(question: Question, value: Any) -> int:
    return int(categorical.encode(question, [str(value)])[0])


def _extension(plan: Plan, word: str | None, prefixes: Prefix, *, closing: bool) -> int:
    if plan.prefixes is None or word is None:
        return plan.question.bins - 1
    spelling, depth = Spelling(plan.prefixes.alphabet), len(prefixes[0])
    known = np.array([list(one) for one in prefixes], dtype=np.uint8).reshape(len(prefixes), depth)
    level = plan.prefixes.symbols
    symbols = spelling.spell([word], depth + level + 1)
    found = extension_bins(
        symbols, known, spelling.size, plan.question.bins, level=level, closing=closing
    )
    return int(found[0])


def _bits(plan: Plan, bits: Sequence[int]) -> list[tuple[int, ...]]:
    asked = plan.questions
    if len(bits) != plan.question.bins:
        raise DataError(
            "bits",
            expected=f"{plan.question.bins}",
            got=f"{len(bits)}",
            do="Write every bit, zeros in front included",
        )
    if len(asked) == 1 and asked[0].kind is Kind.BITS:
        return [tuple(np.flatnonzero(bits).tolist())]
    if asked[0].kind is Kind.SET:
        return [tuple(2 * place + bit for place, bit in enumerate(bits))]
    single = asked[0].kind is Kind.BITS
    return [(0,) * bit if single else (bit,) for bit in bits]


def _attributes(plan: Plan, values: Sequence[Any]) -> list[tuple[int, ...]]:
    sizes = plan.question.attributes or ()
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    labels = plan.question.labels
    inner = []
    for value, start, size in zip(values, starts, sizes, strict=True):
        own = None if labels is None else labels[start : start + size]
        inner.append(_code(Question(name="attribute", bins=size, labels=own), value))
    if len(plan.parts) > 1:
        return [(code,) for code in inner]
    return [tuple(start + code for start, code in zip(starts, inner, strict=True))]
