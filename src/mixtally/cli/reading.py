"""How the data of a simulation are read: options, declared once."""

from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.options import list_used_flags
from mixtally.app.question import make_scale
from mixtally.cli import options as o
from mixtally.cli.labels import read_labels
from mixtally.cli.rows import RowOptions, split_list
from mixtally.errors import ParameterError, PlanError
from mixtally.lab.data.reading import Reading, RecordType, RowCombination
from mixtally.model.contract import Plan
from mixtally.protocol.encode.numbers import Points
from mixtally.protocol.encode.numbers import scale_of_plan as planned


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """Which columns hold the records, and what a record is."""

    column: Annotated[str | None, o.option("--column", "The column to count.", "NAME")] = None
    columns: Annotated[
        str | None, o.option("--columns", "Several columns of one record.", "A,B,..")
    ] = None
    read_as: Annotated[
        str | None, o.option("--as", "bits: no or yes each; attributes: one value each.", "HOW")
    ] = None
    separator: Annotated[
        str | None, o.option("--set", "Cells hold several labels, apart by SEP.", "SEP")
    ] = None
    max_set: Annotated[int | None, o.whole_option("--max-set", "Most labels of a set.")] = None
    empty_sets: Annotated[
        bool, o.option("--empty-sets", "An empty cell is a set without labels.")
    ] = False
    number: Annotated[
        tuple[float, float] | None,
        o.option("--number", "Numbers, moved into this range and rounded at random.", "LOW,HIGH"),
    ] = None
    points: o.Points = None
    bins: Annotated[
        int | None, o.whole_option("--bins", "Cut numbers into so many bins, not rounded.")
    ] = None
    labels: o.Labels = None
    rows: RowOptions


def make_reading(options: ReadingOptions, *, planned: bool) -> Reading:
    """How to read the data; raises ParameterError for options that do not go together."""
    form, separator, ends = _find_form(options), options.separator, options.number
    if options.rows.combination is RowCombination.SET and form is RecordType.ONE:  # a label a row
        form = RecordType.SET
    _check_form(options, form)
    if form is RecordType.NUMBER and options.labels is not None:
        raise ParameterError(
            "--labels", expected="--number alone", got="both", do="numbers name the bins"
        )
    if planned and options.max_set is not None:
        raise ParameterError(
            "--max-set", expected="--plan alone", got="both", do="the plan holds it"
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
            "data", expected="one way to read them", got=" and ".join(used), do="choose one"
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
    """Raises ParameterError for an option of another form."""
    for name, expected in _FORMS:
        for flag in list_used_flags(options, name) if form is not expected else ():
            raise ParameterError(
                flag, expected=f"--{expected} beside it", got="none", do="leave it out"
            )


def _list_columns(options: ReadingOptions) -> tuple[str, ...]:
    one, many = options.column, options.columns
    if one is not None and many is None:
        return (one,)
    if many is not None and one is None:
        return split_list(many)
    raise ParameterError(
        "columns",
        expected="--column or --columns",
        got="neither" if one is None else "both",
        do="name what is to be counted",
    )


def make_planned_reading(columns: ReadingOptions, plan: Plan) -> Reading:
    """How to read the data: as the plan asks; numbers are cut or rounded as it says.

    Raises PlanError for a plan whose bins a round brings, or of unequal width; ParameterError for
    options beside its own.
    """
    if plan.prefixes is not None:
        raise PlanError(
            "plan",
            expected="a question whose bins are fixed",
            got="words, whose prefixes a round brings",
            do="play a search for words with `mixtally simulate words`",
        )
    reading = make_reading(columns, planned=True)
    scale = planned(plan)
    if scale is None:
        if isinstance(reading.scale, Points):
            raise ParameterError(
                "--number",
                expected="a plan whose numbers are rounded",
                got="one of bins",
                do="make one with --number, or add --bins to cut numbers",
            )
        return reading
    for flag in list_used_flags(columns, "number", "bins", "points"):
        raise ParameterError(
            flag, expected="the plan alone", got="both", do="the plan says how numbers are read"
        )
    return (
        replace(reading, form=RecordType.NUMBER, scale=scale)
        if reading.form is RecordType.ONE
        else reading
    )
