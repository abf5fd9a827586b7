"""How many messages point at listed words, and how many people hold words that are not listed.

A word is counted by the messages that point at it (``planes``). All others, whatever they hold, are

    u = k n - sum of z over the list,    W = sum of S over the list,

with k the most words of a person, who sends as many messages. The list has c points: the listed
words' and, of sets, the k pads', of which a person has k less their words. Messages are drawn
independently, so that W, the sum of W_i over messages i, varies by

    sum of E W_i^2 - (E W_i)^2,    E W_i = c / p of a fake, c kappa of a message not listed, and
                                           1 + (c - 1) kappa of one whose word is listed,

of which sum W_i^2 and u as it is estimated give an estimate without bias: the standard error.

The interval holds every u that a test with the variance v(u) accepts, rounded outwards, as u is a
whole number. That variance is the average over keys, which place all c points at random. Two
points lie on the plane of a message that points at neither's own word with kappa2 =
kappa (p^(t-1) - 2) / (p^t - 2), so that W_i varies by c kappa (1 - kappa) + c (c - 1)
(kappa2 - kappa^2); two points lie on a uniform plane with kappa / p. The estimate of the variance
by sum W_i^2 is not used here: it falls where the estimate of u is too large, and intervals of 80
people would hold 91 % where they state 95 %.
Of sets kappa is 1/p, and a message never points at the k - 1 other members of its own: where some
of these are listed its mean is less. As if all were, its means are (c - k + 1) / p and
1 + (c - k) / p, which makes the error too large rather than too small.
Where a message is replaced by a fake with the chance g, people's means are 1 - g of these and g of
a fake's, and the counts z those of ``KaryResponse``.
"""

import math
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Row, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.model.planes import Planes, bin_points, points_at
from mixtally.model.word_list import WordList
from mixtally.primitives.bits import spans
from mixtally.protocol.estimate.analysis import MapPieces, PointingCounts
from mixtally.protocol.estimate.planes import count_pointing_at

_PRODUCTS, _MESSAGES = 1 << 27, 1 << 10
"""Products of a piece, which take some tenths of a second, and its least messages."""


def tally_listed_words(
    planes: Planes, tally: Tally, listed: WordList, most_set: int = 1, across: MapPieces = map
) -> tuple[Tally, float]:
    """How many messages point at each line and, of sets, at each pad behind them; and the sum of
    W_i^2 over messages.

    ``across`` counts pieces of the messages. Their sums are whole numbers below 2^53, so that the
    result does not depend on the pieces.
    """
    if most_set == 1:
        points = bin_points(planes.device_planes, listed.lines, planes.points)
    else:
        lacking = planes.points + np.arange(most_set)
        points = np.concatenate(
            [listed.lines, points_at(planes.device_planes, lacking, planes.points)]
        )
    counts, squares = np.zeros(len(points), dtype=np.int64), 0.0
    work = partial(_count_pointing, planes, points)
    for found, square in across(work, _split_tally(tally, len(points))):
        counts += found
        squares += square
    return Tally(counts, tally.messages), squares


def _count_pointing(planes: Planes, points: NDArray[np.int64], tally: Tally) -> PointingCounts:
    return count_pointing_at(planes, tally, points)


def _split_tally(tally: Tally, points: int) -> list[Tally]:
    codes, times = tally.nonzero_counts
    some = spans(len(codes), max(_MESSAGES, _PRODUCTS // max(1, points)))
    return [Tally(times[those], int(times[those].sum()), None, codes[those]) for those in some]


def estimate_unlisted(
    mechanism: Shuffled, every: Tally, squares: float, people: int, level: float
) -> Row:
    """How many words people hold that are not listed, by what ``tally_of`` counts."""
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
    """Return the least and the largest number that a test with its own variance accepts.

    With a + b u the variance of the total and z the normal quantile, the ends are the roots of
    gain^2 (u - found)^2 = z^2 (a + b u).
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
    """Return how much the points that a message points at vary in number, over random keys.

    The three variances are those of a fake, of a word that is not listed, and of a listed word.
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
