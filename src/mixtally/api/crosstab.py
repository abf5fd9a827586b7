"""Counts within groups: one label for each pair of a group and a value.

Each person has one such label, so the counts of all groups together cost no more privacy than one
count without groups.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow
import pyarrow.compute as compute

from mixtally.api.columns import Column, Values
from mixtally.api.labels import labels_of
from mixtally.errors import DataError, ParameterError, pluralize
from mixtally.lab.data.columns import simplify_types, texts_of
from mixtally.lab.data.reading import DROP

BETWEEN = " | "
"""The text between a group and a value in a label."""
REFUSE = "refuse"
"""The value of ``missing`` with which missing values raise an error."""
Labels = Mapping[str, Sequence[object]]


def cross_with_groups(
    values: Values,
    groups: Column,
    labels: object,
    *,
    missing: str,
    missing_values: Collection[str],
    group_name: str | None,
) -> tuple[Values, list[str] | None]:
    """Return one column of labels "group | value", and the list of all pairs as labels.

    Parameters
    ----------
    values : Values
        One column of values.
    groups : Column
        The group of each row.
    labels : Mapping or None
        A mapping with the keys "values" and "groups", which lists the labels of each. None to take
        both from the data.
    missing : str
        "refuse", "drop", or a label that replaces a missing value and a missing group. If only one
        of the two is missing, the other is kept.
    missing_values : collection of str
        Texts of values and of groups that mean missing.
    group_name : str or None
        The name of the column of groups. None if the groups were passed as a list of values.

    Returns
    -------
    tuple of Values and list of str
        The joined column and its labels, in order. The labels are None if they come from the data.

    Raises
    ------
    DataError
        If a value is a list, contains " | ", or is missing and refused.
    ParameterError
        If ``labels`` is neither None nor a mapping with exactly these two keys.
    """
    if len(values.columns) != 1:
        raise DataError(
            "group_by",
            expected="one column of values",
            got=pluralize(len(values.columns), "column"),
            do="give only the column to count, and the groups with group_by",
        )
    _check_between("missing", [missing])
    name = values.names[0]
    sides = []
    for column, subject, named in (
        (groups, "group_by", group_name),
        (values.columns[0], "values", name if values.framed else None),
    ):
        side = _texts(column, subject, missing_values)
        if missing == REFUSE:
            _check_complete(side, subject, named)
        sides.append(side if missing in (REFUSE, DROP) else side.fill_null(missing))
    joined = compute.binary_join_element_wise(*sides, BETWEEN)
    return Values((name,), (Column(joined),), values.backend, framed=False), _cross_labels(labels)


def split_label(label: str) -> tuple[str, str]:
    """Return the group and the value of a label."""
    group, _, value = label.partition(BETWEEN)
    return group, value


def _check_complete(side: Any, subject: str, named: str | None) -> None:
    """Raise DataError if a value is missing.

    The message states the position of the first missing value, and the column ``named`` unless it
    is None.
    """
    if not side.null_count:
        return
    place = side.is_null().index(True).as_py()
    raise DataError(
        f"{subject}[{place}]" if named is None else f"values[{place}]",
        expected="a value" if named is None else f"a value in column {named!r}",
        got="a missing value",
        do="write missing='drop' to leave such people out, or missing= with the label to count",
    )


def _texts(column: Column, subject: str, missing_values: Collection[str]) -> Any:
    array = column.array
    whole = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
    plain = simplify_types(whole)
    if plain is None:
        raise DataError(
            subject, expected="single values", got=str(whole.type), do="give one value per person"
        )
    if not pyarrow.types.is_dictionary(plain.type):
        plain = plain.dictionary_encode()
    # Texts are checked once for each distinct value, not for each row.
    texts = texts_of(plain.dictionary)
    _check_between(subject, [text for text in texts if text])
    labels = pyarrow.array([_text_or_none(text, missing_values) for text in texts])
    return labels.cast(pyarrow.string()).take(plain.indices)


def _text_or_none(text: str | None, missing_values: Collection[str]) -> str | None:
    """Return ``text``, or None if it is blank or means missing."""
    stripped = "" if text is None else text.strip()
    return None if not stripped or stripped in missing_values else text


def _cross_labels(labels: object) -> list[str] | None:
    if labels is None:
        return None
    if not isinstance(labels, Mapping) or set(labels) != {"values", "groups"}:
        raise ParameterError(
            "labels",
            expected="a mapping with the labels of values and of groups",
            got="another value",
            do='write labels={"values": ["yes", "no"], "groups": ["north", "south"]}, for example',
        )
    values, groups = (labels_of(f"labels of {name}", labels[name]) for name in ("values", "groups"))
    _check_between("labels", [*values, *groups])
    return [f"{group}{BETWEEN}{value}" for group in groups for value in values]


def _check_between(subject: str, texts: Sequence[str]) -> None:
    wrong = next((text for text in texts if BETWEEN in text), None)
    if wrong is not None:
        raise DataError(
            subject, expected=f"texts without {BETWEEN!r}", got=repr(wrong), do="rename the label"
        )
