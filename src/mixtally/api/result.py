"""What a collection tells: its promise, its counts with errors; and, in the lab, the true counts.

They stand in the ``SimulatedResult`` and nowhere else: who wants one asks for it by name.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw

from mixtally.api import checks
from mixtally.api.files import file_at, write
from mixtally.api.frames import frame_of
from mixtally.api.labels import labels_of
from mixtally.api.page import document, sums_facts, sums_texts
from mixtally.api.simulated_result import RAW, SHOWN, SimulatedResult
from mixtally.errors import DataError, ParameterError, not_one_of
from mixtally.model.certificate import Certificate
from mixtally.model.contract import write_plan
from mixtally.model.result import Result as Record
from mixtally.model.results import Row
from mixtally.protocol.estimate.conclude.differences import differences
from mixtally.protocol.estimate.conclude.totals import totals
from mixtally.protocol.estimate.numbers import QUANTILES, quantile_label
from mixtally.report import counts
from mixtally.report.document import Promise, not_covered, with_uncovered
from mixtally.report.numbers import error_text, supported
from mixtally.report.promise import of_result
from mixtally.report.svg import NO_FORMULAS, el
from mixtally.report.texts import FORMATS, FormatName, csv_text, files
from mixtally.report.words import promise


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """What a collection tells, and what it promises.

    where
      record      all of it, for those who want more
      seed        of the noise; None when it came from the operating system
      note        where the values came from
      simulation  the true counts beside, in the lab; None when messages alone were known
      from_data   what of the question was read off the values: some of "labels" and "largest set".
                  Then, as with a seed, it is for simulation only and nothing of it may be published
      sums        what is proved against anyone who sees sums alone, where that was asked
    """

    record: Record
    seed: int | None = None
    note: str = ""
    simulation: SimulatedResult | None = None
    backend: Any = field(default=None)
    from_data: tuple[str, ...] = ()
    sums: Certificate | None = None

    @property
    def people(self) -> int:
        """Who took part."""
        return self.record.received.contributors

    @property
    def facts(self) -> dict[str, Any]:
        """What its plan says, flat."""
        return self.record.plan.facts()

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

    @checks.in_python
    def difference(self, first: str, second: str) -> Row:
        """How many more people hold the label ``first`` than ``second``, with its interval.

        Raises ParameterError for a label there is not.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).difference("apple", "pear").lower
        """
        labels = checks.text("first", first), checks.text("second", second)
        return differences(self.record, labels).rows[0]

    @checks.in_python
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
        return totals(self.record, (("total", labels_of("labels", labels)),)).rows[0]

    @property
    def groups(self) -> dict[str, dict[str, Row]]:
        """Counts within groups: by group, then by value. All of them cost epsilon once.

        Raises ParameterError where no groups were asked for.
        """
        from mixtally.api.crosstab import BETWEEN, parted  # loads Arrow

        found: dict[str, dict[str, Row]] = {}
        for row in self.rows:
            if BETWEEN not in row.label:
                raise ParameterError("groups", wanted="counts within groups", got="others",
                                     do="say group_by=")  # fmt: skip
            group, value = parted(row.label)
            found.setdefault(group, {})[value] = row
        return found

    def _numbers(self) -> list[Row]:
        found = self.figures.get("numbers")
        if found is None:
            raise ParameterError(
                "mean",
                wanted="numbers, rounded",
                got="other bins",
                do="give number=(low, high) without bins",
            )
        return found

    def __len__(self) -> int:
        """How many bins there are."""
        return self.record.question.bins

    def __iter__(self) -> Iterator[Row]:
        """The rows, in the order of the bins."""
        return iter(self.rows)

    @checks.in_python
    def __getitem__(self, label: str) -> Row:
        """The count of one label, with its intervals; ParameterError for one there is not.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6)["apple"].estimate
        """
        question = self.record.question
        for place in range(question.bins):
            if question.label(place) == label:
                return self.record.row(place)
        got = label if isinstance(label, str) else checks.shown(label)
        raise not_one_of("label", got, [question.label(i) for i in range(min(SHOWN, len(self)))])

    @checks.in_python
    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it: promise, epsilon, delta, counts, figures.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).to_dict()["counts"]
        """
        return {
            "promise": list(self.lines),
            "epsilon": self.certificate.epsilon,
            "delta": self.certificate.upper,
            "people": self.people,
            "counts": counts.count_rows(self.record, {}),
            **{one.name: counts.figure_rows(one, {}) for one in self.record.figures},
            **sums_facts(self.sums),
        }

    @property
    def promise(self) -> str:
        """What is promised, to whom, and what it rests on, in words."""
        texts = [*promise(self.record.plan, self.certificate), *sums_texts(self.record, self.sums)]
        uncovered = [f"Not covered: {one}." for one in not_covered(self.from_data)]
        return "\n\n".join([*self._public(), *texts, *map(checks.worded_in_python, uncovered)])

    @property
    def lines(self) -> Promise:
        """The promise in three lines: hidden from whom, at what price, with which error."""
        first, second, third = with_uncovered(of_result(self.record), self.from_data)
        return first, checks.worded_in_python(second), third

    def _public(self) -> list[str]:
        """What a seed takes away."""
        if self.seed is None:
            return []
        return [
            f"SIMULATION ONLY: the noise follows from seed {self.seed}, so it hides nothing from "
            "anyone who knows that; the promise below is that of a run without a seed."
        ]

    @checks.in_python
    def to_frame(self) -> Any:
        """The counts as a frame of the values' library, or of one that is installed.

        A row a bin: label, estimate, standard error, lower and upper end alone and among all bins.
        Without any library of frames, a dict of columns.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).to_frame()
        """
        return frame_of(counts.count_rows(self.record, {}), self.backend)

    @checks.in_python
    def to_narwhals(self) -> nw.DataFrame[Any]:
        """The same as a frame of narwhals; ParameterError where no library of frames is there."""
        return nw.from_native(self.to_frame(), eager_only=True)

    @checks.in_python
    def plot(self) -> Any:
        """A chart of the counts with their intervals, by Altair or else matplotlib.

        Raises DataError when neither is installed.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).plot().save("counts.html")
        """
        from mixtally.api.plots import chart  # slow to import, and few want one

        return chart(self.rows, self.record.question.name, self.lines)

    @checks.in_python
    def save(
        self, folder: str | Path, *, simulation: bool = False, out_format: FormatName = "csv"
    ) -> list[Path]:
        """Write report.html, result.json, estimates.csv and the plan: no file has a true count.

        With ``simulation`` the true counts are written into the folder ``simulation`` inside it. A
        run with a seed writes there only, as its noise is public; so does one whose labels were
        read off the values, with all its files.
        ``out_format`` is "csv", or "csv-semicolon" for spreadsheets with decimal commas.
        Raises DataError when the disk refuses, or when there is no simulation; ParameterError for
        another format.

        >>> mixtally.simulate(answers, epsilon=1, delta=1e-6).save("result")
        """
        place, record = file_at(folder), self.record
        checks.chosen("out_format", out_format, list(FORMATS))
        public = self.seed is None and not self.from_data
        raw = self._raw(out_format) if checks.flag("simulation", simulation) or not public else {}
        written = write(place, self._files(record, out_format)) if public else []
        if self.from_data:
            raw = {**self._files(record, out_format), **raw}
        return [*written, *(write(place / "simulation", raw) if raw else [])]

    def _files(self, record: Record, out_format: FormatName) -> dict[str, bytes]:
        """What may be published."""
        title = f"{record.question.name}, counted privately"
        page = document(record, title, self.note, self.sums)
        page = replace(page, simulation=bool(self.from_data), from_data=self.from_data)
        written = {name: "".join(text).encode() for name, text in files(page, out_format).items()}
        return {**written, "plan.json": write_plan(record.plan)}

    def _raw(self, out_format: FormatName) -> dict[str, bytes]:
        """What must not: its first line says so."""
        if self.simulation is None:
            raise DataError(
                "simulation",
                wanted="a result of the lab, which knows the true counts",
                got="one of messages alone",
                do="leave simulation out",
            )
        written = FORMATS[out_format]
        table = csv_text(self.simulation.rows(), written=written)
        return {"truth.csv": f"{written.start}# {RAW}\r\n{table}".encode()}

    def __repr__(self) -> str:
        rows, more = self.rows[:SHOWN], self.record.question.bins - SHOWN
        shown = [f"{r.label}: {r.estimate:,.1f} ({r.lower:,} .. {r.upper:,})" for r in rows]
        left = [f"{SHOWN} of {more + SHOWN:,} shown"] if more > 0 else []
        note = [self.note] if self.note else []
        return "\n".join([*self._public(), *self.lines, *self._mean_line(), *shown, *left, *note])

    def _mean_line(self) -> list[str]:
        """The mean of numbers with its error, which is what people ask numbers for."""
        if "numbers" not in self.figures:
            return []
        row = self.mean
        ends = (
            supported(row.lower, row.standard_error, math.floor),
            supported(row.upper, row.standard_error, math.ceil),
        )
        error = (
            ""
            if row.standard_error is None
            else f", standard error {error_text(row.standard_error)}"
        )
        return [f"mean: {supported(row.estimate, row.standard_error)} ({' .. '.join(ends)}){error}"]

    def _repr_html_(self) -> str:
        head = el("tr", el("th", self.record.question.name), el("th", "estimate"), el("th", "from"),
                  el("th", "to"))  # fmt: skip
        lines = [
            el(
                "tr",
                el("td", r.label),
                *(el("td", f"{x:,.1f}" if x is r.estimate else f"{x:,}")
                  for x in (r.estimate, r.lower, r.upper)),
            )
            for r in self.rows[:SHOWN]
        ]  # fmt: skip
        left = self.record.question.bins - SHOWN
        more = f"{SHOWN} of {self.record.question.bins:,} shown" if left > 0 else ""
        texts = [el("p", line) for line in (*self._public(), *self.lines, *self._mean_line())]
        below = [el("p", text, class_=NO_FORMULAS) for text in (more, self.note) if text]
        return "".join([*texts, el("table", head, *lines, class_=NO_FORMULAS), *below])
