"""A crowd over time: who answered what in which epoch."""

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
    """Answers to one question in one epoch after another.

    where
      epochs   their names, in order
      codes    the record of each answer: its bin, shape (answers,), or its bits, shape
               (answers, row bytes), as ``Population`` has them
      at       shape (answers,), the number of its epoch
      people   shape (answers,), who gave it, numbered from 0; None when nobody knows
      values   shape (answers,), the numbers, moved into their range; None for no numbers
      grid     to whose points they were rounded, as ``Population`` has it
      from_data  what of the question was read off the answers, as ``Population`` has it
      note     what was done to the data on the way in, for people; empty for nothing
      warning  what may be wrong with them, for people; empty for nothing

    Raises DataError when a person answers twice in an epoch or an epoch has fewer than two answers.
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
                expected="one answer of a person in an epoch",
                got=f"a second one in epoch {self.epochs[self.epoch_of_answer[again]]!r}",
                do="keep one of them: the guarantee is for a person's one answer",
            )

    @property
    def answers(self) -> int:
        """How many answers there are in all epochs."""
        return len(self.codes)

    @property
    def users(self) -> Integers:
        """How many people answer in each epoch, shape (epochs,)."""
        return np.bincount(self.epoch_of_answer, minlength=len(self.epochs))

    @property
    def truth(self) -> Integers:
        """How many people are in each bin in each epoch, shape (epochs, bins)."""
        return np.array([self.crowd(epoch).truth for epoch in range(len(self.epochs))])

    @property
    def attendance(self) -> dict[int, int] | None:
        """How many people take part in 1, 2, .. epochs; None when nobody knows who is who."""
        if self.people is None:
            return None
        numbers = np.bincount(np.unique(self.people, return_counts=True)[1])
        return {k: int(n) for k, n in enumerate(numbers.tolist()) if n}

    def crowd(self, epoch: int) -> Population:
        """The people of one epoch."""
        here = self.epoch_of_answer == epoch
        values = None if self.values is None else self.values[here]
        return Population(
            self.question, self.codes[here], values, self.grid, from_data=self.from_data
        )

    def first_repeat(self) -> int | None:
        """The first answer of a person who already answered in its epoch, by its place."""
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
    """The column that says when.

    where
      order   the epochs in order, those without rows left out; without it they go by time, by
              number, or as the type of the column declares, as ``epoch_names`` has it
    """

    column: str
    order: Sequence[str] | None = None


def arrange_by_epoch(
    crowd: Population, order: EpochOrder, at: Integers, people: Integers | None
) -> Timeline:
    """Arrange the records of ``crowd`` by epoch.

    Each record is of the epoch whose place in ``order`` stands in ``at``; epochs without a record
    are left out. Raises DataError as ``Timeline``.
    """
    used = np.unique(at)
    return Timeline(
        question=crowd.question,
        epochs=tuple(order.names[place] for place in used.tolist()),
        codes=crowd.records,
        epoch_of_answer=np.searchsorted(used, at),
        people=people,
        values=crowd.values,
        note=crowd.note,
        warning="; ".join(filter(None, [crowd.warning, order.warning])),
        from_data=crowd.from_data,
    )
