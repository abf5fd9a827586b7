"""Numbers of a range, as they are or cut into equal bins; what lies outside moves to its ends."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, ParameterError, PlanError, in_range
from mixtally.records.grid import told_apart
from mixtally.records.plan import Plan

MOST_CUTS = 1_000_000


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``; raises ParameterError unless low < high are finite."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf or math.isinf(self.high - self.low):
            raise ParameterError(
                "number",
                wanted="two finite numbers, LOW,HIGH with LOW < HIGH",
                got=f"{self.low:g},{self.high:g}",
                do="say where values are cut off",
            )

    def clipped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """``values`` with what lies outside moved to the nearest end."""
        return np.clip(values, self.low, self.high)


@dataclass(frozen=True)
class Points(Range):
    """Numbers rounded at random to so many ``points`` from ``low`` to ``high``.

    Where it is None, to as many as give the mean the least error. Raises ParameterError as
    ``Range`` does, and unless points lies in [2, 10^6].
    """

    points: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points is not None:
            do = "leave it out for the least error of the mean"
            in_range("points of a number", self.points, 2, MOST_CUTS, do)


@dataclass(frozen=True)
class Scale(Range):
    """``bins`` bins of equal width from ``low`` to ``high``, each but the last without its end.

    Raises ParameterError as ``Range`` does, and unless bins lies in [2, 10^6].
    """

    bins: int

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range(
            "bins of a number",
            self.bins,
            2,
            MOST_CUTS,
            "twenty is a good start: more bins, more noise in all",
        )

    @classmethod
    def at(cls, edges: tuple[float, ...]) -> "Scale":
        """That which a plan with these edges has; PlanError where bins are not of equal width."""
        found = cls(edges[0], edges[-1], len(edges) - 1)
        if tuple(found.edges.tolist()) != edges:
            raise PlanError(
                "edges of the plan",
                wanted="bins of equal width, to read a column of numbers",
                got="others",
                do="recode the column into the labels of the bins",
            )
        return found

    @property
    def edges(self) -> NDArray[np.float64]:
        """Ends of the bins, shape (bins + 1,)."""
        return np.linspace(self.low, self.high, self.bins + 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as people write intervals, told apart by as many digits as it takes."""
        texts = told_apart(self.edges.tolist())
        ends = ")" * (self.bins - 1) + "]"
        pairs = zip(texts, texts[1:], ends, strict=False)
        return tuple(f"[{left}, {right}{end}" for left, right, end in pairs)

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The bin of each value, shape as ``values``."""
        place = np.searchsorted(self.edges, self.clipped(values), side="right") - 1
        return np.minimum(place, self.bins - 1).astype(np.int64)


def scale_of(plan: Plan) -> Range | None:
    """How ``plan`` reads numbers; None without them, PlanError where bins are of unequal width."""
    if plan.grid is not None:
        return Points(plan.grid.low, plan.grid.high, plan.grid.points)
    return None if plan.edges is None else Scale.at(plan.edges)


def number(text: str, subject: str) -> float:
    """The number that ``text`` writes; raises DataError for anything else, NaN and inf included."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(
            subject,
            wanted="a finite number",
            got=repr(text),
            do="write it like 1234.5, or remove the row",
        )
    return value
