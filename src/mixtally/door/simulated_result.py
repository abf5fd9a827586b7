"""The true counts beside a result of a simulation, which are never published."""

from typing import Any

import numpy as np

from mixtally.door import checks
from mixtally.door.frames import frame_of
from mixtally.records.result import Findings
from mixtally.report import counts
from mixtally.report.numbers import number

RAW = "Raw counts of real people, and what they give away: never publish this file."
SHOWN = 20


class SimulatedResult:
    """The true counts beside the estimates: for those who hold the data, never to be published.

    where
      truth   how many people are in each bin, in the order of the result's rows
      notes   how many values were left out or moved
    """

    def __init__(
        self, record: Findings, truth: list[int], backend: Any, notes: tuple[str, ...] = ()
    ) -> None:
        self._record, self.truth, self._backend, self.notes = record, truth, backend, notes

    @property
    def measured_error(self) -> float:
        """Root mean square error over the bins, in counts."""
        off = self._record.estimate.counts - np.array(self.truth)
        return float(np.sqrt(np.mean(off**2)))

    @property
    def covered(self) -> float:
        """Share of the bins whose own interval covers the true count."""
        each, true = self._record.estimate.each, np.array(self.truth)
        return float(np.mean((each.lower <= true) & (true <= each.upper)))

    @checks.in_python
    def rows(self) -> list[dict[str, Any]]:
        """Every bin with its estimate and its true count."""
        return counts.count_rows(self._record, {"truth": self.truth})

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
