"""A value within a group, as one label: all groups together cost what one count does."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow
import pyarrow.compute as compute

from mixtally.data.columns import simple, texts_of
from mixtally.door.columns import Column, Values
from mixtally.door.labels import labels_of
from mixtally.errors import DataError, ParameterError

BETWEEN = " | "
"""What stands between a group and a value in a label."""
Labels = Mapping[str, Sequence[object]]


def crossed(values: Values, groups: Column, labels: object) -> tuple[Values, list[str] | None]:
    """One column of "group | value", and its labels: every value in every group.

    ``labels`` lists the values and the groups by these names; None to read both off the data.
    Raises DataError for values that are no single ones or hold " | ", ParameterError for labels
    that are not those of both.
    """
    if len(values.columns) != 1:
        raise DataError(
            "group_by",
            wanted="one column of values beside it",
            got=f"{len(values.columns)}",
            do="give the column that is counted, and group_by its own",
        )
    sides = [_texts(groups, "group_by"), _texts(values.columns[0], "values")]
    joined = compute.binary_join_element_wise(*sides, BETWEEN)
    name = values.names[0]
    return Values((name,), (Column(joined),), values.backend, framed=False), _both(labels)


def parted(label: str) -> tuple[str, str]:
    """The group and the value of a label."""
    group, _, value = label.partition(BETWEEN)
    return group, value


def _texts(column: Column, subject: str) -> Any:
    array = column.array
    whole = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
    plain = simple(whole)
    if plain is None:
        raise DataError(
            subject, wanted="single values", got=str(whole.type), do="give one value a person"
        )
    if not pyarrow.types.is_dictionary(plain.type):
        plain = plain.dictionary_encode()
    texts = texts_of(plain.dictionary)
    _check_between(subject, [text for text in texts if text])
    told = pyarrow.array([text if text and not text.isspace() else None for text in texts])
    return told.cast(pyarrow.string()).take(plain.indices)


def _both(labels: object) -> list[str] | None:
    if labels is None:
        return None
    if not isinstance(labels, Mapping) or set(labels) != {"values", "groups"}:
        raise ParameterError(
            "labels",
            wanted="labels of values and of groups",
            got="others",
            do='labels={"values": ["yes", "no"], "groups": ["north", "south"]}, for example',
        )
    values, groups = (labels_of(f"labels of {name}", labels[name]) for name in ("values", "groups"))
    _check_between("labels", [*values, *groups])
    return [f"{group}{BETWEEN}{value}" for group in groups for value in values]


def _check_between(subject: str, texts: Sequence[str]) -> None:
    wrong = next((text for text in texts if BETWEEN in text), None)
    if wrong is not None:
        raise DataError(
            subject, wanted=f"texts without {BETWEEN!r}", got=repr(wrong), do="rename it"
        )
