"""Unbiased counts of pairs and sets out of flipped records, by inverting the flips of their bits.

The m bits of a set show pattern y of a message that holds pattern x with probability
prod_k F[y_k, x_k], F = [[p, q], [q, p]]. So messages showing each pattern are, on average, the
m-fold product of F applied to messages holding each, and F's inverse undoes it:

    F^-1 = [[p, -q], [-q, p]] / (p - q).

Fakes hold the blank pattern; they are not in the count of the full one, so nothing is subtracted.
Looking at several bits of a message costs no privacy beyond the certificate at observer
``messages``, which is about whole messages; at observer ``sums`` it would not be covered. Of
records that are sent k times all messages count, and what is found is divided by k.

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
MOST_SET_BITS = 8


@dataclass(frozen=True, slots=True, eq=False)
class SetEstimate:
    """Unbiased counts of people who hold all bins of a set, shape (sets,), may be negative.

    where
      standard_error   of each, in counts, with the estimated patterns put in for the true ones
    """

    counts: _Floats
    standard_error: _Floats


def estimate_sets(mechanism: Shuffled, patterns: NDArray[np.int64]) -> SetEstimate:
    """The estimate from how many messages show each pattern, shape (sets, 2^m), m in 1..8.

    Raises ParameterError for another shape, or flips that are fair coins.
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
    """Which sets more than ``support`` people hold, by the test, shape (sets,).

    The chance that any set is marked which no more hold is at most about ``rate``, which ``among``
    sets share: all that could have been looked at where these were chosen by the same messages, or
    these alone. A message that holds j of the m items shows all m with probability p^j q^(m-j). Of
    the messages of ``support`` holders a binomial number is lost, no fewer than its quantile says.
    What others must have shown then is at most a sum of independent rare events, and such a sum has
    k or more of them with chance at most that of a Poisson number of the same mean, for k above
    mean + 1. Each of the two gets a quarter of the rate. How many hold a part of the items is
    estimated: upper ends, by a normal approximation, at the other half stand in; this is the
    "about".

    Raises as ``estimate_sets``, and ParameterError for a rate outside (0, 1/2].

    Source: Hoeffding 1956, theorem 4 (unequal chances); Anderson and Samuels 1967 (Poisson's tail).
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
    """Ends of how many of ``people`` hold each set, each of shape (sets,).

    All hold at once but with chance about ``rate``, shared as in ``set_significance``. Half of it
    is for the lower ends, each one more than the greatest support that the test rejects; half for
    the upper ends, by the same test from the other side: the holders of a set lose no more messages
    than a binomial number reaches, and others show no fewer of it than a Poisson number.

    Raises as ``set_significance``.
    """
    side = _OneSidedTest(mechanism, patterns, check_rate(rate) / (among or len(patterns)) / 2.0)
    none = np.zeros(len(patterns), dtype=np.int64)
    lower = find_first_true(lambda held: ~side.is_too_few(held), none, none + people)
    upper = find_first_true(side.is_too_many, none, none + people + 1) - 1
    return lower, np.maximum(upper, lower)


class _OneSidedTest:
    """What is possible on one side of a set's count, wrong with chance ``share`` for each set."""

    def __init__(self, mechanism: Shuffled, patterns: NDArray[np.int64], share: float) -> None:
        self._times, self._shown, self._tail = mechanism.repeats, patterns[:, -1], share / 4.0
        self._least, self._most = _shown_by_others(mechanism, patterns, share / 2.0)
        self._lost = 1.0 - (1.0 - mechanism.flip_probability) ** (
            patterns.shape[1].bit_length() - 1
        )

    @cached_property
    def _others_upper_count(self) -> NDArray[np.int64]:
        """So often others show it too rarely."""
        from scipy import special  # slow to import

        def too_often(k: NDArray[np.int64]) -> NDArray[np.bool_]:
            return (k > self._most + 1.0) & (special.pdtrc(k - 1.0, self._most) <= self._tail)

        return find_first_true(too_often, np.ones_like(self._shown), self._shown + 1)

    @cached_property
    def _others_lower_count(self) -> NDArray[np.int64]:
        """At least so often others show it."""
        from scipy import special  # slow to import

        def not_always(k: NDArray[np.int64]) -> NDArray[np.bool_]:
            return (k > self._least) | (special.pdtr(k - 1.0, self._least) > self._tail)

        return find_first_true(not_always, np.ones_like(self._shown), self._shown + 1) - 1

    def is_too_few(self, held: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether so many holders, and others, cannot have shown the set so often."""
        from scipy import special  # slow to import

        sent = held * self._times
        lost = (
            sent + self._others_upper_count - self._shown
        )  # at least, or others showed it too often
        chance = special.bdtr(np.clip(lost, 1, np.maximum(sent, 1)) - 1.0, sent, self._lost)
        return (lost <= 0) | ((lost <= sent) & (chance <= self._tail))

    def is_too_many(self, held: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether so many holders, and others, cannot have shown the set so rarely."""
        from scipy import special  # slow to import

        sent = held * self._times
        lost = sent + self._others_lower_count - self._shown  # at least
        chance = special.bdtrc(np.clip(lost, 1, np.maximum(sent, 1)) - 1.0, sent, self._lost)
        return (lost > sent) | ((lost > 0) & (chance <= self._tail))


def find_first_true(
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The least numbers in [low, high] from which ``holds`` stays true; high counts as true."""
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        yes = holds(middle) | (low >= high)
        high, low = np.where(yes, middle, high), np.where(yes, low, middle + 1)
    return high


def _shown_by_others(
    mechanism: Shuffled, patterns: NDArray[np.int64], rate: float
) -> tuple[_Floats, _Floats]:
    """Messages that show a whole set and do not hold it: ends of their mean, each wrong with
    chance ``rate`` at most about.
    """
    show, invert = flip_matrices(mechanism, patterns)
    width = NormalDist().inv_cdf(1.0 - rate / patterns.shape[1])
    held = patterns @ invert.T
    spread = width * _pattern_errors(held, show, invert)
    most = patterns.sum(axis=1)[:, None]
    low, high = (np.clip(held + side * spread, 0.0, most)[:, :-1] for side in (-1.0, 1.0))
    return low @ show[-1, :-1], high @ show[-1, :-1]


def flip_matrices(mechanism: Shuffled, patterns: NDArray[np.int64]) -> tuple[_Floats, _Floats]:
    """Chance of showing y when holding x, at [y, x], and its inverse, each shape (2^m, 2^m)."""
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
    """One bit more, the highest."""
    return np.asarray(np.kron(np.array(once), rest), dtype=np.float64)


def _pattern_errors(held: _Floats, show: _Floats, invert: _Floats) -> _Floats:
    """Standard errors of all patterns' counts, shape (sets, 2^m): messages are independent."""
    people = np.maximum(held, 0.0)
    squares: _Floats = people @ (invert**2 @ show).T - people
    return np.sqrt(np.maximum(squares, 0.0))


def patterns_of_pairs(
    both: NDArray[np.int64], pairs: NDArray[np.int64], messages: int
) -> NDArray[np.int64]:
    """Patterns of each pair, shape (pairs, 4), from pair counts whose diagonal is the tally.

    where
      both    shape (bins, bins)
      pairs   shape (pairs, 2)
    """
    first, second = pairs.T
    one, two, all_of_it = both[first, first], both[second, second], both[first, second]
    return np.column_stack(
        [messages - one - two + all_of_it, one - all_of_it, two - all_of_it, all_of_it]
    )
