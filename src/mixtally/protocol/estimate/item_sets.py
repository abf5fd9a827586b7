"""Unbiased counts of pairs and item sets from flipped records, by inversion of the flips.

The search for frequent item sets in ``lab.simulation.baskets`` and the tables of pairs call this
module. A message has m bits of interest, each flipped with probability q = 1 - p. A message with
pattern x shows pattern y with probability prod_k F[y_k, x_k], where F = [[p, q], [q, p]]. So the
expected counts of shown patterns are the m-fold Kronecker product of F, applied to the counts of
true patterns. The Kronecker product of the inverses recovers the counts of true patterns:

    F^-1 = [[p, -q], [-q, p]] / (p - q).

The true pattern of a blank fake has no bit set. So blank fakes do not contribute to the count of
the pattern with all bits set, and nothing is subtracted. Certificates for the observer ``messages``
cover whole messages, so examining several bits of a message costs no further privacy. A certificate
for the observer ``sums`` would not cover this. If records are sent k times, all messages are used
and the counts are divided by k.

Source: the debiasing of notes 004 (5.20), bit by bit; Side Notes 002 section 5 names the task.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.noise import check_rate

# The largest size of a set, which has 2^8 patterns.
MOST_SET_BITS = 8


@dataclass(frozen=True, slots=True, eq=False)
class SetEstimate:
    """Unbiased counts of the people who have all items of each set, with standard errors.

    ``counts`` and ``standard_error`` have the shape (sets,). Counts may be negative. The errors
    depend on the true counts of all patterns, for which estimates are used.
    """

    counts: Floats
    standard_error: Floats


def estimate_sets(mechanism: Shuffled, patterns: NDArray[np.int64]) -> SetEstimate:
    """Estimate set counts from the counts of shown patterns.

    Parameters
    ----------
    mechanism : Shuffled
        The mechanism of flipped bits; ParameterError is raised if the flips are fair coins.
    patterns : ndarray of int64
        The number of messages with each pattern, shape (sets, 2^m) with m in 1..8; ParameterError
        is raised for another shape.
    """
    show, invert = flip_matrices(mechanism, patterns)
    unbiased = patterns @ invert.T
    times = mechanism.repeats
    return SetEstimate(
        unbiased[:, -1] / times, _pattern_errors(unbiased, show, invert)[:, -1] / times
    )


def set_significance(
    mechanism: Shuffled,
    patterns: NDArray[np.int64],
    *,
    support: int = 0,
    rate: float = 0.05,
    among: int | None = None,
) -> NDArray[np.bool_]:
    """Return for each set whether a test shows that more than ``support`` people have it.

    Parameters
    ----------
    mechanism : Shuffled
        The mechanism of flipped bits.
    patterns : ndarray of int64
        The number of messages with each pattern, shape (sets, 2^m) with m in 1..8.
    support : int
        The number of people that the test compares with: the result is True if more have the set.
    rate : float
        The approximate probability that the result is True for any set that at most ``support``
        people have, in (0, 1/2].
    among : int or None
        The number of sets among which ``rate`` is divided; None for the sets in ``patterns``. If
        these sets were chosen by looking at the same messages, ``among`` must be the number of all
        sets that could have been chosen.

    Raises
    ------
    ParameterError
        For another shape of ``patterns``, for flips that are fair coins, and for a rate outside
        (0, 1/2].

    Notes
    -----
    A message with j of the m items shows all m with probability p^j q^(m-j). Call the
    people who have the whole set its holders. The number of their messages that lose an item by
    flips is binomial. It is below a lower quantile only with the tail probability. All further
    messages that show the set must come from other people. Their number is a sum of independent
    rare events. The probability of k or more is at most that of a Poisson variable with the same
    mean, for k above mean + 1. Each of the two tails gets a quarter of the rate. The mean depends
    on the numbers of messages that have some of the items. Upper ends of normal intervals replace
    these numbers. They use the other half of the rate, and make the rate approximate.

    Source: Hoeffding 1956, theorem 4 (unequal probabilities); Anderson and Samuels 1967 (Poisson
    tail).
    """
    side = _OneSidedTest(mechanism, patterns, check_rate(rate) / (among or len(patterns)))
    return side.is_too_few(np.full(len(patterns), support))


def set_intervals(
    mechanism: Shuffled,
    patterns: NDArray[np.int64],
    *,
    people: int,
    rate: float = 0.05,
    among: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lower and upper ends for the number of people who have each set.

    Both results have the shape (sets,). Half the rate is for the lower ends. A lower end is the
    smallest number of people for which the test of ``set_significance`` does not show that more
    have the set. The other half is for the upper ends, by the opposite test. It uses that the
    holders of the set lose at most an upper binomial quantile of their messages, and that other
    people's messages show the set at least a lower Poisson quantile of times. Raises ParameterError
    as ``set_significance`` does.

    Parameters
    ----------
    mechanism : Shuffled
        The mechanism of flipped bits.
    patterns : ndarray of int64
        The number of messages with each pattern, shape (sets, 2^m) with m in 1..8.
    people : int
        The number of people who took part.
    rate : float
        The approximate probability that any interval misses, in (0, 1/2].
    among : int or None
        The number of sets among which the rate is divided, as in ``set_significance``.
    """
    side = _OneSidedTest(mechanism, patterns, check_rate(rate) / (among or len(patterns)) / 2.0)
    none = np.zeros(len(patterns), dtype=np.int64)
    lower = find_first_true(lambda holders: ~side.is_too_few(holders), none, none + people)
    upper = find_first_true(side.is_too_many, none, none + people + 1) - 1
    return lower, np.maximum(upper, lower)


class _OneSidedTest:
    """One-sided tests of how many people have each set, each wrong with probability ``share``.

    *Holders* are the people who have the whole set. The *others* show the set only because of
    flips.
    """

    def __init__(self, mechanism: Shuffled, patterns: NDArray[np.int64], share: float) -> None:
        self._times, self._shown, self._tail = mechanism.repeats, patterns[:, -1], share / 4.0
        self._least, self._most = _shown_by_others(mechanism, patterns, share / 2.0)
        self._lost = 1.0 - (1.0 - mechanism.flip_probability) ** (
            patterns.shape[1].bit_length() - 1
        )

    @cached_property
    def _others_upper_count(self) -> NDArray[np.int64]:
        """The least k that is too large: others hardly ever show the set in k or more messages.

        The probability of k or more such messages is at most the tail probability.
        """
        from scipy import special  # slow to import

        def too_often(k: NDArray[np.int64]) -> NDArray[np.bool_]:
            return (k > self._most + 1.0) & (special.pdtrc(k - 1.0, self._most) <= self._tail)

        return find_first_true(too_often, np.ones_like(self._shown), self._shown + 1)

    @cached_property
    def _others_lower_count(self) -> NDArray[np.int64]:
        """The largest k for which others hardly ever show the set in fewer than k messages.

        The probability of fewer than k such messages is at most the tail probability.
        """
        from scipy import special  # slow to import

        def not_always(k: NDArray[np.int64]) -> NDArray[np.bool_]:
            return (k > self._least) | (special.pdtr(k - 1.0, self._least) > self._tail)

        return find_first_true(not_always, np.ones_like(self._shown), self._shown + 1) - 1

    def is_too_few(self, holders: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether ``holders`` are too few to explain how often the set was shown."""
        from scipy import special  # slow to import

        sent = holders * self._times
        # Holders lost at least this many messages; otherwise the others showed the set too often.
        lost = sent + self._others_upper_count - self._shown
        # The clip keeps the arguments valid where the other conditions decide.
        chance = special.bdtr(np.clip(lost, 1, np.maximum(sent, 1)) - 1.0, sent, self._lost)
        return (lost <= 0) | ((lost <= sent) & (chance <= self._tail))

    def is_too_many(self, holders: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether ``holders`` are too many to explain how rarely the set was shown."""
        from scipy import special  # slow to import

        sent = holders * self._times
        # Holders lost at least this many messages, because the others showed the set this often.
        lost = sent + self._others_lower_count - self._shown
        # The clip keeps the arguments valid where the other conditions decide.
        chance = special.bdtrc(np.clip(lost, 1, np.maximum(sent, 1)) - 1.0, sent, self._lost)
        return (lost > sent) | ((lost > 0) & (chance <= self._tail))


def find_first_true(
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return, for each entry, the smallest number in [low, high] for which ``holds`` is true.

    Bisection finds it. If ``holds`` is true for a number, it must be true for all larger numbers.
    It is assumed to be true at ``high``, for which it is never called.
    """
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        yes = holds(middle) | (low >= high)
        high, low = np.where(yes, middle, high), np.where(yes, low, middle + 1)
    return high


def _shown_by_others(
    mechanism: Shuffled, patterns: NDArray[np.int64], rate: float
) -> tuple[Floats, Floats]:
    """Return bounds of the expected number of messages that show a set only because of flips.

    Each of the two bounds, lower and upper, is wrong with probability about ``rate``.
    """
    show, invert = flip_matrices(mechanism, patterns)
    width = NormalDist().inv_cdf(1.0 - rate / patterns.shape[1])
    unbiased = patterns @ invert.T
    spread = width * _pattern_errors(unbiased, show, invert)
    most = patterns.sum(axis=1)[:, None]
    low, high = (np.clip(unbiased + side * spread, 0.0, most)[:, :-1] for side in (-1.0, 1.0))
    return low @ show[-1, :-1], high @ show[-1, :-1]


def flip_matrices(mechanism: Shuffled, patterns: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the matrix of probabilities that pattern x is shown as y, at [y, x], and its inverse.

    Both matrices have the shape (2^m, 2^m). Raises ParameterError for another shape of ``patterns``
    than (sets, 2^m) with m in 1..8, and for flips with probability 1/2.
    """
    bits = patterns.shape[1].bit_length() - 1 if patterns.ndim == 2 else 0
    if not 1 <= bits <= MOST_SET_BITS or patterns.shape[1] != 1 << bits:
        raise ParameterError(
            "patterns",
            expected=f"2^m columns for sets of m in 1..{MOST_SET_BITS} bins",
            got=f"an array of shape {patterns.shape}",
            do="count every pattern of every set",
        )
    if mechanism.gain == 0.0:
        raise ParameterError(
            "flip probability",
            expected="less than 1/2",
            got="1/2",
            do="plan again: such flips reveal nothing",
        )
    q = mechanism.flip_probability
    show: Floats = np.ones((1, 1))
    invert: Floats = np.ones((1, 1))
    for _ in range(bits):
        show = _add_bit([[1.0 - q, q], [q, 1.0 - q]], show)
        invert = _add_bit([[1.0 - q, -q], [-q, 1.0 - q]], invert) / mechanism.contrast
    return show, invert


def _add_bit(once: list[list[float]], rest: Floats) -> Floats:
    """Return the matrix for one more bit; ``once`` is that of the new, highest bit alone."""
    return np.asarray(np.kron(np.array(once), rest), dtype=np.float64)


def _pattern_errors(counts: Floats, show: Floats, invert: Floats) -> Floats:
    """Return the standard errors of the counts of all patterns, shape (sets, 2^m).

    ``counts`` are the unbiased counts. ``show`` and ``invert`` are the results of
    ``flip_matrices``. Messages are independent, so their variances add up.
    """
    people = np.maximum(counts, 0.0)
    squares: Floats = people @ (invert**2 @ show).T - people
    return np.sqrt(np.maximum(squares, 0.0))


def patterns_of_pairs(
    both: NDArray[np.int64], pairs: NDArray[np.int64], messages: int
) -> NDArray[np.int64]:
    """Return the pattern counts of pairs, shape (pairs, 4), from pair counts.

    The patterns are neither, only the first, only the second, both.

    Parameters
    ----------
    both : ndarray of int64
        The pair counts, shape (bins, bins), whose diagonal is the tally.
    pairs : ndarray of int64
        The two bins of each pair, shape (pairs, 2).
    messages : int
        The number of messages.
    """
    first, second = pairs.T
    one, two, all_of_it = both[first, first], both[second, second], both[first, second]
    return np.column_stack(
        [messages - one - two + all_of_it, one - all_of_it, two - all_of_it, all_of_it]
    )
