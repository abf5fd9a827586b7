"""Options for the format of a data file and the meaning of its rows, and the reading of a crowd."""

import csv
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.display import warn
from mixtally.cli.progress import progress_bars
from mixtally.errors import ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.label_merging import Merging
from mixtally.lab.data.population import Population, check_shared
from mixtally.lab.data.readers import fit_reading, read_population
from mixtally.lab.data.reading import Reading, RowCombination
from mixtally.model.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """The format of the file, the treatment of missing values, and the person of each row."""

    delimiter: Annotated[
        str | None,
        o.option("--delimiter", "Delimiter of CSV: , ; tab or another (default: detected).", "C"),
    ] = None
    encoding: Annotated[
        str | None,
        o.option("--encoding", "Encoding of text that is not UTF-8, for example cp1252.", "NAME"),
    ] = None
    sheet: Annotated[
        str | None, o.option("--sheet", "Sheet of a workbook (default: the first).", "NAME")
    ] = None
    header_row: Annotated[
        int, o.whole_option("--header-row", "Row with the names of the columns (CSV, workbooks).")
    ] = 1
    skip_rows: Annotated[int, o.whole_option("--skip-rows", "Rows to skip after the header.")] = 0
    missing: Annotated[
        str | None,
        o.option("--missing", "drop: skip rows without a value; or a label for such rows.", "HOW"),
    ] = None
    missing_values: Annotated[
        list[str] | None,
        o.option("--missing-values", "Texts that mean missing: NA,n/a,-99. Repeatable.", "A,B,.."),
    ] = None
    person_column: Annotated[
        str | None, o.option("--person-column", "The column that identifies people.", "NAME")
    ] = None
    rows_are_people: Annotated[
        bool,
        o.option("--rows-are-people", "Every row is a person, even if a column looks like a key."),
    ] = False
    strip: Annotated[bool, o.option("--strip", "Remove spaces around values.")] = False
    ignore_case: Annotated[
        bool, o.option("--ignore-case", "Treat capital and small letters in labels as equal.")
    ] = False
    other: Annotated[
        str | None,
        o.option("--other", "Label under which all unlisted values are counted.", "LABEL"),
    ] = None
    several: Annotated[
        str | None,
        o.option("--several", "How to combine rows of one person: first, last, or set.", "HOW"),
    ] = None

    def open_file(self, path: Path) -> DataFile:
        """Return the data file at a path; raise ParameterError for invalid options."""
        _load_arrow()
        return DataFile(
            path,
            delimiter=self.delimiter,
            encoding=self.encoding,
            sheet=self.sheet,
            header_row=self.header_row,
            skip_rows=self.skip_rows,
        )

    @property
    def combination(self) -> RowCombination | None:
        """The rule that combines several rows of a person; None if the option is not set.

        Raises ParameterError for an unknown rule.
        """
        if self.several is None:
            return None
        return RowCombination(o.check_one_of("several", self.several, list(RowCombination)))

    def add_to_reading(self, reading: Reading) -> Reading:
        """Return ``reading`` with these options."""
        return replace(
            reading,
            missing=self.missing,
            missing_values=tuple(
                one.strip() for text in self.missing_values or () for one in split_list(text)
            ),
            person=self.person_column,
            rows_are_people=self.rows_are_people,
            merging=Merging(self.strip, self.ignore_case, self.other),
            several=self.combination,
        )


def split_list(text: str) -> tuple[str, ...]:
    """Return the texts between commas; a text that contains a comma is quoted as in CSV."""
    try:
        return tuple(next(csv.reader([text], strict=True), ()))
    except csv.Error as error:
        raise ParameterError(
            "list",
            expected="texts separated by commas",
            got=repr(text),
            do="quote a text that contains a comma, as in CSV, and double the quotes inside it",
        ) from error


def read_crowd(file: DataFile, reading: Reading, question: Question | None = None) -> Population:
    """Return the crowd in a file, and print progress and warnings on standard error.

    Raises
    ------
    DataError
        If the file cannot be used, or most answers identify a person.
    """
    with progress_bars() as progress:
        crowd = read_population(file, reading, question, progress)
    warn(crowd.warning)
    # A list of labels from the data is published with the result. If most answers belong to one
    # person each, the list would identify people.
    if crowd.from_data:
        check_shared(crowd.question, crowd.bin_counts, crowd.from_data)
    return crowd


def read_asked(file: DataFile, reading: Reading, question: Question) -> Population:
    """Return the crowd in a file, read for the question of a plan.

    For an open question, the bins of the crowd are the words themselves. The errors are those of
    ``read_crowd``.
    """
    return read_crowd(file, *fit_reading(reading, question))


class _NoPandas(MetaPathFinder):
    """An import hook that hides pandas."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Raise ModuleNotFoundError for pandas, and leave all other modules to other hooks."""
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


def _load_arrow() -> None:
    """Load Arrow without pandas.

    Arrow imports pandas at its first conversion, which takes longer than to simulate a small crowd.
    No data file needs pandas, and pandas can still be imported afterwards.
    """
    if "pandas" in sys.modules:
        return
    none = _NoPandas()
    sys.meta_path.insert(0, none)
    try:
        with suppress(ImportError):  # the reader of the file reports a missing package
            import_module("pyarrow").scalar(0)
    finally:
        sys.meta_path.remove(none)
