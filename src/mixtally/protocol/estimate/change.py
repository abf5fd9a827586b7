"""The change of every count between two collections under one plan, with intervals.

Each collection draws noise of its own, so the variances add up. The distribution of the difference
of the two tallied counts s' - s is exact as well:

- In clear: s' - s = (z' - z) + X' - X, X and X' independent and distributed as the noise,
  whatever the counts are. The distribution of X' - X is one convolution.
- Flipped: turn every bit of the earlier batch over. A flipped bit turned over is a turned bit
  flipped, so N - s is a tally of N messages of which N - z hold the bit, flipped with the same q,
  and s' + (N - s) is a tally of N + N' messages of which N + (z' - z) hold it. That knows the
  two counts through their difference alone, and ``intervals`` inverts it: no count is guessed.
  Uniform fakes are counted apart from the people: a bit of one that was turned over is set with
  probability 1 - s where s is that of the others.
  Sent k times, N is k times the earlier people, who are then what is taken off again.
- Over planes, and where values are replaced, the noise depends on both counts, not on their
  difference alone. The cumulants of both noises, at the estimated counts, add up, and the normal
  approximation is bent to them. Where points of sets may lie in special position, each of the two
  counts is off its distribution by ``unsure_of`` at most, and the intervals leave that much less
  error.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError
from mixtally.model.estimates import Change, Intervals, Tally
from mixtally.model.mechanism import BitFlips, Shuffled, UniformFakes
from mixtally.protocol.estimate.cumulants import Cumulants, binomial_cumulants, cornish_fisher_ends
from mixtally.protocol.estimate.debias import (
    adjust_level,
    join_intervals,
    split_by_total,
    total_variation_of,
)
from mixtally.protocol.estimate.intervals import (
    EXACT,
    MOST_EXACT_ONES,
    NORMAL,
    check_level,
    intervals,
    invert_in_clear,
)
from mixtally.protocol.estimate.noise import (
    KnownTotal,
    NoiseDistribution,
    noise_distribution,
    noise_given_total,
)
from mixtally.protocol.estimate.projection import excess_of, projected_cumulants

_DIRECT = 4_000
"""Distributions longer than this are convolved by a Fourier transform, good to about 1e-15."""


class TalliedPart(NamedTuple):
    """A collection: its mechanism, with the fakes that came, and its tally.

    ``total`` is the known sum of all bins of which the tally has some; None where there is none.
    """

    mechanism: Shuffled
    tally: Tally
    total: KnownTotal | None = None

    @property
    def variance(self) -> float:
        """Of a bin's count, in counts squared; of the fullest one where they differ."""
        if self.total is not None:
            return self.mechanism.variance_given_total(self.tally.messages, self.total.bins)
        held = min(max(float(self.unbiased_counts.max(initial=0.0)), 0.0), float(self.people))
        return self.mechanism.variance_at(self.tally.messages, round(held))

    @property
    def people(self) -> int:
        """The most people who can have taken part."""
        return self.mechanism.people_among(self.tally.messages)

    @property
    def unbiased_counts(self) -> NDArray[np.float64]:
        """Counts without bias, which use the total where one is known."""
        counts = self.mechanism.debias_counts(self.tally.counts, self.tally.messages)
        if self.total is None:
            return counts
        return counts - excess_of(self.mechanism, self.tally.messages, self.total) / self.total.bins


def estimate_change(
    earlier: TalliedPart,
    later: TalliedPart,
    *,
    level: float = 0.95,
    changes: int = 1,
    totals: tuple[Sequence[KnownTotal], Sequence[KnownTotal]] = ((), ()),
) -> Change:
    """Unbiased changes with intervals at ``level``; both are collections under one plan.

    where
      changes   how many changes are looked at; ``together`` holds for every bin of all of them
      totals    the known totals of consecutive bins, of either collection; none where they are not
                known of both, or not to be used

    Raises ParameterError for a level outside (0, 1), MessageError for tallies of other bins or with
    fewer messages than promised fakes.
    """
    check_level(level)
    bins = later.mechanism.bins
    unsure = sum(
        total_variation_of(one.mechanism, one.people, hashed=False) for one in (earlier, later)
    )
    for one in (earlier, later):
        if one.tally.counts.shape != (bins,) or one.people < 0:
            raise MessageError(
                "tally",
                expected=f"{bins:,} bins and the plan's fakes",
                got=f"{len(one.tally.counts):,} bins and {one.tally.messages:,} messages",
                do="compare collections under one plan, each of them complete",
            )

    pairs = [(earlier, later)]
    if all(totals):
        pieces = (_split_by_total(*each) for each in zip((earlier, later), totals, strict=True))
        pairs = list(zip(*pieces, strict=True))

    def ends_of(over: int) -> Intervals:
        target, how = adjust_level(level, over * unsure)
        found = join_intervals(
            [change_intervals(*both, target, simultaneous_over=over) for both in pairs]
        )
        return replace(found, level=level, method=found.method + how)

    return Change(
        counts=np.concatenate(
            [after.unbiased_counts - before.unbiased_counts for before, after in pairs]
        ),
        standard_error=max(change_error(*both) for both in pairs),
        individual=ends_of(1),
        simultaneous=ends_of(bins * changes),
    )


def _split_by_total(one: TalliedPart, totals: Sequence[KnownTotal]) -> list[TalliedPart]:
    """Return the bins of each known total as a collection of its own."""
    pieces = zip(split_by_total(one.tally, totals), totals, strict=True)
    return [TalliedPart(one.mechanism, tally, total) for tally, total in pieces]


def change_error(earlier: TalliedPart, later: TalliedPart) -> float:
    """Standard error of a bin's change, in counts."""
    return math.sqrt(earlier.variance + later.variance)


def change_intervals(
    earlier: TalliedPart, later: TalliedPart, level: float, *, simultaneous_over: int
) -> Intervals:
    """Equal-tailed intervals, shape (bins,), whole numbers between minus all people and all people.

    ``simultaneous_over`` bins and changes share the error allowed (Bonferroni); 1 gives each the
    whole of it.
    """
    sent = later.mechanism
    flipped_fakes = sent.flip_threshold is not None and sent.uniform_fakes
    own_noise = sent.flip_threshold is None and sent.noise_by_count
    if own_noise or (later.total is not None and flipped_fakes):
        lower, upper, method = _ends_by_cumulants(earlier, later, level, simultaneous_over)
    elif sent.noise_by_count:
        lower, upper, method = flipped_ends(earlier, later, level, simultaneous_over)
    else:
        tail = (1.0 - level) / 2.0 / simultaneous_over
        lower, upper, method = _ends_in_clear(earlier, later, tail)
    return Intervals(
        lower=np.clip(lower, -earlier.people, later.people),
        upper=np.clip(upper, -earlier.people, later.people),
        level=level,
        method=method,
    )


Ends = tuple[NDArray[np.int64], NDArray[np.int64], str]


def flipped_ends(
    earlier: TalliedPart,
    later: TalliedPart,
    level: float,
    over: int,
    fakes: tuple[tuple[int, float], ...] | None = None,
) -> Ends:
    """Return the ends of the rise: the earlier batch turned over and the later one are one batch.

    ``fakes`` are uniform ones of both batches, each number with the chance that a bit is set in the
    joined batch. None stands for fakes that are drawn afresh in each batch.
    """
    mechanism, before = later.mechanism, earlier.tally.messages
    sent = before + later.tally.messages
    both = Tally(later.tally.counts - earlier.tally.counts + before, sent)
    turned = before // mechanism.repeats
    if (threshold := mechanism.flip_threshold) is not None and mechanism.uniform_fakes:
        turned = earlier.people
        if fakes is None:
            fakes = (
                *mechanism.fake_bits,
                *((many, 1.0 - shown) for many, shown in earlier.mechanism.fake_bits),
            )
        mechanism = _JoinedBatches(
            bins=mechanism.bins,
            fakes=UniformFakes(sum(many for many, _ in fakes)),
            threshold=threshold,
            each=fakes,
        )
    expected = sum(one.mechanism.offset(one.tally.messages) for one in (earlier, later))
    exact_ones = math.inf if expected <= MOST_EXACT_ONES else -math.inf
    total = _joint_total(earlier, later, turned)
    ends = intervals(
        mechanism, both, level, simultaneous_over=over, exact_ones=exact_ones, total=total
    )
    return ends.lower - turned, ends.upper - turned, ends.method


def _joint_total(earlier: TalliedPart, later: TalliedPart, turned: int) -> KnownTotal | None:
    """Return the known total of the joined batch, in which ``turned`` people hold every bin."""
    before, after = earlier.total, later.total
    if before is None or after is None:
        return None
    return KnownTotal(
        after.people + turned * after.bins - before.people,
        after.bins,
        after.tallied + earlier.tally.messages * after.bins - before.tallied,
    )


class _JoinedBatches(BitFlips, frozen=True, kw_only=True, tag="both-ways"):
    """Flipped messages of two batches, one of them turned over, with uniform fakes of both.

    ``each`` has how many fakes set a given bit with which chance.
    """

    each: tuple[tuple[int, float], ...]

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """Return how many fakes there are of either batch, and how likely one sets a given bit."""
        return self.each


def _ends_by_cumulants(earlier: TalliedPart, later: TalliedPart, level: float, over: int) -> Ends:
    """Return the ends of the rise of counts whose noise depends on how many people hold the bin.

    Both noises are sums of binomials, whose cumulants at the estimated counts add up.
    """
    first, last = map(_cumulants, (earlier, later))
    least, most = cornish_fisher_ends(
        np.asarray(first.variance + last.variance),
        last.third - first.third,
        np.asarray(first.fourth + last.fourth),
        (1.0 - level) / 2.0 / over,
    )
    rise = later.unbiased_counts - earlier.unbiased_counts
    return *whole_number_ends(later.mechanism, rise - most, rise - least), NORMAL


def whole_number_ends(
    mechanism: Shuffled, lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the whole numbers that a test with these ends accepts, corrected for continuity.

    Tallies move in whole steps: a tail P(S >= s) is that of the normal distribution from s - 1/2
    on. So both ends move outwards by half a step of the estimate, 1 / (2 gain), and by half a
    person at least, which leaves a whole number between them.
    """
    half = 0.5 / min(1.0, mechanism.gain)
    return (
        np.ceil(lower - half).astype(np.int64),
        np.floor(upper + half).astype(np.int64),
    )


def _cumulants(one: TalliedPart) -> Cumulants:
    held = np.clip(one.unbiased_counts, 0.0, one.people)
    if one.total is not None:
        return projected_cumulants(one.mechanism, one.tally.messages, held, one.total)
    return binomial_cumulants(one.mechanism, one.tally.messages, held)


def _ends_in_clear(earlier: TalliedPart, later: TalliedPart, tail: float) -> Ends:
    """Ends for the true rise: noise in clear has one distribution, wherever it falls."""
    mechanism, rise = later.mechanism, later.tally.counts - earlier.tally.counts
    if mechanism.uniform_fakes and mechanism.offset(0) > MOST_EXACT_ONES:
        middle = mechanism.offset(0) - earlier.mechanism.offset(0)
        width = -NormalDist().inv_cdf(tail) * change_error(earlier, later) * mechanism.repeats
        noise, method = (math.floor(middle - width), math.ceil(middle + width)), NORMAL
    else:
        off = difference_distribution(earlier, later)
        noise, method = (off.lowest(tail), off.highest(tail)), EXACT
    return *invert_in_clear(mechanism, rise, noise), method


def difference_distribution(earlier: TalliedPart, later: TalliedPart) -> NoiseDistribution:
    """Return that of X' - X for independent noises in clear, X of the ``earlier`` collection.

    Where totals are known, each noise is taken given the sum of those of its bins.
    """
    before, after = (_noise_in_clear(one) for one in (earlier, later))
    turned = before.pmf[::-1]
    first = after.first - before.first - len(turned) + 1
    if max(len(after.pmf), len(turned)) <= _DIRECT:
        return NoiseDistribution(first, np.convolve(after.pmf, turned))
    size = len(after.pmf) + len(turned) - 1
    spectrum = np.fft.rfft(after.pmf, size) * np.fft.rfft(turned, size)
    return NoiseDistribution(first, np.maximum(np.fft.irfft(spectrum, size), 0.0))


def _noise_in_clear(one: TalliedPart) -> NoiseDistribution:
    """Return the distribution of the noise of a bin, which is that of any other."""
    if one.total is None:
        return noise_distribution(one.mechanism, one.tally.messages, 0)
    return noise_given_total(one.mechanism, one.tally.messages, 0, one.total)
