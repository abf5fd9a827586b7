"""How large sets are, out of the pads that stand for what a set in clear lacks.

A set of s members among at most k takes the first k - s of k pads. So pad i, counted from 0, holds
everybody with at most k - 1 - i members, and all pads together, of which m fakes bring a
Binomial(m, k/D) number, hold k a person less all members: the mean size of a set is k less that.
"""

import math

from mixtally.estimate.intervals import intervals
from mixtally.estimate.noise import distribution_of
from mixtally.records.mechanism import InClear
from mixtally.records.mechanism.base import Noise
from mixtally.records.results import Figures, Row, Tally

NAME = "sizes"
MEAN = "members of a set, on average"


def set_sizes(name: str, mechanism: InClear, tally: Tally, people: int, level: float) -> Figures:
    """The mean size of a set, then how many people's sets are of at most 0, 1, .. members.

    where
      name        of the question
      mechanism   with the fakes that came, among which ``people`` sent a set each
      tally       of all cells, shape (bins + most members,)
    """
    most = mechanism.max_set
    pads = Tally(tally.counts[mechanism.bins :], tally.messages)
    each, together = (
        intervals(mechanism, pads, level, simultaneous_over=among) for among in (1, most)
    )
    counts = mechanism.unbiased(pads.counts, pads.messages)
    error = math.sqrt(mechanism.variance(pads.messages))
    rows = [_mean(mechanism, int(pads.counts.sum()), people, level)]
    for members, pad in enumerate(range(most - 1, -1, -1)):
        rows.append(
            Row(
                size_label(members),
                float(counts[pad]),
                int(each.lower[pad]),
                int(each.upper[pad]),
                error,
                int(together.lower[pad]),
                int(together.upper[pad]),
            )
        )
    return Figures(
        NAME,
        f"{name}: how large sets are",
        f"Out of the pads by which all sets travel as {most} messages, {100 * level:g} % for each "
        "number alone.",
        tuple(rows),
    )


def size_label(members: int) -> str:
    """What is counted of sets of at most so many members."""
    if not members:
        return "people with an empty set"
    return f"people with at most {members} member{'s' * (members > 1)}"


def _mean(mechanism: InClear, padded: int, people: int, level: float) -> Row:
    """Exact: the ends of what fakes may have brought of the pads, each with half the error."""
    most, fakes = mechanism.max_set, mechanism.fakes_promised
    share, tail = most / mechanism.cells, (1.0 - level) / 2.0
    noise = distribution_of(Noise(0, ((fakes, share),)))

    def mean(brought: float) -> float:
        return most - (padded - brought) / people

    def inside(value: float) -> float:
        return min(max(value, 0.0), float(most))

    return Row(
        MEAN,
        mean(fakes * share),
        inside(mean(noise.lowest(tail))),
        inside(mean(noise.highest(tail))),
        math.sqrt(fakes * share * (1.0 - share)) / people,
    )
