"""Populations and timelines read from the rows of a table.

`readers` calls this module once Arrow is known to be installed. A `_TableReader` reads all rows,
and one of the `RecordForm` classes in ``lab.data.forms`` makes records of their values.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.attendance import Attendance
from mixtally.lab.data.columns import encode_column, row_texts
from mixtally.lab.data.data_warnings import (
    warn_of_cut_labels,
    warn_of_missing_marks,
    warn_of_similar_labels,
)
from mixtally.lab.data.epoch_counts import EpochCounts, EpochTally
from mixtally.lab.data.epoch_names import EpochOrder, declared_order, order_epochs
from mixtally.lab.data.file import DataFile, Origin
from mixtally.lab.data.formats.table import Array, Table
from mixtally.lab.data.formats.tables import open_table
from mixtally.lab.data.forms.attributes import Attributes
from mixtally.lab.data.forms.bits import Bits
from mixtally.lab.data.forms.numbers import Numbers
from mixtally.lab.data.forms.one import One
from mixtally.lab.data.forms.places import Places
from mixtally.lab.data.forms.sets import Sets
from mixtally.lab.data.identifiers import IdentifierWatch, people_warning
from mixtally.lab.data.labels import LabelEncoder
from mixtally.lab.data.people import RecordGroups, group_rows, number_people
from mixtally.lab.data.population import LABELS, PEOPLE, Population
from mixtally.lab.data.reading import LABELED_TYPES, Reading, RecordType, RowCombination
from mixtally.lab.data.rows import RowBatch, RowReader
from mixtally.lab.data.timeline import EpochColumn, Timeline, arrange_by_epoch
from mixtally.model.question import Question
from mixtally.primitives.progress import Progress


class RecordForm(Protocol):
    """A reader that turns the cells of some columns into records of one type."""

    def take(self, batch: RowBatch) -> None:
        """Collect the rows of a batch, whose first columns are those of the records."""

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population of all rows that ``take`` received, grouped by ``records``."""


_FORMS: dict[RecordType, Callable[[Origin, Reading, Question | None], RecordForm]] = {
    RecordType.ONE: One,
    RecordType.SET: Sets,
    RecordType.ATTRIBUTES: Attributes,
    RecordType.BITS: Bits,
    RecordType.NUMBER: Numbers,
    RecordType.PLACE: Places,
}


def read_population(
    file: DataFile, reading: Reading, question: Question | None, progress: Progress
) -> Population:
    """Read the population in ``file``, see `readers.read_population`."""
    with open_table(file, _columns(reading, None), reading.columns) as found:
        return read_table(found, file, reading, question, progress)


def read_table(
    table: Table, origin: Origin, reading: Reading, question: Question | None, progress: Progress
) -> Population:
    """Read the population in ``table``, see `readers.read_table`."""
    gathered = _TableReader(origin, reading, question, None)
    gathered.fill(table, progress)
    return gathered.crowd(gathered.records())


def read_epochs(
    file: DataFile,
    reading: Reading,
    question: Question | None,
    when: EpochColumn,
    progress: Progress,
) -> Timeline:
    """Read the answers in ``file`` by epoch, see `readers.read_epochs`."""
    with open_table(file, _columns(reading, when), [*reading.columns, when.column]) as found:
        return epochs_of_table(found, file, reading, question, when, progress)


def epochs_of_table(
    table: Table,
    origin: Origin,
    reading: Reading,
    question: Question | None,
    when: EpochColumn,
    progress: Progress,
) -> Timeline:
    """Read the answers in ``table`` by epoch, see `readers.epochs_of_table`."""
    gathered = _TableReader(origin, reading, question, when)
    gathered.fill(table, progress)
    found = gathered.records()
    people = None if reading.person is None else found.value_of_records(gathered.people)
    return arrange_by_epoch(
        gathered.crowd(found), gathered.order, found.value_of_records(gathered.epoch_of_row), people
    )


def count_epochs(
    file: DataFile,
    reading: Reading,
    question: Question | None,
    when: EpochColumn,
    progress: Progress,
) -> EpochCounts:
    """Count the answers in ``file`` by epoch, one per row, see `readers.read_epoch_counts`."""
    with open_table(file, _columns(reading, when), [*reading.columns, when.column]) as found:
        gathered = _TableReader(file, reading, question, when)
        form, counts = One(file, reading, question), EpochTally()
        people = None if reading.person is None else Attendance()

        def count(batch: RowBatch, at: NDArray[np.int32]) -> None:
            if people is not None:
                again = people.add(row_texts(batch.arrays[len(reading.columns)]), at)
                if again is not None:
                    raise gathered.second_answer_error(batch.where.subject(again), int(at[again]))
            counts.add(at, form.encode_batch(batch))

        gathered.fill(found, progress, count)
        crowd, order = gathered.describe_rows(form.population_of_labels()), gathered.order
        # Arrow keeps the memory of the largest batch, which the matrices below need.
        pyarrow.default_memory_pool().release_unused()
        place = np.array(order.place, dtype=np.int64)
        # Only now do two names of one moment have the same place, so only now can a second answer
        # of a person under the other name be found.
        times, twice = (None, None) if people is None else people.times(place)
        if twice is not None:
            raise gathered.second_answer_error(
                f"epoch {order.names[twice]!r}", order.place.index(twice)
            )
        truth = counts.truth(place, crowd.codes, crowd.question.bins)
        (used,) = np.nonzero(truth.sum(axis=1))
        return EpochCounts(
            question=crowd.question,
            epochs=tuple(order.names[met] for met in used.tolist()),
            truth=truth if len(used) == len(truth) else truth[used],
            attendance=times,
            note=crowd.note,
            warning=crowd.warning,
            from_data=crowd.from_data,
        )


class _TableReader:
    """A reader that goes through one table once, and collects records, people and epochs.

    ``people`` has the person of each row, numbered from 0, shape (rows,); it is empty if people are
    unknown. ``epoch_of_row`` has the index in ``order`` of the epoch of each row; 0 without epochs.
    """

    def __init__(
        self, origin: Origin, reading: Reading, question: Question | None, when: EpochColumn | None
    ) -> None:
        self._origin, self._reading, self._when = origin, reading, when
        self._question = question
        self._form = _FORMS[reading.form](origin, reading, question)
        self._rows = RowReader(
            origin, reading, _columns(reading, when), None if when is None else when.column
        )
        self._warning, self._people_repeat = "", False
        self.order = EpochOrder((), (), "")
        self._epochs = LabelEncoder(None if when is None else when.order)
        self.people = self.epoch_of_row = np.zeros(0, dtype=np.int64)

    def fill(
        self,
        table: Table,
        progress: Progress,
        count: Callable[[RowBatch, NDArray[np.int32]], None] | None = None,
    ) -> None:
        """Read all rows; raise DataError for a row that cannot be a record.

        If ``count`` is not None, it is called with each batch and the epoch number of each of its
        rows. In this case neither records nor the epochs of rows are kept.
        """
        reading, when = self._reading, self._when
        people: list[Array] = []
        epochs_of_batches = [np.zeros(0, dtype=np.int32)]
        epochs = self._epochs
        watch = _watch_identifiers(table, reading, when, self._question)
        for batch in self._rows.batches(table, watch, progress):
            if when is not None:
                last = encode_column(batch.arrays[-1])
                epochs_of_batches.append(epochs.encode(last, batch.where, batch.levels[-1]))
            if count is not None:
                count(batch, epochs_of_batches.pop())
                continue
            self._form.take(batch)
            if reading.person is not None:
                people.append(batch.arrays[len(reading.columns)])
        # A column in which every row has its own value only shows that each person has one row.
        # This is a reason to warn only if the column itself is counted.
        found = [
            one
            for one in watch.find_identifiers()
            if one.is_repeated or one.column in reading.columns
        ]
        self._people_repeat = bool(found)
        self._warning = "; ".join(filter(None, [table.warning, people_warning(found)]))
        if self._rows.count < 2:
            got = "1" if self._rows.count else "none"
            raise self._origin.unreadable("at least two rows", got, "add a row for each person")
        if count is None:
            self.epoch_of_row = np.zeros(self._rows.count, dtype=np.int64)
        if when is not None:
            self.order = order_epochs(
                tuple(epochs.numbers),
                when.order,
                declared_order(epochs.levels, ordered=when.column in table.ordered),
                subject=f"column {when.column!r}",
            )
            if count is None:
                self.epoch_of_row = np.array(self.order.place, dtype=np.int64)[
                    np.concatenate(epochs_of_batches)
                ]
        if people:
            self.people = number_people(people)

    def records(self) -> RecordGroups:
        """Return which rows belong to which record.

        Raises DataError if a person has several rows and no rule combines them.
        """
        if self._reading.person is None:
            return RecordGroups(self._rows.count)
        # One key for each pair of person and epoch: a person may answer once in every epoch.
        keys = self.people * max(1, len(self.order.names)) + self.epoch_of_row
        return group_rows(keys, self._reading.several, self._repeated_row_error)

    def _repeated_row_error(self, first: int, repeated: int) -> DataError:
        expected, got = "one row per person", "a second one"
        if self._when is not None:
            epoch = self.order.names[self.epoch_of_row[repeated]]
            expected, got = "one answer per person and epoch", f"a second one in epoch {epoch!r}"
        return DataError(
            self._origin.row(self._rows.row_number(repeated)),
            expected=expected,
            got=f"{got}, after row {self._rows.row_number(first) + self._origin.skip_rows}",
            do="choose which row counts with --several first or last, or join the rows with "
            "--several set",
        )

    def second_answer_error(self, subject: str, epoch: int) -> DataError:
        """Return the error for a second answer of a person in one epoch.

        ``subject`` names the row, and ``epoch`` is the epoch's number in the order of reading.
        """
        return DataError(
            subject,
            expected="one answer per person and epoch",
            got=f"a second one in epoch {[*self._epochs.numbers][epoch]!r}",
            do="choose which row counts with --several first or last, or remove one of them",
        )

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population, with notes on what was done to its rows."""
        return self.describe_rows(self._form.crowd(records), records)

    def describe_rows(self, crowd: Population, records: RecordGroups | None = None) -> Population:
        """Return ``crowd`` with notes and warnings about its rows.

        If ``records`` is None, each row is a record of its own.
        """
        records = RecordGroups(self._rows.count) if records is None else records
        notes = [crowd.note] if crowd.note else []
        dropped, merged = self._rows.total - self._rows.count, self._rows.count - records.size
        if dropped:
            notes.append(f"Rows left out for a missing value: {dropped:,}.")
        if merged:
            joined = self._reading.several is RowCombination.SET
            how = "joined to a set" if joined else f"left out for the {self._reading.several}"
            notes.append(f"Further rows of a person, {how}: {merged:,}.")
        return replace(
            crowd,
            note=" ".join(notes),
            warning=self._collect_warnings(crowd),
            from_data=(*crowd.from_data, *((PEOPLE,) if self._people_repeat else ())),
        )

    def _collect_warnings(self, crowd: Population) -> str:
        """Return warnings about values that may not be answers, and rows that may not be people."""
        reading, doubts = self._reading, [self._warning, crowd.warning]
        if reading.labels is None and self._question is None and reading.form in LABELED_TYPES:
            doubts.append(warn_of_similar_labels(crowd.question.labels or ()))
        labels = crowd.question.labels or ()
        # Labels that the user listed are meant as they are, so only labels from the data are
        # doubted.
        if LABELS in crowd.from_data:
            if reading.form is RecordType.ATTRIBUTES:
                labels = tuple(label.rpartition("=")[2] for label in labels)
            if not reading.missing_values:
                doubts.append(warn_of_missing_marks(labels))
            if reading.form is RecordType.SET:
                doubts.append(warn_of_cut_labels(labels))
        met = labels if LABELS in crowd.from_data else None
        one = reading.form is RecordType.ONE and crowd.users == self._rows.count
        counts = crowd.bin_counts if one and met is not None else None
        doubts.append(
            self._rows.ends.describe_warning(self._origin, reading.columns[0], met, counts)
        )
        doubts.append(self.order.warning)
        return "; ".join(filter(None, doubts))


def _watch_identifiers(
    table: Table, reading: Reading, when: EpochColumn | None, question: Question | None
) -> IdentifierWatch:
    """Return the watch that looks for columns that identify people.

    The columns of records and of epochs are not watched, except an attribute whose labels are read
    from the data. No column is watched if the reading says which rows belong to a person.
    """
    if reading.person is not None or reading.rows_are_people:
        return IdentifierWatch(())
    skipped = [] if when is None else [when.column]
    if reading.form is not RecordType.ATTRIBUTES or question is not None:
        skipped += reading.columns
    else:
        given = reading.labels or ()
        skipped += [c for c in reading.columns if any(one.startswith(f"{c}=") for one in given)]
    return IdentifierWatch(table.names, skipped)


def _columns(reading: Reading, when: EpochColumn | None) -> list[str]:
    who = [] if reading.person is None else [reading.person]
    return [*reading.columns, *who, *([] if when is None else [when.column])]
