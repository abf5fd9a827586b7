"""The sizes of sets, from the pads that stand for missing members.

``conclude`` calls ``set_sizes`` for sets in clear and over planes. A person with a set of s
members, at most k, sends the first k - s of k *pads*, additional bins that stand for missing
members. So pad i, counted from 0, is sent by everyone with at most k - 1 - i members. For n people,
the total number of pads is k n minus the total number of members. The mean size of a set is
therefore k minus the mean number of pads of a person. Let D be the number of cells: bins and pads.
A uniform fake is a pad with probability k/D, so Bin(m, k/D) of m uniform fakes are pads. With
shaped fakes, every mix draws a number of fakes for every pad. Over planes, with replaced messages
and with sampled slots, each pad is counted like a bin. The ends of the interval of the total are
then the sums of the ends of the pads' simultaneous intervals.
"""

import math

import numpy as np

from mixtally.model.estimates import Figures, Row, Tally, make_row
from mixtally.model.mechanism import Shuffled
from mixtally.model.mechanism.base import Noise
from mixtally.protocol.estimate.debias import adjust_level, total_variation_of
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.noise import (
    TAIL_ROUNDING,
    NoiseDistribution,
    noise_of_parts,
    sum_of_draws,
)

NAME = "sizes"
MEAN = "members of a set, on average"


def set_sizes(name: str, mechanism: Shuffled, pads: Tally, people: int, level: float) -> Figures:
    """Estimate the mean size of a set, and the numbers of sets with at most 0, 1, .. members.

    ``name`` is the name of the question, and ``mechanism`` has the fakes that arrived. ``pads`` is
    the tally of the pads, shape (maximum number of members,). ``people`` is the number of people;
    each sent one set.
    """
    most = mechanism.most_set
    target, how = adjust_level(level, most * total_variation_of(mechanism, people, hashed=False))
    each, simultaneous = (
        intervals(mechanism, pads, target, simultaneous_over=among) for among in (1, most)
    )
    counts = mechanism.debias_counts(pads.counts, pads.messages)
    rounded = np.clip(np.rint(counts), 0, people).astype(int).tolist()
    errors = [math.sqrt(mechanism.variance_at(pads.messages, one)) for one in rounded]
    if mechanism.is_in_clear and not mechanism.noise_by_count:
        rows = [_exact_mean_row(mechanism, int(pads.counts.sum()), people, level)]
    else:
        lower, upper = (float(ends.sum()) for ends in (simultaneous.lower, simultaneous.upper))
        found, off = float(counts.sum()), math.hypot(*errors)
        rows = [_mean_row(most, people, found, (lower, upper), off)]
    rows += [
        make_row(counts, errors[pad], each, simultaneous, pad, size_label(members))
        for members, pad in enumerate(range(most - 1, -1, -1))
    ]
    return Figures(
        NAME,
        f"{name}: how large sets are",
        f"Computed from the pads that fill every set up to {most} messages, with "
        f"{100 * level:g} % intervals for each number alone{how}.",
        tuple(rows),
    )


def size_label(members: int) -> str:
    """Return the label of the count of sets with at most ``members`` members."""
    if not members:
        return "people with an empty set"
    return f"people with at most {members} member{'s' * (members > 1)}"


def _exact_mean_row(mechanism: Shuffled, padded: int, people: int, level: float) -> Row:
    """Return the row of the mean size, with an exact interval.

    The interval uses the exact distribution of the number of fakes that are pads.

    ``padded`` is the number of messages that name pads. Each end misses with probability at most
    (1 - ``level``) / 2.
    """
    most, tail = mechanism.most_set, (1.0 - level) / 2.0
    noise, usual, error = _pad_noise(mechanism)
    if mechanism.shaped_fakes is not None:
        # A smaller tail makes the interval wider, so rounding errors never narrow it.
        tail = max(0.0, tail - TAIL_ROUNDING)

    ends = padded - noise.highest(tail), padded - noise.lowest(tail)
    return _mean_row(most, people, padded - usual, ends, error)


def _mean_row(most: int, people: int, pads: float, ends: tuple[float, float], error: float) -> Row:
    """Return the row of the mean size, computed from the number of pads that people sent.

    ``pads`` estimates this number; ``ends`` are the ends of its interval, and ``error`` is its
    standard error. ``most`` is the maximum number of members of a set.
    """
    low, high = (min(max(most - end / people, 0.0), float(most)) for end in reversed(ends))
    return Row(MEAN, most - pads / people, low, high, error / people)


def _pad_noise(mechanism: Shuffled) -> tuple[NoiseDistribution, float, float]:
    """Return the distribution of the number of fakes that name pads, with mean and deviation."""
    shaped, fakes = mechanism.shaped_fakes, mechanism.fakes_promised
    if shaped is None:
        share = mechanism.most_set / mechanism.cells
        noise = noise_of_parts(Noise(0, ((fakes, share),)))
        return noise, fakes * share, math.sqrt(fakes * share * (1.0 - share))
    draws, shape = mechanism.most_set * shaped.mixes, shaped.shape
    noise = sum_of_draws(shape.weights, draws)
    return noise, draws * shape.mean, math.sqrt(draws * shape.spread)
