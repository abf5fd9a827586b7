"""How the values of a program are read: keyword arguments that several functions have."""

from dataclasses import dataclass, fields, replace
from typing import Any

from mixtally.api import checks
from mixtally.api.labels import merging_of, missing_texts, separator_of
from mixtally.api.planning import Plan, parse_scale
from mixtally.api.values import KINDS, ReadingRequest, read_shared_crowd
from mixtally.app.count import GivenPlan
from mixtally.app.outcome import Run
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import DROP, RowCombination
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.contract import Plan as Record
from mixtally.protocol.encode.numbers import scale_of_plan as planned_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """What a missing value is, how values become labels, and whose the places are.

    where
      missing          "refuse", "drop", or the label, bit or number that missing values count as
      missing_values   values that mean missing, ["NA", -99] for example
      strip            whether spaces around a value are no part of its label
      ignore_case      whether capital and small letters are the same in labels
      other            the label of all values that are not listed; None to refuse them
      person           whose each place is, where some have several: a column's name or a list
      several          how several places of a person are combined: "first", "last" or "set"
      rows_are_people  whether every place is a person's, though a column seems to identify people
    """

    missing: str = "refuse"
    missing_values: Any = ()
    strip: bool = False
    ignore_case: bool = False
    other: str | None = None
    person: Any = None
    several: str | None = None
    rows_are_people: bool = False

    @property
    def blank(self) -> str | None:
        """The label of missing values; None where there is none."""
        return None if self.missing in ("refuse", DROP) else self.missing


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """What a record is.

    where
      kind        "one", "set", "bits", "attributes" or "number", where the values do not say
      labels      the bins in their order; for attributes, by column. Without them they are read off
                  the values: for simulation only
      max_set     the most labels of a set; the largest when left out: for simulation only
      separator   between the labels of a set that is one text
      empty_sets  whether a missing value is a set without labels
      number      (low, high), where numbers end
      bins        cut numbers into so many bins, in place of rounding
      points      numbers are rounded at random to so many points
    """

    kind: str | None = None
    labels: Any = None
    max_set: int | None = None
    separator: str | None = None
    empty_sets: bool = False
    number: Any = None
    bins: int | None = None
    points: int | None = None


def list_given(options: RowOptions | RecordOptions) -> list[str]:
    """Return the names of the arguments that were given."""
    return [one.name for one in fields(options) if getattr(options, one.name) is not one.default]


def split_options(given: dict[str, Any]) -> tuple[RowOptions, RecordOptions]:
    """Return how values are read; raise ParameterError for arguments of another type."""
    return checks.read_options(RowOptions, given), checks.read_options(RecordOptions, given)


def make_reading_request(
    rows: RowOptions, records: RecordOptions | None = None, **how: Any
) -> ReadingRequest:
    """Return how values are read; ``how`` is what else ``Expected`` has.

    Raises ParameterError for a kind that there is not, and for numbers without ends.
    """
    expected = ReadingRequest(
        missing=rows.missing,
        missing_values=missing_texts(rows.missing_values),
        merging=merging_of(rows.strip, rows.ignore_case, rows.other),
        person=rows.person,
        several=checks.check_optional_choice("several", rows.several, list(RowCombination)),
        rows_are_people=rows.rows_are_people,
    )
    if records is not None:
        expected = replace(
            expected,
            kind=checks.check_optional_choice("kind", records.kind, KINDS),
            labels=records.labels,
            max_set=records.max_set,
            separator=separator_of(records.separator),
            empty_sets=records.empty_sets,
            scale=parse_scale(records.bins, records.points, records.number),
        )
    return replace(expected, **how)


def load_given_plan(plan: object) -> GivenPlan | None:
    """Return a plan that was made before, and why it is played; None for none."""
    if plan is None:
        return None
    made = checks.check_type("plan", plan, Plan, "plan")
    return GivenPlan(made.record, made.reason or "The plan was given.")


def read_as_planned(expected: ReadingRequest, plan: Record) -> ReadingRequest:
    """Return how values are read as a plan asks, which says itself how numbers are read."""
    if expected.scale is not None:
        raise ParameterError(
            "plan",
            expected="a plan alone",
            got="how numbers are read beside it",
            do="leave them out",
        )
    return replace(expected, question=plan.question, scale=planned_scale(plan))


def make_run(seed: object, level: object = 0.95) -> Run:
    """Return how a crowd is played, before its source is known."""
    drawn = checks.check_optional_whole("seed", seed)
    within = checks.check_number("level", level)
    return Run(lab=Lab(build_chance(drawn)), source="", seed=drawn, level=within)


def prepare_run(
    values: object, name: object, expected: ReadingRequest, run: Run
) -> tuple[Population, Run, Any]:
    """Return the crowd, how it is played, and the library of frames that it came from."""
    crowd = read_shared_crowd(values, name, expected)
    people = replace(crowd.population, note=" ".join(crowd.raw))
    source = " ".join([f"{people.users:,} values, {people.people_per_row}.", *crowd.public])
    return people, replace(run, source=source), crowd.backend
