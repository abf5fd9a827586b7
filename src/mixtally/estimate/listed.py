"""How many messages point at listed words, and how many people hold words that are not listed.

A word is counted by the messages that point at it (``planes``). All others, whatever they hold, are

    u = k n - sum of z over the list,    W = sum of S over the list,

with k the most words of a person, who sends as many messages. The list has c points: the listed
words' and, of sets, the k pads', of which a person has k less their words. Messages are drawn
independently, so that W, the sum of W_i over messages i, varies by

    sum of E W_i^2 - (E W_i)^2,    E W_i = c / p of a fake, c kappa of a message not listed, and
                                           1 + (c - 1) kappa of one whose word is listed,

of which sum W_i^2 and u as it is estimated give an estimate without bias. Its interval is normal.
Of sets kappa is 1/p, and a message never points at the k - 1 other members of its own: where some
of these are listed its mean is less. As if all were, its means are (c - k + 1) / p and
1 + (c - k) / p, which makes the error too large rather than too small.
Where a message is replaced by a fake with the chance g, people's means are 1 - g of these and g of
a fake's, and the counts z those of ``KaryResponse``.
"""

import math
from statistics import NormalDist

import numpy as np

from mixtally.estimate.planes import pointing_at
from mixtally.records.listed import Listed
from mixtally.records.mechanism import InClear, KaryResponse
from mixtally.records.planes import Planes, points_at
from mixtally.records.results import Row, Tally


def tally_of(
    planes: Planes, tally: Tally, listed: Listed, most_set: int = 1
) -> tuple[Tally, float]:
    """How many messages point at each line and, of sets, at each pad behind them; and the sum of
    W_i^2 over messages.
    """
    points, pads = listed.lines, most_set if most_set > 1 else 0
    lacking = planes.points + np.arange(pads)
    points = np.concatenate([points, points_at(planes.bare, lacking, planes.points)])
    counts, squares = pointing_at(planes, tally, points)
    return Tally(counts, tally.messages), squares


def others(
    mechanism: InClear | KaryResponse, every: Tally, squares: float, people: int, level: float
) -> Row:
    """How many words people hold that are not listed, by what ``tally_of`` counts."""
    most, points, meeting = mechanism.max_set, len(every.counts), mechanism.meeting
    found = most * people - float(mechanism.unbiased(every.counts, every.messages).sum())
    kept = mechanism.kept if isinstance(mechanism, KaryResponse) else 1.0
    fake = points / mechanism.cells
    means = (
        (mechanism.fakes_sent, fake),
        (found, kept * (points - most + 1) * meeting + (1.0 - kept) * fake),
        (most * people - found, kept * (1.0 + (points - most) * meeting) + (1.0 - kept) * fake),
    )
    spread = squares - sum(count * mean**2 for count, mean in means)
    error = math.sqrt(max(0.0, spread)) / mechanism.gain
    half = NormalDist().inv_cdf(0.5 + 0.5 * level) * error
    low, high = (min(max(end, 0.0), float(most * people)) for end in (found - half, found + half))
    label = "people with a word not listed" if most == 1 else "words not listed, of all people"
    return Row(label, found, low, high, error)
