"""Counts that use a known total: the number of people who took part.

The estimators call this module if every person has exactly one of d bins (``model.known_total``).
The true counts z_j then add up to the number n of people. Let zhat_j be the unbiased counts and Z
their sum. The estimates that use the known total are

    zhat_j - (Z - n) / d.

These estimates are unbiased, and they are the nearest counts that add up to n. Suppose that the
noise is independent with the same variance V in every bin. The variance of an estimate is then V (1
- 1/d), because Z / d has the variance V / d and is uncorrelated with the estimate. Differences of
two counts do not change.

**Effect for each mechanism.**

- Fakes of mixes in clear have independent noise X_j with one distribution, so the variance is
  V (1 - 1/d).
- The flips of N messages add the variance V = N q (1 - q) / gain^2 to every bin, for any true
  counts. Using the total reduces it to V (1 - 1/d). The numbers of uniform fakes in all bins always
  add up to the number of fakes, so the variance that they add does not change.
- With uniform or paired fakes in clear, and with replaced values, the tallied counts add up to
  the number of messages. So Z always equals n, and nothing changes.
- Over planes, the covariance of two counts depends on how often their values are in one plane.
  Using a total of d bins would reduce the variance by at most a share of 1/d, and planes are used
  for many bins. So these counts do not use the total.

**Groups.** Let G have g of the d bins, and let zhat_G be the sum of their unbiased counts. The sum
of their estimates is zhat_G - (Z - n) g / d. For independent noise its variance is

    g V - 2 (g / d) g V + (g / d)^2 d V = V g (1 - g / d).

If messages are flipped, Bin(K, g / d) of the K uniform fakes name bins of G. If records are sent k
times, these fakes add (K / d) g (1 - g / d) / k^2 to the variance of the sum. This is the formula
above with (K / d) / k^2 in place of V. The total of all bins is n, without error.

**Sampled slots.** A device sends m of the k cells of its record. So a person with one of these d
bins sends it with probability m/k. The covariance of zhat_j and Z is b_j V for V = Var Z, where
b_j = w z_j / n + (1 - w) / d with the sampling share w (``model.mechanism.in_clear``): w is 1
without fakes, and falls as fakes are added. So

    L_j = zhat_j - z_j - b_j (Z - n)

has mean 0 and is uncorrelated with Z. The estimate y is the value of z_j for which L_j is 0:

    y = (zhat_j - (Z - n) (1 - w) / d) / (1 + w (Z - n) / n).

The estimates of all d bins add up to n. For w = 0 they are the estimates above. For w = 1, y is the
ratio estimate n zhat_j / Z. It is unbiased, because the number of people who have the bin and send
it is hypergeometric conditionally on Z. For 0 < w < 1, y - z_j is L_j divided by the denominator of
y. L_j and Z are uncorrelated, so y does not have the first-order bias that ratios usually have. Let
T be the sum of the tallied counts of the d bins. The remaining bias is of the order 1 / Var T, in
standard errors; it is below 0.005 standard errors for Var T = 400. The variance of y is that of
L_j,

    Var zhat_j - b_j^2 V,

up to a factor 1 + O(1 / Var T) (delta method). The total is used only if Var T is at least 400. For
a group of g bins with z_G people, b is w z_G / n + (1 - w) g / d. An interval contains each z_j for
which a test accepts that the mean of L_j is 0 (Fieller's method). The cumulants of L_j are exact,
and the ends are those of the Cornish-Fisher expansion (``intervals``).

**Intervals** use the distribution of X, the noise of one bin or of the g bins of G, conditionally
on T. From here on T is the noise of all d bins together. It is known, because it is the sum of all
tallied counts minus n. Let f be the distribution of X, and h that of the noise of the other bins.
Then

    P(X = x | T) = f(x) h(T - x) / sum over y of f(y) h(T - y).

If all bins have the same distribution, the conditional mean of X is T g / d. So the estimate is the
tallied count minus the conditional mean of its noise. For fakes of mixes, f and h do not depend on
the true counts. For flips, f depends on the z people in the g bins, and h on the n - z people in
all others, so the only unknown in a test is z. Conditionally on T, X decreases stochastically with
z and z + X increases, because the distributions of sums of independent coins are log-concave. So
the ends are found as without a total (``intervals``). Two cases use the Cornish-Fisher expansion
for the sum of noises with the weights 1 - g/d and -g/d: flipped uniform fakes, and more than
``MOST_EXACT_ONES`` expected flips.

Source: proved here; the mean given T is the Rao-Blackwell theorem's (Lehmann, Casella, Theory of
Point Estimation, 1998, chapter 1.7), the test is conditional on T (Lehmann, Romano, Testing
Statistical Hypotheses, 2005, chapter 4); Cochran, Sampling Techniques (1977), chapters 6 and 7.
"""

from collections.abc import Sequence

import numpy as np

from mixtally.model.estimates import Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats, window
from mixtally.protocol.estimate.cumulants import Cumulants, binomial_cumulants, cumulants
from mixtally.protocol.estimate.noise import KnownTotal


def is_informative(mechanism: Shuffled, messages: int) -> bool:
    """Return whether using a known total reduces the error of estimates with this mechanism."""
    return (
        mechanism.flip_threshold is not None
        or mechanism.has_independent_fakes
        or mechanism.sampling_share(messages, 1) > 0.0
    )


def totals_of(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[KnownTotal]:
    """Return the known totals of groups of consecutive bins, whose numbers of bins are ``sizes``.

    The list is empty if known totals do not reduce the error. It is also empty if the tallied sum
    of a group is one that honest messages never have, because some messages then did not follow the
    plan. ``implausible_totals`` returns such groups.
    """
    found = _possible_totals(mechanism, tally, people, sizes)
    return found if all(_is_plausible(mechanism, tally.messages, one) for one in found) else []


def implausible_totals(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[tuple[KnownTotal, int, int]]:
    """Return each known total whose tallied sum honest messages never have.

    The tallied sum of a total is the sum of the tallied counts of its bins. Each total is followed
    by the smallest and the largest sum that honest messages can have. If the list is not empty,
    ``totals_of`` returns no totals.
    """
    found = _possible_totals(mechanism, tally, people, sizes)
    return [
        (one, *_plausible_sums(mechanism, tally.messages, one))
        for one in found
        if not _is_plausible(mechanism, tally.messages, one)
    ]


def _possible_totals(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[KnownTotal]:
    """Return the known totals, without a check of their tallied sums.

    The list is empty if known totals do not reduce the error.
    """
    if not is_informative(mechanism, tally.messages):
        return []
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    return [
        KnownTotal(people, bins, int(tally.counts[first : first + bins].sum()))
        for first, bins in zip(starts, sizes, strict=True)
    ]


def total_over(totals: Sequence[KnownTotal], place: int) -> int | None:
    """Return the index of the total whose bins include the bin ``place``; None without totals."""
    ends = np.cumsum([one.bins for one in totals])
    return int(np.searchsorted(ends, place, side="right")) if totals else None


def excess_of(mechanism: Shuffled, messages: int, total: KnownTotal) -> float:
    """Return Z - n: the sum of the unbiased counts of a total's bins, minus the true sum."""
    offset = total.bins * mechanism.offset(messages)
    return (total.tallied - offset) / mechanism.gain - total.people


def project_to_totals(
    mechanism: Shuffled, counts: Floats, messages: int, totals: Sequence[KnownTotal]
) -> Floats:
    """Return the estimates of all bins, corrected so that each group adds up to its known total.

    ``counts`` are the unbiased counts. Each of ``totals`` is that of a group of consecutive bins.
    Without totals, the result is ``counts``.
    """
    if not totals:
        return counts
    ends = np.cumsum([one.bins for one in totals])[:-1]
    pieces = zip(np.split(counts, ends), totals, strict=True)
    return np.concatenate([use_total(mechanism, some, messages, one) for some, one in pieces])


def use_total(
    mechanism: Shuffled, counts: Floats, messages: int, total: KnownTotal | None, size: int = 1
) -> Floats:
    """Return estimates that use a known total.

    Each of ``counts`` is the sum of the unbiased counts of ``size`` bins of the total. If ``total``
    is None, the result is ``counts``.
    """
    if total is None:
        return counts
    excess = excess_of(mechanism, messages, total)
    share = mechanism.sampling_share(messages, total.bins)
    moved: Floats = counts - excess * (1.0 - share) * size / total.bins
    return moved / slope_of(mechanism, messages, total) if share else moved


def weight_of_total(
    mechanism: Shuffled, messages: int, counts: Floats, total: KnownTotal, size: int = 1
) -> Floats:
    """Return the weight b = w z / n + (1 - w) g / d of the known total in the estimate of g bins.

    ``counts`` are the numbers z of people in these bins, and ``size`` is g. The docstring of the
    module defines the symbols.
    """
    share = mechanism.sampling_share(messages, total.bins)
    found: Floats = share * counts / total.people + (1.0 - share) * size / total.bins
    return found


def slope_of(mechanism: Shuffled, messages: int, total: KnownTotal) -> float:
    """Return the divisor 1 + w (Z - n) / n of the estimates of sampled slots.

    The docstring of the module defines the symbols. The divisor is 1 if records are sent whole.
    """
    share = mechanism.sampling_share(messages, total.bins)
    return 1.0 + share * excess_of(mechanism, messages, total) / total.people if share else 1.0


def count_cumulants(
    mechanism: Shuffled, messages: int, counts: Floats, total: KnownTotal | None
) -> Cumulants:
    """Return the cumulants of the noise of single counts, which use a total if one is known.

    ``counts`` are the estimated numbers of people in each bin, shape (bins,).
    """
    if total is None:
        return binomial_cumulants(mechanism, messages, counts)
    return projected_cumulants(mechanism, messages, counts, total)


def projected_cumulants(
    mechanism: Shuffled, messages: int, counts: Floats, total: KnownTotal, size: int = 1
) -> Cumulants:
    """Return the cumulants of the noise of estimates that use a total, in the shape of ``counts``.

    Each of ``counts`` is the number of people in a group of g = ``size`` bins. An estimate is a
    sum of counts with the weight 1 - g/d for the g bins and -g/d for all others. These weights add
    up to 0, as ``cumulants`` requires. Third cumulants are linear in the counts, so those of a
    group follow from the number of people in it.
    """
    if mechanism.sent_share < 1.0:
        part = weight_of_total(mechanism, messages, counts, total, size)
        own = counts, size, 1.0 - part
        return sampled_cumulants(mechanism, [own, others_of(total, -part, own)])
    share, others = size / total.bins, total.bins - size
    one_bin = cumulants(mechanism, messages, np.array([0.0, 1.0]))
    none, one = one_bin.third.tolist()
    third_inside = size * none + counts * (one - none)
    third_outside = others * none + (total.people - counts) * (one - none)
    return Cumulants(
        one_bin.variance * size * (1.0 - share),
        third_inside * (1.0 - share) ** 3 - third_outside * share**3,
        one_bin.fourth * (size * (1.0 - share) ** 4 + others * share**4),
    )


WeightedBins = tuple[Floats, int, Floats]
"""A group of bins that have the same weight in a sum: the number of people in them, the number of
bins, and the weight."""


def others_of(total: KnownTotal, weight: Floats, *own: WeightedBins) -> WeightedBins:
    """Return the group of all bins of a total that are not in ``own``, with the given weight."""
    others = total.people - sum(people for people, _, _ in own)
    return np.asarray(others), total.bins - sum(size for _, size, _ in own), weight


def sampled_cumulants(mechanism: Shuffled, several: Sequence[WeightedBins]) -> Cumulants:
    """Return the cumulants of a weighted sum of counts of one part with sampled slots.

    Every person has exactly one of the bins, and sends it or not, independently of other people.
    Fakes are independent draws among all cells. The cumulants are therefore exact for any weights.
    """
    sent, times, cells = mechanism.sent_share, mechanism.repeats, mechanism.cells
    coin = sent * (1.0 - sent)
    of_coin = coin, coin * (1.0 - 2.0 * sent), coin * (1.0 - 6.0 * coin)
    one, two, three, four = (
        sum((size / cells * weight**order for _, size, weight in several), np.zeros(1))
        for order in (1, 2, 3, 4)
    )
    of_fake = (
        two - one**2,
        three - 3.0 * one * two + 2.0 * one**3,
        four - 4.0 * one * three - 3.0 * two**2 + 12.0 * one**2 * two - 6.0 * one**4,
    )
    second, third, fourth = (
        (
            sum((times * people * weight**order for people, _, weight in several), np.zeros(1)) * by
            + mechanism.fakes_promised * fake
        )
        / mechanism.gain**order
        for order, by, fake in zip((2, 3, 4), of_coin, of_fake, strict=True)
    )
    return Cumulants(second, third, fourth)


def _is_plausible(mechanism: Shuffled, messages: int, total: KnownTotal) -> bool:
    """Return whether honest messages can have the tallied sum of ``total``.

    Without flips and sampled slots the result is True, because messages were checked on arrival.
    With flips, people and uniform fakes set bits, and each bit of all messages is flipped
    independently. With sampled slots, some people send a bin of the total, and some fakes name such
    a bin.
    """
    if mechanism.flip_threshold is None and mechanism.sent_share == 1.0:
        return True
    least, most = _plausible_sums(mechanism, messages, total)
    return least <= total.tallied <= most


def _plausible_sums(mechanism: Shuffled, messages: int, total: KnownTotal) -> tuple[int, int]:
    """Return the smallest and the largest tallied sum that honest messages can have.

    The messages are flipped, or contain sampled slots.
    """
    if mechanism.sent_share < 1.0:
        drawn = window(total.people * mechanism.repeats, mechanism.sent_share)
        fakes = window(mechanism.fakes_promised, total.bins / mechanism.cells)
        return drawn.first + fakes.first, drawn.last + fakes.last
    ones = total.people * mechanism.repeats + round(total.bins * mechanism.true_fakes)
    zeros = total.bins * messages - ones
    rose, fell = (window(many, mechanism.flip_probability) for many in (zeros, ones))
    return ones + rose.first - fell.last, ones + rose.last - fell.first
