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

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mixtally.errors import ParameterError
from mixtally.estimate.significant import checked_rate
from mixtally.records.mechanism import BitFlips

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


def estimate_sets(mechanism: BitFlips, patterns: NDArray[np.int64]) -> SetEstimate:
    """The estimate from how many messages show each pattern, shape (sets, 2^m), m in 1..8.

    Raises ParameterError for another shape, or flips that are fair coins.
    """
    show, invert = _flips(mechanism, patterns)
    held = patterns @ invert.T
    times = mechanism.repeats
    return SetEstimate(held[:, -1] / times, _spread(held, show, invert)[:, -1] / times)


def set_significance(
    mechanism: BitFlips, patterns: NDArray[np.int64], *, support: int = 0, rate: float = 0.05
) -> NDArray[np.bool_]:
    """Which sets more than ``support`` people hold, by the test, shape (sets,).

    The chance that any set is marked which no more hold is at most about ``rate``. A message that
    holds j of the m items shows all m with probability p^j q^(m-j). Counted as if none of the
    holders' own were ever lost, c - support is at most a sum of independent rare events, and such a
    sum has c or more of them with chance at most that of a Poisson number of the same mean, for c
    above mean + 1. That test gets half of the rate, shared by the sets. How many hold a part of the
    items is estimated: upper ends, by a normal approximation, at the other half stand in; this is
    the "about".

    Raises as ``estimate_sets``, and ParameterError for a rate outside (0, 1/2].

    Source: Hoeffding 1956, theorem 4 (unequal chances); Anderson and Samuels 1967 (Poisson's tail).
    """
    show, invert = _flips(mechanism, patterns)
    tests = patterns.size
    width = NormalDist().inv_cdf(1.0 - checked_rate(rate) / 2.0 / tests)
    held = patterns @ invert.T
    most = np.clip(held + width * _spread(held, show, invert), 0.0, patterns.sum(axis=1)[:, None])
    mean = most[:, :-1] @ show[-1, :-1]
    more = patterns[:, -1] - support * mechanism.repeats
    tail = special.pdtrc(np.maximum(more - 1, 0), mean)
    marked: NDArray[np.bool_] = (more > mean + 1.0) & (tail <= rate / 2.0 / len(patterns))
    return marked


def _flips(mechanism: BitFlips, patterns: NDArray[np.int64]) -> tuple[_Floats, _Floats]:
    """Chance of showing y when holding x, at [y, x], and its inverse, each shape (2^m, 2^m)."""
    bits = patterns.shape[1].bit_length() - 1 if patterns.ndim == 2 else 0
    if not 1 <= bits <= MOST_SET_BITS or patterns.shape[1] != 1 << bits:
        raise ParameterError(
            "patterns",
            wanted=f"2^m columns for sets of m in 1..{MOST_SET_BITS} bins",
            got=f"an array of shape {patterns.shape}",
            do="count every pattern of every set",
        )
    if mechanism.gain == 0.0:
        raise ParameterError(
            "flip probability",
            wanted="less than 1/2",
            got="1/2",
            do="plan again: such flips reveal nothing",
        )
    q = mechanism.flip_probability
    show: _Floats = np.ones((1, 1))
    invert: _Floats = np.ones((1, 1))
    for _ in range(bits):
        show = _kron([[1.0 - q, q], [q, 1.0 - q]], show)
        invert = _kron([[1.0 - q, -q], [-q, 1.0 - q]], invert) / mechanism.contrast
    return show, invert


def _kron(once: list[list[float]], rest: _Floats) -> _Floats:
    """One bit more, the highest."""
    return np.asarray(np.kron(np.array(once), rest), dtype=np.float64)


def _spread(held: _Floats, show: _Floats, invert: _Floats) -> _Floats:
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
