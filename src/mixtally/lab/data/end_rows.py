"""Check whether the first row of a table is a second header, and the last row a total.

A survey tool may repeat the header in the first row, and a table for human readers may end with
totals. Either row would be counted as a person. Readers pass every batch to `EndRows`, and ask it
for a warning at the end.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow
from numpy.typing import NDArray

from mixtally.lab.data.columns import find_gaps
from mixtally.lab.data.data_warnings import is_like_question, is_total
from mixtally.lab.data.file import Origin
from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.label_merging import normalize_nfc

_ENOUGH = 50
"""Number of rows from which on a unique value in the first or the last row is suspicious."""


class EndRows:
    """The first and the last row of a table: their texts, by the name of the column."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}
        self.last: dict[str, str] = {}
        self._rows = 0
        self._lacking: set[str] = set()

    def take(self, columns: Mapping[str, Array]) -> None:
        """Examine a batch: ``columns`` has the cells of its rows, by the name of the column."""
        size = max(map(len, columns.values()), default=0)
        if size == 0:
            return
        if self._rows == 0:
            self.first = _texts(columns, 0)
            self._lacking = {
                name for name, array in columns.items() if find_gaps(array.slice(0, 1))[0]
            }
        # Keep only the columns that lack a value in the first row and in no other row.
        rest = 1 if self._rows == 0 else 0
        self._lacking = {
            name for name in self._lacking if not find_gaps(columns[name].slice(rest)).any()
        }
        self.last = _texts(columns, size - 1)
        self._rows += size

    def describe_warning(
        self,
        origin: Origin,
        column: str,
        labels: Sequence[str] | None,
        people: NDArray[np.int64] | None,
    ) -> str:
        """Return a warning if the first or the last row is probably no person, else an empty text.

        Parameters
        ----------
        origin : Origin
            Where the data come from, for the advice to skip the first row.
        column : str
            The column that is counted.
        labels : sequence of str or None
            The labels that were read from the column; None if the user or a plan listed them.
        people : ndarray of int64, shape (labels,), or None
            Number of people with each label; None if unknown.
        """
        single_label = (
            None if labels is None or people is None else self._only_single_label(labels, people)
        )
        first = self._explain_heading(column, single_label, labels_from_data=labels is not None)
        last = self._explain_total(column, single_label, labels_from_data=labels is not None)
        first = f"{first}, {origin.skip_advice(1)}" if first else ""
        return "; ".join(filter(None, (first, last)))

    def _explain_heading(
        self, column: str, single_label: str | None, *, labels_from_data: bool
    ) -> str:
        """Return why the first row looks like a header; an empty text if it does not.

        ``single_label`` is the only label that exactly one person has, or None. If
        ``labels_from_data`` is true, labels were read from the data, so the first row may have
        added a label that is not an answer.
        """
        text = self.first.get(column, "")
        if labels_from_data and is_like_question(column, text):
            return f"the first row, {text.strip()!r}, looks like the question: if so"
        if labels_from_data and single_label is not None and normalize_nfc(text) == single_label:
            return f"the first row alone has the value {text!r}: if it repeats the heading"
        if self._rows >= _ENOUGH and self._lacking:
            lacking = min(self._lacking)
            return (
                f"the first row alone has no value in column {lacking!r}: if it repeats the heading"
            )
        return ""

    def _explain_total(
        self, column: str, single_label: str | None, *, labels_from_data: bool
    ) -> str:
        """Return why the last row looks like a total; an empty text if it does not.

        The parameters are those of `_explain_heading`.
        """
        text = self.last.get(column, "")
        if labels_from_data and is_total(text):
            return f"the last row, {text!r}, looks like a total: if so, remove it"
        for name, other in self.last.items():
            if name != column and is_total(other) and not is_total(self.first.get(name, "")):
                return (
                    f"the last row has {other!r} in column {name!r} and looks like a total: if so, "
                    "remove it"
                )
        if labels_from_data and single_label is not None and normalize_nfc(text) == single_label:
            return f"the last row alone has the value {text!r}: if it is a total, remove it"
        return ""

    def _only_single_label(self, labels: Sequence[str], people: NDArray[np.int64]) -> str | None:
        """Return the only label that exactly one person has; None if there are none or several.

        Returns None for a short table, too. If n people are in random order, this person is the
        first or the last with probability 2 / n, so only in a long table this is suspicious.
        """
        rare = np.flatnonzero(people == 1)
        return labels[int(rare[0])] if self._rows >= _ENOUGH and len(rare) == 1 else None


def _texts(found: Mapping[str, Array], row: int) -> dict[str, str]:
    values = {name: array[row].as_py() for name, array in found.items() if _is_text(array.type)}
    return {name: value for name, value in values.items() if value is not None}


def _is_text(kind: Array) -> bool:
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))
