"""A population whose records are known: the bin, or the bits, of each person.

The readers, the Python functions and the tests make a `Population`. The simulations in
``lab.simulation`` play rounds with it and compare their results with its true counts.
"""

from collections.abc import Collection
from dataclasses import dataclass

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
"""Bytes of records that are counted at a time, so that a large crowd needs no second copy."""
LABELS, LARGEST_SET, PEOPLE = "labels", "largest set", "people"
"""Values of ``from_data``: `LABELS` and `LARGEST_SET` name facts that the question takes from data.

`PEOPLE` means that rows may not be people.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The records of all people, and the question that they answer.

    Attributes
    ----------
    records
        For a question of kind ``one``, the bin of each person: shape (users,), int64. For other
        kinds the bits of each person, packed as in ``primitives.bits``: shape (users, row bytes),
        uint8. For sets over an open domain, the bin numbers of the members: shape (users, largest
        set), int64, padded with -1.
    values
        The number of each person, clipped to its range: shape (users,), float64. None if the
        question has no numbers, or cuts them into bins.
    grid
        The grid to whose points ``values`` were rounded at random. None before the rounding; all
        records are 0 then.
    from_data
        The facts that the question takes from these records: `LABELS`, `LARGEST_SET`, both or none.
        Other records might therefore give another question. No fact is taken from the records if
        labels, a plan or the type of the column fixed it. The tuple also contains `PEOPLE` if a
        column suggests that one person has several rows.
    note
        What was done to the data while they were read, as text for human readers.
    warning
        What may be wrong with the data, as text for human readers.
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
        """Number of people."""
        return len(self.records)

    @property
    def people_per_row(self) -> str:
        """Words that say whether each row is one person, or is only taken for one."""
        return describe_people_per_row(self.from_data)

    @property
    def codes(self) -> NDArray[np.int64]:
        """The bin of each person, shape (users,). Raises TypeError if the records are bits."""
        if self.question.kind is not Kind.ONE:
            raise TypeError(f"records of kind {self.question.kind} are bits, not bin numbers")
        return self.records.astype(np.int64, copy=False)

    @property
    def truth(self) -> NDArray[np.int64]:
        """Number of people in each bin, shape (bins,), with which results are compared.

        No value that may be published depends on it. To check this, a test replaces these counts
        and leaves ``bin_counts`` as they are.
        """
        return self.bin_counts

    @property
    def bin_counts(self) -> NDArray[np.int64]:
        """Number of people in each bin, shape (bins,), for simulations that draw only a tally."""
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
        """Number of bins that each person is in, shape (users,)."""
        if self.question.kind is Kind.ONE:
            return np.ones(self.users, dtype=np.int64)
        if self._has_bin_numbers:
            return np.asarray((self.records >= 0).sum(axis=1))
        out = np.empty(self.users, dtype=np.int64)
        for span in bits.spans(self.users, max(1, _SPAN_BYTES // self.records.shape[1])):
            rows = self.records[span].astype(np.uint8, copy=False)
            out[span] = count_set_bits(rows)
        return out


def describe_people_per_row(from_data: Collection[str]) -> str:
    """Return words that say whether each row is one person, or is only taken for one.

    ``from_data`` is that of a `Population`.
    """
    return "each taken for one person" if PEOPLE in from_data else "one person each"


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """Number of people with each value, shape (bins,), int64.

    ``from_data`` and ``warning`` are those of a `Population`.
    """

    question: Question
    counts: NDArray[np.int64]
    from_data: tuple[str, ...]
    warning: str = ""


def check_varies(subject: str, names: Collection[str]) -> None:
    """Raise DataError for a column with fewer than two distinct values."""
    if len(names) < 2:
        raise DataError(
            subject,
            expected="at least two distinct values",
            got=f"only {next(iter(names), '')!r}",
            do="choose a column that varies, or fix the bins with labels",
        )


_FEW = 10
"""Least number of answers with only one person each for which the column is called an identifier.

With fewer such answers, the error says that too few people hide an answer.
"""


def check_shared(question: Question, people: NDArray[np.int64], from_data: Collection[str]) -> None:
    """Refuse a list of answers that was read from the data if most answers have only one person.

    Such a list reveals these people, because nobody else gave their answer. ``people`` has the
    number of people who gave each answer, shape (bins,). ``from_data`` is that of a `Population`.

    Raises
    ------
    DataError
        If more than half of the answers of a column were given by one person each.
    """
    if LABELS not in from_data:
        return
    names = question.name.split("+") if question.attributes else [question.name]
    sizes = question.attributes or (question.bins,)
    # Each attribute has its own list of answers, and is judged separately.
    for name, own in zip(names, np.split(people, np.cumsum(sizes)[:-1]), strict=False):
        unique = int(np.count_nonzero(own == 1))
        if 2 * unique <= len(own):
            continue
        # In a short list the crowd may be too small, rather than the column an identifier.
        why = "it is likely an identifier" if unique >= _FEW else "too few people to hide an answer"
        raise DataError(
            f"column {name!r}",
            expected="answers that several people gave, because the list of answers is read from "
            "the data",
            got=f"{unique:,} of {len(own):,} that only one person gave: {why}",
            do="choose another column, or give the list with --labels",
        )
