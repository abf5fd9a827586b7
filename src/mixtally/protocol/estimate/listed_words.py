"""Counts of people whose words are not on the list, for an open domain.

``conclude.words`` calls this module. A message names a plane, and *points at* every value whose
point is in this plane. The count of a word on the list is the number of messages that point at it
(``planes``). Each of n people has s <= k words and sends k messages: s for the words and, for sets,
k - s for pads, which are points in place of missing words. The list has c points: those of the
listed words and, for sets, the k pads. Let z be the unbiased count of a point and S its tally. Then

    u = k n - sum of z over the list,    W = sum of S over the list,

and u estimates the number of words that are not on the list. W is the sum of W_i, the number of
listed points at which message i points. Messages are independent, so the variance of W is the sum
of E W_i^2 - (E W_i)^2. Let p be the number of planes in a direction, and kappa the probability that
the message of one value points at a given other value. Then

    E W_i = c / p              for a fake,
    E W_i = c kappa            for a message whose word is not listed,
    E W_i = 1 + (c - 1) kappa  for a message whose word is listed.

In this variance the observed sum of W_i^2 replaces its expectation, and the estimate of u replaces
u. The result is an unbiased estimate of the variance, and its root is the standard error.

**The interval** contains every u that a normal test with the variance v(u) accepts, rounded
outwards to whole numbers. The variance estimate from the sum of W_i^2 is not used for the interval.
It is small when the estimate of u is large, and 95 % intervals for 80 people would cover only 91 %.
Instead v(u) is the average over keys of the hash, which place all c points at random. Let t be the
number of digits of a point. Take two listed points and a message whose word has neither point. Both
points lie in the plane of the message with probability kappa2 = kappa (p^(t-1) - 2) / (p^t - 2). So
W_i has the variance c kappa (1 - kappa) + c (c - 1) (kappa2 - kappa^2). A fake names a uniform
plane, which contains two given points with probability kappa / p.

**Sets.** Here kappa is 1/p, and a message never points at the other k - 1 members of its set. So
each of these members that is listed makes the mean of W_i smaller. The means (c - k + 1) / p and
1 + (c - k) / p are used, as if all of them were listed. This makes the standard error larger, never
smaller.

**Replaced messages.** If a message is replaced by a fake with probability g, the mean of a person's
message is 1 - g times the mean above plus g times the mean of a fake. The counts z are those of
``KaryResponse``.
"""

import math
from functools import partial
from statistics import NormalDist

import numpy as np

from mixtally.model.estimates import Row, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.model.planes import Planes, bin_points, points_at
from mixtally.model.word_list import WordList
from mixtally.primitives.bits import spans
from mixtally.primitives.wide import Numbers, is_wide
from mixtally.protocol.estimate.analysis import MapPieces
from mixtally.protocol.estimate.planes import count_pointing_at

_PRODUCTS, _MESSAGES = 1 << 27, 1 << 10
"""The maximum number of pairs (message, point) in a piece of work, which takes some tenths of a
second. A piece has at least the second number of messages.
"""


def tally_listed_words(
    planes: Planes, tally: Tally, listed: WordList, most_set: int = 1, across: MapPieces = map
) -> tuple[Tally, float]:
    """Count the messages that point at each listed word and, for sets, at each pad.

    Returns a tally of the listed words followed by the pads, and the sum of W_i^2 over messages.
    ``across`` is called like ``map`` for pieces of the tally. The sums are whole numbers below
    2^53, so the result does not depend on the pieces.
    """
    points: Numbers
    if most_set == 1:
        points = bin_points(planes.device_planes, listed.lines, planes.points)
    else:
        over = planes.device_planes
        lacking = points_at(over, over.text_bins + np.arange(most_set), over.text_bins)
        lines: Numbers = listed.lines
        if is_wide(lacking):
            lines = points_at(over, lines, over.text_bins)
        points = np.concatenate([lines, lacking])
    counts, squares = np.zeros(len(points), dtype=np.int64), 0.0
    work = partial(count_pointing_at, planes, points=points)
    for found, square in across(work, _split_tally(tally, len(points))):
        counts += found
        squares += square
    return Tally(counts, tally.messages), squares


def _split_tally(tally: Tally, points: int) -> list[Tally]:
    """Split a tally into pieces of about equal work."""
    codes, times = tally.nonzero_counts
    some = spans(len(codes), max(_MESSAGES, _PRODUCTS // max(1, points)))
    return [Tally(times[those], int(times[those].sum()), None, codes[those]) for those in some]


def estimate_unlisted(
    mechanism: Shuffled, every: Tally, squares: float, people: int, level: float
) -> Row:
    """Estimate the number of words that people have and that are not listed.

    ``every`` and ``squares`` are the results of ``tally_listed_words``.
    """
    most, points, meeting = mechanism.most_set, len(every.counts), mechanism.collision_probability
    found = most * people - float(mechanism.debias_counts(every.counts, every.messages).sum())
    kept = mechanism.keep_probability
    fake = points / mechanism.cells
    means = (
        (mechanism.fakes_sent, fake),
        (found, kept * (points - most + 1) * meeting + (1.0 - kept) * fake),
        (most * people - found, kept * (1.0 + (points - most) * meeting) + (1.0 - kept) * fake),
    )
    spread = squares - sum(count * mean**2 for count, mean in means)
    error = math.sqrt(max(0.0, spread)) / mechanism.gain
    low, high = _invert_unlisted(mechanism, points, found, people, level)
    label = "people with a word not listed" if most == 1 else "words not listed, of all people"
    return Row(label, found, low, high, error)


def _invert_unlisted(
    mechanism: Shuffled, points: int, found: float, people: int, level: float
) -> tuple[int, int]:
    """Return the smallest and the largest u that a normal test with the variance v(u) accepts.

    ``points`` is the length c of the list, and ``found`` the estimate of u. The variance of W is
    linear in u: v(u) = a + b u. Let z be the normal quantile. The ends are the roots of
    gain^2 (u - found)^2 = z^2 (a + b u), rounded outwards.
    """
    every = mechanism.most_set * people
    fake, unlisted, listed = _variances(mechanism, points)
    constant = mechanism.fakes_sent * fake + every * listed
    slope = unlisted - listed
    z = NormalDist().inv_cdf(0.5 + 0.5 * level) / mechanism.gain
    shift = 0.5 * z * z * slope
    half = math.sqrt(max(0.0, shift * shift + z * z * (constant + slope * found)))
    low, high = math.floor(found + shift - half), math.ceil(found + shift + half)
    return min(max(low, 0), every), min(max(high, 0), every)


def _variances(mechanism: Shuffled, points: int) -> tuple[float, float, float]:
    """Return the variances of the number W of words of the list that one message matches.

    The three variances are for a fake, for the message of a word that is not listed, and for the
    message of a listed word. They are averages over random keys of the hash. The list has
    ``points`` words.
    """
    planes = mechanism.planes
    assert planes is not None
    p, every = planes.prime, planes.points
    plane = every // p

    def count_variance(many: int, chance: float, two: float) -> float:
        return many * chance * (1.0 - chance) + many * (many - 1) * (two - chance * chance)

    meeting = mechanism.collision_probability
    two = meeting * max(0, plane - 2) / (every - 2) if mechanism.most_set == 1 else meeting**2
    of_fake = count_variance(points, 1.0 / p, planes.collision_probability / p)
    kept = mechanism.keep_probability
    own = [
        (points * meeting, count_variance(points, meeting, two)),
        (1.0 + (points - 1) * meeting, count_variance(points - 1, meeting, two)),
    ]
    uniform = points / p

    def mixture_variance(mean: float, variance: float) -> float:
        return (
            kept * variance + (1.0 - kept) * of_fake + kept * (1.0 - kept) * (mean - uniform) ** 2
        )

    return of_fake, mixture_variance(*own[0]), mixture_variance(*own[1])
