"""The crowd in what people give: which kind of records, and what was done to the values."""

from dataclasses import dataclass

import numpy as np

from mixtally.data.doubts import like_cut, like_missing
from mixtally.data.population import LABELS, Population
from mixtally.door.columns import Table, is_missing, named_missing, table_of, without_missing
from mixtally.door.records import READERS, Wanted
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.records.question import Question

KINDS = ("one", "set", "bits", "attributes", "number")


@dataclass(frozen=True, slots=True)
class Crowd:
    """People with known records, and how they came.

    where
      table   the values as they were used
      public  what was done to them on the way in, without any count of people
      raw     how many people that concerns
    """

    population: Population
    table: Table
    public: tuple[str, ...]
    raw: tuple[str, ...]


def crowd_of(values: object, name: str | None, wanted: Wanted) -> Crowd:
    """The crowd of ``values``, a place a person.

    Raises DataError for values that cannot be records, by their position, PlanError for those that
    are not what a plan asks, ParameterError for arguments of another kind of record.
    """
    table = named_missing(table_of(values), wanted.missing_values)
    kind = _kind(table, wanted)
    _check_kind(table, kind, wanted)
    labelled = kind in ("one", "set", "attributes")
    table, dropped = without_missing(table, wanted.missing, labels=labelled)
    if table.people == 0:
        raise DataError("values", wanted="at least two people", got="none", do="look at the data")
    named = name or "+".join(table.names)
    population = READERS[kind](table, named, wanted)
    if table.people < 2:
        raise DataError("values", wanted="at least two people", got="one", do="one is no crowd")
    public, raw = _notes(table, kind, wanted, dropped)
    if LABELS in population.from_data:
        public += _doubts(population.question, kind, wanted)
    if wanted.question is not None:
        population = _asked(population, wanted.question)
    return Crowd(population, table, tuple(public), tuple(raw))


def _doubts(asked: Question, kind: str, wanted: Wanted) -> list[str]:
    """Words of warning, for what most likely is no answer."""
    labels = [label.rpartition("=")[2] for label in asked.labels or ()]
    found = "" if wanted.missing_values else like_missing(labels, "missing_values=")
    cut = like_cut(labels, "give the text with separator= and labels=") if kind == "set" else ""
    return [f"{doubt[0].upper()}{doubt[1:]}." for doubt in (found, cut) if doubt]


def _notes(table: Table, kind: str, wanted: Wanted, dropped: int) -> tuple[list[str], list[str]]:
    """What was done to the values, and to how many: the latter are counts of the data."""
    public, raw = [], []
    if wanted.missing == "drop":
        public.append("People without a value were left out.")
        raw.append(f"{dropped:,} people without a value were left out.")
    if kind == "number" and (scale := wanted.scale) is not None:
        public.append(f"Values outside {scale.low:g} to {scale.high:g} were moved to its ends.")
        values = np.array(table.columns[0], dtype=np.float64)
        outside = int(((values < scale.low) | (values > scale.high)).sum())
        raw.append(f"{outside:,} of {len(values):,} values were moved.")
    return public, raw


def _kind(table: Table, wanted: Wanted) -> str:
    """What the values are: as the caller says, a plan, or they themselves."""
    if wanted.question is not None:
        planned = _kind_of(wanted.question)
        said = wanted.kind or ("number" if wanted.scale else planned)
        if said != planned and not (said == "number" and planned == "one"):
            raise PlanError(
                "plan",
                wanted=f"a plan for records of kind {said}",
                got=f"one for {planned}",
                do="leave kind out, or plan again",
            )
        return said
    if wanted.kind is not None:
        return wanted.kind
    if wanted.scale is not None:
        return "number"
    if wanted.separator is not None:
        return "set"
    if len(table.columns) > 1:
        every = {type(one) for cells in table.columns for one in cells if not is_missing(one)}
        return "bits" if every == {bool} else "attributes"
    types = set(map(type, table.columns[0]))
    several = (list, tuple, set, frozenset, np.ndarray)
    if types == {tuple}:
        raise DataError(
            "values",
            wanted="one value a person, or a list of labels",
            got="a tuple in every place: rows of several columns, or sets",
            do='give columns, dict(a=[..], b=[..]), or say kind="set"',
        )
    return "set" if any(issubclass(one, several) for one in types) else "one"


def _kind_of(question: Question) -> str:
    return "attributes" if question.attributes is not None else str(question.kind)


def _check_kind(table: Table, kind: str, wanted: Wanted) -> None:
    """Raises for arguments of another kind, and for columns that are too many."""
    if len(table.columns) > 1 and kind not in ("bits", "attributes"):
        raise DataError(
            "values",
            wanted=f"one column for records of kind {kind}",
            got=f"{len(table.columns)}: " + ", ".join(table.names[:10]),
            do='choose one, or say kind="bits" or kind="attributes"',
        )
    if kind == "attributes" and len(table.columns) < 2:
        raise DataError(
            "values", wanted="several columns", got="one", do="leave kind out to count one value"
        )
    other = {
        "max_set": wanted.max_set is not None and kind != "set",
        "separator": wanted.separator is not None and kind != "set",
        "bins, low and high": wanted.scale is not None and kind != "number",
        "labels": wanted.labels is not None and kind in ("number", "bits"),
    }
    for argument in (name for name, strange in other.items() if strange):
        raise ParameterError(
            argument, wanted=f"records that have it, not {kind}", got="both", do="leave it out"
        )
    if kind == "number" and wanted.scale is None:
        raise ParameterError(
            "numbers", wanted="bins, low and high", got="none", do="say where they are cut"
        )


def _asked(crowd: Population, question: Question) -> Population:
    if crowd.question.bins != question.bins:
        raise PlanError(
            "plan",
            wanted=f"a plan for the {crowd.question.bins:,} bins of the values",
            got=f"one for {question.bins:,} bins",
            do="plan again for this data",
        )
    return crowd.asked(question)
