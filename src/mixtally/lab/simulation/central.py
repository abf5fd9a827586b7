"""Mechanisms of the central model, built with OpenDP, as a comparison.

In the central model one trusted party sees all answers and adds the noise. ``study_document`` and
the demo show these mechanisms next to a simulated result.

Sensitivity: if one person's record is substituted, one count of a histogram rises by one and
another falls by one. So the counts move by 2 in L1 distance, by sqrt(2) in L2 distance, and by 1 in
any single count. With two bins only one count is published, because the other is the number of
people minus that count. The published count moves by 1.

Each mechanism has the smallest scale of noise at which OpenDP's privacy map states the guarantee.
Errors are those of the published counts. With more than two bins, the sum of these counts may
differ from the number of people.

OpenDP draws from the operating system's randomness and takes no seed. An experiment with a seed
therefore leaves out the measured errors, and a note says so.
"""

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.numerics.search import find_least_meeting
from mixtally.errors import AccountingError
from mixtally.model.baseline import Baseline, Central
from mixtally.model.guarantee import Guarantee
from mixtally.primitives.tails import Floats

LAPLACE, GAUSSIAN = "discrete Laplace", "discrete Gaussian"
EXPONENTIAL = "exponential mechanism"
MISSING = "central baselines: not drawn, install mixtally[baselines]"
SEEDED = "central baselines: not measured, OpenDP's randomness takes no seed"
ONE_VALUE = "central baselines: not drawn, these are for records of one value"
MOST_BINS = 20_000
"""Number of bins up to which noise is drawn, which takes OpenDP about a second."""
_PARTS = 1 << 32
"""Denominator of the scales that are searched: they are multiples of 2^-32 counts."""
_COUNT_MOVED = 1
"""Change of one count if one record is substituted."""


def compare_central_mechanisms(
    guarantee: Guarantee, truth: NDArray[np.int64], *, level: float, seeded: bool
) -> tuple[Central, dict[str, float]]:
    """Return central mechanisms with the same guarantee, and the measured error of each.

    Parameters
    ----------
    guarantee : Guarantee
        The epsilon and delta that every mechanism must have.
    truth : array of int64, shape (bins,)
        The true counts, which the mechanisms release.
    level : float
        The confidence level of the stated error bounds, in (0, 1).
    seeded : bool
        Whether the run must be repeatable. OpenDP takes no seed, so no errors are measured then.

    Returns
    -------
    Central
        The mechanisms. If OpenDP is not installed there are none, and a note says so.
    dict
        The error of one release, in counts, by the name of the mechanism. Empty with ``seeded``.
    """
    try:
        load_opendp()
    except ImportError:
        return Central(note=MISSING), {}
    bins = len(truth)
    lines = (
        discrete_laplace(guarantee.epsilon, bins, level),
        gaussian(guarantee.epsilon, guarantee.delta, bins, level),
        exponential(guarantee.epsilon, bins, level),
    )
    if seeded:
        return Central(lines, SEEDED), {}
    if bins > MOST_BINS:
        note = f"central baselines: not measured over more than {MOST_BINS:,} bins"
        return Central(lines, note), {}
    return Central(lines, ""), {line.name: measure_error(line, truth) for line in lines}


def measure_error(line: Baseline, truth: NDArray[np.int64]) -> float:
    """Release ``truth`` once with the mechanism of ``line``, and return the error.

    The error is the root mean square error of the counts. For the exponential mechanism it is the
    largest count minus the count of the named bin. The randomness is OpenDP's own.
    """
    counts = truth.tolist()
    if line.standard_error is None:
        named = selection_measurement(line.scale)(counts)
        return float(truth.max() - truth[named])
    make = laplace_measurement if line.name == LAPLACE else gaussian_measurement
    published = _count_published(len(counts))
    errors = np.asarray(make(line.scale)(counts[:published])) - truth[:published]
    return float(np.sqrt(np.mean(errors.astype(np.float64) ** 2)))


def discrete_laplace(epsilon: float, bins: int, level: float) -> Baseline:
    """Return the baseline with discrete Laplace (two-sided geometric) noise; delta is 0.

    Source: Ghosh, Roughgarden, Sundararajan 2009; OpenDP ``make_laplace`` on whole numbers.
    """
    dp = load_opendp()
    published = _count_published(bins)
    moved = min(2, published)
    scale, stated = _raise_scale(laplace_measurement, moved, epsilon, moved / epsilon)
    one, every = _error_bounds(
        dp.accuracy.discrete_laplacian_scale_to_accuracy, scale, published, level
    )
    ratio = math.exp(-1.0 / scale)
    return Baseline(
        name=LAPLACE,
        epsilon=stated,
        delta=0.0,
        scale=scale,
        standard_error=math.sqrt(2.0 * ratio) / (1.0 - ratio),
        level=level,
        one_within=one,
        all_within=every,
        source=_source(dp),
    )


def gaussian(epsilon: float, delta: float, bins: int, level: float) -> Baseline:
    """Return the baseline with discrete Gaussian noise on every count.

    The guarantee (epsilon, delta) follows from ``make_gaussian`` (zero-concentrated DP),
    ``make_zCDP_to_approxDP`` and ``make_fix_delta``. The resulting noise is about 7 % larger than
    an exact analysis of the Gaussian requires.

    Source: Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020).
    """
    dp = load_opendp()
    published = _count_published(bins)
    moved = math.sqrt(min(2, published))

    def loss(scale: float) -> float:
        profile = dp.combinators.make_zCDP_to_approxDP(gaussian_measurement(scale))
        fixed = dp.combinators.make_fix_delta(profile, delta)
        return float(fixed.map(moved)[0])

    more = math.log(1.0 / delta)
    # A first guess of the scale, from the conversion epsilon = rho + 2 sqrt(rho log(1/delta)).
    start = 1.0 / (math.sqrt(more + epsilon) - math.sqrt(more))
    found = find_least_meeting(
        lambda parts: loss(parts / _PARTS),
        epsilon,
        1,
        _PARTS**2,
        start=round(0.8 * start * _PARTS),
        tolerance=1e-12,
    )
    if found is None:
        raise AccountingError(f"Gaussian baseline: no scale keeps ({epsilon}, {delta})")
    scale = found / _PARTS
    one, every = _error_bounds(
        dp.accuracy.discrete_gaussian_scale_to_accuracy, scale, published, level
    )
    return Baseline(
        name=GAUSSIAN,
        epsilon=loss(scale),
        delta=delta,
        scale=scale,
        standard_error=_gaussian_deviation(scale),
        level=level,
        one_within=one,
        all_within=every,
        source=_source(dp),
    )


def _count_published(bins: int) -> int:
    """Return the number of published counts; with two bins the second follows from the first."""
    return 1 if bins == 2 else bins


def exponential(epsilon: float, bins: int, level: float) -> Baseline:
    """Return the baseline of the exponential mechanism, which names the most frequent bin.

    The mechanism has delta = 0. For every a, the count of the named bin is a or more below the
    largest count with probability at most bins exp(-a / scale). OpenDP's ``make_noisy_max`` uses
    permute-and-flip, for which the bound is also valid: it accepts a bin whose count is a below the
    largest count with probability exp(-a / scale), and there are fewer than ``bins`` such bins.

    Source: Dwork, Roth, The Algorithmic Foundations of Differential Privacy (2014), theorem 3.11,
    which is derived in side notes 002 section 3; McKenna, Sheldon, Permute-and-Flip (2020).
    """
    dp = load_opendp()
    scale, stated = _raise_scale(
        selection_measurement, _COUNT_MOVED, epsilon, 2.0 * _COUNT_MOVED / epsilon
    )
    return Baseline(
        name=EXPONENTIAL,
        epsilon=stated,
        delta=0.0,
        scale=scale,
        standard_error=None,
        level=level,
        one_within=_largest_below(scale * math.log(bins / (1.0 - level))),
        all_within=None,
        source=_source(dp),
    )


_MODULES = ("accuracy", "combinators", "domains", "measurements", "measures", "metrics", "mod")


def load_opendp() -> Any:
    """Import OpenDP with the modules used here; raise ImportError if it is not installed.

    The import takes a fifth of a second, so callers import it only when needed.
    """
    for module in _MODULES:
        import_module(f"opendp.{module}")
    opendp: Any = import_module("opendp")
    # OpenDP marks mechanisms as contributed until its proofs of them are vetted.
    opendp.mod.enable_features("contrib")
    return opendp


def laplace_measurement(scale: float) -> Any:
    """Return OpenDP's measurement that adds discrete Laplace noise to a list of counts."""
    dp = load_opendp()
    return dp.measurements.make_laplace(_counts_domain(dp), dp.metrics.l1_distance(T="i64"), scale)


def gaussian_measurement(scale: float) -> Any:
    """Return OpenDP's measurement that adds discrete Gaussian noise to a list of counts."""
    dp = load_opendp()
    return dp.measurements.make_gaussian(_counts_domain(dp), dp.metrics.l2_distance(T="f64"), scale)


def selection_measurement(scale: float) -> Any:
    """Return OpenDP's measurement that names the bin of the largest count."""
    dp = load_opendp()
    metric, measure = dp.metrics.linf_distance(T="i64"), dp.measures.max_divergence()
    return dp.measurements.make_noisy_max(_counts_domain(dp), metric, measure, scale)


def _counts_domain(dp: Any) -> Any:
    return dp.domains.vector_domain(dp.domains.atom_domain(T="i64"))


def _source(dp: Any) -> str:
    return f"OpenDP {dp.accuracy.get_opendp_version()}"


def _raise_scale(
    make: Callable[[float], Any], moved: int, epsilon: float, scale: float
) -> tuple[float, float]:
    """Return a scale at which OpenDP states at most ``epsilon``, and the epsilon that it states.

    The scale is ``scale``, raised slightly if necessary. ``make`` returns the measurement of a
    scale, and ``moved`` is the sensitivity of the counts.
    """
    # The step begins at one unit in the last place and doubles. So the loop ends soon, and the
    # scale exceeds the least one only by the size of rounding errors.
    step = 2.0**-52
    while (stated := float(make(scale).map(moved))) > epsilon:
        scale *= 1.0 + step
        step *= 2.0
    return scale, stated


def _error_bounds(
    accuracy: Callable[[float, float], float], scale: float, bins: int, level: float
) -> tuple[int, int]:
    """Return a bound of the error of one count, and one of the largest error of all counts.

    Each bound is valid with probability ``level``. OpenDP's accuracy a at alpha means P[error >=
    a] <= alpha. The noises of the bins are independent, and errors are whole numbers.
    """
    # All of n independent errors are small with probability level if each is with level^(1/n).
    each = -math.expm1(math.log(level) / bins)
    return _largest_below(accuracy(scale, 1.0 - level)), _largest_below(accuracy(scale, each))


def _largest_below(limit: float) -> int:
    """Return the largest whole number below ``limit``."""
    return math.ceil(limit) - 1


def _gaussian_deviation(scale: float) -> float:
    """Return the standard deviation of P[k] ~ exp(-k^2 / (2 scale^2)) over the whole numbers."""
    # Beyond 12 scales the weights are below e^-72, less than the rounding of the sum.
    reach = math.ceil(12.0 * scale) + 2
    squares: Floats = np.arange(1, reach + 1, dtype=np.float64) ** 2
    weights = np.exp(-squares / (2.0 * scale * scale))
    return math.sqrt(2.0 * float(squares @ weights) / (1.0 + 2.0 * float(weights.sum())))
