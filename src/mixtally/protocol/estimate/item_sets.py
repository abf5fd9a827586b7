"""Unbiased counts of pairs and item sets from flipped records, by inversion of the flips.

The search for frequent item sets in ``lab.simulation.baskets`` and the tables of pairs call this
module. A message has m bits of interest, each flipped with probability q = 1 - p. A message with
pattern x shows pattern y with probability prod_k F[y_k, x_k], where F = [[p, q], [q, p]]. So the
expected counts of shown patterns are the m-fold Kronecker product of F, applied to the counts of
true patterns. The product of the inverses undoes it:

    F^-1 = [[p, -q], [-q, p]] / (p - q).

Blank fakes have the empty pattern. Fakes do not contribute to the count of the full pattern, so
nothing is subtracted. Certificates for the observer ``messages`` cover whole messages, so looking
at several bits costs no further privacy. A certificate for the observer ``sums`` would
not cover looking at several bits.
If records are sent k times, all messages are used and the counts are divided by k.

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
from mixtally.protocol.estimate.noise import check_rate

_Floats = NDArray[np.float64]
# The largest size of a set, which has 2^8 patterns.
MOST_SET_BITS = 8


@dataclass(frozen=True, slots=True, eq=False)
class SetEstimate:
    """Unbiased counts of people who have all items of a set, with standard errors.

    Both have the shape (sets,). Counts may be negative, and errors are computed at the estimated
    patterns.
    """

    counts: _Floats
    standard_error: _Floats


def estimate_sets(mechanism: Shuffled, patterns: NDArray[np.int64]) -> SetEstimate:
    """Estimate set counts from the counts of shown patterns, shape (sets, 2^m), m in 1..8.

    Raises ParameterError for another shape, and if the flips are fair coins.
    """
    show, invert = flip_matrices(mechanism, patterns)
    held = patterns @ invert.T
    times = mechanism.repeats
    return SetEstimate(held[:, -1] / times, _pattern_errors(held, show, invert)[:, -1] / times)


def set_significance(
    mechanism: Shuffled,
    patterns: NDArray[np.int64],
    *,
    support: int = 0,
    rate: float = 0.05,
    among: int | None = None,
) -> NDArray[np.bool_]:
    """Return which sets more than ``support`` people have, by a test, shape (sets,).

    The probability of marking a set that at most ``support`` people have is about ``rate`` for all
    sets together. The rate is shared by ``among`` sets: all that could have been looked at if the
    same messages chose these sets, otherwise these alone.

    A message with j of the m items shows all m with probability p^j q^(m-j). The number of holders'
    messages that lose an item is binomial, and its quantile bounds it from below. All other
    showings must come from the others' messages. The number of these is a sum of independent rare
    events. The probability of k or more is at most that of a Poisson variable with the same mean,
    for k above mean + 1. Each of the two tails gets a quarter of the rate. The mean depends on how
    many messages have a part of the items. These numbers are replaced by upper ends of normal
    intervals with the other half of the rate, which makes the rate approximate.

    Raises ParameterError as ``estimate_sets`` does, and for a rate outside (0, 1/2].

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
    """Return the ends of how many of ``people`` have each set, each of shape (sets,).

    All intervals hold at once, except with probability about ``rate``, shared as in
    ``set_significance``. Half the rate is for the lower ends: one more than the largest support
    that the test rejects. The other half is for the upper ends, by the same test from the other
    side. The holders lose at most a binomial quantile of messages, and the others show the set at
    least a Poisson quantile of times. Raises ParameterError as ``set_significance`` does.
    """
    side = _OneSidedTest(mechanism, patterns, check_rate(rate) / (among or len(patterns)) / 2.0)
    none = np.zeros(len(patterns), dtype=np.int64)
    lower = find_first_true(lambda held: ~side.is_too_few(held), none, none + people)
    upper = find_first_true(side.is_too_many, none, none + people + 1) - 1
    return lower, np.maximum(upper, lower)


class _OneSidedTest:
    """One-sided tests of a set's count, each wrong with probability at most ``share`` a set."""

    def __init__(self, mechanism: Shuffled, patterns: NDArray[np.int64], share: float) -> None:
        self._times, self._shown, self._tail = mechanism.repeats, patterns[:, -1], share / 4.0
        self._least, self._most = _shown_by_others(mechanism, patterns, share / 2.0)
        self._lost = 1.0 - (1.0 - mechanism.flip_probability) ** (
            patterns.shape[1].bit_length() - 1
        )

    @cached_property
    def _others_upper_count(self) -> NDArray[np.int64]:
        """The smallest number of messages that others reach with at most the tail probability."""
        from scipy import special  # slow to import

        def too_often(k: NDArray[np.int64]) -> NDArray[np.bool_]:
            return (k > self._most + 1.0) & (special.pdtrc(k - 1.0, self._most) <= self._tail)

        return find_first_true(too_often, np.ones_like(self._shown), self._shown + 1)

    @cached_property
    def _others_lower_count(self) -> NDArray[np.int64]:
        """The largest number of messages that others reach, except with the tail probability."""
        from scipy import special  # slow to import

        def not_always(k: NDArray[np.int64]) -> NDArray[np.bool_]:
            return (k > self._least) | (special.pdtr(k - 1.0, self._least) > self._tail)

        return find_first_true(not_always, np.ones_like(self._shown), self._shown + 1) - 1

    def is_too_few(self, held: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether ``held`` people are too few to explain how often the set was shown."""
        from scipy import special  # slow to import

        sent = held * self._times
        # Holders lost at least this many messages; otherwise the others showed the set too often.
        lost = sent + self._others_upper_count - self._shown
        # The clip keeps the arguments valid where the other conditions decide.
        chance = special.bdtr(np.clip(lost, 1, np.maximum(sent, 1)) - 1.0, sent, self._lost)
        return (lost <= 0) | ((lost <= sent) & (chance <= self._tail))

    def is_too_many(self, held: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether ``held`` people are too many to explain how rarely the set was shown."""
        from scipy import special  # slow to import

        sent = held * self._times
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
    """Return the smallest numbers in [low, high] from which ``holds`` stays true, by bisection.

    The predicate ``holds`` must be monotone. At high the predicate counts as true.
    """
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        yes = holds(middle) | (low >= high)
        high, low = np.where(yes, middle, high), np.where(yes, low, middle + 1)
    return high


def _shown_by_others(
    mechanism: Shuffled, patterns: NDArray[np.int64], rate: float
) -> tuple[_Floats, _Floats]:
    """Return ends of the expected number of messages that show a whole set without having it.

    Each end is wrong with probability about ``rate``.
    """
    show, invert = flip_matrices(mechanism, patterns)
    width = NormalDist().inv_cdf(1.0 - rate / patterns.shape[1])
    held = patterns @ invert.T
    spread = width * _pattern_errors(held, show, invert)
    most = patterns.sum(axis=1)[:, None]
    low, high = (np.clip(held + side * spread, 0.0, most)[:, :-1] for side in (-1.0, 1.0))
    return low @ show[-1, :-1], high @ show[-1, :-1]


def flip_matrices(mechanism: Shuffled, patterns: NDArray[np.int64]) -> tuple[_Floats, _Floats]:
    """Return the probability of showing y for pattern x, at [y, x], and the inverse matrix.

    Both have shape (2^m, 2^m). Raises ParameterError for another shape of ``patterns`` than (sets,
    2^m) with m in 1..8, and for flips with probability 1/2.
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
    show: _Floats = np.ones((1, 1))
    invert: _Floats = np.ones((1, 1))
    for _ in range(bits):
        show = _add_bit([[1.0 - q, q], [q, 1.0 - q]], show)
        invert = _add_bit([[1.0 - q, -q], [-q, 1.0 - q]], invert) / mechanism.contrast
    return show, invert


def _add_bit(once: list[list[float]], rest: _Floats) -> _Floats:
    """Return the matrix for one more bit, which becomes the highest."""
    return np.asarray(np.kron(np.array(once), rest), dtype=np.float64)


def _pattern_errors(held: _Floats, show: _Floats, invert: _Floats) -> _Floats:
    """Return the standard errors of the counts of all patterns, shape (sets, 2^m).

    Messages are independent, so their variances add up.
    """
    people = np.maximum(held, 0.0)
    squares: _Floats = people @ (invert**2 @ show).T - people
    return np.sqrt(np.maximum(squares, 0.0))


def patterns_of_pairs(
    both: NDArray[np.int64], pairs: NDArray[np.int64], messages: int
) -> NDArray[np.int64]:
    """Return the pattern counts of pairs, shape (pairs, 4), from pair counts.

    ``both`` are pair counts of shape (bins, bins) whose diagonal is the tally, and ``pairs`` has
    two bins for each pair, shape (pairs, 2). The patterns are neither, only the first, only the
    second, both.
    """
    first, second = pairs.T
    one, two, all_of_it = both[first, first], both[second, second], both[first, second]
    return np.column_stack(
        [messages - one - two + all_of_it, one - all_of_it, two - all_of_it, all_of_it]
    )
