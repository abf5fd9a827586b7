"""Records of sets of labels, which are several labels in one cell or the labels of several rows.

``crowd`` uses `Sets` for the record type ``set``. Most columns are split with Arrow, all texts at
once. If this is impossible, texts are parsed one by one, which also finds the row for an error.
"""

from itertools import chain
from typing import NamedTuple
from unicodedata import combining

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray

from mixtally.errors import DataError, pluralize
from mixtally.lab.data.columns import LIST_START, encode_column, find_gaps, is_list, split_labels
from mixtally.lab.data.file import Origin
from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.label_merging import normalize_nfc
from mixtally.lab.data.labels import LabelEncoder
from mixtally.lab.data.people import RecordGroups
from mixtally.lab.data.population import LARGEST_SET, Population
from mixtally.lab.data.rankings import RankingWatch
from mixtally.lab.data.reading import Reading, RowCombination
from mixtally.lab.data.rows import RowBatch, RowPosition
from mixtally.model.question import MOST_SET, Kind, Question
from mixtally.protocol.encode.bits import count_set_bits, numbers_of, rows_of
from mixtally.protocol.encode.sets import labels_with_separator, parse_members
from mixtally.protocol.randomize.bins import Records as Bins

Integers = NDArray[np.int64]


class _ParsedSets(NamedTuple):
    """The labels of the distinct texts of a column.

    ``sizes`` has the number of labels of each text, shape (texts,). ``labels`` has the label
    numbers of the first text, then of the second, and so on. ``codes`` has for every row the index
    of its text.
    """

    sizes: Integers
    labels: NDArray[np.int32]
    codes: NDArray[np.integer]


class Sets:
    """Reader of rows that contain the labels of a set."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        (self._column,) = reading.columns
        reading.check_other_label(question)
        self._subject = origin.column(self._column)
        self._separator = reading.separator
        # A row then has one label, and the rows of a person together are the set.
        self._joined = reading.several is RowCombination.SET and self._separator is None
        self._most = reading.max_set if question is None else question.max_set
        self._words = reading.words
        fixed_labels = reading.fixed_labels(question)
        self._encoder = LabelEncoder(fixed_labels, words=reading.words, merging=reading.merging)
        fixed = self._encoder.numbers if self._encoder.fixed else ()
        self._whole = (
            [] if self._separator is None else labels_with_separator(fixed, self._separator)
        )
        self._rankings = RankingWatch()
        self._rows = 0
        self._who: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self._what: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]

    def take(self, batch: RowBatch) -> None:
        """Collect the rows of a batch; a gap is a set without labels.

        Raises DataError for an empty or unknown label, and for too many labels in a cell.
        """
        (array, *_), where = batch.arrays, batch.where
        self._encoder.declare_levels(batch.levels[0] if self._separator is None else None)
        present_rows = np.flatnonzero(~find_gaps(array))
        found = (
            array if len(present_rows) == len(array) else array.take(pyarrow.array(present_rows))
        )
        split = self._split_all_texts(found, where)
        sizes, flat, codes = (
            self._parse_each_text(found, present_rows, where) if split is None else split
        )
        if not self._joined:
            self._rankings.take(sizes, flat)
        starts, counts = np.cumsum(sizes) - sizes, sizes[codes]
        ends = np.cumsum(counts)
        within = np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)
        self._who.append(self._rows + np.repeat(present_rows, counts))
        self._what.append(flat[np.repeat(starts[codes], counts) + within])
        self._rows += len(array)

    def _parse_each_text(
        self, array: Array, present_rows: Integers, where: RowPosition
    ) -> _ParsedSets:
        column = encode_column(array)
        sets = [
            self._parse_set(text, where, row)
            for text, row in zip(
                column.texts, present_rows[column.first_rows].tolist(), strict=True
            )
        ]
        sizes = np.array([len(one) for one in sets], dtype=np.int64)
        return _ParsedSets(sizes, np.array(list(chain.from_iterable(sets)), np.int32), column.codes)

    def _split_all_texts(self, array: Array, where: RowPosition) -> _ParsedSets | None:
        """Return the labels of every distinct text, all split at once; None if that is impossible.

        It is impossible if a text is a list, or has an empty label, too many labels, an unknown
        label, or a label that may contain the separator.
        """
        types = pyarrow.types
        if self._separator is None or self._whole or not types.is_dictionary(array.type):
            return None
        if not types.is_string(array.dictionary.type) or array.null_count:
            return None
        used, codes = np.unique(array.indices.to_numpy(), return_inverse=True)
        texts = array.dictionary.take(pyarrow.array(used))
        split = compute.split_pattern(texts, self._separator)
        sizes = np.diff(split.offsets.to_numpy()).astype(np.int64)
        labels = split.flatten().dictionary_encode()
        parts_met = [part.strip() for part in labels.dictionary.to_pylist()]
        # Normalization (NFC) may merge an accent after a separator with the separator.
        if any(part and (part[0] == LIST_START or combining(part[0])) for part in parts_met):
            return None
        try:
            numbers = [
                self._encoder.label_number(normalize_nfc(part), where, 0) if part else -1
                for part in parts_met
            ]
        except DataError:  # parsing individually will raise it again, with the row
            return None
        flat = np.array(numbers, dtype=np.int32)[labels.indices.to_numpy()]
        last = np.cumsum(sizes) - 1  # a separator at the end of a text adds no empty label
        ended = (flat[last] < 0) & (sizes > 1)
        sizes -= ended
        flat = np.delete(flat, last[ended])
        if (flat < 0).any() or int(sizes.max(initial=0)) > (self._most or MOST_SET):
            return None
        return _ParsedSets(sizes, flat, codes)

    def _parse_set(self, text: str, where: RowPosition, row: int) -> list[int]:
        most = self._most or MOST_SET
        if is_list(text) or self._joined:
            labels = list(dict.fromkeys(split_labels(text, None)))
        elif self._separator is not None:
            labels = parse_members(text, self._separator, where.subject(row), self._whole)
        else:
            raise DataError(
                where.subject(row),
                expected="a list of labels, which may be empty",
                got=repr(text),
                do="give a list for every person, or split text with separator=';'",
            )
        if len(labels) > most:
            raise DataError(
                where.subject(row),
                expected=f"at most {pluralize(most, 'label')}, the largest set that is hidden",
                got=f"{len(labels)}",
                do="choose which to keep, or allow a larger --max-set",
            )
        return list(
            dict.fromkeys(self._encoder.label_number(label, where, row) for label in labels)
        )

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population; raise DataError for a person with too many labels."""
        who, what = records.record_of_rows(np.concatenate(self._who)), np.concatenate(self._what)
        labels, codes = self._encoder.order_labels(what[who >= 0], self._subject)
        memberships = who[who >= 0], codes, records.size, len(labels)
        rows: Bins
        if self._words:
            rows = numbers_of(*memberships)
            largest = rows.shape[1]
        else:
            rows = packed = rows_of(*memberships)
            largest = max(1, int(count_set_bits(packed).max()))
        most = self._most or MOST_SET
        if largest > most:
            raise DataError(
                self._subject,
                expected=f"at most {pluralize(most, 'label')} of a person",
                got=f"{largest}",
                do="choose which to keep, or plan with a larger --max-set",
            )
        asked = Question(
            name=self._column,
            bins=len(labels),
            labels=labels,
            kind=Kind.SET,
            max_set=self._most or largest,
        )
        read = self._encoder.from_data + (LARGEST_SET,) * (self._most is None)
        return Population(asked, rows, warning=self._rankings.warning(), from_data=read)
