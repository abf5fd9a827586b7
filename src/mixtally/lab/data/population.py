"""A crowd whose records are known: everybody's bin, or everybody's bits."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.model.grid import Grid
from mixtally.model.question import Kind, Question
from mixtally.primitives import bits
from mixtally.primitives.counting import ColumnCounter
from mixtally.protocol.encode.bits import count_set_bits
from mixtally.protocol.randomize.bins import Records

_SPAN_BYTES = 1 << 22
LABELS, LARGEST_SET, PEOPLE = "labels", "largest set", "people"
"""What a plan may take from the data; PEOPLE where rows may not be people."""


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Everybody's record.

    where
      records   the bin of each person, shape (users,), int64, for a question of kind ``one``;
                their bits, shape (users, row bytes), uint8, packed as in ``primitives.bits``, for
                the other kinds; of sets of an open domain the numbers of their bins, shape (users,
                most members), int64, -1 for none
      values    everybody's number, moved into its range, shape (users,), float64; None without
                numbers, or where they were cut into bins
      grid      to whose points ``values`` were rounded; None before that, when records are all 0
      from_data what of the question was read off the records, and would be another if one of
                them were: some of LABELS and LARGEST_SET; and PEOPLE where a column says that
                people have several rows. Empty where all was given: by labels, a plan, or a type
                that declares its categories
      note      what was done to the data on the way in, for people; empty for nothing
      warning   what may be wrong with them, for people; empty for nothing
    """

    question: Question
    records: Records
    values: NDArray[np.float64] | None = None
    grid: Grid | None = None
    note: str = ""
    warning: str = ""
    from_data: tuple[str, ...] = ()

    @property
    def users(self) -> int:
        """How many people there are."""
        return len(self.records)

    @property
    def people_per_row(self) -> str:
        """How many people a row stands for, in words."""
        return describe_people_per_row(self.from_data)

    @property
    def codes(self) -> NDArray[np.int64]:
        """Everybody's bin; raises TypeError for records that are bits."""
        if self.question.kind is not Kind.ONE:
            raise TypeError(f"records of kind {self.question.kind} are bits, not bin numbers")
        return self.records.astype(np.int64, copy=False)

    @property
    def truth(self) -> NDArray[np.int64]:
        """How many people are in each bin, shape (bins,): what results are compared with."""
        return self.bin_counts

    @property
    def bin_counts(self) -> NDArray[np.int64]:
        """The same as what is played where only a tally is drawn."""
        count, width = self.question.bins, bits.row_bytes(self.question.bins)
        if self.question.kind is Kind.ONE:
            return np.bincount(self.codes, minlength=count)
        if self._has_bin_numbers:
            return np.bincount(self.records[self.records >= 0], minlength=count)
        counter = ColumnCounter(width, self.users * width)
        for span in bits.spans(self.users, max(1, _SPAN_BYTES // width)):
            counter.add(self.records[span].astype(np.uint8, copy=False))
        return counter.counts(count)

    @property
    def _has_bin_numbers(self) -> bool:
        return self.records.dtype == np.int64

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many bins everybody is in, shape (users,)."""
        if self.question.kind is Kind.ONE:
            return np.ones(self.users, dtype=np.int64)
        if self._has_bin_numbers:
            return np.asarray((self.records >= 0).sum(axis=1))
        out = np.empty(self.users, dtype=np.int64)
        for span in bits.spans(self.users, max(1, _SPAN_BYTES // self.records.shape[1])):
            rows = self.records[span].astype(np.uint8, copy=False)
            out[span] = count_set_bits(rows)
        return out

    def with_question(self, question: Question) -> "Population":
        """The same people asked ``question``, whose bins have the same order."""
        return replace(self, question=question)


def describe_people_per_row(from_data: Collection[str]) -> str:
    """Say how many people a row stands for; ``from_data`` as a population has."""
    return "each taken for one person" if PEOPLE in from_data else "one person each"


class ValueCounts(NamedTuple):
    """How many people hold each value, shape (bins,), int64.

    ``from_data`` and ``warning`` are as a population has them.
    """

    question: Question
    counts: NDArray[np.int64]
    from_data: tuple[str, ...]
    warning: str = ""


def check_varies(subject: str, names: Collection[str]) -> None:
    """Raises DataError for a column in which nothing can be told apart."""
    if len(names) < 2:
        raise DataError(
            subject,
            expected="at least two distinct values",
            got=f"only {next(iter(names), '')!r}",
            do="choose a column that varies, or fix the bins with labels",
        )


_FEW = 10
"""So many answers of one person each are no chance of a small crowd."""


def check_shared(question: Question, held: NDArray[np.int64], from_data: Collection[str]) -> None:
    """Raises DataError where the data say which answers there are, and most were one person's own.

    where
      held   shape (bins,), how many people gave each answer

    Such a list names people: nothing in it is hidden in a crowd. Where it is short, the crowd may
    be too small rather than the column an identifier.
    """
    if LABELS not in from_data:
        return
    names = question.name.split("+") if question.attributes else [question.name]
    sizes = question.attributes or (question.bins,)
    for name, own in zip(names, np.split(held, np.cumsum(sizes)[:-1]), strict=False):
        alone = int(np.count_nonzero(own == 1))
        if 2 * alone <= len(own):
            continue
        why = "it is likely an identifier" if alone >= _FEW else "so few people hide no answer"
        raise DataError(
            f"column {name!r}",
            expected="answers that several people gave, where the list of them is read off the "
            "data",
            got=f"{alone:,} of {len(own):,} that one person alone gave: {why}",
            do="choose another column, or give the list with --labels",
        )
