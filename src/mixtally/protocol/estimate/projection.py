"""Counts that use a known total: the number of people who took part.

The estimators call this module if every person has exactly one of d bins (``model.known_total``).
The true counts z_j then add up to the number n of people. Let zhat_j be the unbiased counts and Z
their sum. The estimates are

    zhat_j - (Z - n) / d.

These estimates are unbiased, and they are the nearest counts that add up to n. Suppose that the
noise is independent with the same variance V in every bin. The variance of an estimate is then V (1
- 1/d), because Z / d has the variance V / d and is uncorrelated with the estimate. Differences of
two counts do not change.

**Effect for each mechanism.**

- Fakes of mixes in clear have independent noise X_j with one distribution, so the variance is
  V (1 - 1/d).
- Flipped bits have the variance N q (1 - q) / gain^2 in every bin, whatever the true counts are. So
  the variance of the flips is V (1 - 1/d). Uniform fakes among them are multinomial and always add
  up to their number, so their part of the variance does not change.
- With uniform or paired fakes in clear, and with replaced values, the tallied counts add up to
  the number of messages. So Z always equals n, and nothing changes.
- Over planes, the covariance of two counts depends on which values share a plane with which. A
  total of d bins would remove at most a share 1/d of the variance, and planes are used for many
  bins. So these counts are not changed.

**Groups.** Let G have g of the d bins, and let zhat_G be the sum of their unbiased counts. The sum
of their estimates is zhat_G - (Z - n) g / d. For independent noise its variance is

    g V - 2 (g / d) g V + (g / d)^2 d V = V g (1 - g / d).

Among flips, Bin(K, g / d) of the K uniform fakes are in G, and the number of all fakes does not
vary. Records are sent k times, so the fakes add (K / d) g (1 - g / d) / k^2 to the variance. So
(K / d) / k^2 takes the place of V in the formula. The total of all bins is n, without error.

**Sampled slots.** A device sends m of the k cells of its record. So a person with one of these d
bins sends it with probability m/k. The covariance of zhat_j and Z is b_j V for V = Var Z, where
b_j = w z_j / n + (1 - w) / d with the sampling share w (``model.mechanism.in_clear``): w is 1
without fakes, and falls as fakes are added. So

    L_j = zhat_j - z_j - b_j (Z - n)

has mean 0 and no covariance with Z. The estimate y is the z_j at which L_j is 0:

    y = (zhat_j - (Z - n) (1 - w) / d) / (1 + w (Z - n) / n).

The estimates of all d bins add up to n. For w = 0 they are the estimates above. For w = 1, y = n
zhat_j / Z is the ratio to the known crowd. This ratio is unbiased, because the number of people in
a bin who send it is hypergeometric given Z. For 0 < w < 1, y - z_j is L_j divided by the
denominator. L_j and Z have no covariance, so the bias of the first order that ratios have is
absent. What remains is of the order 1 / Var T of a standard error, where T is the tallied sum; it
is below 0.005 standard errors for Var T = 400. The variance of y is that of L_j,

    Var zhat_j - b_j^2 V,

up to a factor 1 + O(1 / Var T) (delta method). The total is used only if Var T is at least 400. For
a group of g bins with z_G people, b is w z_G / n + (1 - w) g / d. An interval contains each z_j for
which a test accepts that the mean of L_j is 0 (Fieller's method). The cumulants of L_j are exact,
and the ends are those of the Cornish-Fisher expansion (``intervals``).

**Intervals** use the distribution of X, the noise of one bin or of the g bins of G, given T. Here T
is the noise of all bins together, which is known: all tallied counts less n. Let f be the
distribution of X, and h that of the noise of the other bins. Then

    P(X = x | T) = f(x) h(T - x) / sum over y of f(y) h(T - y).

The mean is T g / d if bins have equal distributions, so the estimate is the tallied count less the
conditional mean of its noise. For fakes of mixes, f and h do not depend on the counts. For flips, f
depends on the z people in the g bins, and h on the n - z people in all others, so a test of z has
no other unknown. Given T, X decreases with z and z + X increases, because the distributions of sums
of coins are log-concave. So the ends are found as without a total (``intervals``). Two cases use
the Cornish-Fisher expansion for the sum with the weights 1 - g/d and -g/d: flipped uniform fakes,
and more than ``MOST_EXACT_ONES`` expected flips.

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
    """Return whether a known total reduces the error of the tallied counts."""
    return (
        mechanism.flip_threshold is not None
        or mechanism.has_independent_fakes
        or mechanism.sampling_share(messages, 1) > 0.0
    )


def totals_of(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[KnownTotal]:
    """Return the known totals of consecutive bins, one for each of ``sizes``.

    The list is empty if known totals do not reduce the error. The list is also empty if
    honest messages never have a tallied sum like one of these, because the messages then did not
    follow the plan. ``implausible_totals`` returns such totals.
    """
    found = _possible_totals(mechanism, tally, people, sizes)
    return found if all(_is_plausible(mechanism, tally.messages, one) for one in found) else []


def implausible_totals(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[tuple[KnownTotal, int, int]]:
    """Return each total whose tallied sum honest messages never have, and the possible sums.

    The tallied sum is the sum of the tallied counts of all bins. The two numbers after a total are
    the smallest and the largest sum that honest messages can have. If one total is implausible,
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
    """Return the known totals; an empty list if they do not reduce the error of the counts.

    A total is included even if honest messages never have its tallied sum.
    """
    if not is_informative(mechanism, tally.messages):
        return []
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    return [
        KnownTotal(people, bins, int(tally.counts[first : first + bins].sum()))
        for first, bins in zip(starts, sizes, strict=True)
    ]


def total_over(totals: Sequence[KnownTotal], place: int) -> int | None:
    """Return the index of the total that includes a bin; None if there are no totals."""
    ends = np.cumsum([one.bins for one in totals])
    return int(np.searchsorted(ends, place, side="right")) if totals else None


def excess_of(mechanism: Shuffled, messages: int, total: KnownTotal) -> float:
    """Return the sum of the unbiased counts of a total, minus the number of its people."""
    offset = total.bins * mechanism.offset(messages)
    return (total.tallied - offset) / mechanism.gain - total.people


def project_to_totals(
    mechanism: Shuffled, counts: Floats, messages: int, totals: Sequence[KnownTotal]
) -> Floats:
    """Return unbiased counts, corrected so that the counts of each known total add up to it.

    ``totals`` are over consecutive bins. Counts do not change if there are no totals.
    """
    if not totals:
        return counts
    ends = np.cumsum([one.bins for one in totals])[:-1]
    pieces = zip(np.split(counts, ends), totals, strict=True)
    return np.concatenate([use_total(mechanism, some, messages, one) for some, one in pieces])


def use_total(
    mechanism: Shuffled, counts: Floats, messages: int, total: KnownTotal | None, size: int = 1
) -> Floats:
    """Return unbiased counts of ``size`` bins each, corrected by the known total of their bins.

    The counts do not change if no total is known.
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

    ``counts`` are the numbers z of people in these bins, and ``size`` is g. The derivation above
    has the symbols.
    """
    share = mechanism.sampling_share(messages, total.bins)
    found: Floats = share * counts / total.people + (1.0 - share) * size / total.bins
    return found


def slope_of(mechanism: Shuffled, messages: int, total: KnownTotal) -> float:
    """Return the divisor 1 + w (Z - n) / n of the estimates of sampled slots.

    The symbols are those of the derivation above. The divisor is 1 if records are sent whole.
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
    """Return the cumulants of the noise of counts that use a total, shape as ``counts``.

    Each count is the number of people in ``size`` bins. The weights 1 - g/d of its g bins and -g/d
    of all others add up to 0, as ``cumulants`` requires. Third cumulants are linear in the counts,
    so those of several bins follow from the number of people in them.
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
"""The people of some bins, the number of these bins, and the weight of each in a sum."""


def others_of(total: KnownTotal, weight: Floats, *own: WeightedBins) -> WeightedBins:
    """Return the bins of a total that are not in ``own``, with the common weight ``weight``."""
    others = total.people - sum(people for people, _, _ in own)
    return np.asarray(others), total.bins - sum(size for _, size, _ in own), weight


def sampled_cumulants(mechanism: Shuffled, several: Sequence[WeightedBins]) -> Cumulants:
    """Return the cumulants of a weighted sum of counts of one part with sampled slots.

    Every person has exactly one of the bins, and sends it or does not. So people are independent.
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
    """Return whether honest messages can have this sum of tallied counts.

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
    """Return the smallest and the largest sum of flipped honest messages, or of sampled slots."""
    if mechanism.sent_share < 1.0:
        drawn = window(total.people * mechanism.repeats, mechanism.sent_share)
        fakes = window(mechanism.fakes_promised, total.bins / mechanism.cells)
        return drawn.first + fakes.first, drawn.last + fakes.last
    ones = total.people * mechanism.repeats + round(total.bins * mechanism.true_fakes)
    zeros = total.bins * messages - ones
    rose, fell = (window(many, mechanism.flip_probability) for many in (zeros, ones))
    return ones + rose.first - fell.last, ones + rose.last - fell.first
