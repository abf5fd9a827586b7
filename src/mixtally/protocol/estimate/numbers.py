"""Sum, mean, variance and quantiles of numbers that were rounded at random to a grid.

A number y between the points g_i and g_(i+1) was sent as either, as y on average. With z_i the
unbiased count of point i, w the step, B points, n people and o the middle of the grid,

    Y = n o + sum_i (g_i - o) z_i                                      the sum, unbiased
    Var Y = noise + sum of (y - g_i)(g_(i+1) - y) over people          at most noise + n w^2 / 4

There is no error of resolution. How many people there are is known, so what the counts lack or
exceed it by is pure noise: it is shared out evenly, z_i - (sum z - n) / B. What is left has the
covariance a (I - 1 1'/B) with the same a for every protocol, so that weights c_i that add up to
nothing give a noise of variance a sum c_i^2, with tails that ``cumulants`` knows: for the sum
a w^2 B (B^2 - 1) / 12. Taken about any origin but the middle, flips would add a n (o' - o)^2 and
more. Intervals take the rounding at its worst: it cannot be seen how near to points people stand.

**Squares.** E sum_i (g_i - o)^2 z_i exceeds the sum of (y - o)^2 by what rounding adds, r, between
0 and n w^2 / 4, which no message can tell: so a second moment less w^2 / 8 is right within w^2 / 8,
its resolution. The variance is V = m2 - (mean - o)^2 + v - w^2 / 8, m2 the second moment about o
and v the variance of the mean with its rounding at half of the worst:
E V = V* + (r / n - w^2 / 8)(1 - 1 / n). Rounding moves the sum of (g - mean)^2 by a variance of at
most w^2 (m - mean)^2 a person, m being the middle of their step: n w^2 (s + w / 2)^2 in all, with
s^2 = (mean - low)(high - mean) the most that a variance can be.

**Quantiles.** E (z_0 + .. + z_i) is exactly n times the average over [g_i, g_(i+1)] of F, the share
of people at or below: a number y in that step is among them with chance (g_(i+1) - y) / w. So
where that average is below q the quantile lies above g_i, and where it is not, it is at most
g_(i+1): the interval misses only when one of two such sums does, each of which has half the error
allowed. Two steps are its resolution. Rounding gives the sum a variance of at most a quarter of the
people in the step, who are all at its two ends: their counts with four deviations more.

Source: proved here; unbiased ("dithered") rounding is Schuchman, Dither Signals and Their Effect on
Quantization Noise (1964).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Row
from mixtally.model.grid import Grid
from mixtally.protocol.estimate.cumulants import Cumulants, cornish_fisher_ends

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_STEP_DEVIATIONS = 4.0
"""Deviations that people in a step are counted beyond their estimate; passed once in 30,000."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoundedNumbers:
    """Noisy counts of ``users`` people, rounded to the points of ``grid``.

    where
      counts   shape (points,), unbiased
      noise    of the counts
    """

    counts: _Floats
    grid: Grid
    users: int
    noise: Cumulants

    @cached_property
    def consistent_counts(self) -> _Floats:
        """Counts that add up to the users, shape (points,)."""
        even: _Floats = self.counts - (self.counts.sum() - self.users) / self.counts.size
        return even

    @cached_property
    def centered_points(self) -> _Floats:
        """The points about the middle of the grid, shape (points,)."""
        return self.grid.values - self.grid.middle

    @property
    def mean_value(self) -> float:
        """The mean."""
        return self.grid.middle + float(self.consistent_counts @ self.centered_points) / self.users

    def mean(self, level: float) -> Row:
        """The mean; all of its error is chance."""
        return self._row("mean", self.mean_value, self._mean_error(), level, self._ends)

    def sum(self, level: float) -> Row:
        """The sum of everybody's number."""
        low, high = (self.users * end for end in self._ends)
        second, third, fourth = self._mean_error()
        n = self.users
        error = (n**2 * second, n**3 * third, n**4 * fourth)
        return self._row("sum", n * self.mean_value, error, level, (low, high))

    def change_to(self, later: "RoundedNumbers", level: float) -> Row:
        """By how much the mean of ``later``, on the same grid, exceeds this one."""
        before, after = self._mean_error(), later._mean_error()
        error = (before[0] + after[0], after[1] - before[1], before[2] + after[2])
        rise, range_ = later.mean_value - self.mean_value, self.grid.range
        return self._row("change", rise, error, level, (-range_, range_))

    def second_moment(self, level: float) -> Row:
        """The mean of everybody's number squared, but for what rounding adds."""
        squares, half = self.grid.values**2, self.grid.step**2 / 8.0
        value = float(
            squares.mean() + self.consistent_counts @ (squares - squares.mean()) / self.users
        )
        error = self._error_of(squares / self.users)
        # Of (g_(i+1) - g_i)^2 (g_(i+1) + g_i)^2 / 4 a person, at most (w max |g|)^2.
        largest = max(abs(end) for end in self._ends)
        error = (error[0] + (self.grid.step * largest) ** 2 / self.users, *error[1:])
        most = (0.0, largest**2)
        return self._row("second moment", value - half, error, level, most, half)

    def variance(self, level: float) -> Row:
        """The variance of everybody's number, but for what rounding adds."""
        step, (low, high), n = self.grid.step, self._ends, self.users
        half, mean = step**2 / 8.0, float(np.clip(self.mean_value, low, high))
        squares = self.centered_points**2
        moment = float(squares.mean() + self.consistent_counts @ (squares - squares.mean()) / n)
        of_mean = self._noise_of_mean[0]
        offset = self.mean_value - self.grid.middle
        value = moment - offset**2 + of_mean + half / n - half
        second, third, fourth = self._error_of((self.grid.values - mean) ** 2 / n)
        most = np.sqrt((mean - low) * (high - mean))
        rounding = step**2 * (most + step / 2.0) ** 2 / n
        squared = 2.0 * (of_mean + 2.0 * half / n) ** 2  # of the mean's own error, squared
        error = (second + rounding + squared, third, fourth)
        return self._row("variance", value, error, level, (0.0, self.grid.range**2 / 4.0), half)

    @property
    def _ends(self) -> tuple[float, float]:
        return self.grid.low, self.grid.high

    @cached_property
    def _noise_of_mean(self) -> tuple[float, float, float]:
        return self._error_of(self.centered_points / self.users)

    def _mean_error(self) -> tuple[float, float, float]:
        """The second to the fourth cumulant of the mean, its rounding at the worst."""
        second, third, fourth = self._noise_of_mean
        return second + self.grid.rounding_variance(self.users) / self.users**2, third, fourth

    def _error_of(self, weights: _Floats) -> tuple[float, float, float]:
        """The second to the fourth cumulant of the noise in the evened counts' weighted sum."""
        even = weights - weights.mean()
        return (
            float(np.sum(even**2 * self.noise.variance)),
            float(even**3 @ self.noise.third),
            float(np.sum(even**4 * self.noise.fourth)),
        )

    @staticmethod
    def _row(
        label: str,
        value: float,
        error: tuple[float, float, float],
        level: float,
        most: tuple[float, float],
        half: float = 0.0,
    ) -> Row:
        """A number with these cumulants, right within ``half``, that lies between both ``most``."""
        second, third, fourth = map(np.asarray, error)
        below, above = cornish_fisher_ends(second, third, fourth, (1.0 - level) / 2.0)
        lower, upper = np.clip([value - above - half, value - below + half], *most).tolist()
        spread = float(np.sqrt(error[0]))
        return Row(label, value, lower, upper, standard_error=spread, resolution=half or None)

    def quantiles(self, shares: Iterable[float], level: float) -> list[Row]:
        """The values at or below which ``shares`` of the people lie, and where they may be."""
        passed, low, high = self.cumulative_counts(level)
        points, found = self.grid.values, []
        for share in shares:
            expected = share * self.users
            first = np.flatnonzero(high >= expected)  # the steps before it are certainly below
            last = np.flatnonzero(low < expected)  # those after it certainly are not
            lower = max(0, first[0] - 1) if len(first) else len(points) - 2
            upper = min(len(points) - 1, last[-1] + 2) if len(last) else 1
            value = float(
                np.clip(self._find_crossing(passed, expected), points[lower], points[upper])
            )
            found.append(
                Row(
                    quantile_label(share),
                    value,
                    float(points[lower]),
                    float(points[upper]),
                    resolution=2.0 * self.grid.step,
                )
            )
        return found

    def cumulative_counts(self, level: float) -> tuple[_Floats, _Floats, _Floats]:
        """Running sums, n times the average of F over every step, with the ends of their intervals.

        Each has shape (points - 1,).
        """
        points = self.counts.size
        passed = np.cumsum(self.consistent_counts)[:-1]
        left = np.arange(1, points) / points
        right = 1.0 - left

        def sum_weighted(each: _Floats | float, order: int) -> _Floats:
            """Of points up to a step with the weight ``right``, of all others with -``left``."""
            every = np.cumsum(np.broadcast_to(each, points))
            before, sign = every[:-1], -1.0 if order % 2 else 1.0
            found: _Floats = before * right**order + sign * (every[-1] - before) * left**order
            return found

        noise = self.noise.variance, self.noise.third, self.noise.fourth
        second, third, fourth = (sum_weighted(each, order) for order, each in enumerate(noise, 2))
        least, most = cornish_fisher_ends(
            second + self._bound_people_in_steps() / 4.0, third, fourth, (1.0 - level) / 2.0
        )
        return passed, passed - most, passed - least

    def _bound_people_in_steps(self) -> _Floats:
        """People in every step at most, shape (points - 1,): those who were sent as its ends."""
        both = self.consistent_counts[:-1] + self.consistent_counts[1:]
        spread = np.broadcast_to(self.noise.variance, self.consistent_counts.shape)
        most: _Floats = both + _STEP_DEVIATIONS * np.sqrt(spread[:-1] + spread[1:])
        return most.clip(0.0, self.users)

    def _find_crossing(self, passed: _Floats, expected: float) -> float:
        """Where the rising middle of all running sums, each at the middle of its step, passes
        ``expected``.
        """
        rising = np.maximum.accumulate(passed)
        falling = np.minimum.accumulate(passed[::-1])[::-1]
        middle = np.clip((rising + falling) / 2.0, 0.0, self.users)
        points = self.grid.values
        places = np.concatenate([points[:1], (points[:-1] + points[1:]) / 2.0, points[-1:]])
        return float(np.interp(expected, [0.0, *middle, self.users], places))


def quantile_label(share: float) -> str:
    """What a row is called that holds the quantile at ``share``."""
    return f"{100 * share:g} % quantile"


def summary(
    found: RoundedNumbers, level: float, shares: tuple[float, ...] = QUANTILES
) -> list[Row]:
    """Sum, mean, second moment, variance, and the quantiles at ``shares``; each for itself."""
    moments = (found.mean, found.sum, found.second_moment, found.variance)
    return [*(one(level) for one in moments), *found.quantiles(shares, level)]
