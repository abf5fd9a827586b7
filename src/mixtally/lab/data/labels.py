"""Encoding of labels as numbers. Labels are fixed in advance, or taken from the data and sorted.

The forms in ``lab.data.forms``, ``value_counts`` and ``crowd`` encode their columns with a
`LabelEncoder`.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.columns import Column
from mixtally.lab.data.data_warnings import is_total
from mixtally.lab.data.label_merging import (
    AS_WRITTEN,
    Merging,
    check_fractions,
    check_spaces,
    find_similar,
    natural_sort_key,
    normalize_nfc,
)
from mixtally.lab.data.population import LABELS, check_varies
from mixtally.lab.data.rows import Levels, RowPosition

Integers = NDArray[np.int64]
_LONGEST = 10_000
"""Number of characters of the longest label. Longer texts usually come from unbalanced quotes."""
_FLOAT = re.compile(r"-?[0-9]+\.0+")


class LabelEncoder:
    """An encoder of labels as numbers: their places in a fixed list, or in the order of reading.

    Attributes
    ----------
    fixed
        Whether the labels were listed in advance, so that the data add none.
    levels
        The labels that the type of the column declares; None if it declares none, or if parts of a
        file declare different ones.
    numbers
        The number of each label, from 0.
    """

    def __init__(
        self,
        labels: Sequence[str] | None,
        *,
        words: bool = False,
        merging: Merging = AS_WRITTEN,
    ) -> None:
        """Make an encoder for ``labels``.

        If ``labels`` is None, each new label in the data gets the next number. With ``words`` the
        labels are words of an open domain, whose bins do not depend on the data. ``merging`` says
        which spellings are one label.
        """
        self.fixed, self._words, self._merging = labels is not None, words, merging
        self.levels: Levels = None
        self._begun = False
        self._given = tuple(labels or ())
        self.numbers = {normalize_nfc(label): number for number, label in enumerate(self._given)}
        self._spelled = {merging.fold(label): label for label in self.numbers}
        if len(self._spelled) < len(self.numbers):
            alike = find_similar(self.numbers)
            raise DataError(
                "labels",
                expected="labels that differ once they are merged",
                got=" and ".join(map(repr, alike[:2])),
                do="list one of them, or leave out --ignore-case and --strip",
            )

    def label_number(self, label: str, where: RowPosition, row: int) -> int:
        """Return the number of a label; raise DataError if the labels are fixed and lack it.

        ``where`` and ``row`` are the position of the label, for the error.
        """
        number = self.numbers.get(label)
        if number is None and self._merging != AS_WRITTEN:
            label = self._merge_label(label)
            number = self.numbers.get(label)
        if number is not None:
            return number
        if len(label) > _LONGEST:
            raise DataError(
                where.subject(row),
                expected=f"labels of at most {_LONGEST:,} characters",
                got=f"one of {len(label):,}",
                do="check the column, and the quotes in it",
            )
        if self.fixed and self._merging.other is not None:
            return self.numbers[normalize_nfc(self._merging.other)]
        if self.fixed:
            raise DataError(
                where.subject(row),
                expected=f"one of the {len(self.numbers):,} labels of the question",
                got=repr(label),
                do=self._advise(label, where, row),
            )
        self.numbers[label] = len(self.numbers)
        return len(self.numbers) - 1

    def _merge_label(self, label: str) -> str:
        """Return the label that a value is merged with: a fixed one, or the first spelling read."""
        text = label.strip() if self._merging.strip else label
        return self._spelled.setdefault(self._merging.fold(label), text)

    def _advise(self, label: str, where: RowPosition, row: int) -> str:
        """Return the advice for a label that the fixed labels lack."""
        if is_total(label):
            return "remove the row if it is a total; otherwise add it to the labels"
        whole = label.partition(".")[0] if _FLOAT.fullmatch(label) else label
        if whole != label and whole in self.numbers:
            return (
                "the column has whole numbers with a fraction, as some libraries write them next "
                f"to missing values: write {whole!r} in the file, in pandas by astype('Int64')"
            )
        if f"{label}.0" in self.numbers:
            return f"write {label!r} in the labels too, instead of '{label}.0'"
        do = "add it to the labels, map it to one of them, or count all others with --other LABEL"
        if where.row_number(row) > 1:
            return do
        return f"{do}; if the row repeats the heading, {where.origin.skip_advice(1)}"

    def declare_levels(self, levels: Levels) -> None:
        """Record the labels that the type of a batch declares."""
        if levels is not None and self._merging != AS_WRITTEN:
            levels = tuple(dict.fromkeys(map(self._merge_label, levels)))
        self.levels = levels if levels == self.levels or not self._begun else None
        self._begun = True

    @property
    def from_data(self) -> tuple[str, ...]:
        """``(LABELS,)`` if only the data say which labels exist, otherwise ``()``."""
        given = self.fixed or self._words or self.levels is not None
        return () if given else (LABELS,)

    def encode(
        self, column: Column, where: RowPosition, levels: Levels = None
    ) -> NDArray[np.int32]:
        """Return the number of every row's label, shape (rows,).

        ``levels`` are the labels that the type of the batch declares; they are recorded first.
        """
        self.declare_levels(levels)
        found: list[int | None] = [*map(self.numbers.get, column.texts)]
        # Most batches have only known labels; the slower lookup adds new labels or raises.
        if None in found:
            found = [
                self.label_number(text, where, row)
                for text, row in zip(column.texts, column.first_rows.tolist(), strict=True)
            ]
        return np.array(found, dtype=np.int32)[column.codes]

    def order_labels(
        self, codes: NDArray[np.integer], subject: str
    ) -> tuple[tuple[str, ...], Integers]:
        """Return the labels in their final order, and the index of the label of every code.

        ``codes`` are numbers that ``encode`` returned. Labels that are neither fixed nor declared
        are sorted, and left out if no code uses them. Raises DataError if there is only one label,
        or if two labels look the same; the error names ``subject``.
        """
        # Labels that look the same would split one answer into two bins without anyone noticing.
        check_spaces(subject, self._given or self.numbers)
        labels = list(self.numbers)
        if self.fixed:
            check_varies(subject, self._given)
            return self._given, codes.astype(np.int64)
        if self.levels is not None:
            check_varies(subject, self.levels)
            check_spaces(subject, self.levels)
            number = {label: place for place, label in enumerate(self.levels)}
            return self.levels, np.array([number[label] for label in labels])[codes]
        used = np.flatnonzero(np.bincount(codes, minlength=len(labels))).tolist()
        used.sort(key=lambda number: natural_sort_key(labels[number]))
        ordered = tuple(labels[number] for number in used)
        check_varies(subject, ordered)
        check_fractions(subject, ordered)
        place = np.zeros(len(labels), dtype=np.int64)
        place[used] = np.arange(len(used))
        return ordered, place[codes]
