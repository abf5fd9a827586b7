"""What is shown of a result: described once, then rendered as page, terminal, JSON and CSV.

A document is plain data. Whoever knows a kind of result says what is worth showing; how it looks is
said by the renderers alone (``page``, ``terminal``, ``texts``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeGuard, TypeVar

from mixtally.report.svg import Markup

Promise = tuple[str, str, str]
"""What is hidden from whom; epsilon and delta with what they rest on; the error to expect."""

Facts = dict[str, Any]
"""Plain numbers and texts by name, as JSON has them."""


class Tone(StrEnum):
    """What a marked text says of itself; a page and a terminal color it."""

    GOOD = "good"
    BAD = "bad"
    DOUBTFUL = "doubtful"
    SOFT = "soft"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text in a tone."""

    text: str
    tone: Tone


Cell = str | Marked


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, or a ``note``: smaller, beside a picture or a table.

    ``own`` is for whoever ran the command: a page that is published leaves it out.
    """

    text: str
    note: bool = False
    tone: Tone | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """Sentences one below the other."""

    items: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Bullets":
        """Plain sentences."""
        return cls(tuple((text,) for text in texts))


@dataclass(frozen=True, slots=True)
class Table:
    """Names and numbers in columns.

    where
      words   columns of words, which are aligned left; the first one always is
      title   what it shows; opened by a click on a page where it is ``folded``
      wide    many columns: smaller letters
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    words: frozenset[str] = frozenset()
    title: str = ""
    folded: bool = False
    wide: bool = False

    def is_left_aligned(self, place: int) -> bool:
        """Whether a column is aligned left."""
        return place == 0 or self.columns[place] in self.words

    def without_rows(self, name: str = "") -> str:
        """Return the sentence that is shown in place of a table that has no rows."""
        return f"{self.title or name or self.columns[0]}: there is nothing to show."


Item = TypeVar("Item")


def columns(
    items: Iterable[Item], *named: tuple[str, Callable[[Item], Cell]]
) -> tuple[tuple[str, ...], list[list[Cell]]]:
    """Heads and rows of a table: a name and what it says of an item for every column."""
    return tuple(name for name, _ in named), [[cell(one) for _, cell in named] for one in items]


@dataclass(frozen=True, slots=True)
class FactTable:
    """The facts of one plan or of several side by side, a row a name.

    A table with a ``title`` is folded: a page opens it by a click.
    """

    columns: tuple[Mapping[str, Any], ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, for pages alone.

    where
      marks    every mark in it that says something, by its classes, with what it stands for
      reading  how it is read, in sentences
      wide     the same chart for screens of 700 pixels and more; None for the one chart on all
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
    """Parts under a title."""

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
"""What a plan may have taken from the data: one person's answer alone could have changed it."""


def uncovered_texts(from_data: Iterable[str]) -> list[str]:
    """What no certificate covers, as every one is for a question that was fixed before."""
    return [_FROM_DATA[name] for name in from_data]


def with_uncovered(promise: Promise, from_data: Sequence[str]) -> Promise:
    """The three lines, and in the second what they are not for."""
    if not from_data:
        return promise
    first, second, third = promise
    uncovered = "; ".join(uncovered_texts(from_data))
    return first, f"{second.removesuffix('.')}; not covered: {uncovered}.", third


SIMULATION, HOLDS_RAW = "simulation", "holds raw counts"
"""What every file of a simulation says first, and the folder of these files in that of a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything that is shown of a result; what takes work is made when a renderer asks for it.

    Facts are made once, however many ask: a file and a terminal tell the same.

    where
      promise     three lines that everything begins with: what is hidden from whom; epsilon and
                  delta with what they rest on; the error to expect
      simulation  whether anything in it follows from the truth that was played: never a release
      from_data   what of its question was read off the data, by the names of ``not_covered``: then
                  it is no release either
      source      where its numbers come from, in a sentence
      key         names and values that a page opens with
      opening     parts before the first section
      sections    of the page
      summary     what a terminal shows
      prose       sentences that a terminal ends with
      facts       the whole of it as one JSON object
      tables      rows by the name of their CSV file
      closing     what a page ends with besides the version: randomness, fingerprint
      made_by     the command that made it, where there was one; pages of a simulation say it
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
        object.__setattr__(self, "facts", cache(self.facts))

    @property
    def lines(self) -> Promise:
        """The promise as it is shown."""
        return with_uncovered(self.promise, self.from_data)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a CSV file; ``names`` are its columns where there may be no row."""

    rows: Sequence[Mapping[str, Any]]
    names: tuple[str, ...] | None = None


Column = Sequence[object] | str | float | None
"""A value a row, or one value for all rows of a batch."""


@dataclass(frozen=True, slots=True)
class Batches:
    """The rows of a CSV file that are made in batches of columns, as there may be very many.

    Attributes
    ----------
    names : tuple[str, ...]
        The names of the columns; the first column always has a value a row.
    batches : Callable[[], Iterator[Sequence[Column]]]
        Makes the batches anew at every call, each with a column a name.
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
    """Return the columns of a batch with a value a row."""
    size = max(len(column) for column in batch if _is_column(column))
    return [column if _is_column(column) else [column] * size for column in batch]


def _is_column(column: Column) -> TypeGuard[Sequence[object]]:
    return isinstance(column, Sequence) and not isinstance(column, str)


class Chunks:
    """The text of a file, made piece by piece while it is written."""

    def __init__(self, make_chunks: Callable[[], Iterator[str]]) -> None:
        self._made = make_chunks

    def __iter__(self) -> Iterator[str]:
        return self._made()


def closing(seed: int | None, fingerprint: str = "", plan: str = "plan") -> str:
    """Randomness (None: the operating system's) and plan, as a page ends."""
    chance = "randomness from the operating system" if seed is None else f"seed {seed}"
    return f"{chance}, {plan} {fingerprint}" if fingerprint else chance
