"""A data file as a table: its columns by name, read in batches, whatever its format."""

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

Array = Any
"""An array of Arrow, which has no types of its own."""


class TableBatch(NamedTuple):
    """Some rows.

    where
      arrays   the columns asked for, then those that are watched, all of one length
      done     how much of the file is read with them, of ``total``; both 0 where nobody knows
    """

    arrays: list[Array]
    done: int
    total: int


class Table(NamedTuple):
    """The names of all columns, and what reads those at some places among them.

    where
      read       takes the places of the columns that are asked for, and of those that are only
                 watched: values of the latter are never refused, and null where they are no text
                 and no number
      hint       an option by which the columns asked for are found, where they are not
      warning    what is most likely not meant, in words
      declared   columns whose type lists the values they may have: dictionaries of Arrow
      ordered    those of them whose type says that the values are in order
    """

    names: tuple[str, ...]
    read: Callable[[Sequence[int], Sequence[int]], Iterator[TableBatch]]
    declared: frozenset[str] = frozenset()
    ordered: frozenset[str] = frozenset()
    hint: str = ""
    warning: str = ""


def suggest_column(column: str, names: Sequence[str]) -> str:
    """What to do about a ``column`` that is none of ``names``: the one that may be meant."""
    plain = {name.lower().strip(): name for name in names}
    close = get_close_matches(column.lower().strip(), plain, n=1)
    return f"did you mean {plain[close[0]]!r}?" if close else "name one of these"
