"""The result of one round of a prefix search: which extensions of prefixes people have.

``lab.simulation.heavy`` and the collector call this module for every round.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.draw import Integers
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends, cumulants
from mixtally.protocol.estimate.debias import errors_by_count
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.item_sets import find_first_true
from mixtally.protocol.estimate.noise import least_significant


@dataclass(frozen=True, slots=True, eq=False)
class Extensions:
    """The bins whose tally is at least ``threshold``, in descending order of their tallies.

    All arrays have one entry for each of these bins. ``counts`` estimate how many people of the
    whole population have the extension, even if the round asks only a sample of them. ``errors``
    are the standard errors of ``counts``. The intervals from ``lower`` to ``upper`` hold for all
    bins of all rounds at once.
    """

    threshold: int
    bins: Integers
    counts: NDArray[np.float64]
    errors: NDArray[np.float64]
    lower: Integers
    upper: Integers


def conclude_extensions(
    mechanism: Shuffled,
    tally: Tally,
    asked: int,
    *,
    people: int,
    users: int,
    tests: int,
    error_rate: float,
) -> Extensions:
    """Find the extensions that somebody has, among the first ``asked`` bins, and estimate counts.

    Parameters
    ----------
    mechanism, tally : Shuffled, Tally
        The mechanism of the round, fakes included, and the tally of its messages.
    asked : int
        The number of bins that stand for extensions.
    people, users : int
        The number of people in the round, who are a random sample, and the number of all people.
    tests : int
        The number of bins that are tested in all rounds together.
    error_rate : float
        The maximum probability that a bin that nobody has is found in any of the rounds. The
        intervals have the level 1 - ``error_rate``.
    """
    least = least_significant(mechanism, tally.messages, tests, error_rate)
    bins = np.flatnonzero(tally.counts[:asked] >= least)
    bins = bins[np.argsort(-tally.counts[bins], kind="stable")]
    seen = Tally(tally.counts[bins], tally.messages)
    counts = mechanism.debias_counts(seen.counts, seen.messages) * (users / people)
    own = errors_by_count(mechanism, tally.messages, counts * (people / users), people)
    noise = np.full(len(counts), math.sqrt(mechanism.variance(tally.messages)))
    noise = noise if own is None else own
    ends = intervals(mechanism, seen, 1.0 - error_rate, simultaneous_over=tests)
    shares = np.clip(counts / users, 0.0, 1.0)
    each = zip(noise.tolist(), shares.tolist(), strict=True)
    errors = np.array([population_error(one, users, people, share) for one, share in each])
    lower, upper = ends.lower, ends.upper
    if people < users:
        # Each test has an equal share of the error, half of it in each tail.
        tail = error_rate / tests / 2.0
        lower, upper = _population_ends(mechanism, seen, people=people, users=users, tail=tail)
    return Extensions(least, bins, counts, errors, lower, upper)


def population_error(noise: float, users: int, asked: int, share: float) -> float:
    """Return the standard error of a count of all people, estimated from a random sample.

    The number of people in the sample who have the bin is hypergeometric.

    Parameters
    ----------
    noise : float
        The standard error of the count in the sample that is due to the mechanism.
    users : int
        The number of all people.
    asked : int
        The number of people in the sample.
    share : float
        The share of people who have the bin.
    """
    drawn = asked * share * (1.0 - share) * (1.0 - asked / users)
    return users / asked * math.sqrt(noise**2 + drawn)


def _population_ends(
    mechanism: Shuffled, seen: Tally, *, people: int, users: int, tail: float
) -> tuple[Integers, Integers]:
    """Return the interval ends of counts of ``users`` people, from a random sample of ``people``.

    Each end misses the true count with probability ``tail``, over noise and sampling together. The
    number of sampled people who have a bin is hypergeometric. Let c be the share of all people who
    have the bin, and a the share of all people who are in the sample. The variance of this number
    is ``people`` times c (1 - c) (1 - a). The third cumulant is approximated by this variance times
    (1 - 2c) (1 - 2a). The fourth is approximated by this variance times
    (1 - 6c (1 - c)) (1 - 6a (1 - a)).
    """
    share = people / users
    found = mechanism.debias_counts(seen.counts, seen.messages)

    def off(counts: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        true_share = counts / float(users)
        noise = cumulants(mechanism, seen.messages, people * true_share)
        drawn = people * true_share * (1.0 - true_share) * (1.0 - share)
        lean = (1.0 - 2.0 * true_share) * (1.0 - 2.0 * share)
        flat = (1.0 - 6.0 * true_share * (1.0 - true_share)) * (1.0 - 6.0 * share * (1.0 - share))
        return cornish_fisher_ends(
            noise.variance + drawn, noise.third + drawn * lean, noise.fourth + drawn * flat, tail
        )

    none = np.zeros(len(found), dtype=np.int64)
    lower = find_first_true(
        lambda count: share * count + off(count)[1] >= found, none, none + users
    )
    beyond = find_first_true(
        lambda count: share * count + off(count)[0] > found, none, none + users + 1
    )
    return lower, np.maximum(beyond - 1, lower)
