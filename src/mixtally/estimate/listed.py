"""How many messages point at listed words, and how many people hold words that are not listed.

A word is counted by the messages that point at it (``planes``). All others, whatever they hold, are

    u = n - sum of z over the list = n - (W - k (n kappa + m / p)) / (1 - kappa),

with W how often messages point at any of the k words. Messages are drawn independently, so that
W, the sum of W_i over messages i, varies by

    sum of E W_i^2 - (E W_i)^2,    E W_i = k / p of a fake, k kappa of one of the u people, and
                                           1 + (k - 1) kappa of one whose word is listed,

of which sum W_i^2 and u as it is estimated give an estimate without bias. Its interval is normal.
Where a message is replaced by a fake with the chance g, people's means are 1 - g of these and g of
a fake's, and the counts z those of ``KaryResponse``.
"""

import math
from statistics import NormalDist

from mixtally.estimate.planes import pointing_at
from mixtally.records.listed import Listed
from mixtally.records.mechanism import InClear, KaryResponse
from mixtally.records.planes import Planes
from mixtally.records.results import Row, Tally


def tally_of(planes: Planes, tally: Tally, listed: Listed) -> tuple[Tally, float]:
    """How many messages point at each line, and the sum of W_i^2 over messages."""
    counts, squares = pointing_at(planes, tally, listed.lines)
    return Tally(counts, tally.messages), squares


def others(
    mechanism: InClear | KaryResponse, lines: Tally, squares: float, people: int, level: float
) -> Row:
    """The people whose words are not listed."""
    found = people - float(mechanism.unbiased(lines.counts, lines.messages).sum())
    words, meeting = len(lines.counts), mechanism.meeting
    kept = mechanism.kept if isinstance(mechanism, KaryResponse) else 1.0
    fake = words / mechanism.cells
    means = (
        (mechanism.fakes_sent, fake),
        (found, kept * words * meeting + (1.0 - kept) * fake),
        (people - found, kept * (1.0 + (words - 1) * meeting) + (1.0 - kept) * fake),
    )
    spread = squares - sum(count * mean**2 for count, mean in means)
    error = math.sqrt(max(0.0, spread)) / mechanism.gain
    half = NormalDist().inv_cdf(0.5 + 0.5 * level) * error
    low, high = (min(max(end, 0.0), float(people)) for end in (found - half, found + half))
    return Row("people with a word not listed", found, low, high, error)
