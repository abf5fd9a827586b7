"""Counts of candidate words out of hashed reports: a regression over bits and cohorts.

With X[(c, i), m] = 1 where word m sets bit i in cohort c, and a share n_c/n of the people there,
the debiased counts are t = diag(n_c/n) X N + noise, N the counts of the words. A last column stands
for all words that are not candidates: each sets a bit with 1 - (1 - 1/bits)^hashes, on average over
words. Everybody holds one word, so its count is n minus the others', and N is found by weighted
least squares. Two things make t vary, and both are in the standard errors:

    noise     each bit's own, ``bit_cumulants``
    cohorts   who of a word's people landed in which cohort. Given n_c that is a random permutation,
              and a sum of a(m, c) over people has the variance of Hoeffding's theorem: n times the
              mean square of a(m, c) minus its row mean minus its column mean plus its mean.

With more candidates than the bits can tell apart, a non-negative fit chooses first. The errors
leave that choice out: counts of chosen words lean upwards, their intervals fall short of the level.

Source: RAPPOR (2014), section 4 (regression on candidates, Bonferroni); Hoeffding, A Combinatorial
Central Limit Theorem (1951), theorem 2.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import InfeasibleError
from mixtally.model.estimates import Intervals
from mixtally.model.mechanism import Memoized
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends
from mixtally.protocol.estimate.memoized import (
    Moments,
    bit_cumulants,
    cornish_fisher_intervals,
    debias_reports,
)

Floats = NDArray[np.float64]

ALL = "least squares over every candidate"
CHOSEN = "least squares over candidates chosen by a non-negative fit"
_WORST_CONDITION = 1e4
"""Above it, candidates are too alike for their bits to tell them apart."""
_BITS_A_WORD = 2
"""A choice leaves at least this many bits for every word it takes."""
_LACK_OF_FIT = 1e-3
_LEAST_VARIANCE = 1e-9
"""Where every bit is certain (f tiny, p = 0, q = 1) weights stay finite."""


@dataclass(frozen=True, slots=True, eq=False)
class WordEstimates:
    """Counts of candidates; a word that was not chosen has the count 0 and no standard error.

    where
      counts            shape (words,), may be negative
      standard_errors   shape (words,), NaN where not chosen
      found             shape (words,), distinguishable from zero, all words at once (Bonferroni)
      unlisted          people with words that are no candidates, and its standard error
      reduced_chi_square
                        mean square residual over what is expected; far above 1, words are missing
      widened           whether the standard errors were widened by its root
      method            how the words were fitted
    """

    counts: Floats
    standard_errors: Floats
    found: NDArray[np.bool_]
    unlisted: tuple[float, float]
    reduced_chi_square: float
    widened: bool
    individual: Intervals
    simultaneous: Intervals
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class _CohortCounts:
    """Debiased counts, shape (cohorts, bits), with the people of each cohort and their reports."""

    mechanism: Memoized
    counts: Floats
    people: NDArray[np.int64]
    reports: int

    @property
    def share(self) -> Floats:
        """Of the people in each cohort, shape (cohorts,)."""
        share: Floats = self.people / self.people.sum()
        return share

    def noise(self, fitted: Floats) -> Moments:
        """Each bit's own cumulants when ``fitted`` people hold it, shape (cohorts * bits,)."""
        second, third, fourth = bit_cumulants(
            self.mechanism, fitted, self.people[:, None], self.reports
        )
        return second.ravel(), third.ravel(), fourth.ravel()

    def model(self, columns: Floats) -> Floats:
        """What a person of every candidate adds, and of the unlisted loses; (cohorts * bits, m)."""
        above = (columns[:, :, :-1] - columns[:, :, -1:]) * self.share[:, None, None]
        return above.reshape(self.counts.size, columns.shape[2] - 1)

    def target(self, columns: Floats) -> Floats:
        """The counts above those of a crowd of unlisted words, shape (cohorts * bits,)."""
        return (self.counts - self.people[:, None] * columns[:, :, -1]).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Counts and errors of the chosen candidates, then of the unlisted.

    where
      third, fourth   cumulants of their noise; who landed in which cohort adds to the error alone
      widened         whether the errors were multiplied by the root of it, as noise alone leaves
                      less
    """

    counts: Floats
    errors: Floats
    third: Floats
    fourth: Floats
    reduced_chi_square: float
    widened: bool


def estimate_words(
    mechanism: Memoized,
    ones: Floats,
    people: NDArray[np.int64],
    design: NDArray[np.bool_],
    reports: int,
    *,
    level: float = 0.95,
) -> WordEstimates:
    """Counts of every candidate with intervals at ``level``.

    where
      ones     shape (cohorts, bits), how many people showed a 1, mean over the reports
      people   shape (cohorts,), how many reported ``reports`` times each
      design   shape (cohorts, bits, words), from ``protocol.encode.bloom.design``

    Raises ParameterError for a level outside (0, 1), InfeasibleError when no choice is found among
    more candidates than the bits can tell apart.
    """
    words, total, columns = design.shape[2], int(people.sum()), _columns(mechanism, design)
    seen = _CohortCounts(
        mechanism, debias_reports(mechanism, ones, people[:, None]), people, reports
    )
    every = _is_identifiable(seen.model(columns))
    chosen = np.arange(words) if every else _choose_candidates(seen, columns)
    fit = _least_squares(seen, columns[:, :, [*chosen, -1]])
    counts, errors = np.zeros(words), np.full(words, math.nan)
    counts[chosen], errors[chosen] = fit.counts[:-1], fit.errors[:-1]
    known = ~np.isnan(errors)
    wide = np.where(known, errors, float(total))
    lean, flat = np.zeros(words), np.zeros(words)
    lean[chosen], flat[chosen] = fit.third[:-1], fit.fourth[:-1]
    noise = wide**2, lean, flat
    _, least = cornish_fisher_ends(*noise, (1.0 - level) / words)
    return WordEstimates(
        counts=counts,
        standard_errors=errors,
        found=known & (counts > least),
        unlisted=(float(fit.counts[-1]), float(fit.errors[-1])),
        reduced_chi_square=fit.reduced_chi_square,
        widened=fit.widened,
        individual=cornish_fisher_intervals(counts, noise, total, level, 1),
        simultaneous=cornish_fisher_intervals(counts, noise, total, level, words),
        method=ALL if every else CHOSEN,
    )


def _columns(mechanism: Memoized, design: NDArray[np.bool_]) -> Floats:
    """The chance that a word sets a bit: 0 or 1 of a candidate, and last of an unlisted word."""
    set_by_one = -math.expm1(mechanism.hashes * math.log1p(-1.0 / mechanism.bins))
    unlisted = np.full((*design.shape[:2], 1), set_by_one)
    return np.concatenate([design.astype(np.float64), unlisted], axis=2)


def _is_identifiable(model: Floats) -> bool:
    """Whether the bits tell all candidates apart: the columns are far from dependent."""
    if model.shape[1] >= model.shape[0]:
        return False
    values = np.linalg.svd(model, compute_uv=False)
    return bool(values[-1] * _WORST_CONDITION > values[0])


def _choose_candidates(seen: _CohortCounts, columns: Floats) -> NDArray[np.intp]:
    """The candidates of a non-negative fit, the heaviest if they are many for the bits there are.

    Such a fit never takes two that the bits cannot tell apart. Raises InfeasibleError when it finds
    no end.
    """
    from scipy import optimize  # slow to import, and only many candidates need it

    spread = np.sqrt(np.maximum(seen.noise(np.zeros_like(seen.counts))[0], _LEAST_VARIANCE))
    model = seen.model(columns) / spread[:, None]
    try:
        weights, _ = optimize.nnls(model, seen.target(columns) / spread)
    except RuntimeError as error:
        raise InfeasibleError(
            "candidates",
            expected="words that the bits can tell apart",
            got=f"{model.shape[1]:,} candidates for {len(spread):,} bits in all cohorts: {error}",
            do="use more bits or cohorts, or fewer candidates",
        ) from error
    heaviest = np.argsort(-weights, kind="stable")[: len(spread) // _BITS_A_WORD]
    return np.sort(heaviest[weights[heaviest] > 0.0])


def _least_squares(seen: _CohortCounts, columns: Floats) -> _Fit:
    """Twice: with equal weights, then with the weights of what was found."""
    from scipy import special  # slow to import

    model, target = seen.model(columns), seen.target(columns)
    share, people = seen.share[:, None], float(seen.people.sum())
    variance = np.ones_like(target)
    for _ in range(2):
        root = np.sqrt(variance)
        solve = np.linalg.pinv(model / root[:, None]) / root[None, :]
        counts = solve @ target
        counts = np.append(counts, people - counts.sum())
        fitted = share * (columns @ np.clip(counts, 0.0, None))
        noise = seen.noise(fitted)
        variance = np.maximum(noise[0] + (fitted * (1.0 - share)).ravel(), _LEAST_VARIANCE)
    solve = np.vstack([solve, -solve.sum(axis=0)])
    residual = target - model @ counts[:-1]
    freedom = len(target) - len(counts) + 1
    chi_square = float((residual**2 / variance).sum()) / freedom
    widened = bool(special.chdtrc(freedom, chi_square * freedom) < _LACK_OF_FIT)
    errors = np.sqrt((solve**2) @ noise[0] + _cohort_variance(seen, solve, columns, counts))
    wider = math.sqrt(chi_square) if widened else 1.0
    third, fourth = (
        (wider * solve) ** order @ each for order, each in zip((3, 4), noise[1:], strict=True)
    )
    return _Fit(counts, wider * errors, third, fourth, chi_square, widened)


def _cohort_variance(seen: _CohortCounts, solve: Floats, columns: Floats, counts: Floats) -> Floats:
    """Variance of every count from who landed in which cohort, shape (counts,)."""
    bits, words = columns.shape[1:]
    held = np.clip(counts, 0.0, None)
    weights = held / held.sum()
    square, by_cohort, by_word = np.zeros(words), np.zeros(words), np.zeros((words, words))
    for c, share in enumerate(seen.share):
        moved = solve[:, c * bits : (c + 1) * bits] @ columns[c]  # of a count, by a word's person
        square += share * (moved**2 @ weights)
        by_cohort += share * (moved @ weights) ** 2
        by_word += share * moved
    mean = by_word @ weights
    spread: Floats = np.maximum(square - by_word**2 @ weights - by_cohort + mean**2, 0.0)
    return spread * float(seen.people.sum())
