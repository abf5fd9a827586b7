"""The change of every count between two collections under one plan, with intervals.

Each collection draws noise of its own, so the variances add up. The law of the difference of the
two tallied counts s' - s is exact as well:

- In clear: s' - s = (z' - z) + X' - X, X and X' independent with the noise's law, whatever the
  counts are. The law of X' - X is one convolution.
- Flipped: turn every bit of the earlier batch over. A flipped bit turned over is a turned bit
  flipped, so N - s is a tally of N messages of which N - z hold the bit, flipped with the same q,
  and s' + (N - s) is a tally of N + N' messages of which N + (z' - z) hold it. Its law knows the
  two counts through their difference alone, and ``intervals`` inverts it: no count is guessed.
  Uniform fakes are counted apart from the people: a bit of one that was turned over is set with
  probability 1 - s where s is that of the others.
  Sent k times, N is k times the earlier people, who are then what is taken off again.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError
from mixtally.estimate.intervals import (
    EXACT,
    MOST_EXACT_ONES,
    NORMAL,
    checked_level,
    in_clear,
    intervals,
)
from mixtally.estimate.noise import NoiseDistribution, depends_on_count, noise_distribution
from mixtally.records.change import Change
from mixtally.records.mechanism import BitFlips, Shuffled, UniformFakes
from mixtally.records.results import Intervals, Tally

_DIRECT = 4_000
"""Laws longer than this are convolved by a Fourier transform, good to about 1e-15."""


def estimate_change(
    mechanism: Shuffled,
    earlier: Tally,
    later: Tally,
    *,
    level: float = 0.95,
    changes: int = 1,
) -> Change:
    """Unbiased changes with intervals at ``level``; both tallies were made under ``protocol``.

    where
      changes   how many changes are looked at; ``together`` holds for every bin of all of them

    Raises ParameterError for a level outside (0, 1), MessageError for tallies of other bins or with
    fewer messages than promised fakes.
    """
    checked_level(level)
    for tally in (earlier, later):
        if tally.counts.shape != (mechanism.bins,) or mechanism.people_among(tally.messages) < 0:
            raise MessageError(
                "tally",
                wanted=f"{mechanism.bins:,} bins and the plan's fakes",
                got=f"{len(tally.counts):,} bins and {tally.messages:,} messages",
                do="compare collections under one plan, each of them complete",
            )
    counts = mechanism.unbiased(later.counts, later.messages)
    counts -= mechanism.unbiased(earlier.counts, earlier.messages)
    return Change(
        counts=counts,
        standard_error=change_error(mechanism, earlier.messages, later.messages),
        each=change_intervals(mechanism, earlier, later, level, simultaneous_over=1),
        together=change_intervals(
            mechanism, earlier, later, level, simultaneous_over=mechanism.bins * changes
        ),
    )


def change_error(mechanism: Shuffled, earlier: int, later: int) -> float:
    """Standard error of a bin's change between batches of so many messages, in counts."""
    return math.sqrt(mechanism.variance(earlier) + mechanism.variance(later))


def change_intervals(
    mechanism: Shuffled, earlier: Tally, later: Tally, level: float, *, simultaneous_over: int
) -> Intervals:
    """Equal-tailed intervals, shape (bins,), whole numbers between minus all people and all people.

    ``simultaneous_over`` bins and changes share the error allowed (Bonferroni); 1 gives each the
    whole of it.
    """
    if depends_on_count(mechanism):
        lower, upper, method = _flipped(mechanism, earlier, later, level, simultaneous_over)
    else:
        tail = (1.0 - level) / 2.0 / simultaneous_over
        lower, upper, method = _clear(mechanism, later.counts - earlier.counts, tail)
    fewest, most = -mechanism.people_among(earlier.messages), mechanism.people_among(later.messages)
    return Intervals(
        lower=np.clip(lower, fewest, most),
        upper=np.clip(upper, fewest, most),
        level=level,
        method=method,
        simultaneous=simultaneous_over > 1,
    )


_Ends = tuple[NDArray[np.int64], NDArray[np.int64], str]


def _flipped(mechanism: Shuffled, earlier: Tally, later: Tally, level: float, over: int) -> _Ends:
    """Ends for the true rise: the earlier batch turned over and the later one are one batch."""
    before, sent = earlier.messages, earlier.messages + later.messages
    both = Tally(later.counts - earlier.counts + before, sent)
    turned, expected = before // mechanism.repeats, mechanism.offset(sent)
    if isinstance(mechanism, BitFlips) and isinstance(mechanism.fakes, UniformFakes):
        turned = mechanism.people_among(before)
        expected = sum(mechanism.offset(tally.messages) for tally in (earlier, later))
        mechanism = _BothWays(
            bins=mechanism.bins,
            fakes=UniformFakes(2 * mechanism.fakes.count),
            threshold=mechanism.threshold,
            repeats=mechanism.repeats,
        )
    exact_ones = math.inf if expected <= MOST_EXACT_ONES else -math.inf
    ends = intervals(mechanism, both, level, simultaneous_over=over, exact_ones=exact_ones)
    return ends.lower - turned, ends.upper - turned, ends.method


class _BothWays(BitFlips, frozen=True, kw_only=True, tag="both-ways"):
    """The fakes of two batches, the half that came earlier turned over."""

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """How many fakes there are of either half, and how likely one sets a given bit."""
        ((both, shown),) = super().fake_bits
        return (both // 2, shown), (both // 2, 1.0 - shown)


def _clear(mechanism: Shuffled, rise: NDArray[np.int64], tail: float) -> _Ends:
    """Ends for the true rise: noise in clear has one law, wherever it falls."""
    if mechanism.uniform_fakes and mechanism.offset(0) > MOST_EXACT_ONES:
        width = -NormalDist().inv_cdf(tail) * change_error(mechanism, 0, 0) * mechanism.repeats
        noise, method = (-math.ceil(width), math.ceil(width)), NORMAL
    else:
        law = difference_distribution(mechanism)
        noise, method = (law.lowest(tail), law.highest(tail)), EXACT
    return *in_clear(mechanism, rise, noise), method


def difference_distribution(mechanism: Shuffled) -> NoiseDistribution:
    """The law of X' - X for two independent noises of a mechanism in clear."""
    law = noise_distribution(mechanism, mechanism.fakes_promised, 0)
    size = len(law.pmf)
    if size <= _DIRECT:
        return NoiseDistribution(1 - size, np.convolve(law.pmf, law.pmf[::-1]))
    turned = np.abs(np.fft.rfft(law.pmf, 2 * size)) ** 2
    around = np.fft.irfft(turned, 2 * size)
    pmf = np.concatenate([around[-(size - 1) :], around[:size]])
    return NoiseDistribution(1 - size, np.maximum(pmf, 0.0))
