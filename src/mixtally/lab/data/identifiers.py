"""Columns that identify people.

A guarantee covers one record a person, so that a file in which a person has several rows must not
be counted row by row in silence. The readers watch the columns that are not counted and ask here
whether the values of one of them identify people, and whether several rows share such a value.

The rule errs on the side of a question: a postcode may be taken for a person, which costs one
option, while a person who is taken for several people loses several times epsilon.
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
"""Names of columns that identify people, in small letters and digits alone."""
_WATCHED_ROWS = 1 << 20
_WATCHED_BYTES = 1 << 26
"""What is held of one column at most."""
_WATCHED_COLUMNS = 24
"""Columns that are watched beside those that are named like people."""
_ENOUGH = 10_000
"""Rows after which a column with few distinct values is not watched any further."""
_FEWEST = 10
"""Fewer distinct values are groups, not people."""
_SAMPLE = 1_000
"""Distinct values whose text is looked at."""
_WHOLE = re.compile(r"[0-9]{1,18}(\.0+)?")
_NUMBER = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?")
_CODE = re.compile(r"\S*[0-9@]\S*")
_LONGEST = 80
"""Longer texts are sentences."""
_QUANTITY = 150
"""Whole numbers in a range below this are ages or ratings unless their rows are spread evenly."""
_YEARS = range(1900, 2101)
_MAX_EVEN_DISPERSION = 0.25
"""Index of dispersion below which the rows of values are spread by a design, as in a panel.

The rows of d values that are drawn uniformly have an index near 1. Below 1/4 it lies by chance with
probability under 3e-4 from d = 20 on, since (d - 1) times it has nearly a chi-square distribution.
"""
_FEW_ROWS = 5
"""Mean rows of a small whole number above which it is an age or a rating even if spread evenly."""
_MAX_IDENTIFIER_DISPERSION = 2.0
"""Index of dispersion above which whole numbers are quantities, with a middle that many share."""
_MAX_GROUP_SHARE = 0.05
"""Share of the rows above which a word is a group."""
_MIN_UNIQUE_SHARE = 0.9
"""Share of rows with a value of their own from which on a column is an identifier."""


class IdentifierColumn(NamedTuple):
    """What the values of a column say.

    where
      column    its name
      repeats   whether it identifies people of whom some have several rows
      own       whether nearly every row has a value of its own that identifies it
    """

    column: str
    is_repeated: bool
    is_unique: bool


class IdentifierWatch:
    """Holds columns while a table is read, and then says which of them identify people."""

    def __init__(self, names: Sequence[str], skipped: Collection[str] = ()) -> None:
        """Watch the columns ``names`` that are not ``skipped``, as far as there are few."""
        free = [name for name in dict.fromkeys(names) if name not in skipped]
        named = [name for name in free if _has_identifier_name(name)]
        others = [name for name in free if not _has_identifier_name(name)][:_WATCHED_COLUMNS]
        self.columns: tuple[str, ...] = (*named, *others)
        self._held: dict[str, list[Array]] = {name: [] for name in self.columns}
        self._when: list[Array] = []
        self._rows = 0
        self._cut = False

    def take(self, found: Mapping[str, Array], when: Array | None = None) -> None:
        """Hold the rows of a batch; ``when`` is their epoch, if there are epochs."""
        if self._rows >= _WATCHED_ROWS or not self._held:
            self._cut = True
            return
        for name in list(self._held):
            array, held = found[name], self._held[name]
            if not _can_identify(array.type) or sum(one.nbytes for one in held) > _WATCHED_BYTES:
                del self._held[name]
                continue
            held.append(array)
        if when is not None:
            self._when.append(when)
        begun = self._rows < _ENOUGH
        self._rows += max(map(len, found.values()), default=0)
        if begun and self._rows >= _ENOUGH:
            for name in [name for name in self._held if not self._can_be_people(name)]:
                del self._held[name]

    def find_identifiers(self) -> list[IdentifierColumn]:
        """The columns that identify people, those whose values repeat first."""
        found = [self._examine_column(name) for name in self._held if self._held[name]]
        return sorted(
            (one for one in found if one.is_repeated or one.is_unique), key=lambda o: o.is_unique
        )

    def _can_be_people(self, name: str) -> bool:
        """Whether a column has enough distinct values to be watched to the end."""
        rows = _count_rows_by_value(pyarrow.chunked_array(self._held[name]))[1]
        return _has_identifier_name(name) or int(rows.sum()) <= 4 * len(rows) * len(rows)

    def _examine_column(self, name: str) -> IdentifierColumn:
        values = pyarrow.chunked_array(self._held[name])
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
        repeats = repeats or (
            self._cut and _has_identifier_name(name)
        )  # nobody knows of the other rows
        return IdentifierColumn(name, is_repeated=repeats, is_unique=own and not repeats)

    def _repeats_within(self, values: Array) -> bool:
        """Whether a value is that of two rows of one epoch."""
        people, epochs = _codes(values), _codes(pyarrow.chunked_array(self._when))
        there = (people >= 0) & (epochs >= 0)
        pairs = people[there] * (1 + int(epochs.max(initial=0))) + epochs[there]
        pairs.sort()  # of so many, np.unique takes ten times as long
        return bool((pairs[1:] == pairs[:-1]).any())


def people_warning(found: Sequence[IdentifierColumn], *, counts: bool = False) -> str:
    """Return a warning about the first column that identifies people; empty without one.

    With ``counts`` the rows are values, of which a column says how many people hold them.
    """
    for one in found:
        if one.is_repeated:
            what = "has the same values in several rows and seems to identify people"
        elif one.is_unique:
            what = "has a value of its own in nearly every row and seems to identify people"
        else:
            continue
        rows = "the counts of rows may not be counts of people" if counts else ""
        rows = rows or "rows may not be people"
        name = "" if counts else "name it with --person-column, or "
        return f"column {one.column!r} {what}: {rows}; {name}say --rows-are-people if they are"
    return ""


def _has_identifier_name(name: str) -> bool:
    """Whether a column is named like one that identifies people."""
    return _NAMED.fullmatch("".join(filter(str.isalnum, name)).lower()) is not None


def _can_identify(kind: Array) -> bool:
    """Whether values of a type may be identifiers: text, whole numbers, and codes of either."""
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _can_identify(kind.value_type)
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    # A column with gaps has its whole numbers as floating-point numbers in some libraries.
    return bool(text or types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind))


def _count_rows_by_value(values: Array) -> tuple[list[str], NDArray[np.int64]]:
    """A sample of the distinct values as texts, and how many rows have each distinct value."""
    decoded = _decode_values(values)
    if pyarrow.types.is_null(decoded.type):
        return [], np.zeros(0, dtype=np.int64)
    there = decoded.drop_null()
    if pyarrow.types.is_string(there.type):
        there = there.filter(compute.not_equal(there, ""))
    counted = compute.value_counts(there)
    rows = counted.field("counts").to_numpy(zero_copy_only=False).astype(np.int64)
    step = max(1, len(rows) // _SAMPLE)
    texts = [value_text(value) for value in counted.field("values")[::step].to_pylist()]
    return [text.strip() for text in texts if text and text.strip()], rows


def _decode_values(values: Array) -> Array:
    """Values as text or numbers, whether or not some of their batches have dictionaries."""
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
    """The number of every row's value, -1 for none."""
    encoded = _decode_values(values).combine_chunks().dictionary_encode()
    if isinstance(encoded, pyarrow.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = compute.fill_null(encoded.indices.cast(pyarrow.int64()), -1)
    found: NDArray[np.int64] = codes.to_numpy(zero_copy_only=False)
    return found


def _is_identifying(texts: Sequence[str], rows: NDArray[np.int64]) -> bool:
    """Whether distinct values, which so many ``rows`` have, identify people.

    Most values occur more than once, and each in few rows: there are more values than rows of one.
    The index of dispersion is the variance of ``rows`` over their mean.
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
        inner = numbers[len(numbers) // 20 : len(numbers) - len(numbers) // 20]  # no marks as 999
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
    """Whether most of the texts are codes: one word that has a digit or an at sign, no number."""
    codes = sum(
        _CODE.fullmatch(text) is not None and _NUMBER.fullmatch(text) is None for text in texts
    )
    return 2 * codes > len(texts) and moments_of(texts) is None
