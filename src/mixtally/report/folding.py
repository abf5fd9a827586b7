"""Tables that fit the width of a terminal without cutting a number or a label.

All tables on a terminal are instances of ``FoldingTable``. On a narrow terminal, the table of the
library rich replaces the end of a cell by an ellipsis, and an estimate without its last digits is
wrong. ``FoldingTable`` uses the first of three layouts that fits. In the first the table is
unchanged. In the second long texts are wrapped between words. In the third each row has two lines,
or more if two are not enough.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.styled import Styled
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

_MAY_WRAP = 24
"""Characters of the longest cell above which a column of texts may be wrapped between words."""
_GAP = 2
"""Blanks between two columns of a folded row, and before each of its lines except the first."""
_UNLIMITED = 10**6
"""Characters: a width above that of any table, at which an unwrapped table is measured."""


class FoldingTable(RichTable):
    """A table whose rows are folded to several lines where the terminal is too narrow."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the first layout that fits the terminal."""
        natural = [_natural_width(console, one) for one in self.columns]
        unlimited = options.update(max_width=_UNLIMITED)
        frame = Measurement.get(console, unlimited, self).maximum - sum(natural)
        if sum(natural) + frame <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        least = [_least_width(console, one) for one in self.columns]
        if sum(least) + frame <= options.max_width:
            yield self._narrowed(_share(options.max_width - frame, least, natural))
        else:
            yield from self._folded(least, natural, options.max_width)

    def _narrowed(self, widths: list[int]) -> "FoldingTable":
        # The change is made in a copy, because the table may be printed again on a wider terminal.
        narrow = copy(self)
        narrow.columns = [
            replace(one, width=width, no_wrap=False)
            for one, width in zip(self.columns, widths, strict=True)
        ]
        return narrow

    def _folded(self, least: list[int], natural: list[int], width: int) -> RenderResult:
        if self.title:
            yield Text(str(self.title), style="table.title")
        # Columns have the width of their headings if two lines are then enough for a row.
        needed = natural if len(list(_split_columns(natural, width))) == 2 else least
        lines = list(_split_columns(needed, width))
        shares = [
            _share(
                width - _indent(number) - _GAP * (len(line) - 1),
                [needed[place] for place in line],
                [natural[place] for place in line],
            )
            for number, line in enumerate(lines)
        ]

        def fold(cells: Sequence[RenderableType]) -> Iterator[RenderableType]:
            for number, (line, widths) in enumerate(zip(lines, shares, strict=True)):
                grid = RichTable.grid(padding=(0, _GAP, 0, 0))
                for place, share in zip(line, widths, strict=True):
                    # A word that is longer than the terminal continues in the next line, so that no
                    # character is dropped.
                    grid.add_column(
                        width=share, justify=self.columns[place].justify, overflow="fold"
                    )
                grid.add_row(*[cells[place] for place in line])
                yield Padding(grid, (0, 0, 0, _indent(number)), expand=False)

        yield from fold([Styled(one.header, self.header_style) for one in self.columns])
        yield Text("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * width)
        for row in zip(*(one.cells for one in self.columns), strict=True):
            cells = [Styled(cell, one.style) for cell, one in zip(row, self.columns, strict=True)]
            yield from fold(cells)


def _natural_width(console: Console, column: Column) -> int:
    """Return the fixed width of a column or, if it has none, that of its longest cell or header."""
    if column.width is not None:
        return column.width
    return max(1, *(_measure(console, one).maximum for one in (column.header, *column.cells)))


def _least_width(console: Console, column: Column) -> int:
    """Return the least width of a column at which no number, short label or word is broken."""
    if column.width is not None:
        return column.width
    words = max(1, *(_measure(console, one).minimum for one in (column.header, *column.cells)))
    longest = max((_measure(console, one).maximum for one in column.cells), default=1)
    is_text = column.justify == "left" and not column.no_wrap and longest > _MAY_WRAP
    return max(words, _MAY_WRAP) if is_text else max(words, longest)


def _measure(console: Console, cell: RenderableType) -> Measurement:
    return Measurement.get(console, console.options.update(max_width=_UNLIMITED), cell)


def _share(width: int, least: list[int], natural: list[int]) -> list[int]:
    """Return the width of each column, from ``least`` up to ``natural`` if there is space."""
    if sum(least) > width:  # one column alone on its line, with a word longer than the terminal
        return [width]
    shares, spare = list(least), width - sum(least)
    for place, most in enumerate(natural):
        more = min(spare, max(0, most - shares[place]))
        shares[place] += more
        spare -= more
    return shares


def _split_columns(least: list[int], width: int) -> Iterator[range]:
    """Yield the range of columns on each line of a row; each line has as many columns as fit."""
    first, used, number = 0, 0, 0
    for place, share in enumerate(least):
        if place > first and used + _GAP + share > width - _indent(number):
            yield range(first, place)
            first, used, number = place, 0, number + 1
        used += share + _GAP * (place > first)
    yield range(first, len(least))


def _indent(number: int) -> int:
    """Return the indentation of line ``number`` of a row; only the first line has none."""
    return _GAP if number else 0
