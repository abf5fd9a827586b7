"""Number of people who gave each answer in each epoch, without a record of any single person.

Simulations that draw only tallies need nothing else. Rows are counted while they are read, so that
the memory depends on the number of epochs and answers, not of people.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.timeline import Timeline, check_epoch_sizes
from mixtally.model.question import Kind, Question

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class EpochCounts:
    """Counts of the answers to one question in successive epochs.

    Attributes
    ----------
    epochs : tuple[str, ...]
        The names of the epochs, in order.
    truth : ndarray of int32 or int64, shape (epochs, bins)
        Number of people who gave each answer in each epoch.
    attendance : dict[int, int] or None
        How many people take part in 1, 2, .. epochs; None if people are unknown.
    note, warning : str
        What was done to the data, and what may be wrong with them, as text for human readers.
    from_data : tuple[str, ...]
        The facts that the question takes from the answers, as in `Population`.

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
        """Number of people who answer in each epoch, shape (epochs,)."""
        users: NDArray[np.int64] = self.truth.sum(axis=1, dtype=np.int64)
        return users

    @property
    def answers(self) -> int:
        """Number of answers in all epochs."""
        return int(self.users.sum())

    @property
    def values(self) -> None:
        """None, because a mean needs every number, and counts do not contain the numbers."""

    @property
    def grid(self) -> None:
        """None, because counts have no numbers that a grid could round."""


class EpochTally:
    """A matrix of counts by epoch and label, both numbered in the order of reading."""

    def __init__(self) -> None:
        self._counts = np.zeros((1, 1), dtype=np.int64)

    def add(self, epochs: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Count rows: row i has the epoch ``epochs[i]`` and the label ``labels[i]``."""
        if len(epochs):
            had = self._counts.shape
            need = int(epochs.max()) + 1, int(labels.max()) + 1
            if need[0] > had[0] or need[1] > had[1]:
                # Doubling keeps the number of copies logarithmic in the number of rows.
                sizes = [
                    old if more <= old else max(more, 2 * old)
                    for old, more in zip(had, need, strict=True)
                ]
                grown = np.zeros(sizes, np.int64)
                grown[: had[0], : had[1]] = self._counts
                self._counts = grown
            np.add.at(self._counts, (epochs, labels), 1)

    def truth(self, epochs: NDArray[np.int64], bins: NDArray[np.int64], size: int) -> Integers:
        """Return the counts of epochs in the order of time, shape (epochs, ``size``).

        Parameters
        ----------
        epochs, bins : ndarray of int64
            The position in time of each epoch, indexed by its number, and the bin of each label,
            indexed by its number. The same moment in two time zones has two numbers but one
            position.
        size : int
            Number of bins of the question.
        """
        # Several epoch numbers may share a position, so their counts are added.
        found = np.zeros((int(epochs.max(initial=-1)) + 1, size), dtype=np.int64)
        met = self._counts[: len(epochs), : len(bins)]  # smaller if listed labels do not occur
        np.add.at(found, (epochs[: len(met), None], bins[None, : met.shape[1]]), met)
        return found


def count_by_epoch(timeline: Timeline | EpochCounts) -> Timeline | EpochCounts:
    """Return the counts of a timeline, if its question has one answer per person and no numbers.

    Other timelines are returned unchanged, because their simulations need each record.
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
