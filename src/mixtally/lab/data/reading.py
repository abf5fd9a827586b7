"""Options that say how the columns of a file become records.

The command line and the Python functions make a `Reading` from their options. Impossible
combinations of options are refused here, before any data are read.
"""

from dataclasses import dataclass
from enum import StrEnum

from mixtally.errors import ParameterError, not_together
from mixtally.lab.data.label_merging import AS_WRITTEN, Merging
from mixtally.lab.data.places import HexagonGrid
from mixtally.model.question import MOST_BITS, MOST_SET, Question
from mixtally.protocol.encode.numbers import Range


class RecordType(StrEnum):
    """The type of record that columns become."""

    ONE = "one"
    SET = "set"
    BITS = "bits"
    ATTRIBUTES = "attributes"
    NUMBER = "number"
    PLACE = "place"


LABELED_TYPES = (RecordType.ONE, RecordType.SET, RecordType.ATTRIBUTES)
"""Types of records whose bins have labels."""


class RowCombination(StrEnum):
    """The rule that combines several rows of a person."""

    FIRST = "first"
    LAST = "last"
    SET = "set"


DROP = "drop"
"""Value of ``missing`` that leaves out rows without a value."""


_MERGING = ("--strip", "--ignore-case", "--other")
_COLUMNS = {
    RecordType.BITS: (1, MOST_BITS),
    RecordType.ATTRIBUTES: (2, MOST_SET),
    RecordType.PLACE: (2, 2),
}
"""Fewest and most columns of a record, for the types that may have more than one column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The columns that hold the records, and how to read them.

    Attributes
    ----------
    labels
        The bins in order; None to read them from the data.
    separator
        The text between the labels of a set; None if a cell holds one label.
    max_set
        Largest number of labels in a set; None for the size of the largest set in the data.
    empty_sets
        Whether an empty cell is a set without labels. Otherwise it is a missing value.
    scale
        For numbers, the bins that they are cut into, or the range of the grid to whose points they
        are rounded.
    grid
        For places, the hexagons. The columns are latitude and longitude.
    missing
        The label or number that replaces a missing value, or `DROP` to leave such rows out. None to
        refuse such rows.
    missing_values
        Texts that mean missing, in every column that is read.
    person
        The column that identifies the person of a row; None if each row is one person.
    several
        How to combine several rows of a person; None to refuse them.
    words
        Whether values are words of an open domain, which has no list of labels.
    rows_are_people
        Whether each row is one person, whatever other columns suggest.
    merging
        Which values share a label.
    """

    columns: tuple[str, ...]
    form: RecordType = RecordType.ONE
    labels: tuple[str, ...] | None = None
    separator: str | None = ";"
    max_set: int | None = None
    empty_sets: bool = False
    scale: Range | None = None
    grid: HexagonGrid | None = None
    missing: str | None = None
    missing_values: tuple[str, ...] = ()
    person: str | None = None
    several: RowCombination | None = None
    words: bool = False
    rows_are_people: bool = False
    merging: Merging = AS_WRITTEN

    def __post_init__(self) -> None:
        few, most = _COLUMNS.get(self.form, (1, 1))
        if not few <= len(set(self.columns)) == len(self.columns) <= most:
            if most == 1:
                expected, do = "one column", "name one column"
            else:
                expected = f"{few if few == most else f'{few} to {most}'} different columns"
                do = "name each column once"
            raise ParameterError(
                "columns",
                expected=f"{expected} for records of type '{self.form}'",
                got=", ".join(map(repr, self.columns)) or "none",
                do=f"{do}; only bits, attributes and places have several columns",
            )
        if self.max_set is not None and not 1 <= self.max_set <= MOST_SET:
            raise ParameterError(
                "max set",
                expected=f"an integer in [1, {MOST_SET}]",
                got=self.max_set,
                do="give the largest number of labels in a set that is to be hidden",
            )
        if self.separator is not None and not _is_text(self.separator):
            raise ParameterError(
                "set",
                expected="the text between labels",
                got=ascii(self.separator) if self.separator else "nothing",
                do="say --set ';', for example",
            )
        self._check_rows()

    def _check_rows(self) -> None:
        """Raise ParameterError if the options for missing values and repeated people conflict."""
        if self.missing is not None and (self.empty_sets or not self.missing.strip()):
            raise ParameterError(
                "missing",
                expected="drop, or a label that is not blank",
                got=f"{self.missing!r}" + " together with empty sets" * self.empty_sets,
                do="an empty cell is either a set without labels or a missing value",
            )
        if self.form is RecordType.PLACE and self.missing not in (None, DROP):
            raise ParameterError(
                "missing",
                expected="drop, for places",
                got=repr(self.missing),
                do="a coordinate has no label: leave such rows out, or fill the gaps",
            )
        self._check_words()
        self._check_merging()
        if self.rows_are_people and self.person is not None:
            raise not_together(
                "--rows-are-people",
                "--rows-are-people",
                ["--person-column"],
                f"leave one out: either a row is a person, or column {self.person!r} says whose "
                "it is",
            )
        if self.several is not None and self.person is None:
            raise ParameterError(
                "several",
                expected="--person-column with it",
                got="none",
                do="name the column that identifies the person of a row",
            )
        if self.several is RowCombination.SET and self.form is not RecordType.SET:
            raise ParameterError(
                "several",
                expected=f"first or last for records of type '{self.form}'",
                got="set",
                do="only labels of one column become a set",
            )

    def _check_words(self) -> None:
        """Raise ParameterError if ``words`` is set, but the options do not describe an open domain.

        An open domain has no list of labels, and its records are words or sets of words.
        """
        if self.words and self.labels is not None:
            raise not_together("--candidates", "--candidates", ["--labels"])
        if self.words and self.form not in (RecordType.ONE, RecordType.SET):
            raise ParameterError(
                "--candidates",
                expected="one word or a set of words per person",
                got=f"records of type '{self.form}'",
                do="leave out the option for this type",
            )

    def _check_merging(self) -> None:
        """Raise ParameterError for options that merge labels if these records do not allow them.

        All of these options require records of labels. ``--other`` also requires a list of labels
        of one column.
        """
        asked = [
            flag
            for flag, used in zip(_MERGING, self.merging, strict=True)
            if used not in (False, None)
        ]
        if asked and self.form not in LABELED_TYPES:
            raise ParameterError(
                asked[0], expected="records of labels", got=f"{self.form}", do="leave it out"
            )
        if self.merging.other is None:
            return
        if self.form is RecordType.ATTRIBUTES or self.words or not self.merging.other.strip():
            raise ParameterError(
                "--other",
                expected="a label that is not blank, with a list of labels of one column",
                got=repr(self.merging.other),
                do="recode the column first, or leave the option out",
            )

    @property
    def name(self) -> str:
        """The name of the question: the column, or all columns joined by "+"."""
        return "+".join(self.columns)

    def check_other_label(self, question: Question | None) -> None:
        """Raise ParameterError if there is a label for unlisted values, but no list of labels.

        The list may be that of ``labels`` or of the question.
        """
        if self.merging.other is not None and question is None and self.labels is None:
            raise ParameterError(
                "--other",
                expected="--labels with it",
                got="none",
                do="list the values that are counted individually",
            )

    def fixed_labels(self, question: Question | None) -> tuple[str, ...] | None:
        """Return the labels that the plan or the reading fixes; None if the data provide them.

        Raises ParameterError if the plan lacks ``merging.other``, the label of all other values.
        """
        other = self.merging.other
        if question is None:
            if self.labels is None or other is None or other in self.labels:
                return self.labels
            return (*self.labels, other)
        labels = question.labels or tuple(str(i) for i in range(question.bins))
        if other is not None and other not in labels:
            raise ParameterError(
                "--other",
                expected="a label of the plan",
                got=repr(other),
                do="name one of its labels, or plan with one more",
            )
        return labels


def _is_text(value: str) -> bool:
    """Return whether a text is not empty and can be encoded: it has no unpaired surrogate."""
    return bool(value) and not any("\ud800" <= one <= "\udfff" for one in value)
