"""How the columns of a file are read as records: which of them, as what, with which labels."""

from dataclasses import dataclass
from enum import StrEnum

from mixtally.errors import ParameterError
from mixtally.lab.data.label_merging import Merging
from mixtally.lab.data.places import HexagonGrid
from mixtally.model.question import MOST_BITS, MOST_SET, Question
from mixtally.protocol.encode.numbers import Range


class RecordType(StrEnum):
    """What a record is read as."""

    ONE = "one"
    SET = "set"
    BITS = "bits"
    ATTRIBUTES = "attributes"
    NUMBER = "number"
    PLACE = "place"


class RowCombination(StrEnum):
    """What is taken of several rows of a person."""

    FIRST = "first"
    LAST = "last"
    SET = "set"


_AS_WRITTEN = Merging()
DROP = "drop"
"""Leave rows out that lack a value."""


_MERGING = ("--strip", "--ignore-case", "--other")
_COLUMNS = {
    RecordType.BITS: (1, MOST_BITS),
    RecordType.ATTRIBUTES: (2, MOST_SET),
    RecordType.PLACE: (2, 2),
}
"""Fewest and most columns of a record, where it is not one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which columns hold the records, and how.

    where
      labels      the bins in their order; None to read them off the data
      separator   between the labels of a set; None where a cell holds one label of it
      max_set     the most labels of a set; None for the largest set in the data
      empty_sets  whether an empty cell is a set without labels; otherwise it is refused
      scale       of numbers: the bins that they are cut into, or the points to round them to
      grid        the hexagons of places, whose columns are latitude and longitude
      missing     the value of rows that have none, or DROP; None to refuse them
      missing_values  texts that mean missing, in every column that is read
      person      the column that says whose a row is; None when every row is a person's own
      several     what is taken of several rows of a person, who are refused without it
      words       whether values are words of an open domain, of which no list is made
      rows_are_people  whether every row is a person's, whatever the other columns say
      merging     how values become labels
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
    merging: Merging = _AS_WRITTEN

    def __post_init__(self) -> None:
        few, most = _COLUMNS.get(self.form, (1, 1))
        if not few <= len(set(self.columns)) == len(self.columns) <= most:
            many = (
                f"{few} different columns" if few == most else f"{few} to {most} different columns"
            )
            count = "one column" if most == 1 else many
            raise ParameterError(
                "columns",
                expected=f"{count} for records read as {self.form}",
                got=", ".join(map(repr, self.columns)) or "none",
                do="name each column once; bits and attributes are read of several",
            )
        if self.max_set is not None and not 1 <= self.max_set <= MOST_SET:
            raise ParameterError(
                "max set",
                expected=f"an integer in [1, {MOST_SET}]",
                got=self.max_set,
                do="it is the most labels of a set that are hidden",
            )
        if self.separator is not None and not _is_text(self.separator):
            raise ParameterError(
                "set",
                expected="the text between labels",
                got=ascii(self.separator) if self.separator else "nothing",
                do="--set ';', for example",
            )
        self._check_rows()

    def _check_rows(self) -> None:
        """Raises ParameterError for what is to be done with rows that cannot be done."""
        if self.missing is not None and (self.empty_sets or not self.missing.strip()):
            raise ParameterError(
                "missing",
                expected="drop, or a label that is to be seen",
                got=f"{self.missing!r}" + " beside empty sets" * self.empty_sets,
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
            raise ParameterError(
                "--rows-are-people",
                expected="no --person-column beside it",
                got=f"both, with column {self.person!r}",
                do="leave one out: either a row is a person, or the column says whose it is",
            )
        if self.several is not None and self.person is None:
            raise ParameterError(
                "several",
                expected="--person-column beside it",
                got="none",
                do="name the column that says whose a row is",
            )
        if self.several is RowCombination.SET and self.form is not RecordType.SET:
            raise ParameterError(
                "several",
                expected=f"first or last for records read as {self.form}",
                got="set",
                do="only labels of one column become a set",
            )

    def _check_words(self) -> None:
        """Raise ParameterError for words of which a list is made, or that are parts of a record."""
        wrong = ["--labels"] if self.words and self.labels is not None else []
        if self.words and self.form not in (RecordType.ONE, RecordType.SET):
            wrong.append(f"records read as {self.form}")
        if wrong:
            raise ParameterError(
                "--candidates",
                expected="one word a person or a set of them",
                got=", ".join(wrong) + " beside it",
                do="leave these out",
            )

    def _check_merging(self) -> None:
        """Raises ParameterError for values that have no labels, or no list of them."""
        asked = [
            flag
            for flag, used in zip(_MERGING, self.merging, strict=True)
            if used not in (False, None)
        ]
        labelled = self.form in (RecordType.ONE, RecordType.SET, RecordType.ATTRIBUTES)
        if asked and not labelled:
            raise ParameterError(
                asked[0], expected="records of labels", got=f"{self.form}", do="leave it out"
            )
        if self.merging.other is None:
            return
        if self.form is RecordType.ATTRIBUTES or self.words or not self.merging.other.strip():
            raise ParameterError(
                "--other",
                expected="a label that is to be seen, beside a list of labels of one column",
                got=repr(self.merging.other),
                do="recode the column before, or leave it out",
            )

    @property
    def name(self) -> str:
        """What the question is called: the column, or all of them."""
        return "+".join(self.columns)

    def check_other_label(self, question: Question | None) -> None:
        """Raises ParameterError for a label of all other values where no values are listed."""
        if self.merging.other is not None and question is None and self.labels is None:
            raise ParameterError(
                "--other",
                expected="--labels beside it",
                got="none",
                do="list the values that are counted one by one",
            )

    def fixed_labels(self, question: Question | None) -> tuple[str, ...] | None:
        """The labels that are fixed, by the plan or by whoever reads; None to read them off.

        Raises ParameterError where the label of all other values is none of a plan's.
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
    """Return whether a text has a character, and none that is half of a surrogate pair."""
    return bool(value) and not any("\ud800" <= one <= "\udfff" for one in value)
