"""A data file as a table: its columns by name, read in batches, whatever its format.

Each format has a function that returns a `Table`. ``rows`` reads it; ``api`` makes tables of values
in memory.
"""

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

Array = Any
"""An Arrow array. Arrow has no type annotations."""


class TableBatch(NamedTuple):
    """Successive rows of a table: their cells in the requested columns, then in the watched ones.

    Watched columns are not counted, but examined for identifiers of people. So far ``done`` of
    ``total`` units of the file have been read; both are 0 if unknown.
    """

    arrays: list[Array]
    done: int
    total: int


class Table(NamedTuple):
    """The names of all columns, and a function that reads some of them.

    Attributes
    ----------
    read
        A function that takes the indices of the requested columns and of the watched columns, and
        yields the rows as batches. Values of watched columns never raise an error; they are null
        unless they are text or numbers.
    declared
        The columns whose type lists the possible values. Their arrays are dictionaries of Arrow.
    ordered
        The declared columns whose type says that the values are in order.
    hint
        The option with which the requested columns would be found; empty if there is none.
    warning
        A sentence on what a spreadsheet program shows differently from the values read, such as
        hidden rows; empty if no difference is known.
    """

    names: tuple[str, ...]
    read: Callable[[Sequence[int], Sequence[int]], Iterator[TableBatch]]
    declared: frozenset[str] = frozenset()
    ordered: frozenset[str] = frozenset()
    hint: str = ""
    warning: str = ""


def suggest_column(column: str, names: Sequence[str]) -> str:
    """Return the advice for a ``column`` that is not among the ``names`` of a table's columns."""
    plain = {name.lower().strip(): name for name in names}
    close = get_close_matches(column.lower().strip(), plain, n=1)
    return f"did you mean {plain[close[0]]!r}?" if close else "name one of these"
