"""The true counts beside a result of a simulation, which are never published."""

from typing import Any

from mixtally.api import checks
from mixtally.api.frames import frame_of
from mixtally.app.count import Counted as Played
from mixtally.report.counted import Counted
from mixtally.report.numbers import number
from mixtally.report.texts import whole_facts

RAW = "Raw counts of real people, and what they give away: never publish this file."
SHOWN = 20


class SimulatedResult:
    """The true counts beside the estimates: for those who hold the data, never to be published.

    where
      notes   how many values were left out or moved
    """

    def __init__(self, played: Played, backend: Any, notes: tuple[str, ...] = ()) -> None:
        self._played, self._backend, self.notes = played, backend, notes

    @property
    def truth(self) -> list[int]:
        """How many people are in each bin, in the order of the result's rows."""
        found: list[int] = self._played.truth.counts.tolist()
        return found

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that was found, with the truth, as the command line's JSON has it."""
        return whole_facts(self._played.outcome().shown)

    @property
    def _counted(self) -> Counted:
        return Counted(self._played.release.result, truth=self._played.truth)

    @property
    def measured_error(self) -> float:
        """Root mean square error over the bins, in counts."""
        return float(self._counted.measured()["measured_error"])

    @property
    def covered(self) -> float:
        """Share of the bins whose own interval covers the true count."""
        return float(self._counted.measured()["covered"])

    @checks.in_python
    def rows(self) -> list[dict[str, Any]]:
        """Every bin with its estimate and its true count."""
        return self._counted.rows

    @checks.in_python
    def to_frame(self) -> Any:
        """The same as a frame."""
        return frame_of(self.rows(), self._backend)

    def __repr__(self) -> str:
        heads = [
            f"SIMULATION ONLY. {RAW}",
            f"measured error {number(self.measured_error)} counts",
            *self.notes,
        ]
        lines = [f"{r['label']}: {r['estimate']:,.1f}, truly {r['truth']:,}" for r in self.rows()]
        return "\n".join([*heads, *lines[:SHOWN]])
