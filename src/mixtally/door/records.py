"""From columns of values to everybody's record, for every kind of record."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mixtally.data.population import LABELS, LARGEST_SET, Population
from mixtally.door import checks
from mixtally.door.columns import Cells, Filled, Table, is_missing, name_of, text_of
from mixtally.door.labels import label_of, numbered, texts_of
from mixtally.encode.bits import bit, packed, rows_of
from mixtally.encode.numbers import Scale
from mixtally.encode.sets import holding, members
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.records.question import Kind, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How values are read.

    where
      kind       one of ``KINDS``; None to see it by the values
      labels     the bins in their order, or those of each attribute by its column; None to read
                 them off the values
      separator  between the labels of a set that is one text; None where sets are lists
      max_set    the most labels of a set; None for the largest in the values
      scale      where numbers are cut
      missing    "refuse", "drop", or a label
      missing_values   texts of values that mean missing
      question   what a plan asks; None without a plan
    """

    kind: str | None = None
    labels: Sequence[object] | Mapping[str, Sequence[object]] | None = None
    separator: str | None = None
    max_set: int | None = None
    scale: Scale | None = None
    missing: str = "refuse"
    missing_values: tuple[str, ...] = ()
    question: Question | None = None


def _labels(wanted: Wanted) -> Sequence[object] | None:
    """The labels that a plan or the caller fixes; ParameterError when both do."""
    if wanted.question is None:
        return wanted.labels  # type: ignore[return-value]
    if wanted.labels is not None or wanted.max_set is not None:
        raise ParameterError(
            "plan", wanted="a plan alone", got="labels or max_set beside it", do="the plan has them"
        )
    asked = wanted.question
    return asked.labels or tuple(map(str, range(asked.bins)))


def _one(table: Table, name: str, wanted: Wanted) -> Population:
    fixed = _labels(wanted)
    fixed = table.levels[0] if fixed is None else fixed
    subject = f"column {table.names[0]!r}" if table.framed else "values"
    labels, codes = numbered(subject, table.columns[0], fixed)
    asked = Question(name=name, bins=len(labels), labels=labels)
    return Population(asked, codes, from_data=(LABELS,) * (fixed is None))


def _set(table: Table, name: str, wanted: Wanted) -> Population:
    every: Cells = []
    people: list[int] = []
    largest, given = 1, wanted.question.max_set if wanted.question else wanted.max_set
    fixed, separator = _labels(wanted), wanted.separator
    whole = [] if separator is None or fixed is None else holding(texts_of(fixed), separator)
    for person, cell in enumerate(table.columns[0]):
        subject = f"values[{person}]"
        if isinstance(cell, Filled):
            held: Cells = [cell]
        elif separator is not None and text_of(cell) is not None:
            held = [*members(label_of(subject, cell), separator, None, subject, whole)]
        else:
            held = _members(subject, cell)
        if given is not None and len(held) > given:
            raise DataError(
                f"values[{person}]",
                wanted=f"at most {given} labels, which is what is hidden",
                got=f"{len(held)}",
                do="choose which to keep, or allow a larger max_set",
            )
        largest = max(largest, len(held))
        every += held
        people += [person] * len(held)
    labels, codes = numbered("labels of all sets", every, fixed)
    read = (LABELS,) * (fixed is None) + (LARGEST_SET,) * (given is None)
    asked = Question(
        name=name, bins=len(labels), labels=labels, kind=Kind.SET, max_set=given or largest
    )
    who = np.array(people, dtype=np.int64)
    rows = rows_of(who, codes, table.people, len(labels))
    return Population(asked, rows, from_data=read)


def _members(subject: str, cell: object) -> Cells:
    """The labels of one set; DataError for what is none, or names a label twice."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    elif hasattr(cell, "to_list"):  # a series in a cell
        cell = cell.to_list()
    if isinstance(cell, str) or not isinstance(cell, list | tuple | set | frozenset):
        raise DataError(
            subject,
            wanted="a list of labels, empty for none",
            got=checks.shown(cell),
            do="give a list to every person; text is split with separator=';'",
        )
    held = checks.listed(subject, cell)
    if isinstance(cell, set | frozenset):
        held.sort(key=str)
    if any(map(is_missing, held)):
        raise DataError(subject, wanted="labels", got="a missing one", do="leave it out")
    if len({label_of(subject, one) for one in held}) < len(held):
        raise DataError(
            subject,
            wanted="every label once",
            got=checks.shown(held),
            do="name each once: list(set(labels))",
        )
    return held


def _bits(table: Table, name: str, _: Wanted) -> Population:
    columns = []
    for column, cells in zip(table.names, table.columns, strict=True):
        texts = {type(one) for one in cells} - {bool, int, float, str}
        if texts:
            raise DataError(
                f"column {column!r}",
                wanted="0 or 1, no or yes, false or true",
                got=", ".join(sorted(kind.__name__ for kind in texts)),
                do="recode the column",
            )
        known = {one: bit(str(one), f"column {column!r}") for one in set(cells)}
        columns.append([known[one] for one in cells])
    rows = np.array(columns, dtype=np.uint8).T
    length = len(columns)
    asked = Question(name=name, bins=length, labels=table.names, kind=Kind.BITS)
    return Population(asked, packed(rows.tobytes(), length))


def _attributes(table: Table, name: str, wanted: Wanted) -> Population:
    fixed = _attribute_labels(table, wanted)
    labels: list[str] = []
    sizes: list[int] = []
    places = []
    read: tuple[str, ...] = ()
    for column, cells, levels in zip(table.names, table.columns, table.levels, strict=True):
        given = fixed.get(column, levels)
        read = read or (LABELS,) * (given is None)
        names, codes = numbered(f"column {column!r}", cells, given)
        places.append(len(labels) + codes)
        labels += [f"{column}={one}" for one in names]
        sizes.append(len(names))
    asked = Question(
        name=name,
        bins=len(labels),
        labels=tuple(labels),
        kind=Kind.SET,
        max_set=len(sizes),
        attributes=tuple(sizes),
    )
    people = np.tile(np.arange(table.people), len(sizes))
    rows = rows_of(people, np.concatenate(places), table.people, len(labels))
    return Population(asked, rows, from_data=read)


def _attribute_labels(table: Table, wanted: Wanted) -> Mapping[str, Sequence[object]]:
    """The labels of each column, as far as a plan or the caller fixes them."""
    asked = wanted.question
    if asked is None:
        given = {} if wanted.labels is None else wanted.labels
        if isinstance(given, Mapping):
            given = {name_of(column): labels for column, labels in given.items()}
        if not isinstance(given, Mapping) or not set(given) <= set(table.names):
            raise ParameterError(
                "labels",
                wanted="labels by column, of columns that there are",
                got=checks.shown(given),
                do='labels={"color": ["red", "blue"]}, for example',
            )
        return given
    _labels(wanted)  # refuses labels beside a plan
    sizes, found, start = asked.attributes or (), {}, 0
    if len(sizes) != len(table.names):
        raise PlanError(
            "plan",
            wanted=f"a plan for the {len(table.names)} attributes of the values",
            got=f"one for {len(sizes)}",
            do="give as many columns, in the plan's order",
        )
    for column, size in zip(table.names, sizes, strict=True):
        own = (asked.labels or tuple(map(str, range(asked.bins))))[start : start + size]
        if asked.labels and any(label.partition("=")[0] != column for label in own):
            raise PlanError(
                "plan",
                wanted=f"a plan whose attribute here is {column!r}",
                got=f"one that asks {own[0]!r}",
                do="give the columns in the plan's order",
            )
        found[column] = [label.removeprefix(f"{column}=") for label in own]
        start += size
    return found


def _number(table: Table, name: str, wanted: Wanted) -> Population:
    if wanted.scale is None:
        raise TypeError("numbers are cut by a scale")
    cells, scale = table.columns[0], wanted.scale
    for place, cell in enumerate(cells):
        if isinstance(cell, bool) or not isinstance(cell, int | float) or math.isinf(cell):
            raise DataError(
                f"values[{place}]",
                wanted="a finite number",
                got=checks.shown(cell),
                do="remove it or repair it",
            )
    values = np.array(cells, dtype=np.float64)
    asked = Question(name=name, bins=scale.bins, labels=scale.labels)
    return Population(asked, scale.codes(values), scale.clipped(values))


READERS = {
    "one": _one,
    "set": _set,
    "bits": _bits,
    "attributes": _attributes,
    "number": _number,
}
