"""Sum, mean, variance and quantiles of numbers that were rounded at random to a grid.

``conclude.numbers`` calls this module. A number y between the grid points g_i and g_(i+1) was sent
as one of the two, drawn at random with mean y. The grid has B points at distances w, and the middle
o. Let z_i be the unbiased count of point i, and n the number of people. Let Y estimate the sum of
all numbers. Then

    Y = n o + sum_i (g_i - o) z_i                                  is unbiased, and
    Var Y = noise + sum over people of (y - g_i)(g_(i+1) - y)      <= noise + n w^2 / 4.

Rounding causes no bias. The number of people is known, so the excess sum z - n is pure noise. An
equal share of it is subtracted from each count: z_i - (sum z - n) / B. The remaining noise has the
covariance a (I - 1 1'/B), where the number a depends on the protocol. So a weighted sum whose
weights c_i add up to 0 has noise of variance a sum c_i^2; ``cumulants`` describes the tails. For Y
this is a w^2 B (B^2 - 1) / 12. If another origin o' took the place of o, flips would add at least
a n (o' - o)^2. The positions of the numbers between the points are unknown, so intervals use the
maximum n w^2 / 4 of the variance of rounding.

**Squares.** The expectation of sum_i (g_i - o)^2 z_i exceeds the sum of (y - o)^2 by the variance
of rounding, r. The messages do not show r, which lies between 0 and n w^2 / 4. So w^2 / 8 is
subtracted from the second moment. The remaining systematic error is at most w^2 / 8, called the
*resolution*. The estimate of the variance is V = m2 - (mean - o)^2 + v - w^2 / 8. Here m2 is the
second moment about o, and v is the variance of the estimated mean, with half of the maximum
variance of rounding. With V* for the true variance, E V = V* + (r / n - w^2 / 8)(1 - 1 / n).
Rounding adds to the sum of (g - mean)^2 a variance of at most w^2 (m - mean)^2 for each person,
where m is the middle of the step that contains the person's number. For all people together this is
at most n w^2 (s + w / 2)^2, where s^2 = (mean - low)(high - mean) is the largest possible variance.

**Quantiles.** Let F(x) be the share of people with a number of at most x. A number y in the step
[g_i, g_(i+1)] is sent as g_i with probability (g_(i+1) - y) / w. So E (z_0 + .. + z_i) is exactly n
times the average of F over this step. If the average is below q, the q-quantile lies above g_i;
otherwise it is at most g_(i+1). The interval misses the quantile only if one of two such sums is
outside its own interval, and each of these misses with half the error probability. The resolution
is two steps. Rounding gives the sum a variance of at most a quarter of the number of people whose
numbers are in the step. These numbers were sent as the two ends of the step. So an upper bound of
their number is the sum of the counts of both ends plus four standard deviations.

Source: proved here; unbiased ("dithered") rounding is Schuchman, Dither Signals and Their Effect on
Quantization Noise (1964).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.model.estimates import Row
from mixtally.model.grid import Grid
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.cumulants import Cumulants, cornish_fisher_ends

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The shares at which quantiles are estimated."""
_STEP_DEVIATIONS = 4.0
"""The number of standard deviations in the upper bound of the number of people in a step. Normal
noise exceeds it with probability 1 / 30,000."""


@dataclass(frozen=True, eq=False)
class RoundedNumbers:
    """Noisy counts of ``users`` people whose numbers were rounded to the points of ``grid``.

    ``counts`` are unbiased, shape (points,), and ``noise`` has the cumulants of their noise.
    """

    counts: Floats
    grid: Grid
    users: int
    noise: Cumulants

    @cached_property
    def consistent_counts(self) -> Floats:
        """The counts minus one constant, so that they add up to ``users``, shape (points,)."""
        even: Floats = self.counts - (self.counts.sum() - self.users) / self.counts.size
        return even

    @cached_property
    def centered_points(self) -> Floats:
        """The points relative to the middle of the grid, shape (points,)."""
        return self.grid.values - self.grid.middle

    @property
    def mean_value(self) -> float:
        """The estimated mean."""
        return self.grid.middle + float(self.consistent_counts @ self.centered_points) / self.users

    def mean(self, level: float) -> Row:
        """Return the mean. The row has no resolution, because the mean has no systematic error."""
        return self._row("mean", self.mean_value, self._mean_error(), level, self._ends)

    def sum(self, level: float) -> Row:
        """Return the estimated sum of all numbers, with its interval at confidence ``level``."""
        low, high = (self.users * end for end in self._ends)
        second, third, fourth = self._mean_error()
        n = self.users
        error = (n**2 * second, n**3 * third, n**4 * fourth)
        return self._row("sum", n * self.mean_value, error, level, (low, high))

    def change_to(self, later: "RoundedNumbers", level: float) -> Row:
        """Return the mean of ``later`` minus this mean; both have the same grid."""
        before, after = self._mean_error(), later._mean_error()
        error = (before[0] + after[0], after[1] - before[1], before[2] + after[2])
        rise, range_ = later.mean_value - self.mean_value, self.grid.range
        return self._row("change", rise, error, level, (-range_, range_))

    def second_moment(self, level: float) -> Row:
        """Return the mean of the squared numbers, with its resolution."""
        squares, half = self.grid.values**2, self.grid.step**2 / 8.0
        value = float(
            squares.mean() + self.consistent_counts @ (squares - squares.mean()) / self.users
        )
        error = self._error_of(squares / self.users)
        # Rounding adds to a square a variance of at most (g_(i+1) - g_i)^2 (g_(i+1) + g_i)^2 / 4,
        # and this is at most (w max |g|)^2.
        largest = max(abs(end) for end in self._ends)
        error = (error[0] + (self.grid.step * largest) ** 2 / self.users, *error[1:])
        most = (0.0, largest**2)
        return self._row("second moment", value - half, error, level, most, half)

    def variance(self, level: float) -> Row:
        """Return the variance of the numbers, with its resolution."""
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
        # The variance of the squared error of the mean itself.
        squared = 2.0 * (of_mean + 2.0 * half / n) ** 2
        error = (second + rounding + squared, third, fourth)
        return self._row("variance", value, error, level, (0.0, self.grid.range**2 / 4.0), half)

    @property
    def _ends(self) -> tuple[float, float]:
        return self.grid.low, self.grid.high

    @cached_property
    def _noise_of_mean(self) -> tuple[float, float, float]:
        return self._error_of(self.centered_points / self.users)

    def _mean_error(self) -> tuple[float, float, float]:
        """Return the second to fourth cumulant of the mean, with maximum variance of rounding."""
        second, third, fourth = self._noise_of_mean
        return second + self.grid.rounding_variance(self.users) / self.users**2, third, fourth

    def _error_of(self, weights: Floats) -> tuple[float, float, float]:
        """Return the second to fourth cumulant of the noise in a weighted sum of the counts.

        The mean of the weights is subtracted first. This has the same effect as subtracting a
        constant from the counts so that they add up to ``users``.
        """
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
        """Return the row of the estimate ``value`` with the resolution ``half``.

        ``error`` has the second to fourth cumulant of the noise. The interval is clipped to
        ``most``, the smallest and the largest possible value.
        """
        second, third, fourth = map(np.asarray, error)
        below, above = cornish_fisher_ends(second, third, fourth, (1.0 - level) / 2.0)
        lower, upper = np.clip([value - above - half, value - below + half], *most).tolist()
        spread = float(np.sqrt(error[0]))
        return Row(label, value, lower, upper, standard_error=spread, resolution=half or None)

    def quantiles(self, shares: Iterable[float], level: float) -> list[Row]:
        """Return the quantiles at ``shares`` with their intervals."""
        passed, low, high = self.cumulative_counts(level)
        points, found = self.grid.values, []
        for share in shares:
            expected = share * self.users
            # The quantile is at or above the step before ``first``, and at or below the step after
            # ``last``.
            first = np.flatnonzero(high >= expected)
            last = np.flatnonzero(low < expected)
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

    def cumulative_counts(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return the running sums of the counts, and the lower and upper ends of their intervals.

        The expectation of a running sum is n times the average of F over a step (see the module).
        All results have shape (points - 1,).
        """
        points = self.counts.size
        passed = np.cumsum(self.consistent_counts)[:-1]
        left = np.arange(1, points) / points
        right = 1.0 - left

        def sum_weighted(each: Floats | float, order: int) -> Floats:
            """Return for each step the sum of ``each`` times the weights to the power ``order``.

            The weight is ``right`` for points up to the step, and -``left`` for all others.
            """
            every = np.cumsum(np.broadcast_to(each, points))
            before, sign = every[:-1], -1.0 if order % 2 else 1.0
            found: Floats = before * right**order + sign * (every[-1] - before) * left**order
            return found

        noise = self.noise.variance, self.noise.third, self.noise.fourth
        second, third, fourth = (sum_weighted(each, order) for order, each in enumerate(noise, 2))
        least, most = cornish_fisher_ends(
            second + self._bound_people_in_steps() / 4.0, third, fourth, (1.0 - level) / 2.0
        )
        return passed, passed - most, passed - least

    def _bound_people_in_steps(self) -> Floats:
        """Return an upper bound for the number of people in each step, shape (points - 1,)."""
        both = self.consistent_counts[:-1] + self.consistent_counts[1:]
        spread = np.broadcast_to(self.noise.variance, self.consistent_counts.shape)
        most: Floats = both + _STEP_DEVIATIONS * np.sqrt(spread[:-1] + spread[1:])
        return most.clip(0.0, self.users)

    def _find_crossing(self, passed: Floats, expected: float) -> float:
        """Return the number at which the running sums pass ``expected``, by linear interpolation.

        Running sums of noisy counts may decrease. So they are replaced by the mean of two
        increasing functions: the least one above the sums and the largest one below. The sum of a
        step is taken as the value at the middle of the step.
        """
        rising = np.maximum.accumulate(passed)
        falling = np.minimum.accumulate(passed[::-1])[::-1]
        middle = np.clip((rising + falling) / 2.0, 0.0, self.users)
        points = self.grid.values
        places = np.concatenate([points[:1], (points[:-1] + points[1:]) / 2.0, points[-1:]])
        return float(np.interp(expected, [0.0, *middle, self.users], places))


def quantile_label(share: float) -> str:
    """Return the label of the row of the quantile below which a ``share`` of people lies."""
    return f"{100 * share:g} % quantile"


def summary(
    found: RoundedNumbers, level: float, shares: tuple[float, ...] = QUANTILES
) -> list[Row]:
    """Return the rows of mean, sum, second moment, variance and quantiles."""
    moments = (found.mean, found.sum, found.second_moment, found.variance)
    return [*(one(level) for one in moments), *found.quantiles(shares, level)]
