"""The matrix of a local randomizer: the probability of every output for every value of a person.

The accountant prices such matrices, and the command line and Python read them from files and
arrays. Entries are exact: integers over one common denominator. Rows are not rescaled silently,
because a row whose sum differs from 1, even by a rounding error, describes no randomizer.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, pluralize
from mixtally.primitives.fixed_point import SCALE, round_loss_up

MOST_CELLS = 1_000_000
"""The maximum number of entries: rows times outputs."""
_MOST_BITS = 512
"""The maximum length of the common denominator, in bits."""
_LONGEST = 100
"""The maximum length of the text of an entry, in characters."""
_FRACTION = re.compile(r"(\d+)\s*/\s*(\d+)")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")

Integers = NDArray[np.object_]
"""Python integers of any length."""


@dataclass(frozen=True, slots=True, eq=False)
class RandomizerMatrix:
    """The probabilities of a local randomizer.

    Attributes
    ----------
    rows
        Labels of the values that a person may have.
    outputs
        Labels of the messages that a device may send.
    cells
        Probabilities times ``scale``, shape (rows, outputs). Every row sums to ``scale``.
    scale
        The common denominator.
    normalized
        Number of rows that did not sum to 1 and were normalized.
    """

    rows: tuple[str, ...]
    outputs: tuple[str, ...]
    cells: Integers
    scale: int
    normalized: int = 0

    def row(self, label: str) -> int:
        """Return the index of the row with this label, or raise DataError if there is none."""
        if label in self.rows:
            return self.rows.index(label)
        shown = ", ".join(self.rows[:8])
        raise DataError(
            "fake row", expected=f"uniform, or a row: {shown}", got=repr(label), do="choose one"
        )

    @property
    def local_epsilon(self) -> float:
        """The largest privacy loss of one unshuffled message, in nats, rounded up.

        It is infinite if some output has probability 0 for one row but not for another.
        """
        most, least = self.cells.max(axis=0), self.cells.min(axis=0)
        pairs = [(int(a), int(b)) for a, b in zip(most, least, strict=True) if a]
        if any(b == 0 for _, b in pairs):
            return math.inf
        # Integers are subtracted first, so that no digits are lost if a and b are nearly equal.
        return round_loss_up(max(math.log1p((a - b) / b) for a, b in pairs))


def make_matrix(
    entries: Sequence[Sequence[object]],
    rows: Sequence[object] | None = None,
    outputs: Sequence[object] | None = None,
    *,
    normalize: bool = False,
    subject: str = "matrix",
) -> RandomizerMatrix:
    """Return the matrix with these entries.

    Parameters
    ----------
    entries : sequence of sequences
        Fractions, decimals, numbers, or their texts such as ``2/15``. A float stands for its
        shortest decimal.
    rows, outputs : sequence, optional
        Labels; by default the numbers from 0.
    normalize : bool
        Whether rows that do not sum to 1 are divided by their sums. All entries are then rounded
        down to multiples of 2^-64. What a row then lacks to 1 is divided equally among its largest
        entries.
    subject : str
        The file or argument that error messages name.

    Raises
    ------
    DataError
        If the entries do not form a randomizer.
    """
    many = [len(row) for row in entries]
    if len(many) < 2 or not many[0]:
        raise DataError(
            subject,
            expected="at least two rows, one for each value of a person, and one output",
            got=pluralize(len(many), "row") + (" without outputs" if many and not many[0] else ""),
            do="write a row of probabilities for every value",
        )
    row_labels = _check_labels(subject, "row", rows, len(many))
    for label, length in zip(row_labels, many, strict=True):
        if length != many[0]:
            raise DataError(
                f"{subject}, row {label}",
                expected=f"{pluralize(many[0], 'entry', 'entries')}, as in the first row",
                got=f"{length:,}",
                do="write a probability for every output, 0 if it is never sent",
            )
    if len(many) * many[0] > MOST_CELLS:
        raise DataError(
            subject,
            expected=f"at most {MOST_CELLS:,} entries",
            got=f"{len(many) * many[0]:,}",
            do="merge outputs whose columns are proportional",
        )
    sent = _check_labels(subject, "output", outputs, many[0])
    known: dict[object, Fraction] = {}
    exact = [
        [
            _parse_entry(f"{subject}, row {row_labels[i]}, output {sent[j]}", entry, known)
            for j, entry in enumerate(row)
        ]
        for i, row in enumerate(entries)
    ]
    scale = _common_denominator(subject, set(known.values()))
    cells = np.empty((len(many), many[0]), dtype=object)
    cells[:] = [[one.numerator * (scale // one.denominator) for one in row] for row in exact]
    wrong = [i for i, total in enumerate(cells.sum(axis=1)) if total != scale]
    if wrong and not normalize:
        raise _sum_error(subject, row_labels, cells, scale, wrong[0])
    if wrong:
        cells, scale = _normalize(subject, row_labels, cells)
    if any(0 < one < scale / SCALE for one in set(cells.ravel())):
        raise DataError(
            subject,
            expected="entries that are 0 or at least 2^-64",
            got=f"{float(min(Fraction(int(one), scale) for one in cells.ravel() if one)):.3g}",
            do="write 0 if the output is never sent: no device draws smaller probabilities",
        )
    return RandomizerMatrix(row_labels, sent, cells, scale, len(wrong))


def parse_fake_row(entries: Sequence[object], outputs: Sequence[str]) -> tuple[Fraction, ...]:
    """Return the exact probabilities of the outputs of a fake.

    Parameters
    ----------
    entries : sequence of object
        The probabilities, as numbers or texts.
    outputs : sequence of str
        The labels of the outputs.

    Raises
    ------
    DataError
        If the entries do not form a distribution over ``outputs``.
    """
    found = tuple(
        _parse_entry(f"fake row, entry {i + 1}", one, {}) for i, one in enumerate(entries)
    )
    if len(found) != len(outputs) or sum(found) != 1:
        raise DataError(
            "fake row",
            expected=f"{len(outputs):,} probabilities that sum to 1 exactly",
            got=f"{len(found):,} that sum to {float(sum(found))!r}",
            do="write a fraction for every output of the matrix",
        )
    return found


def _check_labels(
    subject: str, what: str, labels: Sequence[object] | None, size: int
) -> tuple[str, ...]:
    """Return labels as texts; raise DataError if they are too few, too many or not distinct."""
    found = tuple(map(str, range(size) if labels is None else labels))
    twice = (
        next((one for one in found if found.count(one) > 1), None)
        if (len(set(found)) < len(found))
        else None
    )
    if twice is not None or len(found) != size:
        raise DataError(
            f"{subject}, {what} labels",
            expected=f"{size:,} different labels",
            got=f"{len(found):,}" if twice is None else f"{twice!r} twice",
            do=f"give every {what} a label of its own",
        )
    return found


def _parse_entry(subject: str, entry: object, known: dict[object, Fraction]) -> Fraction:
    """Return the exact value of an entry; ``known`` caches values, so equal entries are read once.

    Raise DataError for an entry that is negative, has too many digits or is not a number.
    """
    key = (type(entry), entry) if isinstance(entry, Real | str | Decimal) else None
    if key not in known:
        value = _parse_number(entry)
        if value is None or value < 0 or value.denominator.bit_length() > _MOST_BITS:
            # Only numbers and texts are shown: the repr of another object may raise any exception.
            plain = entry is None or isinstance(entry, Real | str | Decimal)
            shown = repr(entry) if plain else f"an object of type {type(entry).__name__}"
            raise DataError(
                subject,
                expected="a probability such as 2/15 or 0.25",
                got="nothing" if entry is None or shown in ("''", "nan") else shown[:_LONGEST],
                do="write a fraction or a decimal of at least 0",
            )
        known[key] = value
    return known[key]


def _parse_number(entry: object) -> Fraction | None:
    """Return a number as a fraction, or None for anything else and for numbers that are too long.

    The length of texts is limited first, because a fraction of 1e999999999 would fill the memory.
    """
    if isinstance(entry, bool):
        return None
    if isinstance(entry, Integral | Rational):
        found = Fraction(int(entry.numerator), int(entry.denominator))
        return found if found.numerator.bit_length() <= _MOST_BITS else None
    if not isinstance(entry, Real | Decimal | str):
        return None
    text = repr(float(entry)) if isinstance(entry, Real) else str(entry)
    if len(text) > _LONGEST:
        return None
    text = text.strip()
    if (parts := _FRACTION.fullmatch(text)) is not None:
        return Fraction(int(parts[1]), int(parts[2])) if int(parts[2]) else None
    return Fraction(text) if _DECIMAL.fullmatch(text) else None


def _common_denominator(subject: str, values: set[Fraction]) -> int:
    scale = 1
    for value in values:
        scale = math.lcm(scale, value.denominator)
        if scale.bit_length() > 2 * _MOST_BITS:
            raise DataError(
                subject,
                expected=f"a common denominator of at most {2 * _MOST_BITS:,} bits",
                got="a larger one",
                do="write the entries as decimals, or over one denominator",
            )
    return scale


def _sum_error(
    subject: str, row_labels: tuple[str, ...], cells: Integers, scale: int, row: int
) -> DataError:
    """Return the error for a row that does not sum to 1.

    If all columns sum to 1, the error suggests to transpose the matrix.
    """
    total = Fraction(int(cells[row].sum()), scale)
    transposed = all(one == scale for one in cells.sum(axis=0))
    off = "" if str(float(total)) != "1.0" else f", which differs by {float(total - 1):.2g}"
    return DataError(
        f"{subject}, row {row_labels[row]}",
        expected="probabilities that sum to 1 exactly",
        got=f"a sum of {float(total)!r}{off}",
        do="transpose it: the columns sum to 1, but rows are what a person may hold"
        if transposed
        else "write fractions, or add --normalize to divide every row by its sum",
    )


def _normalize(subject: str, row_labels: tuple[str, ...], cells: Integers) -> tuple[Integers, int]:
    """Return rows that sum to a new common denominator, and this denominator.

    Equal entries of a row stay equal, and equal rows stay equal.
    """
    made, parts = [], []
    for label, row in zip(row_labels, cells, strict=True):
        total = int(row.sum())
        if not total:
            raise DataError(
                f"{subject}, row {label}",
                expected="a positive entry",
                got="zeros only",
                do="write the probabilities of this value",
            )
        units = [int(one) * SCALE // total for one in row]
        most = max(units)
        parts.append(units.count(most))
        made.append((units, most, SCALE - sum(units)))
        if any(one and not unit for one, unit in zip(row, units, strict=True)):
            raise DataError(
                f"{subject}, row {label}",
                expected="entries that are 0 or at least 2^-64 of the sum of their row",
                got="a smaller one",
                do="write 0 if the output is never sent",
            )
    share = math.lcm(*set(parts))
    found = np.empty(cells.shape, dtype=object)
    found[:] = [
        [one * share + (rest * share // many if one == most else 0) for one in units]
        for (units, most, rest), many in zip(made, parts, strict=True)
    ]
    return found, SCALE * share


def merge_outputs(cells: Integers) -> Integers:
    """Return the matrix with proportional columns added up, and without columns of zeros.

    Neither changes the privacy loss: proportional columns have equal likelihood ratios, and a
    column of zeros is an output that is never sent.
    """
    found: dict[tuple[int, ...], Integers] = {}
    for column in cells.T:
        if shared := math.gcd(*column):
            kind = tuple(one // shared for one in column)
            found[kind] = found[kind] + column if kind in found else column
    return np.array(list(found.values()), dtype=object).T


def to_floats(cells: Integers, scale: int) -> NDArray[np.float64]:
    """Return the entries ``cells`` / ``scale`` as the nearest floats."""
    found: NDArray[np.float64] = np.array([int(one) / scale for one in cells.ravel()])
    return found.reshape(cells.shape)
