"""The result of a collection or of a simulation: its promise, its numbers with errors, its files.

The truth, which a lab alone knows, is in its ``simulation`` and nowhere else.
"""

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
from rich.console import Console

from mixtally.api import checks
from mixtally.api.files import file_at, write_files
from mixtally.api.frames import make_frame
from mixtally.api.labels import labels_of
from mixtally.api.simulated_result import SHOWN, SimulatedResult, study_of
from mixtally.app.outcome import Outcome
from mixtally.errors import DataError, ParameterError, not_one_of
from mixtally.lab.simulation.study import Study
from mixtally.model.certificate import Certificate
from mixtally.model.estimates import Row
from mixtally.model.result import Result as Record
from mixtally.protocol.estimate.conclude.differences import estimate_differences
from mixtally.protocol.estimate.conclude.totals import estimate_totals
from mixtally.protocol.estimate.numbers import QUANTILES, quantile_label
from mixtally.report import counts
from mixtally.report.document import SIMULATION, Document, Promise, uncovered_texts
from mixtally.report.numbers import error_text, round_to_error
from mixtally.report.svg import NO_FORMULAS, el
from mixtally.report.terminal import render_summary
from mixtally.report.texts import FORMATS, FormatName, whole_facts
from mixtally.report.words import describe_sums_observer, promise_paragraphs

_WIDTH = 100


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """The result of a collection or of a simulation, without a true number.

    Every result has its promise, ``facts``, ``tables`` and files. One that counts the bins of one
    collection also has rows, a certificate and what follows from the counts; there another raises
    ParameterError.

    Attributes
    ----------
    outcome : Outcome
        All of it, for those who want more.
    backend : object
        The library of frames that the values came from; None for plain Python.
    """

    outcome: Outcome
    backend: Any = None

    @property
    def lines(self) -> Promise:
        """The promise in three lines: hidden from whom, at what price, with which error."""
        first, second, third = self._public_document.lines
        return first, checks.translate_options(second), third

    @property
    def public(self) -> bool:
        """Whether the result may be published.

        One that was drawn from a seed, or whose labels were read off the values, may not.
        """
        return not self.outcome.seeded and not self.outcome.from_data

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that was found, as the command line's JSON has it, without the truth."""
        return whole_facts(self._public_document)

    @property
    def simulation(self) -> SimulatedResult | None:
        """The result beside the truth; None where messages alone were known."""
        if not self.outcome.document.simulation:
            return None
        return SimulatedResult(self.outcome, self.backend)

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Rows by the name of their table: "estimates", "words", "sets" and others."""
        return {
            name.removesuffix(".csv"): [dict(row) for row in table.rows]
            for name, table in self._public_document.tables().items()
        }

    @property
    def note(self) -> str:
        """Where the values came from."""
        return self._public_document.source

    @property
    def seed(self) -> int | None:
        """The seed of the noise; None when it came from the operating system."""
        found = self.outcome.found
        return None if found is None else found.about.seed

    @property
    def from_data(self) -> tuple[str, ...]:
        """What of the question was read off the values: "labels" and others."""
        return self.outcome.from_data or ()

    @property
    def _public_document(self) -> Document:
        plain = self.outcome.plain
        plain = self.outcome.document if plain is None else plain
        return replace(plain, from_data=self.from_data)

    @property
    def record(self) -> Record:
        """The counts with their plan, for those who want more."""
        return study_of(self.outcome).main_result

    @property
    def sums(self) -> Certificate | None:
        """What is proved against anyone who sees sums alone, where that was asked."""
        return study_of(self.outcome).releases[0].sums

    @property
    def people(self) -> int:
        """Who took part."""
        return self.record.received.contributors

    @property
    def certificate(self) -> Certificate:
        """What is proved of everything that a person sent."""
        return self.record.certificate

    @property
    def error(self) -> float:
        """Standard error of one count, in counts; the largest where they differ."""
        return self.record.estimate.standard_error

    @property
    def rows(self) -> list[Row]:
        """Every bin's count with its standard error and intervals, in the order of the bins."""
        return [self.record.row(place) for place in range(self.record.question.bins)]

    @property
    def shares(self) -> dict[str, Row]:
        """Every count as a share of the people who took part, by label, with both intervals.

        These are not shares of a larger population: the intervals allow for the noise alone. Like
        the counts, the estimates are unbiased and may lie below 0.
        """
        return {row.label: row.share_of(self.people) for row in self.rows}

    @property
    def figures(self) -> dict[str, list[Row]]:
        """What else the counts tell, by name: "numbers" (mean, quantiles), "pairs" and others."""
        return {figures.name: list(figures.rows) for figures in self.record.figures}

    @property
    def mean(self) -> Row:
        """The mean of numbers that were rounded at random, with its interval.

        ``figures["numbers"]`` has their sum and variance beside it. Raises ParameterError where no
        numbers were asked, or where they were cut into bins.
        """
        return self._numbers()[0]

    @property
    def quantiles(self) -> dict[float, Row]:
        """Their quantiles, by share: 0.5 is the median. Raises as ``mean``."""
        rows = {row.label: row for row in self._numbers()}
        return {share: rows[quantile_label(share)] for share in QUANTILES}

    @checks.translate_errors
    def difference(self, first: str, second: str) -> Row:
        """How many more people hold the label ``first`` than ``second``, with its interval.

        Raises ParameterError for a label there is not.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).difference("apple", "pear").lower
        """
        labels = checks.check_text("first", first), checks.check_text("second", second)
        return estimate_differences(self.record, labels).rows[0]

    @checks.translate_errors
    def total(self, labels: Sequence[str]) -> Row:
        """Estimate how many people hold any of ``labels``, with an interval.

        The standard error includes the covariance of the counts, so it is not that of independent
        counts. Where a person may hold several labels, they count once for each.

        Parameters
        ----------
        labels : sequence of str
            Different labels of the question, or candidates that were listed.

        Returns
        -------
        Row
            The total, its standard error and its interval at the level of the result.

        Raises
        ------
        ParameterError
            For a label there is not, one named twice, none at all, and for sets over planes.

        Examples
        --------
        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).total(["apple", "pear"]).lower
        """
        return estimate_totals(self.record, (("total", labels_of("labels", labels)),)).rows[0]

    @property
    def groups(self) -> dict[str, dict[str, Row]]:
        """Counts within groups: by group, then by value. All of them cost epsilon once.

        Raises ParameterError where no groups were asked for.
        """
        from mixtally.api.crosstab import BETWEEN, split_label  # loads Arrow

        found: dict[str, dict[str, Row]] = {}
        for row in self.rows:
            if BETWEEN not in row.label:
                raise ParameterError("groups", expected="counts within groups", got="others",
                                     do="say group_by=")  # fmt: skip
            group, value = split_label(row.label)
            found.setdefault(group, {})[value] = row
        return found

    def _numbers(self) -> list[Row]:
        found = self.figures.get("numbers")
        if found is None:
            raise ParameterError(
                "mean",
                expected="numbers, rounded",
                got="other bins",
                do="give number=(low, high) without bins",
            )
        return found

    def __bool__(self) -> bool:
        """Return True: a result without bins is one, too."""
        return True

    def __len__(self) -> int:
        """How many bins there are."""
        return self.record.question.bins

    def __iter__(self) -> Iterator[Row]:
        """The rows, in the order of the bins."""
        return iter(self.rows)

    @checks.translate_errors
    def __getitem__(self, label: str) -> Row:
        """The count of one label, with its intervals; ParameterError for one there is not.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6)["apple"].estimate
        """
        question = self.record.question
        for place in range(question.bins):
            if question.label(place) == label:
                return self.record.row(place)
        got = label if isinstance(label, str) else checks.describe_value(label)
        raise not_one_of("label", got, [question.label(i) for i in range(min(SHOWN, len(self)))])

    @property
    def promise(self) -> str:
        """What is promised, to whom, and what it rests on, in words."""
        record, sums = self.record, self.sums
        texts = promise_paragraphs(record.plan, self.certificate)
        if sums is not None:
            texts = [*texts, *describe_sums_observer(self.certificate, sums)]
        uncovered = [f"Not covered: {one}." for one in uncovered_texts(self.from_data)]
        return "\n\n".join(
            [*self._publishing_warnings(), *texts, *map(checks.translate_options, uncovered)]
        )

    def _publishing_warnings(self) -> list[str]:
        """Return why nothing may be published; nothing where it may."""
        if self.seed is not None:
            return [
                f"SIMULATION ONLY: the noise follows from seed {self.seed}, so it hides nothing "
                "from anyone who knows that; the promise below is that of a run without a seed."
            ]
        return [] if self.public else ["SIMULATION ONLY: nothing of this may be published."]

    @checks.translate_errors
    def to_frame(self, table: str | None = None) -> Any:
        """Return a table as a frame of the values' library, or of one that is installed.

        Without a name it is the bins in their order, or the first table where none were counted.
        Without any library of frames it is a dict of columns. Raises ParameterError for a table
        that there is not.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).to_frame()
        """
        if table is None and isinstance(self.outcome.found, Study):
            return make_frame(counts.count_rows(self.record, {}), self.backend)
        every = self.tables
        name = next(iter(every)) if table is None else checks.check_text("table", table)
        if name not in every:
            raise not_one_of("table", name, list(every))
        return make_frame(every[name], self.backend)

    @checks.translate_errors
    def to_narwhals(self) -> nw.DataFrame[Any]:
        """The same as a frame of narwhals; ParameterError where no library of frames is there."""
        return nw.from_native(self.to_frame(), eager_only=True)

    @checks.translate_errors
    def plot(self) -> Any:
        """A chart of the counts with their intervals, by Altair or else matplotlib.

        Raises DataError when neither is installed.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).plot().save("counts.html")
        """
        from mixtally.api.plots import chart  # slow to import, and few want one

        return chart(self.rows, self.record.question.name, self.lines)

    @checks.translate_errors
    def save(
        self, folder: str | Path, *, simulation: bool = False, out_format: FormatName = "csv"
    ) -> list[Path]:
        """Write what may be published into ``folder``: report.html, result.json, tables, the plan.

        With ``simulation`` the same beside the truth goes into the folder ``simulation`` inside it.
        Of a result that may not be published all files go there, but for the plan of one with a
        seed. ``out_format`` is "csv", or "csv-semicolon" for spreadsheets with decimal commas.
        Raises DataError when the disk refuses, or when there is no simulation; ParameterError for
        another format.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).save("result")
        """
        place = file_at(folder)
        checks.check_choice("out_format", out_format, list(FORMATS))
        if checks.check_flag("simulation", simulation) and self.simulation is None:
            raise DataError(
                "simulation",
                expected="a result of the lab, which knows the true counts",
                got="one of messages alone",
                do="leave simulation out",
            )
        folders: dict[Path, dict[str, bytes]] = {}
        for name, text in self.outcome.files(out_format).items():
            path = Path(name)
            if simulation or not self.public or path.parts[0] != SIMULATION:
                data = text if isinstance(text, bytes) else "".join(text).encode()
                folders.setdefault(path.parent, {})[path.name] = data
        return [
            one
            for inside in sorted(folders)
            for one in write_files(place / inside, folders[inside])
        ]

    def __repr__(self) -> str:
        if not isinstance(self.outcome.found, Study):
            out = io.StringIO()
            console = Console(file=out, width=_WIDTH, emoji=False, highlight=False)
            console.print(render_summary(self._public_document))
            return "\n".join([*self._publishing_warnings(), *self.lines, out.getvalue().rstrip()])
        rows, more = self.rows[:SHOWN], self.record.question.bins - SHOWN
        shown = [f"{r.label}: {r.estimate:,.1f} ({r.lower:,} .. {r.upper:,})" for r in rows]
        left = [f"{SHOWN} of {more + SHOWN:,} shown"] if more > 0 else []
        note = [self.note] if self.note else []
        return "\n".join(
            [*self._publishing_warnings(), *self.lines, *self._mean_line(), *shown, *left, *note]
        )

    def _mean_line(self) -> list[str]:
        """The mean of numbers with its error, which is what people ask numbers for."""
        if "numbers" not in self.figures:
            return []
        row = self.mean
        ends = (
            round_to_error(row.lower, row.standard_error, math.floor),
            round_to_error(row.upper, row.standard_error, math.ceil),
        )
        error = (
            ""
            if row.standard_error is None
            else f", standard error {error_text(row.standard_error)}"
        )
        return [
            f"mean: {round_to_error(row.estimate, row.standard_error)} ({' .. '.join(ends)}){error}"
        ]

    def _repr_html_(self) -> str:
        heads, rows, below = self._html_rows()
        texts = [el("p", line) for line in (*self._publishing_warnings(), *self.lines)]
        if not heads:
            return "".join(texts)
        lines = [el("tr", *[el("td", one) for one in row]) for row in rows]
        table = el("table", el("tr", *[el("th", one) for one in heads]), *lines, class_=NO_FORMULAS)
        return "".join([*texts, table, *[el("p", one, class_=NO_FORMULAS) for one in below]])

    def _html_rows(self) -> tuple[list[str], list[list[str]], list[str]]:
        """Return the heads and the cells of the first rows, and what is said below them."""
        if isinstance(self.outcome.found, Study):
            question, many = self.record.question, len(self)
            heads = [question.name, "estimate", "from", "to"]
            shown = [self.record.row(place) for place in range(min(many, SHOWN))]
            rows = [[r.label, f"{r.estimate:,.1f}", f"{r.lower:,}", f"{r.upper:,}"] for r in shown]
            below = [*self._mean_line(), self.note]
        else:
            every = next(iter(self.tables.values()), [])
            heads, many = list(every[0]) if every else [], len(every)
            rows, below = [[*map(_text, row.values())] for row in every[:SHOWN]], []
        more = [f"{SHOWN} of {many:,} shown"] if many > SHOWN else []
        return heads, rows, [*more, *[text for text in below if text]]


def _text(value: object) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else "" if value is None else str(value)
