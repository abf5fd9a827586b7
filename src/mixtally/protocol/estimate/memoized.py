"""Counts from reports of memoized responses, for each report and for the mean of several reports.

``conclude.memoized`` calls the estimators, and the attacks of ``lab.attacks`` call ``recovery``. A
device randomizes each bit of an answer once, keeps this *memoized response*, and randomizes it
again for every report. As the number T of reports of each person grows, their mean loses the noise
of reports, but not the noise of the memoized response. So the standard error falls to a positive
limit. For the same reason an observer of many reports learns only a noisy bit of a person.

Source: RAPPOR (2014), section 4 for the debiased count; variances as in
``model.mechanism.memoized``.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.divergence.memoized import binomial_pmf
from mixtally.errors import ParameterError
from mixtally.model.estimates import Intervals
from mixtally.model.mechanism import Memoized
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends
from mixtally.protocol.estimate.intervals import NORMAL, check_level

People = float | NDArray[np.int64]
"""A number of people: one for all counts, or one for each count."""
Moments = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""The second, third and fourth cumulant of the noise of several numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoizedCounts:
    """Unbiased counts of every bin from T reports of each person.

    ``counts`` and ``standard_errors``, shape (bins,), use the mean of all T reports. Row t of
    ``by_report``, shape (T, bins), has counts from report t of each person alone. ``all_reports``
    is the standard error of an empty bin from all T reports, and ``floor`` is the limit of this
    error as T grows.
    """

    counts: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    by_report: NDArray[np.float64]
    all_reports: float
    floor: float
    individual: Intervals
    simultaneous: Intervals


def estimate_memoized(
    mechanism: Memoized, ones: NDArray[np.int64], people: int, *, level: float = 0.95
) -> MemoizedCounts:
    """Estimate counts with intervals at ``level``.

    ``ones`` has, for each of T reports and each bin, the number of people who reported a 1, shape
    (T, bins). ``people`` is the number of people, each with T reports. Raises ParameterError for a
    level outside (0, 1).
    """
    reports = len(ones)
    by_report = debias_reports(mechanism, ones.astype(np.float64), people)
    counts = by_report.mean(axis=0)
    noise = bit_cumulants(mechanism, counts, people, reports)
    errors = np.sqrt(noise[0])
    return MemoizedCounts(
        counts=counts,
        standard_errors=errors,
        by_report=by_report,
        all_reports=mechanism.standard_error(people, reports),
        floor=mechanism.standard_error(people, math.inf),
        individual=cornish_fisher_intervals(counts, noise, people, level, 1),
        simultaneous=cornish_fisher_intervals(counts, noise, people, level, len(counts)),
    )


def debias_reports(
    mechanism: Memoized, ones: NDArray[np.float64], people: People
) -> NDArray[np.float64]:
    """Return unbiased counts of true ones among ``people`` from counts of reported ones."""
    check_informative(mechanism)
    return (ones - people * mechanism.offset) / mechanism.gain


def bit_cumulants(
    mechanism: Memoized, counts: NDArray[np.float64], people: People, reports: int
) -> Moments:
    """Return the second, third and fourth cumulant of the noise of debiased counts.

    ``counts`` are the numbers of people, out of ``people``, whose true bit is 1. People are
    independent, so the cumulants are sums over people. Those of a person depend on the true bit.
    """
    holders = np.clip(counts, 0.0, people)
    zero, one = (_person_cumulants(mechanism, true, reports) for true in (0, 1))
    second, third, fourth = (
        (holders * at_one + (people - holders) * at_zero) / (reports * mechanism.gain) ** order
        for order, at_zero, at_one in zip((2, 3, 4), zero, one, strict=True)
    )
    return second, third, fourth


def _person_cumulants(mechanism: Memoized, true: int, reports: int) -> tuple[float, float, float]:
    """Return cumulants of the number of a person's reports that show a bit as 1.

    ``true`` is the person's true bit. The result has the orders 2, 3 and 4.
    """
    wrong = mechanism.f / 2.0
    kept = 1.0 - wrong if true else wrong
    p, q = mechanism.report_probabilities
    shown = kept * binomial_pmf(reports, q) + (1.0 - kept) * binomial_pmf(reports, p)
    gap = np.arange(reports + 1) - float(shown @ np.arange(reports + 1))
    second, third, fourth = (float(shown @ gap**order) for order in (2, 3, 4))
    return second, third, fourth - 3.0 * second**2


def cornish_fisher_intervals(
    counts: NDArray[np.float64],
    noise: Moments,
    most: int,
    level: float,
    simultaneous_over: int,
) -> Intervals:
    """Return Cornish-Fisher intervals of whole numbers between 0 and ``most``.

    The error probability 1 - ``level`` is divided among ``simultaneous_over`` intervals. Raises
    ParameterError for a level outside (0, 1).
    """
    tail = (1.0 - check_level(level)) / 2.0 / simultaneous_over
    under, over = cornish_fisher_ends(*noise, tail)
    return Intervals(
        lower=np.clip(np.floor(counts - over), 0, most).astype(np.int64),
        upper=np.clip(np.ceil(counts - under), 0, most).astype(np.int64),
        level=level,
        method=NORMAL,
    )


class Recovery(NamedTuple):
    """Probabilities that the best guess of a person's bit from the person's reports is wrong.

    ``memoized`` is for the guess of the memoized bit, and ``true`` for that of the true bit. Both
    are averages over the two values of the bit. As the number of reports grows, ``memoized`` tends
    to 0 and ``true`` to f/2.
    """

    memoized: float
    true: float


def least_ones(mechanism: Memoized, reports: int) -> int:
    """Return the least number of reported ones that makes a memoized 1 likelier than a memoized 0.

    Parameters
    ----------
    mechanism : Memoized
        The mechanism, with the probabilities p and q of reports.
    reports : int
        The number of reports of the person.
    """
    return _least_ones(*mechanism.report_probabilities, reports)


def recovery(mechanism: Memoized, reports: int) -> Recovery:
    """Return the exact error probabilities of the best guess from one person's reports.

    The number of ones has one of two binomial distributions, and the guess is the likelier one.
    Source: side notes 002 section 4 (the mean of many outputs).

    Parameters
    ----------
    mechanism : Memoized
        The mechanism, with f and the probabilities p and q of reports.
    reports : int
        The number of reports of the person.
    """
    memoized = _error_probability(*mechanism.report_probabilities, reports)
    return Recovery(memoized, mechanism.f / 2.0 + (1.0 - mechanism.f) * memoized)


def recovery_redrawn(mechanism: Memoized, reports: int) -> float:
    """Return the error probability that a guess of the true bit would have without memoization.

    Every report would then draw both the noise of a response and the noise of a report anew. So the
    error would tend to 0 as the number of reports grows.

    Parameters
    ----------
    mechanism : Memoized
        The mechanism, with f and the probabilities p and q of reports.
    reports : int
        The number of reports of the person.
    """
    return _error_probability(mechanism.offset, mechanism.offset + mechanism.gain, reports)


def _least_ones(p: float, q: float, reports: int) -> int:
    if p == 0.0:
        return 1
    if q == 1.0:
        return reports
    slope = math.log(q / p) + math.log((1.0 - p) / (1.0 - q))
    return math.floor(reports * math.log((1.0 - p) / (1.0 - q)) / slope) + 1


def _error_probability(p: float, q: float, reports: int) -> float:
    """Return the error probability of the best guess between Bin(reports, p) and Bin(reports, q).

    Before the reports are seen, both distributions are equally likely.
    """
    least = _least_ones(p, q, reports)
    missed = binomial_pmf(reports, q)[:least].sum()
    return float(missed + binomial_pmf(reports, p)[least:].sum()) / 2.0


def check_informative(mechanism: Memoized) -> None:
    """Raise ParameterError if reports do not depend on the true answer."""
    if mechanism.gain == 0.0:
        raise ParameterError(
            "permanent",
            expected="a number below 1, so that answers can be counted",
            got=mechanism.f,
            do="choose a smaller value, such as 0.5: with 1, the reports reveal nothing",
        )
