"""Counts of candidate words from hashed reports, by a regression over bits and cohorts.

``conclude.memoized`` calls this module. A *cohort* is a group of people who use the same hashes.
Let X[(c, i), m] = 1 if word m sets bit i in cohort c, and let n_c/n be the share of the people in
cohort c. The debiased counts are t = diag(n_c/n) X N + noise, where N are the counts of the words.
A last column of X stands for all words that are not candidates. Averaged over words, such a word
sets a bit with probability 1 - (1 - 1/bits)^hashes. Everybody has one word, so the count of the
last column is n minus the counts of all other columns. Weighted least squares estimates N. The
standard errors include two sources of randomness in t:

- *Noise* of each bit, by ``bit_cumulants``.
- *Cohorts*: the people with a word are assigned to cohorts at random. Conditionally on all n_c, the
  assignment is a random permutation. Let a(m, c) be the contribution of a person with word m in
  cohort c to an estimate. Hoeffding's theorem states the variance of the sum of a(m, c) over
  people. Subtract from a(m, c) its mean over m and its mean over c, and add its mean over both. The
  variance is n times the mean square of the result.

If there are more candidates than the bits can distinguish, a non-negative fit first chooses some of
them. The errors do not include this choice: counts of chosen words tend to be too large, and their
intervals cover less often than the level.

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
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends
from mixtally.protocol.estimate.memoized import (
    Moments,
    bit_cumulants,
    cornish_fisher_intervals,
    debias_reports,
)

ALL = "least squares over every candidate"
CHOSEN = "least squares over candidates chosen by a non-negative fit"
_WORST_CONDITION = 1e4
"""The condition number above which the bits do not distinguish the candidates."""
_BITS_A_WORD = 2
"""A non-negative fit chooses at most one word for this number of bits."""
# A fit whose chi-square has a smaller p-value is missing words, so its errors are widened.
_LACK_OF_FIT = 1e-3
_LEAST_VARIANCE = 1e-9
"""The minimum variance of a bit, which keeps weights finite if reports have hardly any noise (f
tiny, p = 0, q = 1)."""


@dataclass(frozen=True, slots=True, eq=False)
class WordEstimates:
    """Counts of candidate words; a word that was not chosen has the count 0.

    Arrays have the shape (words,). Counts may be negative, and errors are NaN for words that were
    not chosen. ``found`` says which counts are significantly above zero, for all words
    simultaneously (Bonferroni). ``unlisted`` has the number of people whose word is not a
    candidate, and its standard error. ``reduced_chi_square`` is the mean squared residual divided
    by its expectation; if it is far above 1, candidates are missing. ``widened`` says whether the
    standard errors were multiplied by the root of ``reduced_chi_square``.
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
    """The debiased ``counts`` of people with a true 1, shape (cohorts, bits).

    ``people`` has the number of people in each cohort. ``reports`` is the number of reports of each
    person.
    """

    mechanism: Memoized
    counts: Floats
    people: NDArray[np.int64]
    reports: int

    @property
    def share(self) -> Floats:
        """The share of the people in each cohort, shape (cohorts,)."""
        share: Floats = self.people / self.people.sum()
        return share

    def noise(self, fitted: Floats) -> Moments:
        """Return the cumulants of each bit's noise, shape (cohorts * bits,).

        ``fitted`` has the number of people of each cohort who have each bit.
        """
        second, third, fourth = bit_cumulants(
            self.mechanism, fitted, self.people[:, None], self.reports
        )
        return second.ravel(), third.ravel(), fourth.ravel()

    def model(self, columns: Floats) -> Floats:
        """Return the regression matrix, shape (cohorts * bits, candidates).

        A column has the change of each expected count if one person has this candidate in place of
        an unlisted word.
        """
        above = (columns[:, :, :-1] - columns[:, :, -1:]) * self.share[:, None, None]
        return above.reshape(self.counts.size, columns.shape[2] - 1)

    def target(self, columns: Floats) -> Floats:
        """Return the counts minus the expected counts of a crowd whose words are all unlisted.

        The result has shape (cohorts * bits,).
        """
        return (self.counts - self.people[:, None] * columns[:, :, -1]).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Counts and errors of the chosen candidates, followed by those of the unlisted words.

    ``third`` and ``fourth`` are cumulants of the noise. ``errors`` include the random assignment to
    cohorts, but ``third`` and ``fourth`` do not. ``widened`` says whether the errors were
    multiplied by the root of the reduced chi-square.
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
    """Estimate the count of every candidate with intervals at ``level``.

    ``ones`` has the number of people who reported a 1, averaged over the ``reports`` reports of
    each person, shape (cohorts, bits). ``people`` has the number of people in each cohort, shape
    (cohorts,). ``design`` is the result of ``protocol.encode.bloom.build_design``. Raises
    ParameterError for a level outside (0, 1). Raises InfeasibleError if there are more candidates
    than the bits can distinguish and no fit converges.
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
    """Return the probability that each candidate sets each bit of each cohort.

    The last column is that of an unlisted word.
    """
    set_by_one = -math.expm1(mechanism.hashes * math.log1p(-1.0 / mechanism.bins))
    unlisted = np.full((*design.shape[:2], 1), set_by_one)
    return np.concatenate([design.astype(np.float64), unlisted], axis=2)


def _is_identifiable(model: Floats) -> bool:
    """Return whether the bits distinguish all candidates.

    They do if the columns of ``model`` are linearly independent and its condition number is not too
    large.
    """
    if model.shape[1] >= model.shape[0]:
        return False
    values = np.linalg.svd(model, compute_uv=False)
    return bool(values[-1] * _WORST_CONDITION > values[0])


def _choose_candidates(seen: _CohortCounts, columns: Floats) -> NDArray[np.intp]:
    """Return the indices of chosen candidates, at most as many as the bits can distinguish.

    A non-negative fit chooses them, and never chooses two words that the bits cannot distinguish.
    Raises InfeasibleError if it does not converge.
    """
    from scipy import optimize  # slow to import, and only many candidates need it

    spread = np.sqrt(np.maximum(seen.noise(np.zeros_like(seen.counts))[0], _LEAST_VARIANCE))
    model = seen.model(columns) / spread[:, None]
    try:
        weights, _ = optimize.nnls(model, seen.target(columns) / spread)
    except RuntimeError as error:
        raise InfeasibleError(
            "candidates",
            expected="words that the bits can distinguish",
            got=f"{model.shape[1]:,} candidates for {len(spread):,} bits in all cohorts: {error}",
            do="use more bits or cohorts, or fewer candidates",
        ) from error
    heaviest = np.argsort(-weights, kind="stable")[: len(spread) // _BITS_A_WORD]
    return np.sort(heaviest[weights[heaviest] > 0.0])


def _least_squares(seen: _CohortCounts, columns: Floats) -> _Fit:
    """Fit twice: first with equal weights, then with weights computed from the first fit."""
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
    # The last row belongs to the unlisted words, whose count is n less all others.
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
    """Return the variance of every count that the assignment to cohorts causes, shape (counts,)."""
    bits, words = columns.shape[1:]
    clipped = np.clip(counts, 0.0, None)
    weights = clipped / clipped.sum()
    square, by_cohort, by_word = np.zeros(words), np.zeros(words), np.zeros((words, words))
    for c, share in enumerate(seen.share):
        # How much one person of this cohort with each word changes each estimated count.
        moved = solve[:, c * bits : (c + 1) * bits] @ columns[c]
        square += share * (moved**2 @ weights)
        by_cohort += share * (moved @ weights) ** 2
        by_word += share * moved
    mean = by_word @ weights
    spread: Floats = np.maximum(square - by_word**2 @ weights - by_cohort + mean**2, 0.0)
    return spread * float(seen.people.sum())
