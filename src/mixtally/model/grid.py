"""The grid for numbers, each of which is rounded at random to one of two neighboring points."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.grid import read_grid
from mixtally.model.contract_json import check_readable
from mixtally.model.question import Question
from mixtally.primitives.codec import convert_to_floats


class Grid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``points`` numbers at equal distances from ``low`` to ``high``.

    Raises PlanError unless low < high are finite and points is in [2, 10^6].
    """

    low: float
    high: float
    points: int

    def __post_init__(self) -> None:
        convert_to_floats(self, "low", "high")
        check_readable(
            lambda value: read_grid(value, self.points), self, " of the plan", "give both ends"
        )

    @property
    def range(self) -> float:
        """The distance from the first to the last point."""
        return self.high - self.low

    @property
    def step(self) -> float:
        """The distance w between neighboring points, range / (points - 1)."""
        return self.range / (self.points - 1)

    @property
    def middle(self) -> float:
        """The midpoint of the range."""
        return self.low + self.range / 2.0

    @property
    def spread(self) -> float:
        """The sum of (g_i - middle)^2 over the B points g_i, which is w^2 B (B^2 - 1) / 12."""
        many = self.points
        return self.step**2 * many * (many * many - 1) / 12.0

    @property
    def values(self) -> NDArray[np.float64]:
        """The points, shape (points,)."""
        return np.linspace(self.low, self.high, self.points)

    def make_question(self, name: str) -> Question:
        """Return the question that asks for one of the points; the labels are their values."""
        labels = tuple(format_distinct(self.values.tolist()))
        return Question(name=name, bins=self.points, labels=labels)

    def rounding_variance(self, users: int) -> float:
        """Return n w^2 / 4, the maximum variance that rounding adds to a sum over n = ``users``."""
        return users * self.step**2 / 4.0


def format_distinct(values: list[float]) -> list[str]:
    """Format ``values`` with equally many digits, at least four and enough to distinguish them."""
    # Seventeen digits distinguish any two doubles.
    for digits in range(4, 18):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(texts):
            break
    return texts
