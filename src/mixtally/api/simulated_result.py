"""The result of a simulation with its true counts, and the rows of any result as a frame."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw

from mixtally.api import checks
from mixtally.app.outcome import Outcome
from mixtally.errors import ParameterError
from mixtally.lab.simulation.study import Study
from mixtally.report.counts_view import CountsView
from mixtally.report.numbers import number
from mixtally.report.texts import whole_facts

SHOWN = 20
"""Largest number of rows that a printed result shows."""
_LIBRARIES = ("polars", "pandas", "pyarrow")
"""Libraries of data frames. For plain values, the first one that is installed is used."""
_RAW = "Raw counts of real people, and what they give away: never publish this."


class SimulatedResult:
    """A result with its true counts, for owners of the data. It must not be published.

    ``Result.simulation`` returns it.

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
    >>> result.simulation.truth
    [987, 756, 257]
    >>> round(result.simulation.measured_error, 2)
    6.34
    """

    def __init__(self, outcome: Outcome, backend: Any = None) -> None:
        self._outcome, self._backend = outcome, backend

    @property
    def facts(self) -> dict[str, Any]:
        """All findings and true counts, as a dict with the keys of the command line's JSON."""
        return whole_facts(self._outcome.shown_document)

    @property
    def notes(self) -> str:
        """A sentence about values that were left out or moved into the range."""
        found = self._outcome.found
        return "" if found is None else found.provenance.raw

    @property
    def truth(self) -> list[int]:
        """The number of people in each bin, in the order of the result's rows.

        Raises ParameterError if no bins were counted. The true numbers are then in ``facts``.
        """
        found: list[int] = self._study.known_truth.counts.tolist()
        return found

    @property
    def measured_error(self) -> float:
        """The root mean square error of the estimated counts over all bins, in people.

        Raises ParameterError if no bins were counted.
        """
        return float(self._counts_view.measure_errors()["measured_error"])

    @property
    def coverage(self) -> float:
        """The share of bins whose individual interval covers the true count.

        Raises ParameterError if no bins were counted.
        """
        return float(self._counts_view.measure_errors()["covered"])

    @checks.translate_errors
    def rows(self) -> list[dict[str, Any]]:
        """Return each bin with its estimate and its true count.

        Returns
        -------
        list of dict
            One row per bin.

        Raises
        ------
        ParameterError
            If no bins were counted.
        """
        return self._counts_view.rows

    @checks.translate_errors
    def to_frame(self) -> Any:
        """Return ``rows`` as a frame of the values' library, or of an installed library.

        Returns
        -------
        frame or dict
            The rows. A dict of columns if no library of frames is installed.

        Raises
        ------
        ParameterError
            If no bins were counted.
        """
        return make_frame(self.rows(), self._backend)

    @property
    def _study(self) -> Study:
        return study_of(self._outcome)

    @property
    def _counts_view(self) -> CountsView:
        return CountsView(self._study.main_result, truth=self._study.known_truth)

    def __repr__(self) -> str:
        heads, lines = [f"SIMULATION ONLY. {_RAW}"], list[str]()
        if isinstance(self._outcome.found, Study):
            heads.append(f"measured error {number(self.measured_error)} counts")
            lines = [
                f"{r['label']}: {r['estimate']:,.1f}, truly {r['truth']:,}"
                for r in self.rows()[:SHOWN]
            ]
        notes = [self.notes] if self.notes else []
        return "\n".join([*heads, *notes, *lines])


def study_of(outcome: Outcome) -> Study:
    """Return the findings of an outcome if they are counts of one collection.

    Raises ParameterError for findings of another kind.
    """
    if isinstance(outcome.found, Study):
        return outcome.found
    raise ParameterError(
        "counts",
        expected="a result that counts the bins of one collection",
        got="another result",
        do="read tables and facts of this result",
    )


def make_frame(rows: Sequence[Mapping[str, Any]], backend: nw.Implementation | None) -> Any:
    """Return ``rows`` as a data frame of the library ``backend`` or of an installed library.

    If none is installed, return a dict of columns.
    """
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    installed = (name for name in _LIBRARIES if find_spec(name) is not None)
    chosen: Any = next(installed, None) if backend is None else backend
    return columns if chosen is None else nw.from_dict(columns, backend=chosen).to_native()
