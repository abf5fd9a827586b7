"""A fixed sample of many cases is quick; the rest need seconds together."""

from collections.abc import Iterable
from typing import Any

import pytest


def among(cases: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
    """All cases of one argument, of which those in ``quick`` are quick."""
    every, few = list(cases), list(quick)
    assert few
    assert all(case in every for case in few), few
    return [case if case in few else _later(case) for case in every]


def each(cases: Iterable[Any], step: int) -> list[Any]:
    """All cases of one argument, of which the first and every ``step``-th after it are quick."""
    return [case if i % step == 0 else _later(case) for i, case in enumerate(cases)]


def rows(cases: Iterable[tuple[Any, ...]], step: int) -> list[Any]:
    """The same of cases of several arguments."""
    return [case if i % step == 0 else _later(*case) for i, case in enumerate(cases)]


def _later(*case: Any) -> Any:
    return pytest.param(*case, marks=pytest.mark.seconds)
