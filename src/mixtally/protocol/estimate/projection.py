"""Counts that use a known total: the number of people who took part.

Where everybody holds one of d bins, the true counts z_j add up to the n people who took part
(``model.known_total``). With zhat_j the unbiased counts and Z their sum, the shown counts are

    zhat_j - (Z - n) / d,

unbiased again, and the nearest counts that add up to n. With noise that is independent and of the
same variance V in every bin, the variance is V (1 - 1/d): V / d is that of Z / d, which is
uncorrelated with what is left. Differences of two counts do not change.

**What the total tells, mechanism by mechanism.**

- Fakes of mixes in clear: their noise X_j is independent and alike, so V (1 - 1/d).
- Flipped bits: N q (1 - q) / gain^2 in every bin whatever is true, so V (1 - 1/d) of the flips.
  Uniform fakes among them are a multinomial, whose sum is always their number, so that nothing of
  their part is gained.
- Uniform fakes in clear, and replaced values: the tallied counts add up to the messages, so Z is
  always n, and nothing changes.
- Planes: the covariance of two counts depends on which values lie in one plane with which. A total
  of d bins would tell at most a share 1/d of the variance, and planes are for many bins. So these
  counts are shown as they are.

**Groups.** G has g of the d bins, and zhat_G is the sum of their unbiased counts. The sum of their
shown counts is zhat_G - (Z - n) g / d. Of independent noise its variance is

    g V - 2 (g / d) g V + (g / d)^2 d V = V g (1 - g / d).

Of K uniform fakes among flips, Bin(K, g / d) hold a bin of G, and their sum moves nothing. A person
is counted k times, so they add (K / d) g (1 - g / d) / k^2, which is the same with (K / d) / k^2 in
place of V. All bins together are n people, without error.

**Intervals** follow from the distribution of X, the noise of one bin or of the g bins of G, given
T, the sum of the noise of all bins. T is known: it is what is tallied of all bins less n. With f
the distribution of X and h that of the sum of the other bins' noise,

    P(X = x | T) = f(x) h(T - x) / sum over y of f(y) h(T - y).

The mean is T g / d where bins are alike, so the shown count is the tallied one less the mean of its
noise given everything that is known. Of fakes of mixes f and h do not depend on the counts. Of
flips f depends on z, the people in the g bins, and h on the n - z people of all other bins, so the
test of z needs no other unknown. X given T falls in z and z + X given T rises, as the distributions
of sums of coins are log-concave, so ends are found as without a total (``intervals``). Among
uniform fakes that are flipped, and where more than ``MOST_EXACT_ONES`` flips are expected, the
normal approximation is bent to the cumulants of the sum with the weights 1 - g/d and -g/d.

Source: proved here; the mean given T is the Rao-Blackwell theorem's (Lehmann, Casella, Theory of
Point Estimation, 1998, chapter 1.7), the test is conditional on T (Lehmann, Romano, Testing
Statistical Hypotheses, 2005, chapter 4).
"""

from collections.abc import Sequence

import numpy as np

from mixtally.model.estimates import Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats, window
from mixtally.protocol.estimate.cumulants import Cumulants, cumulants
from mixtally.protocol.estimate.noise import KnownTotal


def is_informative(mechanism: Shuffled) -> bool:
    """Return whether the sum of the tallied counts tells anything about their noise."""
    return mechanism.flip_threshold is not None or mechanism.shaped_fakes is not None


def totals_of(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[KnownTotal]:
    """Return the known totals of consecutive bins, ``sizes`` of them each.

    There are none where they tell nothing, and none where honest messages never come to such a sum:
    then messages were not drawn as planned, and the people can be no guide to the noise.
    ``implausible_totals`` has these sums.
    """
    found = _possible_totals(mechanism, tally, people, sizes)
    return found if all(_is_plausible(mechanism, tally.messages, one) for one in found) else []


def implausible_totals(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[tuple[KnownTotal, int, int]]:
    """Return the totals that honest messages never come to, each with the sums that they come to.

    A sum is what is tallied of all bins. One such total keeps all counts of ``tally`` from using
    any, as ``totals_of`` says.
    """
    if mechanism.flip_threshold is None:
        return []
    found = _possible_totals(mechanism, tally, people, sizes)
    return [
        (one, *_plausible_sums(mechanism, tally.messages, one))
        for one in found
        if not _is_plausible(mechanism, tally.messages, one)
    ]


def _possible_totals(
    mechanism: Shuffled, tally: Tally, people: int, sizes: Sequence[int]
) -> list[KnownTotal]:
    """Return the totals that tell anything, whether honest messages come to them or not."""
    if not is_informative(mechanism):
        return []
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    return [
        KnownTotal(people, bins, int(tally.counts[first : first + bins].sum()))
        for first, bins in zip(starts, sizes, strict=True)
    ]


def total_over(totals: Sequence[KnownTotal], place: int) -> int | None:
    """Return which of the ``totals`` of consecutive bins a bin is part of; None without totals."""
    ends = np.cumsum([one.bins for one in totals])
    return int(np.searchsorted(ends, place, side="right")) if totals else None


def excess_of(mechanism: Shuffled, messages: int, total: KnownTotal) -> float:
    """Return by how much the unbiased counts of a total exceed its people."""
    offset = total.bins * mechanism.offset(messages)
    return (total.tallied - offset) / mechanism.gain - total.people


def project_to_totals(
    mechanism: Shuffled, counts: Floats, messages: int, totals: Sequence[KnownTotal]
) -> Floats:
    """Return unbiased counts moved so that those of each total add up to its people."""
    if not totals:
        return counts
    shifts = [excess_of(mechanism, messages, one) / one.bins for one in totals]
    moved: Floats = counts - np.repeat(shifts, [one.bins for one in totals])
    return moved


def projected_cumulants(
    mechanism: Shuffled, messages: int, counts: Floats, total: KnownTotal, size: int = 1
) -> Cumulants:
    """Return the cumulants of the noise of counts that use a total, shape as ``counts``.

    Each count is that of ``size`` bins. The weights 1 - g/d of its g bins and -g/d of all others
    add up to nothing, as ``cumulants`` needs. Third cumulants are linear in the counts, so those of
    several bins follow from the people in them.
    """
    share, others = size / total.bins, total.bins - size
    alone = cumulants(mechanism, messages, np.array([0.0, 1.0]))
    none, one = alone.third.tolist()
    third_inside = size * none + counts * (one - none)
    third_outside = others * none + (total.people - counts) * (one - none)
    return Cumulants(
        alone.variance * size * (1.0 - share),
        third_inside * (1.0 - share) ** 3 - third_outside * share**3,
        alone.fourth * (size * (1.0 - share) ** 4 + others * share**4),
    )


def _is_plausible(mechanism: Shuffled, messages: int, total: KnownTotal) -> bool:
    """Return whether honest messages may have tallied such a sum.

    Of fakes of mixes this is checked when messages arrive. Of all bits some are truly set, those of
    people and of uniform fakes, and each is flipped by its own coin.
    """
    if mechanism.flip_threshold is None:
        return True
    least, most = _plausible_sums(mechanism, messages, total)
    return least <= total.tallied <= most


def _plausible_sums(mechanism: Shuffled, messages: int, total: KnownTotal) -> tuple[int, int]:
    """Return the smallest and the largest sum that flipped honest messages come to."""
    ones = total.people * mechanism.repeats + round(total.bins * mechanism.true_fakes)
    zeros = total.bins * messages - ones
    rose, fell = (window(many, mechanism.flip_probability) for many in (zeros, ones))
    return ones + rose.first - fell.last, ones + rose.last - fell.first
