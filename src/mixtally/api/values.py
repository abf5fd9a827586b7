"""The simulated crowd: the records of people, read from values of any type.

A *record* is one person's answer, for example one label or a set of labels. The kind of record is
an argument, follows from a plan, or is recognized from the values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from mixtally.api import checks
from mixtally.api.labels import labels_of
from mixtally.errors import DataError, ParameterError, join_words, not_together
from mixtally.lab.data.label_merging import Merging
from mixtally.lab.data.places import HexagonGrid
from mixtally.lab.data.population import Population, check_shared
from mixtally.lab.data.readers import (
    check_installed,
    counts_of_table,
    epochs_of_table,
    fit_reading,
    read_table,
)
from mixtally.lab.data.reading import DROP, LABELED_TYPES, Reading, RecordType, RowCombination
from mixtally.lab.data.timeline import EpochColumn, Timeline
from mixtally.lab.simulation.counts_only import Histogram, histogram_of_counts
from mixtally.model.question import Question
from mixtally.protocol.encode.numbers import Range

if TYPE_CHECKING:
    from mixtally.api.columns import Values

People = TypeVar("People", bound=Population | Histogram | Timeline)

KINDS = ("one", "set", "bits", "attributes", "number")
_TOGETHER = (
    "All groups together cost epsilon once, because each person is counted in one bin of one group."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRequest:
    """The options that say how values become records.

    Parameters
    ----------
    kind : str or None
        The kind of record, one of ``KINDS``. None to recognize the kind from the values.
    labels : object
        The labels in order, or a mapping from attribute to labels. None to take the labels from the
        values.
    separator : str or None
        The text between the labels of a set that is one text. None if sets are lists.
    max_set : int or None
        The maximum number of labels in a set. None for the size of the largest set in the values.
    empty_sets : bool
        Whether a person without a value has a set without labels.
    scale : Range or None
        For numbers, the bins in which they are counted, or the points to which they are rounded.
    grid : HexagonGrid or None
        For places, the hexagons. The columns are latitude and longitude.
    words : bool
        Whether values are words of an open domain, which has no list of labels.
    missing : str
        "refuse", "drop", or the value that replaces a missing value.
    missing_values : tuple of str
        Texts of values that mean missing.
    question : Question or None
        The question of a plan, which the values must fit. None without a plan.
    person : object
        The person of each row: the name of a column, or one value per row. None if each row is
        another person.
    several : str or None
        How to combine several rows of one person: "first", "last" or "set".
    rows_are_people : bool
        Whether every row is a person even if a column looks like an identifier of people.
    merging : Merging
        Which different values get the same label.
    group : object
        The group of each row: the name of a column, or one value per row. None if values are not
        counted within groups.
    """

    kind: str | None = None
    labels: Any = None
    separator: str | None = None
    max_set: int | None = None
    empty_sets: bool = False
    scale: Range | None = None
    grid: HexagonGrid | None = None
    words: bool = False
    missing: str = "refuse"
    missing_values: tuple[str, ...] = ()
    question: Question | None = None
    person: object = None
    several: str | None = None
    rows_are_people: bool = False
    merging: Merging = field(default_factory=Merging)
    group: object = None


@dataclass(frozen=True, slots=True)
class CrowdData(Generic[People]):
    """People with known records, and how their values were read.

    Parameters
    ----------
    population : Population, Histogram or Timeline
        The people and their answers. A histogram states only how many people have each value.
    backend : narwhals.Implementation or None
        The library that the values came from. None for plain Python and NumPy.
    public : tuple of str
        Sentences about how values were changed. They contain no count of people, so that they may
        be published.
    raw : tuple of str
        Sentences about the same changes that state the number of people concerned.
    """

    population: People
    backend: Any
    public: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()


def read_crowd(values: object, name: str | None, request: ReadingRequest) -> CrowdData[Population]:
    """Return the crowd of ``values``; each row is one person unless the request names people.

    Raises
    ------
    DataError
        If a value cannot be read as a record. The message states its position.
    ParameterError
        If an argument belongs to another kind of record.
    PlanError
        If the values do not fit the plan.
    """
    own, every, reading, _ = _prepare_reading(values, request, person=request.person)
    question = request.question
    if question is not None:
        reading, question = fit_reading(reading, question)
    found = read_table(every.table(), every, reading, question)
    found = replace(found, question=_name_question(name, found.question, request))
    raw = (found.note,) if found.note else ()
    return CrowdData(
        replace(found, note="", warning=""), own.backend, _public_notes(found, request), raw
    )


def read_shared_crowd(
    values: object, name: object, request: ReadingRequest
) -> CrowdData[Population]:
    """Return the crowd of ``values`` after checking that its labels do not identify people.

    Raises the errors of ``read_crowd``. Also raises DataError if the labels come from the values
    and most labels have only one person each.
    """
    crowd = read_crowd(values, checks.check_optional_text("name", name), request)
    people = crowd.population
    if people.from_data:
        check_shared(people.question, people.bin_counts, people.from_data)
    return crowd


def read_timeline(
    values: object,
    name: str | None,
    request: ReadingRequest,
    epochs: object,
    order: Sequence[str] | None,
) -> CrowdData[Timeline]:
    """Return the answers in ``values`` by epoch.

    The argument ``epochs`` is the name of a column, or one value per row. Raises the errors of
    ``read_crowd`` and of ``Timeline``.
    """
    own, every, reading, named = _prepare_reading(
        values, request, person=request.person, epochs=epochs
    )
    found = epochs_of_table(
        every.table(), every, reading, EpochColumn(named["epochs"], order), request.question
    )
    found = replace(found, question=_name_question(name, found.question, request))
    return CrowdData(found, own.backend, _warning_sentences(found.warning))


def read_counted(
    values: object, name: object, request: ReadingRequest, counts: object
) -> CrowdData[Histogram]:
    """Return how many people have each of ``values``.

    The argument ``counts`` is the name of a column, or one number of people per row. Raises the
    errors of ``read_shared_crowd``, and DataError if a number is not a whole number of people.
    """
    asked = checks.check_optional_text("name", name)
    own, every, reading, named = _prepare_reading(values, request, counts=counts)
    if reading.form is not RecordType.ONE or request.person is not None:
        raise ParameterError(
            "counts",
            expected="one value per person",
            got="another kind of record",
            do="leave counts out",
        )
    found = counts_of_table(every.table(), every, reading, named["counts"], request.question)
    found = replace(found, question=_name_question(asked, found.question, request))
    return CrowdData(histogram_of_counts(found), own.backend, _warning_sentences(found.warning))


def _name_question(name: str | None, question: Question, request: ReadingRequest) -> Question:
    """Return the question with the caller's ``name``; the question of a plan keeps its name."""
    if name is None or request.question is not None:
        return question
    return msgspec.structs.replace(question, name=name)


def _prepare_reading(
    values: object, request: ReadingRequest, **roles: object
) -> tuple["Values", "Values", Reading, dict[str, str]]:
    """Return the columns of the records, all columns, how to read records, and role columns.

    Each of ``roles``, such as the person or the epoch, is the name of a column or one value per
    row. The last result is a dict from each role to the name of its column.
    """
    check_installed("values")
    from mixtally.api.columns import read_values  # loads Arrow, which may be missing

    given = read_values(values, counted="counts" in roles)
    if request.group is not None:
        given, request = _cross_groups(given, request)
    own, every, named = given.split_roles(**roles)
    form = _find_form(own, request)
    if request.several == RowCombination.SET and form is RecordType.ONE:
        # Each row has one label, and the labels of a person's rows are the set.
        form = RecordType.SET
    _check_form(form, request)
    reading = _make_reading(own, form, request, named.get("person"))
    return own, every, reading, named


def _cross_groups(given: "Values", request: ReadingRequest) -> tuple["Values", ReadingRequest]:
    """Return a column in which each value is joined with its group, and a request to read it."""
    from mixtally.api.crosstab import cross_with_groups

    excluded = {
        "plan": request.question is not None,
        "kind": request.kind not in (None, "one"),
        "person": request.person is not None,
    }
    if used := [name for name, given in excluded.items() if given]:
        raise not_together("group_by", "group_by", used)
    own, every, named = given.split_roles(group=request.group)
    groups = every.columns[every.names.index(named["group"])]
    joined, labels = cross_with_groups(
        own,
        groups,
        request.labels,
        missing=request.missing,
        missing_values=request.missing_values,
        group_name=named["group"] if isinstance(request.group, str) else None,
    )
    return joined, replace(request, kind="one", labels=labels, missing_values=(), group=None)


def _public_notes(found: Population, request: ReadingRequest) -> tuple[str, ...]:
    """Return publishable sentences on changed values and on values that may not be answers."""
    notes = []
    if request.missing == DROP:
        notes.append("People without a value were left out.")
    if request.scale is not None:
        low, high = request.scale.low, request.scale.high
        notes.append(f"Values outside {low:g} to {high:g} were moved to the nearer end.")
    notes += _warning_sentences(found.warning)
    if request.group is not None:
        notes.append(_TOGETHER)
    return tuple(notes)


def _warning_sentences(warning: str) -> tuple[str, ...]:
    """Return a warning with names of arguments in place of options, as a tuple of one sentence.

    The tuple is empty if there is no warning.
    """
    text = checks.translate_options(warning)
    return (f"{text[0].upper()}{text[1:]}.",) if text else ()


def _make_reading(
    given: "Values", form: RecordType, request: ReadingRequest, person: str | None
) -> Reading:
    """Return how the columns are read; ``person`` is the name of the column with the person."""
    return Reading(
        columns=given.names,
        form=form,
        labels=_list_labels(given, form, request),
        separator=request.separator,
        max_set=request.max_set,
        empty_sets=request.empty_sets,
        scale=request.scale,
        grid=request.grid,
        words=request.words,
        missing=None if request.missing == "refuse" else request.missing,
        missing_values=request.missing_values,
        person=person,
        several=None if request.several is None else RowCombination(request.several),
        rows_are_people=request.rows_are_people,
        merging=request.merging,
    )


def _list_labels(
    given: "Values", form: RecordType, request: ReadingRequest
) -> tuple[str, ...] | None:
    """Return the labels of the request; None if they come from the values.

    A label of an attribute has the form "column=label".
    """
    labels = request.labels
    if labels is None or form is not RecordType.ATTRIBUTES:
        found = None if labels is None else labels_of("labels", labels)
        others = request.merging.other is not None  # the label of all other values is one more
        if found is not None and len(found) + others < 2 and form in LABELED_TYPES:
            raise ParameterError(
                "labels",
                expected="at least 2 labels",
                got=f"{len(found):,}",
                do="write one label for each bin",
            )
        return found
    from mixtally.api.columns import name_of

    named = {name_of(one): of for one, of in labels.items()} if isinstance(labels, Mapping) else {}
    if not named or not set(named) <= set(given.names):
        raise ParameterError(
            "labels",
            expected="a mapping from existing columns to labels",
            got=checks.describe_value(labels),
            do='write labels={"color": ["red", "blue"]}, for example',
        )
    return tuple(
        f"{column}={label}"
        for column in given.names
        if column in named
        for label in labels_of(f"labels of {column!r}", named[column])
    )


def _find_form(given: "Values", request: ReadingRequest) -> RecordType:
    """Return the kind of record: from the request, from a plan, or from the values."""
    if request.kind is not None:
        return RecordType(request.kind)
    if request.grid is not None:
        return RecordType.PLACE
    if request.scale is not None:
        return RecordType.NUMBER
    if request.question is not None:
        asked = request.question
        return (
            RecordType.ATTRIBUTES if asked.attributes is not None else RecordType(str(asked.kind))
        )
    if request.separator is not None:
        return RecordType.SET
    if len(given.columns) > 1:
        return (
            RecordType.BITS
            if all(one.is_boolean for one in given.columns)
            else RecordType.ATTRIBUTES
        )
    from mixtally.lab.data.columns import has_list_cells

    (only,) = given.columns
    if only.tuples:
        raise DataError(
            "values",
            expected="one value or one list of labels per person",
            got="tuples, which may be rows of several columns or sets",
            do='give columns as dict(a=[..], b=[..]), or add kind="set"',
        )
    return RecordType.SET if has_list_cells(only.array) else RecordType.ONE


def _check_form(form: RecordType, request: ReadingRequest) -> None:
    """Raise ParameterError for arguments that belong to another kind of record or to a plan."""
    fixed = [name for name in ("labels", "max_set") if getattr(request, name) is not None]
    if request.question is not None and fixed:
        raise not_together(
            "plan",
            "a plan",
            fixed,
            f"leave {join_words(fixed)} out, because the plan states what is allowed",
        )
    other = {
        "max_set": request.max_set is not None and form is not RecordType.SET,
        "separator": request.separator is not None and form is not RecordType.SET,
        "empty_sets": request.empty_sets and form is not RecordType.SET,
        "number": request.scale is not None and form is not RecordType.NUMBER,
        "labels": request.labels is not None and form not in LABELED_TYPES,
    }
    for argument in (name for name, strange in other.items() if strange):
        raise ParameterError(
            argument,
            expected=f"another kind of record than {form}",
            got=f"{form}",
            do="leave the argument out",
        )
    if form is RecordType.NUMBER and request.scale is None:
        raise ParameterError(
            "number",
            expected="the range of the numbers",
            got="none",
            do="write number=(0, 10), for example",
        )
