"""Samples of long lists of cases: quick ones, ones that need seconds, and exhaustive ones.

``make test`` runs the quick cases, ``make slow`` those marked ``seconds``, ``make exhaustive`` the
rest. Every sample is fixed, so that a green run stays green.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import pytest

Held = tuple[tuple[int, str], ...]
"""Some positions of a case, each with its value as a text."""


def among(cases: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
    """All cases of one argument, of which those in ``quick`` are quick."""
    every, few = list(cases), list(quick)
    assert few
    assert all(case in every for case in few), few
    return [case if case in few else _seconds(case) for case in every]


def each(cases: Iterable[Any], step: int, kept: int = 1) -> list[Any]:
    """Mark the cases of one argument.

    The first case and every ``step``-th after it are quick. Of the others the first and every
    ``kept``-th after it need seconds, the rest are exhaustive.
    """
    return rows(((case,) for case in cases), step, kept)


def rows(cases: Iterable[tuple[Any, ...]], step: int, kept: int = 1) -> list[Any]:
    """Mark the cases of several arguments as ``each`` does."""
    every = list(cases)
    later = [i for i in range(len(every)) if i % step]
    seconds = set(later[::kept])
    return [
        pytest.param(*case) if i % step == 0 else _later(case, i in seconds)
        for i, case in enumerate(every)
    ]


def thinned(cases: Iterable[tuple[Any, ...]], step: int) -> list[Any]:
    """Mark cases of several arguments: the first and every ``step``-th after it need seconds.

    The others are exhaustive.
    """
    return [_later(case, i % step == 0) for i, case in enumerate(cases)]


def exhaustive(cases: Iterable[Any]) -> list[Any]:
    """Mark all cases of one argument as exhaustive."""
    return [_later((case,), False) for case in cases]


def of_kinds(cases: Iterable[Any], kind: Callable[[Any], object], most: int) -> list[Any]:
    """Mark cases of one argument: the first ``most`` of every kind need seconds.

    The others are exhaustive.
    """
    seen: Counter[object] = Counter()
    marked = []
    for case in cases:
        seen[kind(case)] += 1
        marked.append(_later((case,), seen[kind(case)] <= most))
    return marked


def covering(
    cases: Iterable[tuple[Any, ...]],
    quick: Callable[..., bool] = lambda *_: False,
    width: int = 2,
) -> list[Any]:
    """Mark cases of several arguments such that a sample holds every pair of values.

    Values of ``width`` arguments that occur together in some case do so in a case of the sample.
    A case of the sample is quick where ``quick`` of its arguments holds, else it needs seconds;
    all other cases are exhaustive.
    """
    every = list(cases)
    sample = set(chosen(every, width))
    return [
        pytest.param(*case) if i in sample and quick(*case) else _later(case, i in sample)
        for i, case in enumerate(every)
    ]


def chosen(cases: Sequence[tuple[Any, ...]], width: int = 2) -> list[int]:
    """Choose cases, by number, that hold all values that any cases have at ``width`` positions.

    The next case is always the first of those that hold most of what is missing.
    """
    missing = held(cases, width)
    left = {i: _held_by(case, width) for i, case in enumerate(cases)}
    found: list[int] = []
    while missing:
        best = max(left, key=lambda i: len(left[i] & missing))
        found.append(best)
        missing -= left.pop(best)
    return found


def held(cases: Iterable[tuple[Any, ...]], width: int = 2) -> set[Held]:
    """Return the values that occur together at any ``width`` positions of a case."""
    return {one for case in cases for one in _held_by(case, width)}


def _held_by(case: tuple[Any, ...], width: int) -> set[Held]:
    return set(combinations(enumerate(map(repr, case)), width))


def _seconds(case: Any) -> Any:
    return _later((case,), True)


def _later(case: tuple[Any, ...], seconds: bool) -> Any:
    return pytest.param(*case, marks=pytest.mark.seconds if seconds else pytest.mark.exhaustive)
