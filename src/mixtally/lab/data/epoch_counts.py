"""How many people gave each answer in each epoch, without a record of who gave which.

Where only tallies are drawn, counts are all that a simulation needs. They are taken from the rows
as they are read, so that the memory follows the epochs and the answers, not the people.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.timeline import Timeline, check_epoch_sizes
from mixtally.model.question import Kind, Question

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class EpochCounts:
    """Counts of the answers to one question in one epoch after another.

    Attributes
    ----------
    epochs : tuple[str, ...]
        The names of the epochs, in order.
    truth : ndarray of int32 or int64, shape (epochs, bins)
        How many people are in each bin.
    attendance : dict[int, int] or None
        How many people take part in 1, 2, .. epochs; None when nobody knows who is who.
    note, warning : str
        What was done to the data, and what may be wrong with them, for people.
    from_data : tuple[str, ...]
        What of the question was read off the answers, as ``Population`` has it.

    Raises
    ------
    DataError
        If an epoch has fewer than two answers.
    """

    question: Question
    epochs: tuple[str, ...]
    truth: NDArray[np.integer]
    attendance: dict[int, int] | None = None
    note: str = ""
    warning: str = ""
    from_data: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_epoch_sizes(self.epochs, self.users)

    @property
    def users(self) -> NDArray[np.int64]:
        """How many people answer in each epoch, shape (epochs,)."""
        users: NDArray[np.int64] = self.truth.sum(axis=1, dtype=np.int64)
        return users

    @property
    def answers(self) -> int:
        """How many answers there are in all epochs."""
        return int(self.users.sum())

    @property
    def values(self) -> None:
        """Numbers are never counted in this way: their means need each of them."""

    @property
    def grid(self) -> None:
        """As ``values``."""


class EpochTally:
    """Counts of labels and epochs by the numbers in which they were met, as rows are read."""

    def __init__(self) -> None:
        self._counts = np.zeros((1, 1), dtype=np.int64)

    def add(self, epochs: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Count rows, by the number of each row's epoch and label."""
        if len(epochs):
            had = self._counts.shape
            need = int(epochs.max()) + 1, int(labels.max()) + 1
            if need[0] > had[0] or need[1] > had[1]:
                grown = np.zeros(
                    [_grown_size(*ends) for ends in zip(had, need, strict=True)], np.int64
                )
                grown[: had[0], : had[1]] = self._counts
                self._counts = grown
            np.add.at(self._counts, (epochs, labels), 1)

    def truth(self, epochs: NDArray[np.int64], bins: NDArray[np.int64], size: int) -> Integers:
        """Return the counts in order, shape (epochs, ``size``).

        Parameters
        ----------
        epochs, bins : ndarray of int64
            The place of every epoch and the bin of every label, by the numbers they were met in.
            Epochs that are one moment in two time zones have one place.
        size : int
            The bins of the question.
        """
        found = np.zeros((int(epochs.max(initial=-1)) + 1, size), dtype=np.int64)
        met = self._counts[: len(epochs), : len(bins)]  # fewer where given ones are not met
        np.add.at(found, (epochs[: len(met), None], bins[None, : met.shape[1]]), met)
        return found


def _grown_size(had: int, need: int) -> int:
    return had if need <= had else max(need, 2 * had)


def count_by_epoch(timeline: Timeline | EpochCounts) -> Timeline | EpochCounts:
    """Return the counts of a timeline where its question has one answer a person and no numbers.

    Other timelines are returned as they are: their simulations need each record.
    """
    if isinstance(timeline, EpochCounts) or timeline.question.kind is not Kind.ONE:
        return timeline
    if timeline.values is not None:
        return timeline
    bins, epochs = timeline.question.bins, len(timeline.epochs)
    truth = np.zeros((epochs, bins), dtype=np.int32)
    np.add.at(truth, (timeline.epoch_of_answer, timeline.codes.astype(np.int64, copy=False)), 1)
    return EpochCounts(
        question=timeline.question,
        epochs=timeline.epochs,
        truth=truth,
        attendance=timeline.attendance,
        note=timeline.note,
        warning=timeline.warning,
        from_data=timeline.from_data,
    )
