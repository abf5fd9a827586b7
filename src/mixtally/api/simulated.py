"""What a simulation of more than counts comes to: its promise, its tables, its files."""

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from mixtally.api import checks
from mixtally.api.files import file_at, write
from mixtally.api.frames import frame_of
from mixtally.app.outcome import Outcome
from mixtally.errors import not_one_of
from mixtally.report.document import Document, Promise, with_uncovered
from mixtally.report.svg import NO_FORMULAS, el
from mixtally.report.terminal import printed
from mixtally.report.texts import FORMATS, FormatName, whole_facts

_WIDTH, _SHOWN = 100, 20


class Simulated:
    """What was found, without a true number; those stand in ``simulation`` alone.

    where
      outcome   all of it, for those who want more
      backend   the library of frames that the values came from; None for plain Python
    """

    def __init__(self, outcome: Outcome, backend: Any = None) -> None:
        self.outcome, self._backend = outcome, backend

    @property
    def _plain(self) -> Document:
        plain = self.outcome.plain
        return self.outcome.document if plain is None else plain

    @property
    def lines(self) -> Promise:
        """The promise in three lines: hidden from whom, at what price, with which error."""
        first, second, third = with_uncovered(self._plain.promise, self.outcome.from_data or ())
        return first, checks.worded_in_python(second), third

    @property
    def public(self) -> bool:
        """Whether it may be published: no seed drew it, and nothing was read off the values."""
        return not self.outcome.seeded and not self.outcome.from_data

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that was found, as the command line's JSON has it."""
        return self._plain.facts()

    @property
    def simulation(self) -> dict[str, Any]:
        """The same beside the truth: for those who hold the data, never to be published."""
        return whole_facts(self.outcome.shown)

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Rows by the name of their table: "words", "shares", "sets" and others."""
        found = self._plain.tables()
        return {
            name.removesuffix(".csv"): [dict(row) for row in table.rows]
            for name, table in found.items()
        }

    @checks.in_python
    def to_frame(self, table: str | None = None) -> Any:
        """A table as a frame of the values' library; the first one when left out.

        Raises ParameterError for one that there is not.

        >>> mixtally.simulate_words(words, epsilon=2, delta=1e-6).to_frame()
        """
        every = self.tables
        name = next(iter(every)) if table is None else checks.text("table", table)
        if name not in every:
            raise not_one_of("table", name, list(every))
        return frame_of(every[name], self._backend)

    @checks.in_python
    def save(self, folder: str | Path, *, out_format: FormatName = "csv") -> list[Path]:
        """Write what may be published into ``folder``, and what holds the truth inside simulation/.

        A run with a seed, or whose labels were read off the values, writes there alone.
        ``out_format`` is "csv", or "csv-semicolon" for spreadsheets with decimal commas. Raises
        DataError when the disk refuses, ParameterError for another format.

        >>> mixtally.simulate_words(words, epsilon=2, delta=1e-6).save("words")
        """
        place = file_at(folder)
        checks.chosen("out_format", out_format, list(FORMATS))
        every = self.outcome.files(out_format)
        written: list[Path] = []
        for inside in sorted({Path(name).parent for name in every}):
            files = {
                Path(name).name: text if isinstance(text, bytes) else "".join(text).encode()
                for name, text in every.items()
                if Path(name).parent == inside
            }
            written += write(place / inside, files)
        return written

    def _public(self) -> list[str]:
        return [] if self.public else ["SIMULATION ONLY: nothing of this may be published."]

    def __repr__(self) -> str:
        out = io.StringIO()
        Console(file=out, width=_WIDTH, emoji=False, highlight=False).print(printed(self._plain))
        return "\n".join([*self._public(), *self.lines, out.getvalue().rstrip()])

    def _repr_html_(self) -> str:
        texts = [el("p", line) for line in (*self._public(), *self.lines)]
        rows = next(iter(self.tables.values()), [])
        if not rows:
            return "".join(texts)
        head = el("tr", *[el("th", name) for name in rows[0]])
        lines = [el("tr", *[el("td", _text(x)) for x in row.values()]) for row in rows[:_SHOWN]]
        left = [el("p", f"{_SHOWN} of {len(rows):,} shown")] if len(rows) > _SHOWN else []
        return "".join([*texts, el("table", head, *lines, class_=NO_FORMULAS), *left])


def _text(value: object) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else "" if value is None else str(value)
