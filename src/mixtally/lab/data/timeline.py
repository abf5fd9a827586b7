"""A crowd over time: the answers of people in successive epochs.

The readers and `turnover` make a `Timeline`; ``lab.simulation.epochs`` collects it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.epoch_names import EpochOrder
from mixtally.lab.data.population import Population
from mixtally.model.grid import Grid
from mixtally.model.question import Question
from mixtally.protocol.randomize.bins import Records

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Answers to one question in successive epochs.

    ``values``, ``grid``, ``from_data``, ``note`` and ``warning`` are as in a `Population`, but
    ``values`` has one number for each answer.

    Attributes
    ----------
    epochs
        The names of the epochs, in order.
    codes
        The record of each answer, as ``Population.records``.
    epoch_of_answer
        Shape (answers,), for each answer the index of its epoch in ``epochs``.
    people
        Shape (answers,), the person of each answer, numbered from 0; None if people are unknown.

    Raises
    ------
    DataError
        If a person answers twice in an epoch, or if an epoch has fewer than two answers.
    """

    question: Question
    epochs: tuple[str, ...]
    codes: Records
    epoch_of_answer: Integers
    people: Integers | None = None
    values: NDArray[np.float64] | None = None
    grid: Grid | None = None
    note: str = ""
    warning: str = ""
    from_data: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_epoch_sizes(self.epochs, self.users)
        again = self.first_repeat()
        if again is not None:
            raise DataError(
                f"row {again + 1}",
                expected="one answer per person and epoch",
                got=f"a second one in epoch {self.epochs[self.epoch_of_answer[again]]!r}",
                do="keep one of them: the guarantee covers one answer of a person in each epoch",
            )

    @property
    def answers(self) -> int:
        """Number of answers in all epochs."""
        return len(self.codes)

    @property
    def users(self) -> Integers:
        """Number of people who answer in each epoch, shape (epochs,)."""
        return np.bincount(self.epoch_of_answer, minlength=len(self.epochs))

    @property
    def truth(self) -> Integers:
        """Number of people in each bin and epoch, shape (epochs, bins)."""
        return np.array([self.crowd(epoch).truth for epoch in range(len(self.epochs))])

    @property
    def attendance(self) -> dict[int, int] | None:
        """Number of people who take part in 1, 2, .. epochs; None if people are unknown."""
        if self.people is None:
            return None
        numbers = np.bincount(np.unique(self.people, return_counts=True)[1])
        return {k: int(n) for k, n in enumerate(numbers.tolist()) if n}

    def crowd(self, epoch: int) -> Population:
        """Return the population of one epoch."""
        in_epoch = self.epoch_of_answer == epoch
        values = None if self.values is None else self.values[in_epoch]
        return Population(
            self.question, self.codes[in_epoch], values, self.grid, from_data=self.from_data
        )

    def first_repeat(self) -> int | None:
        """Return the index of the first answer with the person and epoch of an earlier answer.

        Returns None if there is no such answer.
        """
        if self.people is None:
            return None
        key = self.people * len(self.epochs) + self.epoch_of_answer
        _, first = np.unique(key, return_index=True)
        if len(first) == len(key):
            return None
        repeated = np.ones(len(key), dtype=np.bool_)
        repeated[first] = False
        return int(np.flatnonzero(repeated)[0])


def check_epoch_sizes(names: Sequence[str], users: Integers) -> None:
    """Raise DataError for an epoch in which fewer than two people take part."""
    for name, many in zip(names, users.tolist(), strict=True):
        if many < 2:
            raise DataError(
                f"epoch {name!r}",
                expected="at least two people",
                got=many,
                do="join it to a neighboring epoch: nobody can hide alone",
            )


class EpochColumn(NamedTuple):
    """The column of epochs, and optionally their order.

    ``order`` lists the epochs in order; epochs without rows are left out. If it is None,
    `epoch_names` finds the order.
    """

    column: str
    order: Sequence[str] | None = None


def arrange_by_epoch(
    crowd: Population, order: EpochOrder, epoch_of_record: Integers, people: Integers | None
) -> Timeline:
    """Return the timeline of a ``crowd`` whose records belong to epochs.

    Record i belongs to the epoch ``order.names[epoch_of_record[i]]``, and to the person
    ``people[i]`` if people are known.

    Epochs without a record are left out. Raises DataError as `Timeline` does.
    """
    used = np.unique(epoch_of_record)
    return Timeline(
        question=crowd.question,
        epochs=tuple(order.names[place] for place in used.tolist()),
        codes=crowd.records,
        epoch_of_answer=np.searchsorted(used, epoch_of_record),
        people=people,
        values=crowd.values,
        note=crowd.note,
        warning=crowd.warning,
        from_data=crowd.from_data,
    )
