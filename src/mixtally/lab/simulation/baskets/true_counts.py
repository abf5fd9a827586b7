"""Populations of baskets, and the true number of people who hold each set of items.

Examples and benchmarks build baskets here. Simulations compare their results with the true counts.
"""

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
    """Return the population of baskets with named items.

    An item that is named twice in a basket is counted once, and a basket may be empty. Raises
    DataError for fewer than two distinct items or for an empty name.
    """
    labels = sorted({item for one in sets for item in one})
    if len(labels) < 2 or "" in labels:
        raise DataError(
            name,
            expected="at least two distinct items, each with a name",
            got=f"{len(labels)}" + ", one of them empty" * ("" in labels),
            do="check the baskets",
        )
    numbers = {label: i for i, label in enumerate(labels)}
    members = [sorted({numbers[item] for item in one}) for one in sets]
    person = np.repeat(np.arange(len(members)), [len(one) for one in members])
    items = np.array([item for one in members for item in one], dtype=np.int64)
    asked = Question(
        name=name, bins=len(labels), labels=tuple(labels), kind=Kind.SET,
        max_set=max(map(len, members)),
    )  # fmt: skip
    return Population(asked, rows_of(person, items, len(members), len(labels)))


def group_rows(population: Population, size: int) -> Population:
    """Return a population of baskets, each with the values of ``size`` successive rows.

    If fewer than ``size`` rows remain at the end, they are ignored.
    """
    labels, codes = population.question.labels or (), population.codes
    groups = codes[: len(codes) // size * size].reshape(-1, size).tolist()
    return build_baskets(population.question.name, [[labels[c] for c in one] for one in groups])


def count_holders(baskets: Population, sets: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """Return the true number of people who hold all items of each set, shape (sets,).

    All sets must have the same size.
    """
    if not sets:
        return np.zeros(0, dtype=np.int64)
    return count_patterns(_layout(baskets), _rows(baskets), list(sets))[:, -1]


def count_pairs(baskets: Population) -> NDArray[np.int64]:
    """Return how many people hold both of two items, shape (items, items).

    The diagonal has the number of people who hold each item.
    """
    return count_all_pairs(_layout(baskets), _rows(baskets))


def _layout(baskets: Population) -> Layout:
    return Layout(Form.BITS, baskets.question.bins)


def _rows(baskets: Population) -> NDArray[np.uint8]:
    return baskets.records.astype(np.uint8, copy=False)
