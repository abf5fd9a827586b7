"""Intervals for the difference of the counts of two bins of one collection.

``conclude.differences`` asks for one interval for each pair of labels. Let z and z' be the numbers
of people in the two bins, and S and S' the tallied counts. The interval is for z - z'.

**Bins with independent noise** (bins of different messages, flipped bits, fakes of mixes) are
treated as two collections of one bin each. ``change`` derives the distribution of S - S'.

**Uniform fakes** name either bin with the same probability, and never both. So every fake changes
S - S' by 1, -1 or 0, with probabilities (a, a, 1 - 2a), where

    in clear   a = 1/D for D cells,
    flipped    a = q (1 - q) + (1 - 2q)^2 / d for the flip probability q and d bins: before its
               flips, the fake sets either of the two bits with probability 1/d each.

Such a step is the difference of two independent bits that are 1 with probability r, where r (1 - r)
= a. Such an r exists if a <= 1/4, which requires at least four bins. Then the module ``change``
treats flipped fakes as the fakes of two batches. In clear, the distribution of K steps is the
inverse Fourier transform of (1 - 2a + 2a cos t)^K for any a.

**Paired fakes** are X in one bin and W - X in the other, where W is the number of all fakes. So
S - S' is z - z' + 2 X - W, and the exact distribution of X yields the interval.

**Sampled slots** have two cases. If both bins are values of one attribute, nobody has both, and the
weights of all bins in the difference are known. Otherwise the number of people with both bins is
unknown, and a bound is used.

**Replaced values and planes** have a distribution that also depends on z + z'. The Cornish-Fisher
expansion is used, with a continuity correction because tallies are whole numbers.

Source: proved here; Feller, An Introduction to Probability Theory, volume II (1971), chapter XV.
"""

import math

import numpy as np

from mixtally.model.estimates import Intervals
from mixtally.model.mechanism import Shuffled
from mixtally.protocol.estimate.change import (
    Ends,
    TalliedPart,
    change_intervals,
    flipped_ends,
    whole_number_ends,
)
from mixtally.protocol.estimate.cumulants import Cumulants, cornish_fisher_ends, cumulants
from mixtally.protocol.estimate.intervals import EXACT, NORMAL, invert_in_clear
from mixtally.protocol.estimate.noise import KnownTotal, NoiseDistribution, noise_distribution
from mixtally.protocol.estimate.projection import (
    others_of,
    projected_cumulants,
    sampled_cumulants,
    weight_of_total,
)

_DEVIATIONS, _MORE = 12.0, 64
"""The transform spans the first number of standard deviations, plus the second number of steps, on
either side."""
_MOST_STEP = 0.25
"""The largest a for which a step is the difference of two independent bits."""


def difference_intervals(
    first: TalliedPart,
    second: TalliedPart,
    level: float,
    *,
    over: int,
    one_message: bool,
    one_total: bool = False,
) -> Intervals:
    """Return the interval of the first bin's true count minus the second bin's.

    ``first`` and ``second`` have the tally of one bin each. ``one_message`` says whether the same
    messages count both bins. ``one_total`` says whether both bins also belong to the same known
    total, so that nobody has both. The error probability 1 - ``level`` is divided among ``over``
    intervals (Bonferroni). Both ends are whole numbers whose absolute values are at most the number
    of people.
    """
    sent = first.mechanism
    if (
        one_message and sent.sent_share == 1.0
    ):  # a total shifts both counts equally, so the difference does not change
        first, second = first._replace(total=None), second._replace(total=None)
    elif not one_message and _is_alike(first, second):
        return change_intervals(second, first, level, simultaneous_over=over)
    tail = (1.0 - level) / 2.0 / over
    if one_message and sent.flip_threshold is not None:
        lower, upper, method = _flipped_difference_ends(first, second, level, over)
    elif one_message and sent.is_in_clear and not sent.noise_by_count:
        if sent.uniform_fakes:
            lower, upper, method = _ends_among_uniform(first, second, tail)
        elif sent.has_paired_fakes:
            lower, upper, method = _ends_among_paired(first, second, tail)
        else:
            return change_intervals(second, first, level, simultaneous_over=over)
    else:
        noise = _noise_of_difference(first, second, one_message=one_message, one_total=one_total)
        lower, upper, method = _approximate_ends(first, second, tail, noise)
    return Intervals(
        lower=np.clip(lower, -second.people, first.people),
        upper=np.clip(upper, -second.people, first.people),
        level=level,
        method=method,
    )


def difference_variance(
    first: TalliedPart, second: TalliedPart, *, one_message: bool, one_total: bool = False
) -> float:
    """Return the variance of the difference between the two estimates, in counts squared."""
    noise = _noise_of_difference(first, second, one_message=one_message, one_total=one_total)
    return float(np.ravel(noise.variance)[0])


def _noise_of_difference(
    first: TalliedPart, second: TalliedPart, *, one_message: bool, one_total: bool
) -> Cumulants:
    """Return the cumulants of the difference between the two estimates."""
    if one_total and first.total is not None and first.mechanism.sent_share < 1.0:
        return _noise_within_total(first, second, first.total)
    one, other = (_noise(each, by_itself=not one_message) for each in (first, second))
    return Cumulants(
        one.variance + other.variance, one.third - other.third, one.fourth + other.fourth
    )


def _noise_within_total(first: TalliedPart, second: TalliedPart, total: KnownTotal) -> Cumulants:
    """Return the cumulants of a difference of two sampled slots that use the same total.

    Let s = w (z - z') / n. ``projection`` defines L_j, the error of a count that uses the total.
    The difference of the two L_j is a weighted sum of the noise of bins: the first bin has the
    weight 1 - s, the second -1 - s, and every other bin of the total -s.
    """
    sent, messages = first.mechanism, first.tally.messages
    first_count, other = (
        np.clip(one.unbiased_counts, 0.0, total.people) for one in (first, second)
    )
    both = first_count + other
    if both[0] > total.people:
        first_count, other = first_count * total.people / both, other * total.people / both
    shift = sent.sampling_share(messages, total.bins) * (first_count - other) / total.people
    own = (first_count, 1, 1.0 - shift), (other, 1, -1.0 - shift)
    return sampled_cumulants(sent, [*own, others_of(total, -shift, *own)])


def noise_of(
    mechanism: Shuffled, messages: int, count: float, total: KnownTotal | None = None
) -> Cumulants:
    """Return the cumulants that a bin of ``count`` people adds to the noise of a difference.

    Over planes, the counts of two values depend on each other. Suppose that the message of a person
    with neither value points at each of the two with probability q. The message adds at most 2 q to
    the variance of the difference, where two independent counts would add 2 q (1 - q). A uniform
    message adds 2 (1 - kappa) / p, where kappa is the share of directions in which two values are
    in one plane. Only the term 2 q is an upper bound. It is reached if no third value lies in one
    plane with both.

    If m of k slots are sent, a person with both bins sends both with probability b = m (m - 1) / (k
    (k - 1)), below (m/k)^2. Let c and c' be the numbers of people in the two bins, and z the number
    of people in both bins. The variance of the difference of the tallies is (m/k)
    (c + c') - (m/k)^2 (c + c' - 2 z) - 2 b z, plus 2 K / D for K fakes. This variance grows with z,
    which is at most (c + c') / 2. So each bin adds at most K / D + c (m/k - b). If no person has
    both bins, this is more than the variance.

    Suppose that the bins are of two different attributes or bits, and use the totals of these. For
    each person, let x be the weight in L_j (``projection``) of the person's bin of the first
    attribute, and y that of the second. The variance due to people is the sum over people of
    (m/k) (1 - m/k) (x^2 + y^2) + 2 ((m/k)^2 - b) x y, and x y is at most (x^2 + y^2) / 2. So each
    bin adds at most m/k - b times the sum of x^2, and the squares of the weights of its fakes.
    """
    found = cumulants(mechanism, messages, np.array([count]))
    if mechanism.sent_share < 1.0:
        return _noise_of_slots(mechanism, messages, count, found, total)
    if mechanism.planes is None:
        return found
    g = mechanism.replacement_probability
    sent = messages - mechanism.fakes_promised
    uniform = (g * sent + mechanism.fakes_promised) / mechanism.cells
    variance = (1.0 - g) * mechanism.collision_probability * sent + (
        1.0 - mechanism.planes.collision_probability
    ) * uniform
    if mechanism.replaced is not None:
        variance += mechanism.repeats * count * g * (1.0 - g)
    return Cumulants(np.asarray(variance / mechanism.gain**2), found.third, found.fourth)


def _noise_of_slots(
    mechanism: Shuffled, messages: int, count: float, found: Cumulants, total: KnownTotal | None
) -> Cumulants:
    """Return the cumulants that a bin of sampled slots adds to the noise of a difference.

    They are bounds, because the number of people with both bins is unknown.
    """
    counts, share, k = np.array([count]), mechanism.sent_share, mechanism.most_set
    both = share * (share * k - 1.0) / (k - 1.0)
    square, fakes = counts, np.array([mechanism.true_fakes])
    if total is not None:
        part = weight_of_total(mechanism, messages, counts, total)
        square = counts * (1.0 - part) ** 2 + (total.people - counts) * part**2
        fakes = fakes * ((1.0 - part) ** 2 + (total.bins - 1) * part**2)
        found = projected_cumulants(mechanism, messages, counts, total)
    variance = fakes + mechanism.repeats * square * (share - both)
    return Cumulants(np.asarray(variance / mechanism.gain**2), found.third, found.fourth)


def _is_alike(first: TalliedPart, second: TalliedPart) -> bool:
    """Return whether the module ``change`` can compute the difference of two streams of messages.

    Both streams must have the same flip probability, or no flips. If bits are flipped, both or
    neither must use a known total, and the totals must have the same number of bins.
    """
    sent, bins = (
        first.mechanism.flip_threshold,
        [None if one.total is None else one.total.bins for one in (first, second)],
    )
    return sent == second.mechanism.flip_threshold and (sent is None or bins[0] == bins[1])


def _flipped_difference_ends(
    first: TalliedPart, second: TalliedPart, level: float, over: int
) -> Ends:
    """Return the interval ends of the difference of two bits of the same flipped messages."""
    sent = first.mechanism
    if not sent.uniform_fakes:
        return flipped_ends(second, first, level, over)
    q, bins = sent.flip_probability, sent.bins
    step = q * (1.0 - q) + (1.0 - 2.0 * q) ** 2 / bins
    if step > _MOST_STEP:
        noise = _noise_of_difference(first, second, one_message=True, one_total=False)
        return _approximate_ends(first, second, (1.0 - level) / 2.0 / over, noise)
    coin = _find_coin(step)
    fakes = sent.fakes_promised
    return flipped_ends(second, first, level, over, ((fakes, coin), (fakes, 1.0 - coin)))


def _find_coin(step: float) -> float:
    """Return the smaller r with r (1 - r) = ``step``, without cancellation."""
    return 2.0 * step / (1.0 + math.sqrt(max(0.0, 1.0 - 4.0 * step)))


def _ends_among_uniform(first: TalliedPart, second: TalliedPart, tail: float) -> Ends:
    """Return the interval ends of a difference of bins in clear, with uniform fakes."""
    sent = first.mechanism
    steps = steps_distribution(sent.fakes_promised, sent.true_fakes / max(1, sent.fakes_promised))
    counted = first.tally.counts - second.tally.counts
    return *invert_in_clear(sent, counted, (steps.lowest(tail), steps.highest(tail))), EXACT


def _ends_among_paired(first: TalliedPart, second: TalliedPart, tail: float) -> Ends:
    """Return the interval ends of a difference of bins in clear, with paired fakes of mixes."""
    sent = first.mechanism
    noise, whole = noise_distribution(sent, first.tally.messages, 0), sent.fakes_promised
    ends = 2 * noise.lowest(tail) - whole, 2 * noise.highest(tail) - whole
    return *invert_in_clear(sent, first.tally.counts - second.tally.counts, ends), EXACT


def steps_distribution(steps: int, chance: float) -> NoiseDistribution:
    """Return the distribution of a sum of ``steps`` independent steps.

    A step is 1 or -1 with probability ``chance`` each, and otherwise 0. The error of rounding is
    about 1e-16 in each probability.
    """
    reach = math.ceil(_DEVIATIONS * math.sqrt(2.0 * chance * steps)) + _MORE
    reach = min(reach, steps)
    size = 2 * reach + 2
    angles = 2.0 * np.pi * np.arange(size // 2 + 1) / size
    pmf = np.fft.irfft((1.0 - 2.0 * chance * (1.0 - np.cos(angles))) ** steps, size)
    return NoiseDistribution(-reach, np.maximum(np.roll(pmf, reach)[: 2 * reach + 1], 0.0))


def _approximate_ends(
    first: TalliedPart, second: TalliedPart, tail: float, noise: Cumulants
) -> Ends:
    """Return the interval ends by the Cornish-Fisher expansion, corrected for continuity."""
    least, most = cornish_fisher_ends(
        np.asarray(noise.variance), noise.third, np.asarray(noise.fourth), tail
    )
    found = first.unbiased_counts - second.unbiased_counts
    return *whole_number_ends(first.mechanism, found - most, found - least), NORMAL


def _noise(one: TalliedPart, *, by_itself: bool) -> Cumulants:
    """Return the cumulants of one count's noise.

    They are valid for the count ``by_itself``, or otherwise in a sum whose weights add up to 0.
    """
    count = float(np.clip(one.unbiased_counts, 0.0, one.people)[0])
    if by_itself and one.total is not None:
        return projected_cumulants(one.mechanism, one.tally.messages, np.array([count]), one.total)
    if by_itself:
        variance = one.mechanism.variance_at(one.tally.messages, round(count))
        return Cumulants(variance, np.zeros(1), 0.0)
    return noise_of(one.mechanism, one.tally.messages, count, one.total)
