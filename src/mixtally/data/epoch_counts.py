"""How many people gave each answer in each epoch, without a record of who gave which.

Where only tallies are drawn, counts are all that a simulation needs. They are taken from the rows
as they are read, so that the memory follows the epochs and the answers, not the people.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.data.timeline import Timeline, check_epoch_sizes
from mixtally.records.question import Kind, Question


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


def counted(timeline: Timeline | EpochCounts) -> Timeline | EpochCounts:
    """Return the counts of a timeline where its question has one answer a person and no numbers.

    Other timelines are returned as they are: their simulations need each record.
    """
    if isinstance(timeline, EpochCounts) or timeline.question.kind is not Kind.ONE:
        return timeline
    if timeline.values is not None:
        return timeline
    bins, epochs = timeline.question.bins, len(timeline.epochs)
    truth = np.zeros((epochs, bins), dtype=np.int32)
    np.add.at(truth, (timeline.at, timeline.codes.astype(np.int64, copy=False)), 1)
    return EpochCounts(
        question=timeline.question,
        epochs=timeline.epochs,
        truth=truth,
        attendance=timeline.attendance,
        note=timeline.note,
        warning=timeline.warning,
        from_data=timeline.from_data,
    )
