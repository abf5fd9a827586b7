"""Keyword arguments that say how values are read, and that several functions accept."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from mixtally.api import checks
from mixtally.api.labels import missing_texts, separator_of
from mixtally.api.planning import Plan, parse_scale
from mixtally.api.values import KINDS, ReadingRequest, read_shared_crowd
from mixtally.app.count import GivenPlan
from mixtally.app.outcome import Run
from mixtally.errors import not_together
from mixtally.lab.data.label_merging import Merging
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import DROP, RowCombination
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.contract import Plan as Record
from mixtally.protocol.encode.numbers import scale_of_plan as planned_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """How rows are read: missing values, the merging of labels, and the person of each row.

    The texts in the annotations become entries of docstrings.
    """

    missing: Annotated[
        str,
        'What happens to missing values: "refuse", "drop", or the label, bit or number that they '
        "count as.",
    ] = "refuse"
    missing_values: Annotated[
        Any, "list", 'Values that mean missing, for example ["NA", -99].'
    ] = ()
    strip: Annotated[bool, "Whether to remove spaces around labels."] = False
    ignore_case: Annotated[
        bool, "Whether labels that differ only in capital letters are the same."
    ] = False
    other: Annotated[
        str | None,
        "The label that values outside the list of labels count as. They are refused by default.",
    ] = None
    person: Annotated[
        Any,
        "str or list",
        "The person of each row, where some people have several rows: the name of a column, or a "
        "list.",
    ] = None
    several: Annotated[
        str | None, 'How to combine several rows of one person: "first", "last" or "set".'
    ] = None
    rows_are_people: Annotated[
        bool, "Whether every row is one person even if a column looks like an identifier of people."
    ] = False

    @property
    def blank(self) -> str | None:
        """The label of missing values; None if missing values are refused or dropped."""
        return None if self.missing in ("refuse", DROP) else self.missing


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """How a value becomes a record: the kind of record, its labels, and the range of numbers.

    The texts in the annotations become entries of docstrings.
    """

    kind: Annotated[
        str | None,
        'The kind of record where the values do not determine it: "one", "set", "bits", '
        '"attributes" or "number".',
    ] = None
    labels: Annotated[
        Any,
        "list, array, series or Mapping",
        "The labels of the bins in order; for attributes, a mapping from column to labels. Labels "
        "that are taken from the values make the result a simulation that may not be published.",
    ] = None
    max_set: Annotated[
        int | None,
        "The largest number of labels in a set. The default is the size of the largest set, which "
        "makes the result a simulation that may not be published.",
    ] = None
    separator: Annotated[
        str | None, 'The text between the labels of a set that is one text, for example ";".'
    ] = None
    empty_sets: Annotated[bool, "Whether a missing value is a set without labels."] = False
    number: Annotated[
        Any,
        "(float, float)",
        "The range of numbers, (low, high). Numbers outside are moved to the nearer end.",
    ] = None
    bins: Annotated[int | None, "Count numbers in this many bins of equal width."] = None
    points: Annotated[
        int | None,
        "Round numbers at random to this many points. The default minimizes the error of the mean.",
    ] = None


def list_given(options: RowOptions | RecordOptions) -> list[str]:
    """Return the names of the arguments that differ from their defaults."""
    return [one.name for one in fields(options) if getattr(options, one.name) is not one.default]


def split_options(given: dict[str, Any]) -> tuple[RowOptions, RecordOptions]:
    """Return the options for rows and for records, or raise ParameterError for wrong types."""
    return checks.read_options(RowOptions, given), checks.read_options(RecordOptions, given)


def make_reading_request(
    rows: RowOptions, records: RecordOptions | None = None, **how: Any
) -> ReadingRequest:
    """Return the request that says how values are read.

    The keyword arguments ``how`` are further fields of ``ReadingRequest``.

    Raises
    ------
    ParameterError
        If the kind is unknown, or if numbers have no range.
    """
    request = ReadingRequest(
        missing=rows.missing,
        missing_values=missing_texts(rows.missing_values),
        merging=Merging(rows.strip, rows.ignore_case, rows.other),
        person=rows.person,
        several=checks.check_optional_choice("several", rows.several, list(RowCombination)),
        rows_are_people=rows.rows_are_people,
    )
    if records is not None:
        request = replace(
            request,
            kind=checks.check_optional_choice("kind", records.kind, KINDS),
            labels=records.labels,
            max_set=records.max_set,
            separator=separator_of(records.separator),
            empty_sets=records.empty_sets,
            scale=parse_scale(records.bins, records.points, records.number),
        )
    return replace(request, **how)


def load_given_plan(plan: object) -> GivenPlan | None:
    """Return the caller's plan with the reason why it is used; None if the argument is None."""
    if plan is None:
        return None
    made = checks.check_type("plan", plan, Plan, "plan")
    return GivenPlan(made.record, made.reason or "The plan was given.")


def read_as_planned(request: ReadingRequest, plan: Record) -> ReadingRequest:
    """Return ``request`` with the question of a plan and, for numbers, the plan's bins or points.

    Raises ParameterError if the request states bins or points of its own.
    """
    if request.scale is not None:
        raise not_together(
            "plan",
            "a plan",
            ["number"],
            "leave number out, and bins or points with it, because the plan states them",
        )
    return replace(request, question=plan.question, scale=planned_scale(plan))


def make_run(seed: object, level: object = 0.95) -> Run:
    """Return the settings of a simulation, to which the caller adds the source of the crowd."""
    drawn = checks.check_optional_whole("seed", seed)
    within = checks.check_number("level", level)
    return Run(lab=Lab(build_chance(drawn)), source="", seed=drawn, level=within)


def prepare_run(
    values: object, name: object, request: ReadingRequest, run: Run
) -> tuple[Population, Run, Any]:
    """Return the crowd in ``values``, the settings of its simulation, and a library.

    The settings are ``run`` with sentences about the source of the crowd. The library is that of
    the caller's data frame; None for plain Python.
    """
    crowd = read_shared_crowd(values, name, request)
    people = replace(crowd.population, note=" ".join(crowd.raw))
    source = " ".join([f"{people.users:,} values, {people.people_per_row}.", *crowd.public])
    return people, replace(run, source=source), crowd.backend
