"""Encoding of a person's value: the bins that each message sets, as one ascending tuple per part.

A *part* is one of the messages of a record. Encoding is deterministic, except that rounding a
number to a grid uses one random word. It uses this word for every number.
"""

import hmac
import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from unicodedata import normalize

from mixtally.device.client.draw import RandomWords
from mixtally.device.contract.plan import ContractPlan
from mixtally.device.contract.question import Question
from mixtally.device.contract.spelling import find_extension_bin
from mixtally.errors import RefusedError

Value = str | int | float | Sequence[str] | Sequence[int] | None
"""An answer: a label, a bin number, a number, a word, a list of these, or bits. None means no
answer."""


def encode_value(
    plan: ContractPlan,
    value: Value,
    words: RandomWords,
    prefixes: Sequence[Sequence[int]] | None = None,
    *,
    closing: bool = False,
) -> list[tuple[int, ...]]:
    """Return for each part the numbers of the bins that ``value`` sets in its message.

    Parameters
    ----------
    plan : ContractPlan
        The plan of the contract.
    value : Value
        The answer. None is the empty set for questions about sets. For questions that ask for words
        by prefixes, None is counted in the bin of other words. Other questions refuse None.
    words : RandomWords
        The source of the word that rounds a number.
    prefixes : sequence of sequences of int, optional
        The prefixes of this round, for questions that ask for words by prefixes.
    closing : bool
        Whether this round counts only complete words: a prefix and the symbols that the round asks
        for, without further symbols.

    Raises
    ------
    RefusedError
        If the question does not have this value.
    """
    question, parts = plan.question, plan.parts
    if plan.prefixes is None and (prefixes is not None or closing):
        raise _refusal("prefixes-not-asked", "no prefixes: no word is asked by them", prefixes)
    if plan.prefixes is not None:
        word = None if value is None else _word(value)
        given = [()] if prefixes is None else prefixes
        return [(find_extension_bin(word, plan.prefixes, given, closing=closing),)]
    if value is None and (question.kind != "set" or question.attributes is not None):
        raise _refusal("no-answer", "an answer, because no bin is for people without one", value)
    if plan.edges is not None:
        return [(_find_range(plan.edges, value),)]
    if plan.grid is not None:
        return [(plan.grid.round_randomly(_number(value), words.take(1)[0]),)]
    if question.seed is not None and question.kind == "one":
        return [(_hash_point(question.seed, question.bins, value),)]
    if question.kind == "bits":
        bits = _bits(value, question.bins)
        if parts[0].most_set is None and parts[0].bins == question.bins:
            return [tuple(place for place, bit in enumerate(bits) if bit)]
        if parts[0].slots is not None:
            return [tuple(2 * place + bit for place, bit in enumerate(bits))]
        return [
            (bit,) if part.bins == 2 else (0,) * bit for bit, part in zip(bits, parts, strict=True)
        ]
    if question.attributes is not None:
        return _attributes(question, value, split=len(parts) > 1)
    if question.kind == "set":
        return [_set(question, () if value is None else value)]
    return [(_bin(question, value, 0, question.bins),)]


def _refusal(reason: str, expected: str, got: object) -> RefusedError:
    do = "give another value, or do not take part"
    return RefusedError(reason, "value", expected=expected, got=ascii(got)[:80], do=do)


def _bin(question: Question, value: object, first: int, last: int) -> int:
    """Return the bin of a label or of an integer, among the bins in [first, last).

    The integer 0 is the bin ``first``.
    """
    if question.labels is not None:
        labels = [normalize("NFC", label) for label in question.labels[first:last]]
        if not isinstance(value, str) or (form := normalize("NFC", value)) not in labels:
            raise _refusal("value-outside-labels", f"one of {len(labels)} labels", value)
        return first + labels.index(form)
    if type(value) is not int or not 0 <= value < last - first:  # a bool is not a bin
        raise _refusal("value-outside-bins", f"an integer from 0 to {last - first - 1}", value)
    return first + value


def _find_range(edges: tuple[float, ...], value: object) -> int:
    # Numbers outside all ranges are counted in the first or last range.
    return min(max(bisect_right(edges, _number(value)) - 1, 0), len(edges) - 2)


def _number(value: object) -> float:
    """Return a finite number as a double."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _refusal("not-a-number", "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _refusal("not-finite", "a finite number", value)
    return number


def _word(value: object) -> str:
    """Return a text in Unicode form NFC, in which equal-looking spellings are equal texts."""
    if not isinstance(value, str):
        raise _refusal("not-text", "text", value)
    if not value:
        raise _refusal("empty-text", "at least one character", value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise _refusal("half-character", "whole Unicode characters", value)
    return normalize("NFC", value)


def _hash_point(seed: bytes, points: int, value: object) -> int:
    """Return HMAC-SHA-256 of the text in form NFC, as a big-endian integer, modulo ``points``."""
    digest = hmac.digest(seed, _word(value).encode("utf-8"), "sha256")
    return int.from_bytes(digest, "big") % points


def _check_list(value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise _refusal("not-a-list", "a list", value)
    return value


def _bits(value: object, count: int) -> Sequence[int]:
    bits = [bit for bit in _check_list(value) if type(bit) is int and 0 <= bit <= 1]
    given = len(_check_list(value))
    if len(bits) < given:
        raise _refusal("not-a-bit", "zeros and ones", value)
    if given != count:
        raise _refusal("bits-miscounted", f"{count} bits", given)
    return bits


def _attributes(question: Question, value: object, *, split: bool) -> list[tuple[int, ...]]:
    sizes, named = question.attributes or (), _check_list(value)
    if len(named) != len(sizes):
        raise _refusal("attributes-miscounted", f"one value for each of {len(sizes)}", len(named))
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    found = [
        _bin(question, one, start, start + size)
        for one, start, size in zip(named, starts, sizes, strict=True)
    ]
    if split:
        return [(bin_ - start,) for bin_, start in zip(found, starts, strict=True)]
    return [tuple(found)]


def _set(question: Question, value: object) -> tuple[int, ...]:
    """Return the ascending numbers of the bins of a set.

    Texts of an open domain that are hashed to the same point have the same bin.
    """
    named, seed = _check_list(value), question.seed
    found: Collection[object]
    if seed is None:
        found = points = {_bin(question, one, 0, question.bins) for one in named}
    else:
        found = {_word(one) for one in named}
        points = {_hash_point(seed, question.bins, one) for one in found}
    if len(found) < len(named):
        raise _refusal("member-twice", "every member once", value)
    if len(found) > question.max_set:
        raise _refusal("too-many-members", f"at most {question.max_set}", len(found))
    return tuple(sorted(points))
