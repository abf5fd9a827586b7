"""Readers of the population in a data file or a table.

The command line and the Python functions call these readers. The readers check the options of the
reading against the question of a plan, and import the modules that need Arrow only when data are
read.
"""

from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from mixtally.errors import DataError, PlanError, pluralize
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.file import DataFile, Origin
from mixtally.lab.data.population import Population, ValueCounts
from mixtally.lab.data.reading import Reading, RecordType
from mixtally.lab.data.timeline import EpochColumn, Timeline
from mixtally.model.question import Kind, Question
from mixtally.primitives.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from mixtally.lab.data.formats.table import Table


def read_population(
    file: DataFile,
    reading: Reading,
    question: Question | None = None,
    progress: Progress = ignore_progress,
) -> Population:
    """Read the population in a file.

    Each row is one person, unless ``reading`` names a column of people.

    Parameters
    ----------
    file : DataFile
        The data file, with the options for its format.
    reading : Reading
        The columns of the records, and how they are read.
    question : Question or None
        The question of a plan, which the records must fit; None lets the data decide.
    progress : Progress
        Called with a name of the step, the amount done and the total.

    Raises
    ------
    DataError
        If the file cannot be read, or a row cannot be a record.
    PlanError
        If the question has another kind or other bins.
    """
    crowd = _load_reader(file, reading, question)
    found: Population = crowd.read_population(file, reading, question, progress)
    return _with_question(found, question)


def read_table(
    table: "Table", origin: Origin, reading: Reading, question: Question | None = None
) -> Population:
    """Read the population in a table; errors name its source ``origin``.

    The other parameters, the rules and the errors are those of `read_population`.
    """
    crowd = _load_reader(origin, reading, question)
    found: Population = crowd.read_table(table, origin, reading, question, ignore_progress)
    return _with_question(found, question)


def read_epochs(
    file: DataFile,
    reading: Reading,
    when: EpochColumn,
    question: Question | None = None,
    progress: Progress = ignore_progress,
) -> Timeline:
    """Read the answers in ``file`` by epoch; a person has at most one in each epoch.

    Rows may be in any order. The other parameters are those of `read_population`.

    Parameters
    ----------
    when : EpochColumn
        The column of epochs, and optionally their order.

    Returns
    -------
    Timeline
        The answers. Epochs without a row are left out.

    Raises
    ------
    DataError
        If the file cannot be read, a row cannot be a record, a person answers twice in an epoch, or
        an epoch has fewer than two answers.
    PlanError
        If the question has another kind or other bins.
    """
    crowd = _load_reader(file, reading, question)
    found: Timeline = crowd.read_epochs(file, reading, question, when, progress)
    return _with_question(found, question)


def read_epoch_counts(
    file: DataFile,
    reading: Reading,
    when: EpochColumn,
    question: Question | None = None,
    progress: Progress = ignore_progress,
) -> Timeline | EpochCounts:
    """Count the answers in ``file`` by epoch while they are read.

    The parameters and errors are those of `read_epochs`.

    Returns
    -------
    EpochCounts or Timeline
        The counts, or the whole timeline if the later steps need each row: for sets, bits or
        numbers, or if one of several rows of a person is chosen.
    """
    if reading.form is not RecordType.ONE or reading.several is not None:
        return read_epochs(file, reading, when, question, progress)
    crowd = _load_reader(file, reading, question)
    found: EpochCounts = crowd.count_epochs(file, reading, question, when, progress)
    return _with_question(found, question)


def epochs_of_table(
    table: "Table",
    origin: Origin,
    reading: Reading,
    when: EpochColumn,
    question: Question | None = None,
) -> Timeline:
    """Read the answers in a table by epoch; errors name its source ``origin``.

    The other parameters, the rules and the errors are those of `read_epochs`.
    """
    crowd = _load_reader(origin, reading, question)
    found: Timeline = crowd.epochs_of_table(table, origin, reading, question, when, ignore_progress)
    return _with_question(found, question)


def read_counts(
    file: DataFile,
    reading: Reading,
    counts: str,
    question: Question | None = None,
    progress: Progress = ignore_progress,
) -> ValueCounts:
    """Read the number of people with each value from a file with one row per value.

    The other parameters are those of `read_population`.

    Parameters
    ----------
    counts : str
        The column with the numbers of people. Rows with the same value are added.

    Raises
    ------
    DataError
        If a number is not a count, and in the cases of `read_population`.
    PlanError
        If the question has another kind or other bins.
    """
    _load_reader(file, reading, question)
    from mixtally.lab.data.value_counts import read_file

    return _with_question(read_file(file, reading, counts, question, progress), question)


def counts_of_table(
    table: "Table",
    origin: Origin,
    reading: Reading,
    counts: str,
    question: Question | None = None,
) -> ValueCounts:
    """Read numbers of people by value from a table; errors name its source ``origin``.

    The other parameters, the rules and the errors are those of `read_counts`.
    """
    _load_reader(origin, reading, question)
    from mixtally.lab.data.value_counts import read_counts_table

    found = read_counts_table(table, origin, reading, counts, question, ignore_progress)
    return _with_question(found, question)


def check_installed(subject: object) -> None:
    """Raise DataError if Arrow is not installed; it is an optional dependency."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise DataError(
            str(subject),
            expected="the reader of data",
            got=f"{error.name} is not installed",
            do="pip install 'mixtally[data]'",
        ) from error


def _load_reader(subject: object, reading: Reading, question: Question | None) -> ModuleType:
    """Return the module `crowd` after checking that Arrow is installed and the question fits.

    Raises PlanError if the question has another kind, or is open and no words are listed.
    """
    if question is not None:
        check_kind(reading, question)
        if question.hashed is not None:
            raise PlanError(
                "plan",
                expected="--candidates with a plan of an open question",
                got="none",
                do="list the words to look for, one per line",
            )
    check_installed(subject)
    from mixtally.lab.data import crowd  # imported late: it loads Arrow, which is slow

    return crowd


_KIND_OF_FORM = {RecordType.ONE: Kind.ONE, RecordType.NUMBER: Kind.ONE, RecordType.BITS: Kind.BITS}


def fit_reading(reading: Reading, question: Question) -> tuple[Reading, Question | None]:
    """Adapt a reading to the question of a plan.

    Returns the reading, and the question if it fixes the bins of records. For an open question,
    whose bins are the words themselves, the second value is None. Raises PlanError if the question
    has another kind of record.
    """
    if question.hashed is None:
        return replace(reading, words=False), question
    check_kind(reading, question)
    most = question.max_set if question.kind is Kind.SET else None
    return replace(reading, words=True, max_set=most), None


def check_kind(reading: Reading, question: Question) -> None:
    """Raise PlanError if the data are read as another kind of records than the plan has."""
    expected = _KIND_OF_FORM.get(reading.form, Kind.SET)
    parts = reading.form is RecordType.ATTRIBUTES
    if question.kind is not expected or parts != (question.attributes is not None):
        kind = "attributes" if question.attributes is not None else str(question.kind)
        raise PlanError(
            "plan",
            expected=f"a plan for data read as {reading.form}",
            got=f"one for records of kind {kind}",
            do="read the data as the plan asks, or plan again",
        )


_Found = TypeVar("_Found", Population, Timeline, EpochCounts, ValueCounts)


def _with_question(found: _Found, question: Question | None) -> _Found:
    """Return the data with the plan's question, if there is one.

    Raises PlanError if the data have another number of bins.
    """
    if question is None:
        return found
    if found.question.bins != question.bins:
        raise PlanError(
            "plan",
            expected=f"a plan for {pluralize(found.question.bins, 'bin')}, as in the data",
            got=f"one for {pluralize(question.bins, 'bin')}",
            do="plan again for this data",
        )
    return replace(found, question=question)
