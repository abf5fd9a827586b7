"""The truth beside a result of a simulation, which is never published."""

from typing import Any

from mixtally.api import checks
from mixtally.api.frames import make_frame
from mixtally.app.outcome import Outcome
from mixtally.errors import ParameterError
from mixtally.lab.simulation.study import Study
from mixtally.report.counts_view import CountsView
from mixtally.report.numbers import number
from mixtally.report.texts import whole_facts

RAW = "Raw counts of real people, and what they give away: never publish this."
SHOWN = 20


class SimulatedResult:
    """A result beside the truth: for those who hold the data, never to be published."""

    def __init__(self, outcome: Outcome, backend: Any = None) -> None:
        self._outcome, self._backend = outcome, backend

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that was found, with the truth, as the command line's JSON has it."""
        return whole_facts(self._outcome.shown_document)

    @property
    def notes(self) -> str:
        """How many values were left out or moved."""
        found = self._outcome.found
        return "" if found is None else found.about.raw

    @property
    def truth(self) -> list[int]:
        """How many people are in each bin, in the order of the result's rows.

        Raises ParameterError where no bins were counted; ``facts`` has what is true then.
        """
        found: list[int] = self._study.known_truth.counts.tolist()
        return found

    @property
    def measured_error(self) -> float:
        """Root mean square error over the bins, in counts. Raises as ``truth``."""
        return float(self._counts_view.measure_errors()["measured_error"])

    @property
    def coverage(self) -> float:
        """Share of the bins whose own interval covers the true count. Raises as ``truth``."""
        return float(self._counts_view.measure_errors()["covered"])

    @checks.translate_errors
    def rows(self) -> list[dict[str, Any]]:
        """Return every bin with its estimate and its true count; raise as ``truth``."""
        return self._counts_view.rows

    @checks.translate_errors
    def to_frame(self) -> Any:
        """Return ``rows`` as a frame."""
        return make_frame(self.rows(), self._backend)

    @property
    def _study(self) -> Study:
        return study_of(self._outcome)

    @property
    def _counts_view(self) -> CountsView:
        return CountsView(self._study.main_result, truth=self._study.known_truth)

    def __repr__(self) -> str:
        heads, lines = [f"SIMULATION ONLY. {RAW}"], list[str]()
        if isinstance(self._outcome.found, Study):
            heads.append(f"measured error {number(self.measured_error)} counts")
            lines = [
                f"{r['label']}: {r['estimate']:,.1f}, truly {r['truth']:,}"
                for r in self.rows()[:SHOWN]
            ]
        notes = [self.notes] if self.notes else []
        return "\n".join([*heads, *notes, *lines])


def study_of(outcome: Outcome) -> Study:
    """Return the counts of one collection; raise ParameterError for findings of another kind."""
    if isinstance(outcome.found, Study):
        return outcome.found
    raise ParameterError(
        "counts",
        expected="a result that counts the bins of one collection",
        got="another one",
        do="see its tables and facts",
    )
