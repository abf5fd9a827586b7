"""One round of a search for frequent words: which extensions of prefixes people hold."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Tally
from mixtally.model.mechanism import Shuffled
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends, cumulants
from mixtally.protocol.estimate.debias import errors_by_count
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.item_sets import find_first_true
from mixtally.protocol.estimate.noise import least_significant

_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Extensions:
    """Bins whose tally is at least ``threshold``, the largest first; arrays of shape (found,).

    where
      counts          unbiased, of the whole crowd
      errors          their standard errors
      lower, upper    hold for all bins of all rounds at once
    """

    threshold: int
    bins: _Integers
    counts: NDArray[np.float64]
    errors: NDArray[np.float64]
    lower: _Integers
    upper: _Integers


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
    """What a round shows about the first ``asked`` bins.

    where
      people       who took part in the round, of ``users`` in all, drawn at random
      tests        bins looked at in all rounds together
      error_rate   the chance that anything nobody holds is found, in all rounds together
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
        tail = error_rate / tests / 2.0
        lower, upper = _population_ends(mechanism, seen, people=people, users=users, tail=tail)
    return Extensions(least, bins, counts, errors, lower, upper)


def population_error(noise: float, users: int, asked: int, share: float) -> float:
    """Standard error of a count of ``users`` people judged by ``asked`` of them, drawn at random.

    The number of holders among those asked is hypergeometric.
    """
    drawn = asked * share * (1.0 - share) * (1.0 - asked / users)
    return users / asked * math.sqrt(noise**2 + drawn)


def _population_ends(
    mechanism: Shuffled, seen: Tally, *, people: int, users: int, tail: float
) -> tuple[_Integers, _Integers]:
    """Ends of the counts of ``users`` people of whom ``people``, drawn at random, were asked.

    The counts whose own noise and draw explain what was seen, each tail as rare as ``tail``. That
    of the draw is hypergeometric: its cumulants are those of a binomial both ways.
    """
    share = people / users
    found = mechanism.debias_counts(seen.counts, seen.messages)

    def off(counts: _Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        held = counts / float(users)
        noise = cumulants(mechanism, seen.messages, people * held)
        drawn = people * held * (1.0 - held) * (1.0 - share)
        lean = (1.0 - 2.0 * held) * (1.0 - 2.0 * share)
        flat = (1.0 - 6.0 * held * (1.0 - held)) * (1.0 - 6.0 * share * (1.0 - share))
        return cornish_fisher_ends(
            noise.variance + drawn, noise.third + drawn * lean, noise.fourth + drawn * flat, tail
        )

    none = np.zeros(len(found), dtype=np.int64)
    lower = find_first_true(lambda held: share * held + off(held)[1] >= found, none, none + users)
    beyond = find_first_true(
        lambda held: share * held + off(held)[0] > found, none, none + users + 1
    )
    return lower, np.maximum(beyond - 1, lower)
