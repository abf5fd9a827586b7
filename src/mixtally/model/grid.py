"""The grid of a number that is rounded at random, as a plan has it."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.grid import read_grid
from mixtally.model.contract_json import check_readable
from mixtally.model.question import Question
from mixtally.primitives.codec import convert_to_floats


class Grid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """So many ``points`` at equal distances, the first at ``low`` and the last at ``high``.

    Raises PlanError unless low < high are finite and points lies in [2, 10^6].
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
        """From the first point to the last."""
        return self.high - self.low

    @property
    def step(self) -> float:
        """From a point to the next, w = range / (points - 1)."""
        return self.range / (self.points - 1)

    @property
    def middle(self) -> float:
        """What lies half way between the ends."""
        return self.low + self.range / 2.0

    @property
    def spread(self) -> float:
        """sum_i (g_i - middle)^2 = w^2 B (B^2 - 1) / 12 over the B points."""
        many = self.points
        return self.step**2 * many * (many * many - 1) / 12.0

    @property
    def values(self) -> NDArray[np.float64]:
        """The points, shape (points,)."""
        return np.linspace(self.low, self.high, self.points)

    def make_question(self, name: str) -> Question:
        """Which of the points, called by their values."""
        labels = tuple(format_distinct(self.values.tolist()))
        return Question(name=name, bins=self.points, labels=labels)

    def rounding_variance(self, users: int) -> float:
        """What rounding adds to the variance of a sum at its worst, n w^2 / 4."""
        return users * self.step**2 / 4.0


def format_distinct(values: list[float]) -> list[str]:
    """``values`` as people write them, in as many digits, four or more, as it takes."""
    for digits in range(4, 18):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(texts):
            break
    return texts
