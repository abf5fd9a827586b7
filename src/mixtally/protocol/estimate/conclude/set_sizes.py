"""How large sets are, out of the pads that stand for what a set in clear lacks.

A set of s members among at most k takes the first k - s of k pads. So pad i, counted from 0, holds
everybody with at most k - 1 - i members, and all pads together hold k a person less all members:
the mean size of a set is k less that. Of m uniform fakes a Binomial(m, k/D) number are pads; of
shaped ones every mix draws a number for every pad. Over planes, and where messages are replaced,
pads are values like others, whose intervals that hold at once add up.
"""

import math

import numpy as np

from mixtally.model.estimates import Figures, Row, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.model.mechanism.base import Noise
from mixtally.protocol.estimate.debias import adjust_level, total_variation_of
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.noise import NoiseDistribution, noise_of_parts, sum_of_draws

NAME = "sizes"
MEAN = "members of a set, on average"
_ROUNDING = 1e-9
"""More than the rounding of a transform, in the chance of a tail."""


def set_sizes(name: str, mechanism: Shuffled, pads: Tally, people: int, level: float) -> Figures:
    """The mean size of a set, then how many people's sets are of at most 0, 1, .. members.

    where
      name        of the question
      mechanism   with the fakes that came, among which ``people`` sent a set each
      pads        how many messages name each, shape (most members,)
    """
    most = mechanism.most_set
    target, how = adjust_level(level, most * total_variation_of(mechanism, people, hashed=False))
    each, together = (
        intervals(mechanism, pads, target, simultaneous_over=among) for among in (1, most)
    )
    counts = mechanism.debias_counts(pads.counts, pads.messages)
    held = np.clip(np.rint(counts), 0, people).astype(int).tolist()
    errors = [math.sqrt(mechanism.variance_at(pads.messages, one)) for one in held]
    if mechanism.is_in_clear and mechanism.planes is None:
        rows = [_exact_mean_row(mechanism, int(pads.counts.sum()), people, level)]
    else:
        lower, upper = (float(ends.sum()) for ends in (together.lower, together.upper))
        found, off = float(counts.sum()), math.hypot(*errors)
        rows = [_mean_row(most, people, found, (lower, upper), off)]
    for members, pad in enumerate(range(most - 1, -1, -1)):
        rows.append(
            Row(
                size_label(members),
                float(counts[pad]),
                int(each.lower[pad]),
                int(each.upper[pad]),
                errors[pad],
                int(together.lower[pad]),
                int(together.upper[pad]),
            )
        )
    return Figures(
        NAME,
        f"{name}: how large sets are",
        f"Out of the pads by which all sets travel as {most} messages, {100 * level:g} % for each "
        f"number alone{how}.",
        tuple(rows),
    )


def size_label(members: int) -> str:
    """What is counted of sets of at most so many members."""
    if not members:
        return "people with an empty set"
    return f"people with at most {members} member{'s' * (members > 1)}"


def _exact_mean_row(mechanism: Shuffled, padded: int, people: int, level: float) -> Row:
    """Exact: the ends of what fakes may have brought of the pads, each with half the error."""
    most, tail = mechanism.most_set, (1.0 - level) / 2.0
    noise, usual, error = _pad_noise(mechanism)
    if mechanism.shaped_fakes is not None:
        tail = max(0.0, tail - _ROUNDING)

    ends = padded - noise.highest(tail), padded - noise.lowest(tail)
    return _mean_row(most, people, padded - usual, ends, error)


def _mean_row(most: int, people: int, pads: float, ends: tuple[float, float], error: float) -> Row:
    """The mean size when people's sets take so many pads, between two ends."""
    low, high = (min(max(most - end / people, 0.0), float(most)) for end in reversed(ends))
    return Row(MEAN, most - pads / people, low, high, error / people)


def _pad_noise(mechanism: Shuffled) -> tuple[NoiseDistribution, float, float]:
    """How many fakes are pads: the distribution, its mean and its standard deviation."""
    shaped, fakes = mechanism.shaped_fakes, mechanism.fakes_promised
    if shaped is None:
        share = mechanism.most_set / mechanism.cells
        noise = noise_of_parts(Noise(0, ((fakes, share),)))
        return noise, fakes * share, math.sqrt(fakes * share * (1.0 - share))
    draws, shape = mechanism.most_set * shaped.mixes, shaped.shape
    noise = sum_of_draws(shape.weights, draws)
    return noise, draws * shape.mean, math.sqrt(draws * shape.spread)
