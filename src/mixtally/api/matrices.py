"""Matrices as arguments: arrays, data frames and nested lists of probabilities."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mixtally.accounting.divergence.matrix import Group
from mixtally.api import checks
from mixtally.api.files import file_at
from mixtally.api.planning import Plan
from mixtally.app.matrix import MatrixOptions, ShuffledRandomizer, fake_row_of, shuffle_matrix
from mixtally.app.mechanism import PricedOptions
from mixtally.errors import DataError
from mixtally.model.matrix import MOST_CELLS, RandomizerMatrix, make_matrix, parse_fake_row

Randomized = Any
"""The name of a protocol, a plan or the path of its file, or the matrix of a randomizer."""
Groups = Sequence[tuple[Any, int]]


def is_matrix(given: object) -> bool:
    """Return whether an argument is a matrix, which is not a text, a plan, a path or bytes."""
    return not isinstance(given, str | Plan | os.PathLike | bytes)


def with_path(given: object) -> object:
    """Convert a text that is a path to a Path, and return any other argument unchanged.

    A text with a dot or a slash is a path, because no name of a protocol contains these characters.
    """
    return file_at(given) if isinstance(given, str) and re.search(r"[./\\]", given) else given


def shuffled_matrix_of(
    given: object, groups: Groups, options: Mapping[str, object]
) -> ShuffledRandomizer:
    """Return the randomizer that the arguments describe, with what hides its messages.

    Messages are hidden by other people and by fakes (dummy messages).

    Raises
    ------
    DataError
        If ``given``, or the matrix of a group, does not consist of probabilities.
    ParameterError
        If an option does not belong to a matrix.
    """
    reading = checks.read_options(
        MatrixOptions, {name: one for name, one in options.items() if name != "fake_row"}
    )
    matrix = matrix_of("matrix", given, reading.normalize)
    parameters = checks.read_options(PricedOptions, options)
    share = checks.check_number("honest share", options.get("honest_share", 1.0))
    row = options.get("fake_row")
    if row is None or isinstance(row, str):
        law = fake_row_of(matrix, row)
    else:
        law = parse_fake_row(_to_list("fake_row", row), matrix.outputs)
    return shuffle_matrix(
        matrix, parameters.given, share, law, reading.rounds, _groups_of(groups, matrix, reading)
    )


def _groups_of(
    groups: Groups, matrix: RandomizerMatrix, reading: MatrixOptions
) -> tuple[Group, ...]:
    """Return the groups of other people, whose matrices must have the outputs of ``matrix``."""
    found = []
    for i, one in enumerate(checks.read_list("groups", groups)):
        name = f"groups[{i}]"
        if not isinstance(one, tuple | list) or len(one) != 2:
            raise DataError(
                name,
                expected="a matrix and a number of people",
                got=checks.describe_value(one),
                do="write groups=[(matrix, 1000)]",
            )
        own = matrix_of(name, one[0], reading.normalize)
        if own.outputs != matrix.outputs:
            raise DataError(
                name,
                expected=f"the outputs {', '.join(matrix.outputs[:8])}",
                got=", ".join(own.outputs[:8]),
                do="use the same outputs in the same order",
            )
        found.append(Group(own, checks.check_whole(name, one[1])))
    return tuple(found)


def matrix_of(name: str, given: Any, normalize: bool = False) -> RandomizerMatrix:
    """Return the randomizer in an array, a data frame or nested lists.

    ``name`` names the argument in error messages.
    """
    if isinstance(given, RandomizerMatrix):
        return given
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple) and (len(shape) != 2 or shape[0] * shape[1] > MOST_CELLS):
        raise DataError(
            name,
            expected=f"two dimensions and at most {MOST_CELLS:,} entries",
            got=f"a shape of {shape}",
            do="give a row of probabilities for every value of a person",
        )
    rows = outputs = None
    if (columns := getattr(given, "columns", None)) is not None:
        with checks.guard_reading(name):
            outputs = list(columns)
            if hasattr(given, "index"):  # a frame of pandas, which has labels of rows
                rows, given = list(given.index), given.to_numpy(dtype=object)
            else:  # a frame of polars, whose labels are a column of text
                entries = [list(row) for row in given.rows()]
                first = entries[0][0] if entries else 0
                # A text that begins with a digit may be a probability, such as "1/2".
                if isinstance(first, str) and not first.strip()[:1].isdigit():
                    rows, outputs = [row[0] for row in entries], outputs[1:]
                    entries = [row[1:] for row in entries]
                given = entries
    entries = [_to_list(f"{name}, row {i}", row) for i, row in enumerate(_to_list(name, given))]
    return make_matrix(entries, rows, outputs, normalize=normalize, subject=name)


def _to_list(name: str, values: Any) -> list[Any]:
    """Return a list or an array as a list of Python objects, or raise DataError."""
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise DataError(
            name,
            expected="a list or an array of probabilities",
            got=checks.describe_value(values),
            do="give a row of probabilities for every value of a person",
        )
    with checks.guard_reading(name):
        return list(values.tolist() if hasattr(values, "tolist") else values)
