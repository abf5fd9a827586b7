"""How a data file is written, and whose its rows are: options, declared once; and the reading."""

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
    """How the file is written, what a missing value is, and whose the rows are."""

    delimiter: Annotated[
        str | None,
        o.option("--delimiter", "Between cells of CSV: , ; tab or another (default: found).", "C"),
    ] = None
    encoding: Annotated[
        str | None,
        o.option("--encoding", "Of text that is not UTF-8: cp1252, for example.", "NAME"),
    ] = None
    sheet: Annotated[
        str | None, o.option("--sheet", "Of a workbook (default: the first).", "NAME")
    ] = None
    header_row: Annotated[
        int, o.whole_option("--header-row", "The row that names the columns (CSV, workbooks).")
    ] = 1
    skip_rows: Annotated[
        int, o.whole_option("--skip-rows", "Rows after it that are no people.")
    ] = 0
    missing: Annotated[
        str | None,
        o.option(
            "--missing", "drop rows without a value, or the label to count them under.", "HOW"
        ),
    ] = None
    missing_values: Annotated[
        list[str] | None,
        o.option("--missing-values", "What means missing: NA,n/a,-99. Repeatable.", "A,B,.."),
    ] = None
    person_column: Annotated[
        str | None, o.option("--person-column", "The column that says who.", "NAME")
    ] = None
    rows_are_people: Annotated[
        bool,
        o.option("--rows-are-people", "Every row is a person, whatever other columns say."),
    ] = False
    strip: Annotated[
        bool, o.option("--strip", "Spaces around a value are no part of its label.")
    ] = False
    ignore_case: Annotated[
        bool, o.option("--ignore-case", "Capital and small letters are the same in labels.")
    ] = False
    other: Annotated[
        str | None, o.option("--other", "Count all values that are not listed here.", "LABEL")
    ] = None
    several: Annotated[
        str | None,
        o.option("--several", "Of several rows of a person: first, last, or a set of all.", "HOW"),
    ] = None

    def open_file(self, path: Path) -> DataFile:
        """The file at ``path``; raises ParameterError for options that say nothing."""
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
        """What is taken of several rows; raises ParameterError for anything else."""
        if self.several is None:
            return None
        return RowCombination(o.check_one_of("several", self.several, list(RowCombination)))

    def add_to_reading(self, reading: Reading) -> Reading:
        """``reading`` with what these options say of rows."""
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
    """What stands between commas; a text that holds one has quotes around it, as in CSV."""
    try:
        return tuple(next(csv.reader([text], strict=True), ()))
    except csv.Error as error:
        raise ParameterError(
            "list",
            expected="texts with commas between them",
            got=repr(text),
            do="put quotes around one that holds a comma, as in CSV, and double those inside",
        ) from error


def read_crowd(file: DataFile, reading: Reading, question: Question | None = None) -> Population:
    """The crowd in ``file``, bars and warnings on standard error.

    Errors as ``read``, and DataError where most answers name a person.
    """
    with progress_bars() as progress:
        crowd = read_population(file, reading, question, progress)
    warn(crowd.warning)
    if crowd.from_data:
        check_shared(crowd.question, crowd.bin_counts, crowd.from_data)
    return crowd


def read_asked(file: DataFile, reading: Reading, question: Question) -> Population:
    """The crowd as a plan's ``question`` asks it; of an open one the words themselves are its bins.

    Errors as ``read_crowd``.
    """
    return read_crowd(file, *fit_reading(reading, question))


class _NoPandas(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Raises ModuleNotFoundError for pandas; leaves all else to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


def _load_arrow() -> None:
    """Load Arrow without pandas, which it imports at its first conversion; no file needs it.

    That takes longer than all else of a small collection. pandas can be imported afterwards.
    """
    if "pandas" in sys.modules:
        return
    none = _NoPandas()
    sys.meta_path.insert(0, none)
    try:
        with suppress(ImportError):  # what is missing is said where the file is read
            import_module("pyarrow").scalar(0)
    finally:
        sys.meta_path.remove(none)
