"""Options that say how the data of a simulation are read."""

from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.options import list_used_flags
from mixtally.app.question import make_scale
from mixtally.cli import options as o
from mixtally.cli.labels import read_labels
from mixtally.cli.rows import RowOptions, split_list
from mixtally.errors import ParameterError, PlanError, not_together
from mixtally.lab.data.reading import Reading, RecordType, RowCombination
from mixtally.model.contract import Plan
from mixtally.protocol.encode.numbers import Points
from mixtally.protocol.encode.numbers import scale_of_plan as planned


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """The columns that hold the records, and the type of the records."""

    column: Annotated[str | None, o.option("--column", "The column to count.", "NAME")] = None
    columns: Annotated[
        str | None, o.option("--columns", "Several columns that form one record.", "A,B,..")
    ] = None
    read_as: Annotated[
        str | None,
        o.option("--as", "bits: each column is yes or no; attributes: each has one value.", "HOW"),
    ] = None
    separator: Annotated[
        str | None, o.option("--set", "Cells contain several labels, separated by SEP.", "SEP")
    ] = None
    max_set: Annotated[
        int | None, o.whole_option("--max-set", "Largest number of labels of a set.")
    ] = None
    empty_sets: Annotated[
        bool, o.option("--empty-sets", "An empty cell is a set without labels.")
    ] = False
    number: Annotated[
        tuple[float, float] | None,
        o.option("--number", "Numbers, clipped to this range and rounded at random.", "LOW,HIGH"),
    ] = None
    points: o.Points = None
    bins: Annotated[
        int | None, o.whole_option("--bins", "Histogram of numbers with N bins of equal width.")
    ] = None
    labels: o.Labels = None
    rows: RowOptions


def make_reading(options: ReadingOptions, *, planned: bool) -> Reading:
    """Return how to read the data; raise ParameterError for options that exclude each other.

    ``planned`` says whether the caller has a plan, which fixes the size of sets.
    """
    form, separator, ends = _find_form(options), options.separator, options.number
    if options.rows.combination is RowCombination.SET and form is RecordType.ONE:
        # Each row has one label of the set.
        form = RecordType.SET
    _check_form(options, form)
    if form is RecordType.NUMBER and options.labels is not None:
        raise not_together(
            "--labels", "--number", ["--labels"], "leave --labels out: the range names the bins"
        )
    if planned and options.max_set is not None:
        raise not_together(
            "--max-set", "--plan", ["--max-set"], "leave --max-set out: the plan contains it"
        )
    reading = Reading(
        columns=_list_columns(options),
        form=form,
        labels=read_labels(options.labels, 2),
        separator=separator,
        max_set=options.max_set,
        empty_sets=options.empty_sets,
        scale=None if ends is None else make_scale(ends, options.bins, options.points),
    )
    return options.rows.add_to_reading(reading)


def _find_form(options: ReadingOptions) -> RecordType:
    used = list_used_flags(options, "read_as", "separator", "number")
    if len(used) > 1:
        raise ParameterError(
            "data", expected="one way to read the data", got=" and ".join(used), do="choose one"
        )
    if options.read_as not in (None, "bits", "attributes"):
        raise ParameterError(
            "--as", expected="bits or attributes", got=repr(options.read_as), do="choose one"
        )
    if options.separator is not None:
        return RecordType.SET
    if options.number is not None:
        return RecordType.NUMBER
    return RecordType.ONE if options.read_as is None else RecordType(options.read_as)


_FORMS = (
    ("max_set", RecordType.SET),
    ("empty_sets", RecordType.SET),
    ("bins", RecordType.NUMBER),
    ("points", RecordType.NUMBER),
)


def _check_form(options: ReadingOptions, form: RecordType) -> None:
    """Raise ParameterError for an option that belongs to another kind of record."""
    for name, expected in _FORMS:
        for flag in list_used_flags(options, name) if form is not expected else ():
            raise ParameterError(
                flag, expected=f"--{expected} with it", got="none", do="leave it out"
            )


def _list_columns(options: ReadingOptions) -> tuple[str, ...]:
    one, many = options.column, options.columns
    if one is not None and many is None:
        return (one,)
    if many is not None and one is None:
        return split_list(many)
    if one is not None:
        raise not_together("columns", "--column", ["--columns"], "leave one out")
    raise ParameterError(
        "columns", expected="--column or --columns", got="neither", do="name the columns to count"
    )


def make_planned_reading(columns: ReadingOptions, plan: Plan) -> Reading:
    """Return how to read the data as a plan requires.

    Numbers get the bins of the plan, or the range of its grid.

    Raises
    ------
    PlanError
        If the plan asks for words by prefixes, which are chosen in each round, or if its bins have
        unequal widths.
    ParameterError
        If an option contradicts the plan.
    """
    if plan.prefixes is not None:
        raise PlanError(
            "plan",
            expected="a question whose bins are fixed",
            got="words, whose prefixes are chosen in each round",
            do="search for words with `mixtally simulate words`",
        )
    reading = make_reading(columns, planned=True)
    scale = planned(plan)
    if scale is None:
        if isinstance(reading.scale, Points):
            raise ParameterError(
                "--number",
                expected="a plan whose numbers are rounded",
                got="a plan with bins",
                do="make a plan with --number, or add --bins for a histogram of numbers",
            )
        return reading
    for flag in list_used_flags(columns, "number", "bins", "points"):
        raise not_together(flag, "--plan", [flag])
    return (
        replace(reading, form=RecordType.NUMBER, scale=scale)
        if reading.form is RecordType.ONE
        else reading
    )
