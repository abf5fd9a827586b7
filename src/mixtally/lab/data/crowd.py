"""The crowd in a table: its rows, one by one people or answers, as records of every kind."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.attendance import Attendance
from mixtally.lab.data.columns import coded, row_texts
from mixtally.lab.data.doubts import like_cut, like_missing, like_others
from mixtally.lab.data.epoch_counts import EpochCounts, EpochTally
from mixtally.lab.data.epoch_names import Order, declared_order, ordered_epochs
from mixtally.lab.data.file import DataFile, Origin
from mixtally.lab.data.formats.table import Array, Table
from mixtally.lab.data.formats.tables import table
from mixtally.lab.data.forms.attributes import Attributes
from mixtally.lab.data.forms.bits import Bits
from mixtally.lab.data.forms.numbers import Numbers
from mixtally.lab.data.forms.one import One
from mixtally.lab.data.forms.places import Places
from mixtally.lab.data.forms.sets import Sets
from mixtally.lab.data.identifiers import Watch, people_warning
from mixtally.lab.data.labels import Book
from mixtally.lab.data.people import Records, numbered, records
from mixtally.lab.data.population import LABELS, PEOPLE, Population
from mixtally.lab.data.reading import As, Reading, Several
from mixtally.lab.data.rows import Batch, Rows
from mixtally.lab.data.timeline import Timeline, When, by_epoch
from mixtally.model.question import Question
from mixtally.primitives.progress import Progress


class Form(Protocol):
    """How columns become records of one kind."""

    def take(self, batch: Batch) -> None:
        """Gather the rows of a batch, the columns of the records first."""

    def crowd(self, records: Records) -> Population:
        """What all the rows make."""


_FORMS: dict[As, Callable[[Origin, Reading, Question | None], Form]] = {
    As.ONE: One,
    As.SET: Sets,
    As.ATTRIBUTES: Attributes,
    As.BITS: Bits,
    As.NUMBER: Numbers,
    As.PLACE: Places,
}


_LABELLED = (As.ONE, As.SET, As.ATTRIBUTES)


def read(
    file: DataFile, reading: Reading, question: Question | None, progress: Progress
) -> Population:
    """As ``readers.read``."""
    with table(file, _columns(reading, None), reading.columns) as found:
        return read_table(found, file, reading, question, progress)


def read_table(
    table: Table, origin: Origin, reading: Reading, question: Question | None, progress: Progress
) -> Population:
    """The crowd in a table, as ``readers.read`` has it."""
    gathered = _Gathered(origin, reading, question, None)
    gathered.fill(table, progress)
    return gathered.crowd(gathered.records())


def read_epochs(
    file: DataFile, reading: Reading, question: Question | None, when: When, progress: Progress
) -> Timeline:
    """As ``readers.read_epochs``."""
    with table(file, _columns(reading, when), [*reading.columns, when.column]) as found:
        return epochs_of_table(found, file, reading, question, when, progress)


def epochs_of_table(
    table: Table,
    origin: Origin,
    reading: Reading,
    question: Question | None,
    when: When,
    progress: Progress,
) -> Timeline:
    """The answers in a table by epoch, as ``readers.read_epochs`` has them."""
    gathered = _Gathered(origin, reading, question, when)
    gathered.fill(table, progress)
    found = gathered.records()
    people = None if reading.person is None else found.each(gathered.people)
    return by_epoch(gathered.crowd(found), gathered.order, found.each(gathered.at), people)


def count_epochs(
    file: DataFile, reading: Reading, question: Question | None, when: When, progress: Progress
) -> EpochCounts:
    """As ``readers.read_epoch_counts``, of one answer a row."""
    with table(file, _columns(reading, when), [*reading.columns, when.column]) as found:
        gathered = _Gathered(file, reading, question, when)
        form, counts = One(file, reading, question), EpochTally()
        people = None if reading.person is None else Attendance()

        def count(batch: Batch, at: NDArray[np.int32]) -> None:
            if people is not None:
                again = people.add(row_texts(batch.arrays[len(reading.columns)]), at)
                if again is not None:
                    raise gathered.twice(batch.where.subject(again), int(at[again]))
            counts.add(at, form.codes_of(batch))

        gathered.fill(found, progress, count)
        crowd, order = gathered.described(form.places()), gathered.order
        pyarrow.default_memory_pool().release_unused()  # it keeps what the largest batch took
        place = np.array(order.place, dtype=np.int64)
        times, twice = (None, None) if people is None else people.times(place)
        if twice is not None:
            raise gathered.twice(f"epoch {order.names[twice]!r}", order.place.index(twice))
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


class _Gathered:
    """What is read of a table in one go: records, and who gave them when.

    where
      people   shape (rows,), who is who, from 0; empty when nobody knows
      at       shape (rows,), the place of each row's epoch in ``order``; 0 without epochs
    """

    def __init__(
        self, origin: Origin, reading: Reading, question: Question | None, when: When | None
    ) -> None:
        self._origin, self._reading, self._when = origin, reading, when
        self._question = question
        self._form = _FORMS[reading.form](origin, reading, question)
        self._rows = Rows(
            origin, reading, _columns(reading, when), None if when is None else when.column
        )
        self._warning, self._people_repeat = "", False
        self.order = Order((), (), "")
        self._epochs = Book(None if when is None else when.order)
        self.people = self.at = np.zeros(0, dtype=np.int64)

    def fill(
        self,
        table: Table,
        progress: Progress,
        count: Callable[[Batch, NDArray[np.int32]], None] | None = None,
    ) -> None:
        """Read all rows; raises DataError for those that cannot be a record.

        Where ``count`` is given it takes each batch and the number of every row's epoch, and
        neither records nor epochs of single rows are kept.
        """
        reading, when = self._reading, self._when
        people: list[Array] = []
        at = [np.zeros(0, dtype=np.int32)]
        epochs = self._epochs
        watch = _watch(table, reading, when, self._question)
        for batch in self._rows.batches(table, watch, progress):
            if when is not None:
                last = coded(batch.arrays[-1])
                at.append(epochs.codes(last, batch.where, batch.levels[-1]))
            if count is not None:
                count(batch, at.pop())
                continue
            self._form.take(batch)
            if reading.person is not None:
                people.append(batch.arrays[len(reading.columns)])
        # A value of its own in every row is what people who come once have, but no attribute.
        found = [one for one in watch.found() if one.repeats or one.column in reading.columns]
        self._people_repeat = bool(found)
        self._warning = "; ".join(filter(None, [table.warning, people_warning(found)]))
        if self._rows.count == 0:
            raise self._origin.unreadable("at least two rows", "none", "look at the data")
        if count is None:
            self.at = np.zeros(self._rows.count, dtype=np.int64)
        if when is not None:
            self.order = ordered_epochs(
                tuple(epochs.numbers),
                when.order,
                declared_order(epochs.levels, ordered=when.column in table.ordered),
                subject=f"column {when.column!r}",
            )
            if count is None:
                self.at = np.array(self.order.place, dtype=np.int64)[np.concatenate(at)]
        if people:
            self.people = numbered(people)

    def records(self) -> Records:
        """Which rows make which record; raises DataError for several of a person, unless taken."""
        if self._reading.person is None:
            return Records(self._rows.count)
        keys = self.people * max(1, len(self.order.names)) + self.at
        return records(keys, self._reading.several, self._again)

    def _again(self, first: int, again: int) -> DataError:
        """The refusal of a second row of a person."""
        expected, got = "one row of a person", "a second one"
        if self._when is not None:
            epoch = self.order.names[self.at[again]]
            expected, got = "one answer of a person in an epoch", f"a second one in epoch {epoch!r}"
        return DataError(
            self._origin.row(self._rows.number(again)),
            expected=expected,
            got=f"{got}, after row {self._rows.number(first) + self._origin.skip_rows}",
            do="say which counts, --several first or last, or make them a --several set",
        )

    def twice(self, subject: str, epoch: int) -> DataError:
        """Return the refusal of a second answer in an epoch, by the number it was met in."""
        return DataError(
            subject,
            expected="one answer of a person in an epoch",
            got=f"a second one in epoch {[*self._epochs.numbers][epoch]!r}",
            do="say which counts, --several first or last, or remove one of them",
        )

    def crowd(self, records: Records) -> Population:
        """The people, with what was done to their rows."""
        return self.described(self._form.crowd(records), records)

    def described(self, crowd: Population, records: Records | None = None) -> Population:
        """Return ``crowd`` with what was done to its rows; a row a record without ``records``."""
        records = Records(self._rows.count) if records is None else records
        notes = [crowd.note] if crowd.note else []
        dropped, merged = self._rows.total - self._rows.count, self._rows.count - records.size
        if dropped:
            notes.append(f"Rows left out for a missing value: {dropped:,}.")
        if merged:
            joined = self._reading.several is Several.SET
            how = "joined to a set" if joined else f"left out for the {self._reading.several}"
            notes.append(f"Further rows of a person, {how}: {merged:,}.")
        return replace(
            crowd,
            note=" ".join(notes),
            warning=self._doubts(crowd),
            from_data=(*crowd.from_data, *((PEOPLE,) if self._people_repeat else ())),
        )

    def _doubts(self, crowd: Population) -> str:
        """Words of warning, for what most likely is no answer or no person."""
        reading, doubts = self._reading, [self._warning, crowd.warning]
        if reading.labels is None and self._question is None and reading.form in _LABELLED:
            doubts.append(like_others(crowd.question.labels or ()))
        labels = crowd.question.labels or ()
        if LABELS in crowd.from_data:
            if reading.form is As.ATTRIBUTES:
                labels = tuple(label.rpartition("=")[2] for label in labels)
            if not reading.missing_values:
                doubts.append(like_missing(labels))
            if reading.form is As.SET:
                doubts.append(like_cut(labels))
        met = labels if LABELS in crowd.from_data else None
        one = reading.form is As.ONE and crowd.users == self._rows.count
        held = crowd.held if one and met is not None else None
        doubts.append(self._rows.ends.warning(self._origin, reading.columns[0], met, held))
        return "; ".join(filter(None, doubts))


def _watch(table: Table, reading: Reading, when: When | None, question: Question | None) -> Watch:
    """Watch for people the columns that are not counted, and attributes without given values."""
    if reading.person is not None or reading.rows_are_people:
        return Watch(())
    skipped = [] if when is None else [when.column]
    if reading.form is not As.ATTRIBUTES or question is not None:
        skipped += reading.columns
    else:
        given = reading.labels or ()
        skipped += [c for c in reading.columns if any(one.startswith(f"{c}=") for one in given)]
    return Watch(table.names, skipped)


def _columns(reading: Reading, when: When | None) -> list[str]:
    """The columns of the records, then those that say who and when."""
    who = [] if reading.person is None else [reading.person]
    return [*reading.columns, *who, *([] if when is None else [when.column])]
