"""Baskets as a crowd, and what it truly holds: for whoever made it or plays it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.population import Population
from mixtally.model.layout import Form, Layout
from mixtally.model.question import Kind, Question
from mixtally.protocol.encode.bits import rows_of
from mixtally.protocol.tally.patterns import count_all_pairs, count_patterns


def build_baskets(name: str, sets: Sequence[Sequence[str]]) -> Population:
    """Baskets of named items; an item named twice in a basket counts once, a basket may be empty.

    Raises DataError for fewer than two distinct items or an empty name.
    """
    labels = sorted({item for one in sets for item in one})
    if len(labels) < 2 or "" in labels:
        raise DataError(
            name,
            expected="two distinct items at least, each with a name",
            got=f"{len(labels)}" + ", one of them empty" * ("" in labels),
            do="check the baskets",
        )
    numbers = {label: i for i, label in enumerate(labels)}
    held = [sorted({numbers[item] for item in one}) for one in sets]
    person = np.repeat(np.arange(len(held)), [len(one) for one in held])
    items = np.array([item for one in held for item in one], dtype=np.int64)
    asked = Question(
        name=name, bins=len(labels), labels=tuple(labels), kind=Kind.SET,
        max_set=max(map(len, held)),
    )  # fmt: skip
    return Population(asked, rows_of(person, items, len(held), len(labels)))


def group_rows(population: Population, size: int) -> Population:
    """Baskets of ``size`` successive rows of a column; a last one that is not full is left out."""
    labels, codes = population.question.labels or (), population.codes
    groups = codes[: len(codes) // size * size].reshape(-1, size).tolist()
    return build_baskets(population.question.name, [[labels[c] for c in one] for one in groups])


def count_holders(baskets: Population, sets: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """How many people hold all items of each set, all of one size: the truth, shape (sets,)."""
    if not sets:
        return np.zeros(0, dtype=np.int64)
    return count_patterns(_layout(baskets), _rows(baskets), list(sets))[:, -1]


def count_pairs(baskets: Population) -> NDArray[np.int64]:
    """How many people hold both of two items, shape (items, items); of one on the diagonal."""
    return count_all_pairs(_layout(baskets), _rows(baskets))


def _layout(baskets: Population) -> Layout:
    return Layout(Form.BITS, baskets.question.bins)


def _rows(baskets: Population) -> NDArray[np.uint8]:
    return baskets.records.astype(np.uint8, copy=False)
