"""Counts of candidates whose bins are shared, by a hash, with values that nobody listed.

Candidates' bins are known, so candidates that meet are found, and their line is one: their sum.
All other people, u of them, hold unlisted values, each of which the hash throws into one of B bins,
independently of every candidate. So with y_b the unbiased count of bin b, k lines and m = B - k
free bins, which no candidate hits,

    y_b = N_b + X_b + noise_b      X_b unlisted people in b, N_b = 0 in a free bin
    N   = y_b - (n - sum of y over the lines) / m

is unbiased over the hash and the noise: what the lines leave of the crowd is spread evenly over the
free bins. With S^2 the sample variance of y in the free bins and s^2 the noise's own variance,
c = S^2 - s^2 estimates Var(X_b) B / (B - 1), as the X_b sum to u, and for noise that is independent
from bin to bin (fakes of a fixed number err a little less)

    Var(N error) = c (1 + 1/m) + s^2 (1 + 2/m + k/m^2)
    Var(u error) = c k B / m + (B/m)^2 k s^2,          u = (n - sum of y over the lines) B / m

These are means over hashes: the squares stated are right on average, in a single collection they
depend on where the largest unlisted values lie. One that lies under a line, of few free bins, is
not seen by S^2, and the line errs by more than is stated; that it may do so is in the intervals.

Intervals of lines need no law. What a line's bin holds beside N_b is exchangeable with what the
free bins hold, so that its rank among them is uniform. Of m + k such numbers the j largest are all
in free bins with probability prod_{i<j} (m - i) / (m + k - i); with j the largest for which that is
at least 1 - tail, no line holds more than the j-th largest free bin holds, and the same from below.
Exact for records in clear; a flip errs alike in mean and variance whoever is in the bin. Where free
bins are too few for the level, an end is no end: 0, or all people.

The interval of u is normal. A word of many people in a line's bin is taken for the line's and
leaves no trace in the free bins: an upper end for u needs, as lines at once do, so many free bins
that the largest of all is in a line with probability ``tail`` at most; otherwise it is all people.

Levels are over hashes drawn independently of what people hold, and of the candidates.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import InfeasibleError
from mixtally.estimate.intervals import checked_level
from mixtally.records.mechanism import Shuffled
from mixtally.records.results import Estimate, Intervals, Row, Tally

METHOD = "ranks among the bins without a candidate, over random hashes"
_LEAST_FREE = 2


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidates by line: those of one bin are counted together.

    where
      bins    the bin of each line, shape (lines,), in the order of their first candidates
      lines   the line of each candidate, shape (candidates,)
    """

    bins: NDArray[np.int64]
    lines: NDArray[np.int64]

    @classmethod
    def of(cls, codes: NDArray[np.int64], bins: int) -> "Candidates":
        """From the bin of each candidate, shape (candidates,), of so many bins.

        Raises InfeasibleError when fewer than two bins are free.
        """
        held, first, lines = np.unique(codes, return_index=True, return_inverse=True)
        if bins - len(held) < _LEAST_FREE:
            raise InfeasibleError(
                "candidates",
                wanted=f"at least {_LEAST_FREE} bins that no candidate is hashed to",
                got=f"{bins - len(held)} of {bins:,}",
                do="hash into more bins, or look for fewer candidates",
            )
        order = np.argsort(first)
        return cls(held[order], np.argsort(order)[lines])


def estimate_hashed(
    mechanism: Shuffled, tally: Tally, users: int, found: Candidates, level: float = 0.95
) -> tuple[Estimate, Row]:
    """Counts of every line, and of the people whose values are not listed.

    Raises ParameterError for a level outside (0, 1).
    """
    checked_level(level)
    free = np.ones(mechanism.bins, dtype=np.bool_)
    free[found.bins] = False
    k, m = len(found.bins), int(free.sum())
    unbiased = mechanism.unbiased(tally.counts, tally.messages)
    left = (users - float(unbiased[found.bins].sum())) / m
    noise = mechanism.variance(tally.messages)
    shared = max(0.0, float(np.var(unbiased[free], ddof=1)) - noise)
    error = math.sqrt(shared * (1.0 + 1.0 / m) + noise * (1.0 + 2.0 / m + k / m**2))
    seen, empty = tally.counts[found.bins], np.sort(tally.counts[free])
    estimate = Estimate(
        counts=unbiased[found.bins] - left,
        standard_error=error,
        each=_intervals(mechanism, seen, empty, users, level, 1),
        together=_intervals(mechanism, seen, empty, users, level, k),
    )
    share = mechanism.bins / m
    spread = math.sqrt(k * share * (shared + share * noise))
    half = NormalDist().inv_cdf(0.5 + 0.5 * level) * spread
    others = left * mechanism.bins
    most = others + half if rank_of(m, k, (1.0 - level) / 2.0) else math.inf
    low, high = (min(max(end, 0.0), float(users)) for end in (others - half, most))
    return estimate, Row("people with a value not listed", others, low, high, spread)


def _intervals(
    mechanism: Shuffled,
    seen: NDArray[np.int64],
    empty: NDArray[np.int64],
    users: int,
    level: float,
    lines: int,
) -> Intervals:
    """Ends by rank; ``empty`` are the counts of the free bins, ascending."""
    rank = rank_of(len(empty), lines, (1.0 - level) / 2.0)
    lower, upper = np.zeros_like(seen), np.full_like(seen, users)
    if rank:
        lower = np.ceil((seen - empty[-rank]) / mechanism.gain).astype(np.int64)
        upper = np.floor((seen - empty[rank - 1]) / mechanism.gain).astype(np.int64)
    return Intervals(
        lower=np.clip(lower, 0, users),
        upper=np.clip(upper, 0, users),
        level=level,
        method=METHOD,
        simultaneous=lines > 1,
    )


def rank_of(free: int, lines: int, tail: float) -> int:
    """The largest j whose j largest of ``free + lines`` alike are all free but for ``tail``.

    0 when not even the largest is.
    """
    places = np.arange(free, dtype=np.float64)
    alone = np.cumsum(np.log1p(-lines / (free + lines - places)))
    return int(np.count_nonzero(alone >= math.log1p(-tail)))
