"""Documents: the content that is shown of a result, independent of the format.

Code for one kind of result builds a document from plain data. Only the renderers ``page``,
``markdown``, ``terminal`` and ``texts`` decide how a document looks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeGuard, TypeVar

from mixtally.report.svg import Markup

Promise = tuple[str, str, str]
"""Three lines: what is protected against whom; epsilon and delta with their assumptions; the
expected error."""

Facts = dict[str, Any]
"""Plain numbers and texts by name, as in JSON."""


class Tone(StrEnum):
    """The meaning of a marked text, which pages and terminals show as a color."""

    GOOD = "good"
    BAD = "bad"
    DOUBTFUL = "doubtful"
    SOFT = "soft"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with a tone."""

    text: str
    tone: Tone


Cell = str | Marked


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, or a ``note`` in smaller letters next to a picture or a table.

    A text with ``for_user`` is for the user who ran the command. A published page omits it.
    """

    text: str
    note: bool = False
    tone: Tone | None = None
    for_user: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """Sentences in a list."""

    items: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Bullets":
        """Return bullets with one plain sentence each."""
        return cls(tuple((text,) for text in texts))


@dataclass(frozen=True, slots=True)
class Table:
    """Names and numbers in columns.

    The columns named in ``words`` contain words and are aligned left, like the first column. On a
    page, a ``folded`` table is hidden until a reader clicks on its title. A ``wide`` table has
    smaller letters.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    words: frozenset[str] = frozenset()
    title: str = ""
    folded: bool = False
    wide: bool = False

    def is_left_aligned(self, place: int) -> bool:
        """Return whether the column with the index ``place`` is aligned left."""
        return place == 0 or self.columns[place] in self.words

    def without_rows(self, name: str = "") -> str:
        """Return the sentence that replaces a table without rows; ``name`` is its default title."""
        return f"{self.title or name or self.columns[0]}: there is nothing to show."


Item = TypeVar("Item")


def columns(
    items: Iterable[Item], *named: tuple[str, Callable[[Item], Cell]]
) -> tuple[tuple[str, ...], list[list[Cell]]]:
    """Return the headers and rows of a table of ``items``.

    Each of ``named`` is the name of a column and a function that returns the cell of an item.
    """
    return tuple(name for name, _ in named), [[cell(one) for _, cell in named] for one in items]


@dataclass(frozen=True, slots=True)
class FactTable:
    """A table of facts: a row for each name, and a column for each of one or several plans.

    On a page, a table with a ``title`` is hidden until a reader clicks on the title.
    """

    columns: tuple[Mapping[str, Any], ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, which only pages show.

    Attributes
    ----------
    markup : Markup
        The chart as SVG.
    marks : tuple
        The CSS classes and the meaning of every mark in the chart.
    reading : str
        Sentences that explain how to read the chart.
    wide : Markup or None
        The same chart for screens of at least 700 pixels; None to use ``markup`` for all screens.
    """

    markup: Markup
    title: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    reading: str = ""
    wide: Markup | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A title inside a section."""

    text: str


Part = Text | Bullets | Table | FactTable | Picture | Heading


@dataclass(frozen=True, slots=True)
class Section:
    """Several parts of a document under a common title."""

    title: str
    parts: tuple[Part, ...]


_FROM_DATA = {
    "labels": "the list of answers was read from the data; give --labels",
    "largest set": "the largest set was read from the data; give --max-set",
    "alphabet": "the alphabet was read from the data; give --alphabet",
    "candidates": "the list of candidates was read from the data; give --candidates",
    "people": "rows may not be people, as a column seems to identify people and its values repeat; "
    "give --person-column, or --rows-are-people",
}
"""Sentences on facts that a question may take from the data, by the name of the fact.

The answer of one person could have changed such a fact, so no certificate covers it.
"""


def uncovered_texts(from_data: Iterable[str]) -> list[str]:
    """Return sentences on the facts ``from_data``, which no guarantee covers.

    A certificate assumes a question that was fixed before anyone answered.
    """
    return [_FROM_DATA[name] for name in from_data]


SIMULATION, HOLDS_RAW = "simulation", "holds raw counts"
"""The first words of every file of a simulation. The first one also names the folder of these
files.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything that is shown of a result.

    Parts that take time to compute are functions, which renderers call when they need them. Facts
    are computed only once, so that a file and a terminal show the same.

    Attributes
    ----------
    source : str
        A sentence that says where the numbers come from.
    promise : tuple of str
        The three lines at the beginning (``Promise``).
    simulation : bool
        Whether anything in the document depends on true values. Such a document may not be
        published.
    from_data : tuple of str
        Names of the facts that were read from the data, see ``uncovered_texts``. A document with
        such facts may not be published.
    key : tuple
        Pairs of name and value at the beginning of a page.
    opening, sections : tuple, callable
        The parts before the first section of a page, and a function that returns the sections.
    summary, prose : callable, tuple
        A function that returns the parts that a terminal shows, and the sentences at their end.
    facts, tables : callable
        Functions that return the document as one JSON object, and rows by the name of their CSV
        file.
    closing : str
        The text at the end of a page, next to the version: source of randomness and fingerprint.
    made_by : str
        The command that made the document, which pages of a simulation show.
    """

    title: str
    source: str
    promise: Promise
    simulation: bool = False
    from_data: tuple[str, ...] = ()
    key: tuple[tuple[str, str], ...] = ()
    opening: tuple[Part, ...] = ()
    sections: Callable[[], tuple[Section, ...]]
    summary: Callable[[], tuple[Part, ...]]
    prose: tuple[str, ...] = ()
    facts: Callable[[], Facts]
    tables: Callable[[], Mapping[str, "Rows | Batches"]] = dict
    closing: str = ""
    made_by: str = ""

    def __post_init__(self) -> None:
        # The dataclass is frozen, so the cached function is set in this way.
        object.__setattr__(self, "facts", cache(self.facts))

    @property
    def lines(self) -> Promise:
        """The promise as it is shown; its second line also names facts that it does not cover."""
        first, second, third = self.promise
        uncovered = "; ".join(uncovered_texts(self.from_data))
        if uncovered:
            second = f"{second.removesuffix('.')}; not covered: {uncovered}."
        return first, second, third


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a CSV file.

    ``names`` are the names of its columns, which are needed if there may be no row.
    """

    rows: Sequence[Mapping[str, Any]]
    names: tuple[str, ...] | None = None


Column = Sequence[object] | str | float | None
"""One value for each row, or one value for all rows of a batch."""


@dataclass(frozen=True, slots=True)
class Batches:
    """The rows of a CSV file in batches of columns, because they may be too many for memory.

    Attributes
    ----------
    names : tuple of str
        The names of the columns; the first column always has one value for each row.
    batches : callable
        A function that returns a new iterator over all batches at every call. A batch has one
        column for each name.
    """

    names: tuple[str, ...]
    batches: Callable[[], Iterator[Sequence[Column]]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows at once."""
        return [
            dict(zip(self.names, row, strict=True))
            for batch in self.batches()
            for row in zip(*broadcast_columns(batch), strict=True)
        ]


def broadcast_columns(batch: Sequence[Column]) -> list[Sequence[object]]:
    """Return the columns of a batch, each with one value for every row."""
    size = max(len(column) for column in batch if _is_column(column))
    return [column if _is_column(column) else [column] * size for column in batch]


def _is_column(column: Column) -> TypeGuard[Sequence[object]]:
    return isinstance(column, Sequence) and not isinstance(column, str)


class Chunks:
    """The text of a file, produced in pieces while it is written."""

    def __init__(self, make_chunks: Callable[[], Iterator[str]]) -> None:
        self._made = make_chunks

    def __iter__(self) -> Iterator[str]:
        return self._made()


def closing(seed: int | None, fingerprint: str = "", plan: str = "plan") -> str:
    """Return the end of a page, which states the source of the randomness and the plan.

    Parameters
    ----------
    seed : int or None
        The seed; None if the randomness came from the operating system.
    fingerprint : str
        The SHA-256 of the plan; empty without a plan.
    plan : str
        The name of the object that the fingerprint identifies.
    """
    chance = "randomness from the operating system" if seed is None else f"seed {seed}"
    return f"{chance}, {plan} {fingerprint}" if fingerprint else chance
