"""The change of every count between two collections under one plan, with intervals.

``conclude.series`` calls this module for the rounds of a series, and ``two_bins`` for two bins of
one collection. In the earlier collection let z be the true count of a bin, s its tallied count, and
N the number of messages. In the later one these are z', s' and N'. Each collection draws its own
noise, so the variances add up. The distribution of s' - s is exact in two cases.

- *In clear,* s' - s = (z' - z) + X' - X. The noises X and X' are independent, and their
  distribution does not depend on the true counts. One convolution gives the distribution of X' - X.
- *Flipped with probability q.* Invert every bit of the earlier batch. Inverting a bit after its
  flip is the same as inverting it before. So N - s is the tally of N messages, of which N - z have
  the bit, flipped with the same q. Then s' + (N - s) is the tally of N + N' messages, of which
  N + (z' - z) have the bit. The distribution of this tally depends on z and z' only through z' - z.
  ``intervals`` inverts a test of N + (z' - z), and N is subtracted from both ends. If records are
  sent k times, N / k is subtracted. Uniform fakes are modeled separately: if a fake of the later
  batch sets a bit with probability r, an inverted one of the earlier batch sets it with 1 - r.

*Over planes, and if values are replaced,* the noise depends on both true counts and not on their
difference alone. The cumulants of both noises at the estimated counts are added, and the
Cornish-Fisher expansion gives the ends. The points of sets may coincide or be in special position
(``model.planes``), and then the assumed distribution of a count is wrong. The error, in total
variation, is at most ``total_variation_of``, and the confidence level is raised by this bound.
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
from mixtally.protocol.estimate.cumulants import Cumulants, cornish_fisher_ends
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
from mixtally.protocol.estimate.noise import KnownTotal, NoiseDistribution, noise_distribution
from mixtally.protocol.estimate.projection import count_cumulants, use_total

_DIRECT = 4_000
"""The longest distribution that is convolved directly. A Fourier transform, with errors of about
1e-15, convolves longer ones."""


class TalliedPart(NamedTuple):
    """A tally together with the mechanism, fakes included, that produced the tally.

    ``total`` is the known sum of the true counts of a group of bins that contains the tallied bins;
    None if no such sum is known.
    """

    mechanism: Shuffled
    tally: Tally
    total: KnownTotal | None = None

    @property
    def variance(self) -> float:
        """The variance of a bin's unbiased count, in counts squared.

        If it differs between bins, the result is the variance of the bin with the largest count.
        If slots are sampled (a device sends only some bins of a record) and a total is known, the
        result is the largest variance of any bin.
        """
        if self.total is not None and self.mechanism.sent_share < 1.0:
            return float(np.max(_cumulants(self).variance, initial=0.0))
        if self.total is not None:
            return self.mechanism.variance_given_total(self.tally.messages, self.total.bins)
        fullest = min(max(float(self.unbiased_counts.max(initial=0.0)), 0.0), float(self.people))
        return self.mechanism.variance_at(self.tally.messages, round(fullest))

    @property
    def people(self) -> int:
        """The maximum number of people who can have sent the tallied messages."""
        return self.mechanism.people_among(self.tally.messages)

    @property
    def unbiased_counts(self) -> NDArray[np.float64]:
        """The unbiased counts, shape (bins,), which use the total if one is known."""
        counts = self.mechanism.debias_counts(self.tally.counts, self.tally.messages)
        return use_total(self.mechanism, counts, self.tally.messages, self.total)


def estimate_change(
    earlier: TalliedPart,
    later: TalliedPart,
    *,
    level: float = 0.95,
    changes: int = 1,
    totals: tuple[Sequence[KnownTotal], Sequence[KnownTotal]] = ((), ()),
) -> Change:
    """Estimate how much each count changed between two collections of one plan.

    ``changes`` is the number of such pairs of collections that are compared. The simultaneous
    intervals hold at once for all bins of all these pairs. ``totals`` are the known totals of
    groups of consecutive bins, first of the earlier and then of the later collection. Both are
    empty if no total is known or used. Raises ParameterError for a level outside (0, 1). Raises
    MessageError for a tally with another number of bins, or with fewer messages than fakes.
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
    """Return a tallied part for each known total, which has only the bins of this total."""
    pieces = zip(split_by_total(one.tally, totals), totals, strict=True)
    return [TalliedPart(one.mechanism, tally, total) for tally, total in pieces]


def change_error(earlier: TalliedPart, later: TalliedPart) -> float:
    """Return the standard error of the change of a count, from the ``variance`` of both parts."""
    return math.sqrt(earlier.variance + later.variance)


def change_intervals(
    earlier: TalliedPart, later: TalliedPart, level: float, *, simultaneous_over: int
) -> Intervals:
    """Return equal-tailed intervals of the change of each count, as whole numbers, shape (bins,).

    The error probability 1 - ``level`` is divided among ``simultaneous_over`` intervals
    (Bonferroni). Both ends lie between minus the number of people in the earlier collection and the
    number of people in the later one.
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
"""The lower ends, the upper ends, and the name of the method that computed them."""


def flipped_ends(
    earlier: TalliedPart,
    later: TalliedPart,
    level: float,
    over: int,
    fakes: tuple[tuple[int, float], ...] | None = None,
) -> Ends:
    """Return the interval ends of the change of each flipped bit, computed from a joined batch.

    The joined batch consists of the earlier batch, with every bit inverted, and the later batch.
    Each pair in ``fakes`` is a number of uniform fakes in the joined batch, and the probability
    that such a fake sets a given bit. If ``fakes`` is None, both batches drew their fakes
    independently, and the pairs follow from their mechanisms.
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
    """Return the known total of the joined batch, or None if a batch has none.

    In the earlier batch all bits are inverted. So a bin that z of the ``turned`` records set counts
    as a bin that ``turned`` - z records set.
    """
    before, after = earlier.total, later.total
    if before is None or after is None:
        return None
    return KnownTotal(
        after.people + turned * after.bins - before.people,
        after.bins,
        after.tallied + earlier.tally.messages * after.bins - before.tallied,
    )


class _JoinedBatches(BitFlips, frozen=True, kw_only=True, tag="both-ways"):
    """Two batches of flipped messages with uniform fakes, treated as one batch.

    The bits of one of the two batches are inverted. Each pair in ``each`` is a number of fakes and
    the probability that such a fake sets a given bit.
    """

    each: tuple[tuple[int, float], ...]

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """The pairs of ``each``, in place of those that follow from the number of fakes."""
        return self.each


def _ends_by_cumulants(earlier: TalliedPart, later: TalliedPart, level: float, over: int) -> Ends:
    """Return the interval ends of a change of counts whose noise depends on the true counts.

    Both noises are sums of binomial variables, whose cumulants at the estimated counts are added.
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
    """Round approximate ends outwards to whole numbers, with a continuity correction.

    Tallies are whole numbers. So the tail P(S >= s) is approximated by the tail of a normal
    distribution from s - 1/2 on. One message more in a tally changes an estimate by 1 / gain, so
    both ends move outwards by half of this. If that is less than half a person, they move by half a
    person, so that the interval contains a whole number.
    """
    half = 0.5 / min(1.0, mechanism.gain)
    return (
        np.ceil(lower - half).astype(np.int64),
        np.floor(upper + half).astype(np.int64),
    )


def _cumulants(one: TalliedPart) -> Cumulants:
    """Return the cumulants of the noise of one collection at the estimated counts."""
    counts = np.clip(one.unbiased_counts, 0.0, one.people)
    return count_cumulants(one.mechanism, one.tally.messages, counts, one.total)


def _ends_in_clear(earlier: TalliedPart, later: TalliedPart, tail: float) -> Ends:
    """Return the interval ends of a change in clear, whose noise does not depend on the counts."""
    mechanism, rise = later.mechanism, later.tally.counts - earlier.tally.counts
    # The exact distribution of many fakes is long, and the normal one is accurate enough.
    if mechanism.uniform_fakes and mechanism.offset(0) > MOST_EXACT_ONES:
        middle = mechanism.offset(0) - earlier.mechanism.offset(0)
        width = -NormalDist().inv_cdf(tail) * change_error(earlier, later) * mechanism.repeats
        noise, method = (math.floor(middle - width), math.ceil(middle + width)), NORMAL
    else:
        off = difference_distribution(earlier, later)
        noise, method = (off.lowest(tail), off.highest(tail)), EXACT
    return *invert_in_clear(mechanism, rise, noise), method


def difference_distribution(earlier: TalliedPart, later: TalliedPart) -> NoiseDistribution:
    """Return the distribution of X' - X, the noise of the later collection minus the earlier one.

    Messages are in clear. If totals are known, each noise is conditioned on the sum of the noises
    of all bins of its total.
    """
    # Records in clear have the same noise in every bin, whatever the counts are.
    before, after = (
        noise_distribution(one.mechanism, one.tally.messages, 0, one.total)
        for one in (earlier, later)
    )
    turned = before.pmf[::-1]
    first = after.first - before.first - len(turned) + 1
    if max(len(after.pmf), len(turned)) <= _DIRECT:
        return NoiseDistribution(first, np.convolve(after.pmf, turned))
    size = len(after.pmf) + len(turned) - 1
    spectrum = np.fft.rfft(after.pmf, size) * np.fft.rfft(turned, size)
    return NoiseDistribution(first, np.maximum(np.fft.irfft(spectrum, size), 0.0))
