"""A crowd whose records are known: everybody's bin, or everybody's bits."""

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixtally.data.cells import Progress, cells, missing, quiet
from mixtally.errors import DataError
from mixtally.ground import bits
from mixtally.randomize.messages import Records
from mixtally.records.question import Kind, Question

_SPAN_BYTES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Everybody's record.

    where
      records   the bin of each person, shape (users,), int64, for a question of kind ``one``;
                their bits, shape (users, row bytes), uint8, packed as in ``ground.bits``, for the
                other kinds
      values    the numbers that were cut into bins, shape (users,), float64; None for no numbers
      note      what was done to the data on the way in, for people; empty for nothing
    """

    question: Question
    records: Records
    values: NDArray[np.float64] | None = None
    note: str = ""

    @property
    def users(self) -> int:
        """How many people there are."""
        return len(self.records)

    @property
    def codes(self) -> NDArray[np.int64]:
        """Everybody's bin; raises TypeError for records that are bits."""
        if self.question.kind is not Kind.ONE:
            raise TypeError(f"records of kind {self.question.kind} are bits, not bin numbers")
        return self.records.astype(np.int64, copy=False)

    @property
    def truth(self) -> NDArray[np.int64]:
        """How many people are in each bin, shape (bins,)."""
        count, total = self.question.bins, np.zeros(self.question.bins, dtype=np.int64)
        if self.question.kind is Kind.ONE:
            return np.bincount(self.codes, minlength=count)
        for span in bits.spans(self.users, max(1, _SPAN_BYTES // bits.row_bytes(count))):
            total += bits.column_counts(self.records[span].astype(np.uint8, copy=False), count)
        return total

    def asked(self, question: Question) -> "Population":
        """The same people asked ``question``, whose bins have the same order."""
        return replace(self, question=question)


def read_population(
    path: Path,
    column: str,
    labels: Sequence[str] | None = None,
    progress: Progress = quiet,
) -> Population:
    """The values of ``column``, each row a person with one of the labels.

    ``labels`` fixes the bins and their order; without it they are the distinct values, sorted.
    Reads .csv, .csv.gz and .parquet; rows are counted after the header. Raises DataError for what
    cannot be read, missing values, unknown categories and columns with fewer than two distinct
    values.
    """
    with cells(path, [column], progress) as rows:
        return collected(path, column, (row[0] for row in rows), labels)


def collected(
    path: Path, column: str, values: Iterable[str | None], labels: Sequence[str] | None
) -> Population:
    """The crowd of ``values``, as ``read_population`` has it."""
    names, codes = numbered(path, column, values, labels)
    check_varied(path, column, names)
    return Population(Question(name=column, bins=len(names), labels=names), codes)


def read_names(
    path: Path,
    column: str,
    labels: Sequence[str] | None = None,
    progress: Progress = quiet,
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The values of ``column`` as names and the number of each row's; one name is enough.

    Otherwise as ``read_population``.
    """
    with cells(path, [column], progress) as rows:
        return numbered(path, column, (row[0] for row in rows), labels)


def numbered(
    path: Path, column: str, values: Iterable[str | None], labels: Sequence[str] | None
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The distinct ``values``, sorted, or ``labels``; and the place of each value among them."""
    numbers = {label: number for number, label in enumerate(labels or ())}
    codes = array("q")
    for row, value in enumerate(values, start=1):
        if value is None or value == "":
            raise missing(path, row, column)
        codes.append(number_of(path, row, value, numbers, fixed=labels is not None))
    check_crowd(path, len(codes))
    check_spaces(f"{path}, column {column!r}", numbers)
    ordered, place = in_order(numbers, fixed=labels is not None)
    return ordered, place[np.frombuffer(codes, dtype=np.int64)]


def number_of(path: Path, row: int, value: str, numbers: dict[str, int], *, fixed: bool) -> int:
    """The bin of ``value``: a new one, or DataError where labels are fixed."""
    if value not in numbers:
        if fixed:
            raise DataError(
                f"{path}, row {row}",
                wanted=f"one of the {len(numbers):,} labels of the question",
                got=repr(value),
                do="add it to the labels, or map it to one of them",
            )
        numbers[value] = len(numbers)
    return numbers[value]


def in_order(numbers: dict[str, int], *, fixed: bool) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Labels in their order, sorted unless it is fixed, and the place of each number in it."""
    ordered = tuple(numbers) if fixed else tuple(sorted(numbers))
    place = np.empty(len(ordered), dtype=np.int64)
    place[[numbers[label] for label in ordered]] = np.arange(len(ordered))
    return ordered, place


def check_crowd(path: Path, users: int) -> None:
    """Raises DataError for a file without rows."""
    if users == 0:
        raise DataError(str(path), wanted="at least two rows", got="none", do="check the file")


def check_varied(path: Path, column: str, names: Collection[str]) -> None:
    """Raises DataError for a column in which nothing can be told apart."""
    if len(names) < 2:
        raise DataError(
            f"{path}, column {column!r}",
            wanted="at least two distinct values",
            got=f"only {next(iter(names), '')!r}",
            do="choose a column that varies, or fix the bins with labels",
        )


def check_spaces(subject: str, names: Collection[str]) -> None:
    """Raises DataError for two names that nobody can tell apart: only their spaces differ."""
    spaced: dict[str, str] = {}
    for name in names:
        plain = " ".join(name.split())
        if plain == name:
            continue
        other = plain if plain in names else spaced.setdefault(plain, name)
        if other != name:
            raise DataError(
                subject,
                wanted="names that differ in more than spaces",
                got=f"{other!r} and {name!r}",
                do="write it in one way",
            )
