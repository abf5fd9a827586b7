"""Detection of columns that identify people.

A guarantee covers one record of each person. A file in which a person has several rows must
therefore not be counted row by row without a warning. The readers show the columns that are not
counted to an `IdentifierWatch`. At the end it says whether the values of a column identify people,
and whether several rows share such a value.

The rule prefers a needless warning to a missed one. If a postcode is mistaken for a person, the
user has to set one option. If the rows of one person are mistaken for several people, that person
loses several times epsilon.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray

from mixtally.lab.data.epoch_names import moments_of
from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.label_merging import value_text

_BARE = "email|emailaddress|member|participant|patient|person|respondent|uid|user|username|voter"
_NAMED = re.compile(
    f"who|{_BARE}|({_BARE}|account|case|client|customer|device|employee|student|subject|)id"
)
"""Names of columns that identify people, reduced to small letters and digits."""
_WATCHED_ROWS = 1 << 20
"""Number of rows after which no more batches are kept."""
_WATCHED_BYTES = 1 << 26
"""Bytes of one column above which the column is no longer watched."""
_WATCHED_COLUMNS = 24
"""Largest number of watched columns whose name is not that of an identifier."""
_ENOUGH = 10_000
"""Number of rows after which a column with few distinct values is no longer watched."""
_FEWEST = 10
"""Number of distinct values below which the values are taken for groups, not people."""
_SAMPLE = 1_000
"""Number of distinct values whose text is examined."""
_WHOLE = re.compile(r"[0-9]{1,18}(\.0+)?")
_NUMBER = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?")
_CODE = re.compile(r"\S*[0-9@]\S*")
_LONGEST = 80
"""Number of characters above which a text is a sentence, not an identifier."""
_QUANTITY = 150
"""Width of a range of whole numbers below which they are taken for ages or ratings.

Such numbers are taken for identifiers only if every number has nearly the same number of rows.
"""
_YEARS = range(1900, 2101)
"""Whole numbers that may be years of birth or of an event."""
_MAX_EVEN_DISPERSION = 0.25
"""Index of dispersion below which rows are spread over values by design, as in a panel.

The index of dispersion D is the variance of the number of rows of a value, divided by its mean. If
rows are drawn uniformly from d values, D is near 1, and (d - 1) D has approximately a chi-square
distribution with d - 1 degrees of freedom. From d = 20 on, D is below 1/4 with probability less
than 3e-4.
"""
_FEW_ROWS = 5
"""Mean number of rows of a value above which small whole numbers are always ages or ratings."""
_MAX_IDENTIFIER_DISPERSION = 2.0
"""Index of dispersion above which whole numbers are quantities, whose central values are common."""
_MAX_GROUP_SHARE = 0.05
"""Largest share of all rows that one name of a person may have; a larger one is a group."""
_MIN_UNIQUE_SHARE = 0.9
"""Least number of distinct values per row of a column in which nearly every row has its own value.
"""


class IdentifierColumn(NamedTuple):
    """The evidence that the values of a column identify people.

    ``is_repeated`` says that the column identifies people, and that at least one person has several
    rows. ``is_unique`` says that nearly every row has its own value, which identifies a person.
    """

    column: str
    is_repeated: bool
    is_unique: bool


class IdentifierWatch:
    """Columns that are kept while a table is read, to find those that identify people.

    They are kept in memory only for this check, so rows, bytes and columns are limited.
    """

    def __init__(self, names: Sequence[str], skipped: Collection[str] = ()) -> None:
        """Choose the columns to watch from ``names`` without those in ``skipped``.

        Every column whose name suggests an identifier, such as "user_id", is watched. Of the other
        columns only the first ``_WATCHED_COLUMNS`` are.
        """
        free = [name for name in dict.fromkeys(names) if name not in skipped]
        named = [name for name in free if _has_identifier_name(name)]
        others = [name for name in free if not _has_identifier_name(name)][:_WATCHED_COLUMNS]
        self.columns: tuple[str, ...] = (*named, *others)
        self._batches: dict[str, list[Array]] = {name: [] for name in self.columns}
        self._when: list[Array] = []
        self._rows = 0
        self._cut = False

    def take(self, columns: Mapping[str, Array], when: Array | None = None) -> None:
        """Keep the rows of a batch; ``when`` has the epoch of each row, or is None."""
        if self._rows >= _WATCHED_ROWS or not self._batches:
            self._cut = True
            return
        for name in list(self._batches):
            array, batches = columns[name], self._batches[name]
            if not _can_identify(array.type) or sum(one.nbytes for one in batches) > _WATCHED_BYTES:
                del self._batches[name]
                continue
            batches.append(array)
        if when is not None:
            self._when.append(when)
        begun = self._rows < _ENOUGH
        self._rows += max(map(len, columns.values()), default=0)
        if begun and self._rows >= _ENOUGH:
            for name in [name for name in self._batches if not self._can_be_people(name)]:
                del self._batches[name]

    def find_identifiers(self) -> list[IdentifierColumn]:
        """Return the columns that identify people, first those whose values repeat."""
        found = [self._examine_column(name) for name in self._batches if self._batches[name]]
        return sorted(
            (one for one in found if one.is_repeated or one.is_unique), key=lambda o: o.is_unique
        )

    def _can_be_people(self, name: str) -> bool:
        """Return whether a column has enough distinct values to be watched to the end."""
        rows = _count_rows_by_value(pyarrow.chunked_array(self._batches[name]))[1]
        return _has_identifier_name(name) or int(rows.sum()) <= 4 * len(rows) * len(rows)

    def _examine_column(self, name: str) -> IdentifierColumn:
        values = pyarrow.chunked_array(self._batches[name])
        texts, rows = _count_rows_by_value(values)
        if len(rows) == 0:
            return IdentifierColumn(name, is_repeated=False, is_unique=False)
        own = (
            len(rows) >= _MIN_UNIQUE_SHARE * int(rows.sum())
            and len(rows) >= _FEWEST
            and _are_codes(texts)
        )
        repeats = bool((rows > 1).any()) and (
            _has_identifier_name(name) or _is_identifying(texts, rows)
        )
        if repeats and self._when:
            repeats = self._repeats_within(values)
        # Values may repeat in the rows that were not kept, so the name alone must decide.
        repeats = repeats or (self._cut and _has_identifier_name(name))
        return IdentifierColumn(name, is_repeated=repeats, is_unique=own and not repeats)

    def _repeats_within(self, values: Array) -> bool:
        """Return whether two rows of the same epoch have the same value."""
        people, epochs = _codes(values), _codes(pyarrow.chunked_array(self._when))
        known = (people >= 0) & (epochs >= 0)
        pairs = people[known] * (1 + int(epochs.max(initial=0))) + epochs[known]
        pairs.sort()  # np.unique takes ten times as long for a million pairs
        return bool((pairs[1:] == pairs[:-1]).any())


def people_warning(identifiers: Sequence[IdentifierColumn], *, counts: bool = False) -> str:
    """Return a warning about the first column that identifies people, otherwise an empty text.

    With ``counts`` the table has one row for each value, and a column says how many people have the
    value.
    """
    for one in identifiers:
        if one.is_repeated:
            what = "has the same values in several rows and seems to identify people"
        elif one.is_unique:
            what = "has a different value in nearly every row and seems to identify people"
        else:
            continue
        rows = "the counts of rows may not be counts of people" if counts else ""
        rows = rows or "rows may not be people"
        name = "" if counts else "name it with --person-column, or "
        return f"column {one.column!r} {what}: {rows}; {name}say --rows-are-people if they are"
    return ""


def _has_identifier_name(name: str) -> bool:
    return _NAMED.fullmatch("".join(filter(str.isalnum, name)).lower()) is not None


def _can_identify(kind: Array) -> bool:
    """Return whether values of an Arrow type can be identifiers: text, numbers, or a dictionary."""
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _can_identify(kind.value_type)
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    # Some libraries store whole numbers as floating-point numbers if the column has gaps.
    return bool(text or types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind))


def _count_rows_by_value(values: Array) -> tuple[list[str], NDArray[np.int64]]:
    """Return a sample of the distinct values as text, and the row count of every distinct value."""
    decoded = _decode_values(values)
    if pyarrow.types.is_null(decoded.type):
        return [], np.zeros(0, dtype=np.int64)
    present = decoded.drop_null()
    if pyarrow.types.is_string(present.type):
        present = present.filter(compute.not_equal(present, ""))
    counted = compute.value_counts(present)
    rows = counted.field("counts").to_numpy(zero_copy_only=False).astype(np.int64)
    step = max(1, len(rows) // _SAMPLE)
    texts = [value_text(value) for value in counted.field("values")[::step].to_pylist()]
    return [text.strip() for text in texts if text and text.strip()], rows


def _decode_values(values: Array) -> Array:
    """Return ``values`` with one plain type for all batches, whose types may differ."""
    chunks = [
        one.dictionary_decode() if pyarrow.types.is_dictionary(one.type) else one
        for one in values.chunks
    ]
    kinds = {one.type for one in chunks if not pyarrow.types.is_null(one.type)}
    if len(kinds) > 1 or any(not _is_plain(kind) for kind in kinds):
        chunks = [one.cast(pyarrow.string()) for one in chunks]
    elif kinds:
        chunks = [one.cast(next(iter(kinds))) for one in chunks]
    return pyarrow.chunked_array(chunks)


def _is_plain(kind: Array) -> bool:
    types = pyarrow.types
    return bool(types.is_string(kind) or types.is_integer(kind) or types.is_floating(kind))


def _codes(values: Array) -> NDArray[np.int64]:
    """Return an integer for each row, the same for equal values, and -1 for a missing value."""
    encoded = _decode_values(values).combine_chunks().dictionary_encode()
    if isinstance(encoded, pyarrow.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = compute.fill_null(encoded.indices.cast(pyarrow.int64()), -1)
    found: NDArray[np.int64] = codes.to_numpy(zero_copy_only=False)
    return found


def _is_identifying(texts: Sequence[str], rows: NDArray[np.int64]) -> bool:
    """Return whether the values of a column identify people.

    ``texts`` is a sample of the distinct values, and ``rows`` the number of rows of each distinct
    value. Most values of an identifier occur more than once, but each in few rows: the mean number
    of rows of a value is at most the number of values. If the values are numbers, they must also
    occur about equally often. This is measured by the index of dispersion, the variance of ``rows``
    divided by their mean.
    """
    distinct, total = len(rows), int(rows.sum())
    if distinct < _FEWEST or total > distinct * distinct or not texts:
        return False
    if moments_of(texts) is not None or max(map(len, texts)) > _LONGEST:
        return False
    most_repeat = 2 * int((rows > 1).sum()) >= distinct
    index = float(rows.var() / rows.mean())
    if all(_NUMBER.fullmatch(text) for text in texts):
        if not all(_WHOLE.fullmatch(text) for text in texts) or not most_repeat:
            return False
        numbers = sorted(int(text.partition(".")[0]) for text in texts)
        # The outer twentieths are left out, because they may be missing-value marks such as 999.
        inner = numbers[len(numbers) // 20 : len(numbers) - len(numbers) // 20]
        small = inner[-1] - inner[0] < _QUANTITY
        if small or all(number in _YEARS for number in inner):
            return (
                distinct >= 2 * _FEWEST
                and index < _MAX_EVEN_DISPERSION
                and total <= _FEW_ROWS * distinct
            )
        return index <= _MAX_IDENTIFIER_DISPERSION
    if _are_codes(texts):
        return most_repeat or 2 * distinct > total
    return most_repeat and int(rows.max()) <= max(2.0, _MAX_GROUP_SHARE * total)


def _are_codes(texts: Sequence[str]) -> bool:
    """Return whether most texts are codes.

    A code is one word that contains a digit or an at sign and is not itself a number.
    """
    codes = sum(
        _CODE.fullmatch(text) is not None and _NUMBER.fullmatch(text) is None for text in texts
    )
    return 2 * codes > len(texts) and moments_of(texts) is None
