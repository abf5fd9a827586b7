"""Results of collections and simulations: the guarantee, the estimates and the files.

A ``Result`` has no true counts. Its property ``simulation`` returns a result that has them.
"""

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import narwhals as nw
from rich.console import Console

from mixtally.api import checks
from mixtally.api.files import file_at, write_files
from mixtally.api.labels import labels_of
from mixtally.api.simulated_result import SHOWN, SimulatedResult, make_frame, study_of
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
"""Characters of a line of a printed table."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """The result of a collection or of a simulation, without true counts.

    Every result has a guarantee, ``facts``, ``tables`` and files. A result that counts the bins of
    one collection also has rows, a certificate and derived numbers. For other results these
    properties raise ParameterError.

    Parameters
    ----------
    outcome : Outcome
        The findings, with the documents that show them.
    backend : object
        The library of data frames that the values came from. None for plain Python.

    Examples
    --------
    >>> import mixtally
    >>> answers, labels = mixtally.example("answer")
    >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
    >>> for row in result:
    ...     print(row.label, row.lower, round(row.estimate), row.upper)
    yes 974 985 995
    no 754 765 775
    unsure 240 251 261
    """

    outcome: Outcome
    backend: Any = None

    @property
    def lines(self) -> Promise:
        """The guarantee in three lines: protection, epsilon and delta, expected error."""
        first, second, third = self._public_document.lines
        return first, checks.translate_options(second), third

    @property
    def public(self) -> bool:
        """Whether the result may be published.

        Results drawn from a seed, and results whose labels were taken from the data, may not.
        """
        return self.outcome.is_public

    @property
    def facts(self) -> dict[str, Any]:
        """All findings except true counts, as a dict with the keys of the command line's JSON."""
        return whole_facts(self._public_document)

    @property
    def simulation(self) -> SimulatedResult | None:
        """The result with the true counts; None if the answers behind the messages are unknown."""
        if not self.outcome.document.simulation:
            return None
        return SimulatedResult(self.outcome, self.backend)

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of each table, by the table's name: "estimates", "words", "sets" and others."""
        return {
            name.removesuffix(".csv"): [dict(row) for row in table.rows]
            for name, table in self._public_document.tables().items()
        }

    @property
    def note(self) -> str:
        """A sentence about the source of the values."""
        return self._public_document.source

    @property
    def seed(self) -> int | None:
        """The seed of the noise; None if the noise came from the operating system."""
        found = self.outcome.found
        return None if found is None else found.provenance.seed

    @property
    def from_data(self) -> tuple[str, ...]:
        """The facts of the question that were read from the values, such as "labels"."""
        return self.outcome.from_data or ()

    @property
    def _public_document(self) -> Document:
        plain = self.outcome.plain
        plain = self.outcome.document if plain is None else plain
        return replace(plain, from_data=self.from_data)

    @property
    def record(self) -> Record:
        """The estimated counts with their plan, as a ``mixtally.model.result.Result``."""
        return study_of(self.outcome).main_result

    @property
    def sums(self) -> Certificate | None:
        """The certificate against an adversary who sees only sums; None unless it was requested."""
        return study_of(self.outcome).releases[0].sums

    @property
    def people(self) -> int:
        """The number of people who took part."""
        return self.record.received.contributors

    @property
    def certificate(self) -> Certificate:
        """The proved delta of everything that one person sent."""
        return self.record.certificate

    @property
    def error(self) -> float:
        """The standard error of one count, in people; if errors differ, the largest one."""
        return self.record.estimate.standard_error

    @property
    def rows(self) -> list[Row]:
        """The count of each bin with its standard error and intervals, in the order of the bins."""
        return [self.record.row(place) for place in range(self.record.question.bins)]

    @property
    def shares(self) -> dict[str, Row]:
        """Each count as a share of the people who took part, by label, with both intervals.

        The intervals allow only for the noise, not for sampling people from a larger population.
        Like the counts, the estimates are unbiased and can be negative.
        """
        return {row.label: row.share_of(self.people) for row in self.rows}

    @property
    def figures(self) -> dict[str, list[Row]]:
        """Further estimates by name: "numbers" (mean and quantiles), "pairs" and others."""
        return {figures.name: list(figures.rows) for figures in self.record.figures}

    @property
    def mean(self) -> Row:
        """The mean of numbers that were rounded at random, with its interval.

        ``figures["numbers"]`` also contains their sum and variance. Raises ParameterError if the
        question did not ask for numbers, or counted them in bins.
        """
        return self._numbers("mean")[0]

    @property
    def quantiles(self) -> dict[float, Row]:
        """The quantiles of numbers that were rounded at random, by share; 0.5 is the median.

        Raises ParameterError for other questions, as ``mean`` does.
        """
        rows = {row.label: row for row in self._numbers("quantiles")}
        return {share: rows[quantile_label(share)] for share in QUANTILES}

    @checks.translate_errors
    def difference(self, first: str, second: str) -> Row:
        """Estimate how many more people have the label ``first`` than ``second``.

        Parameters
        ----------
        first, second : str
            Two labels of the question.

        Returns
        -------
        Row
            The difference, its standard error and its interval at the level of the result.

        Raises
        ------
        ParameterError
            If the question does not have a label.

        Examples
        --------
        >>> import mixtally
        >>> answers, labels = mixtally.example("answer")
        >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
        >>> row = result.difference("yes", "no")
        >>> row.lower, round(row.estimate), row.upper
        (202, 220, 238)
        """
        labels = checks.check_text("first", first), checks.check_text("second", second)
        return estimate_differences(self.record, labels).rows[0]

    @checks.translate_errors
    def total(self, labels: Sequence[str]) -> Row:
        """Estimate how many people have any of ``labels``, with an interval.

        The standard error includes the covariances of the counts. A person who has several of the
        labels is counted once for each.

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
            If a label is unknown or occurs twice, if there are no labels, or if answers are sets
            whose messages name planes (a plane stands for many possible values).

        Examples
        --------
        >>> import mixtally
        >>> answers, labels = mixtally.example("answer")
        >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
        >>> row = result.total(["yes", "no"])
        >>> row.lower, round(row.estimate), row.upper
        (1739, 1749, 1760)
        """
        return estimate_totals(self.record, (("total", labels_of("labels", labels)),)).rows[0]

    @property
    def groups(self) -> dict[str, dict[str, Row]]:
        """Counts within groups, by group and then by value.

        The guarantee is for the counts of all groups together. Raises ParameterError if values were
        not counted within groups.
        """
        from mixtally.api.crosstab import BETWEEN, split_label  # loads Arrow, which is slow

        found: dict[str, dict[str, Row]] = {}
        for row in self.rows:
            if BETWEEN not in row.label:
                raise ParameterError("groups", expected="counts within groups", got="other counts",
                                     do="simulate with group_by=")  # fmt: skip
            group, value = split_label(row.label)
            found.setdefault(group, {})[value] = row
        return found

    def _numbers(self, name: str) -> list[Row]:
        found = self.figures.get("numbers")
        if found is None:
            raise ParameterError(
                name,
                expected="a question about numbers that are rounded",
                got="another question",
                do="give number=(low, high) without bins",
            )
        return found

    def __bool__(self) -> bool:
        """Return True, because a result without bins is not an empty result."""
        return True

    def __len__(self) -> int:
        """Return the number of bins."""
        return self.record.question.bins

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows, in the order of the bins."""
        return iter(self.rows)

    def __contains__(self, one: object) -> bool:
        """Return whether ``one`` is a label of the question or a row of the result."""
        question = self.record.question
        if isinstance(one, str):
            return any(question.label(place) == one for place in range(question.bins))
        return any(row == one for row in self)

    def __copy__(self) -> "Result":
        return self

    def __deepcopy__(self, memo: object) -> "Result":
        return self

    def __reduce__(self) -> NoReturn:
        raise ParameterError(
            "result",
            expected="a result that is saved with save()",
            got="a pickle, which would contain the true counts",
            do='write result.save("folder"), or keep result.facts or result.to_frame()',
        )

    @checks.translate_errors
    def __getitem__(self, label: str) -> Row:
        """Return the count of one label, with its intervals.

        Parameters
        ----------
        label : str
            A label of the question.

        Returns
        -------
        Row
            The estimate, its standard error and its intervals.

        Raises
        ------
        ParameterError
            If the question does not have the label.

        Examples
        --------
        >>> import mixtally
        >>> answers, labels = mixtally.example("answer")
        >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
        >>> round(result["yes"].estimate)
        985
        """
        question = self.record.question
        for place in range(question.bins):
            if question.label(place) == label:
                return self.record.row(place)
        raise checks.wrong_choice(
            "label", label, [question.label(i) for i in range(min(SHOWN, len(self)))]
        )

    @property
    def promise(self) -> str:
        """The guarantee in words, with its observer and its assumptions."""
        record, sums = self.record, self.sums
        texts = promise_paragraphs(record.plan, self.certificate)
        if sums is not None:
            texts = [*texts, *describe_sums_observer(self.certificate, sums)]
        uncovered = [f"Not covered: {one}." for one in uncovered_texts(self.from_data)]
        return "\n\n".join(
            [*self._publishing_warnings(), *texts, *map(checks.translate_options, uncovered)]
        )

    def _publishing_warnings(self) -> list[str]:
        """Return the reasons why the result may not be published; an empty list if it may."""
        if self.seed is not None:
            return [
                f"SIMULATION ONLY: the noise follows from seed {self.seed}, so it hides nothing "
                "from anyone who knows that; the promise below is that of a run without a seed."
            ]
        return [] if self.public else ["SIMULATION ONLY: nothing of this may be published."]

    @checks.translate_errors
    def to_frame(self, table: str | None = None) -> Any:
        """Return a table as a frame of the values' library, or of an installed library.

        Parameters
        ----------
        table : str or None
            A name in ``tables``. None means the counts of the bins, or the first table if no bins
            were counted.

        Returns
        -------
        frame or dict
            The table. A dict of columns if no library of frames is installed.

        Raises
        ------
        ParameterError
            If there is no such table.

        Examples
        --------
        >>> import mixtally
        >>> answers, labels = mixtally.example("answer")
        >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
        >>> list(result.to_frame()["label"])
        ['yes', 'no', 'unsure']
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
        """Return the counts of the bins, or the first table, as a data frame of narwhals.

        Returns
        -------
        narwhals.DataFrame
            The table.

        Raises
        ------
        ParameterError
            If no library of frames is installed.
        """
        return nw.from_native(self.to_frame(), eager_only=True)

    @checks.translate_errors
    def plot(self) -> Any:
        """Draw the counts with their intervals.

        Returns
        -------
        altair.Chart or matplotlib.figure.Figure
            A chart of Altair, or a figure of matplotlib if Altair is not installed.

        Raises
        ------
        DataError
            If neither is installed.

        Examples
        --------
        >>> import mixtally
        >>> answers, labels = mixtally.example("answer")
        >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
        >>> result.plot().save("counts.html")
        """
        from mixtally.api.plots import chart  # the chart libraries are slow to import

        return chart(self.rows, self.record.question.name, self.lines)

    @checks.translate_errors
    def save(
        self, folder: str | Path, *, simulation: bool = False, out_format: FormatName = "csv"
    ) -> list[Path]:
        """Write the files that may be published: report.html, result.json, the tables and the plan.

        If the result may not be published, all files go into the subfolder ``simulation``. The only
        exception is the plan of a result with a seed, which contains nothing from the noise.

        Parameters
        ----------
        folder : str or Path
            The folder, created if necessary.
        simulation : bool
            Whether to write the files with the true counts into the subfolder ``simulation``, too.
        out_format : str
            "csv", or "csv-semicolon" for spreadsheets with decimal commas.

        Returns
        -------
        list of Path
            The files that were written.

        Raises
        ------
        DataError
            If the operating system refuses, or if the result has no simulation.
        ParameterError
            If the format is unknown.

        Examples
        --------
        >>> import mixtally
        >>> answers, labels = mixtally.example("answer")
        >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
        >>> [path.as_posix() for path in result.save("fruit")][:2]
        ['fruit/plan.json', 'fruit/simulation/report.html']
        """
        place = file_at(folder)
        checks.check_choice("out_format", out_format, list(FORMATS))
        if checks.check_flag("simulation", simulation) and self.simulation is None:
            raise DataError(
                "simulation",
                expected="a result of a simulation, which has true counts",
                got="a result of messages only",
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
        omitted = [f"{SHOWN} of {more + SHOWN:,} shown"] if more > 0 else []
        note = [self.note] if self.note else []
        return "\n".join(
            [*self._publishing_warnings(), *self.lines, *self._mean_line(), *shown, *omitted, *note]
        )

    def _mean_line(self) -> list[str]:
        """Return a line with the mean of numbers; an empty list for other questions."""
        if "numbers" not in self.figures:
            return []
        row = self.mean
        # The interval is rounded outward, so that the printed interval contains the exact one.
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
        """Return the headings of a table, the cells of its first rows, and the lines below it."""
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
