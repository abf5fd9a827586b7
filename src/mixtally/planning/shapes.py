"""The shape of least spread: a discrete Laplace for few messages, a discrete Gaussian for many.

A Laplace shape spends epsilon / 2 on each bin, message and collection, so its variance grows as the
square of the t messages that are asked about one person. Of a Gaussian shape two bins lose

    (N - t) / v on top of t / v, with N - t of variance 2 t v:

a Gaussian mechanism with mu^2 = 2 t / v, so its variance grows as t. Which one is less is seen from
these; the one that is taken is searched for by what its integers have.

Source: Dong, Roth, Su, Gaussian Differential Privacy (2022), corollary 2.13.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import CalibrationTarget
from mixtally.accounting.divergence.in_clear import gaussian_shift, start, usual_ratio
from mixtally.accounting.numerics.gaussian_start import gaussian_mu
from mixtally.accounting.numerics.search import ROOT, SearchTolerance, find_least_meeting
from mixtally.device.contract.shape import MOST_SHIFT, MOST_VARIANCE
from mixtally.model.mechanism import InClear, Parameter, ShapedFakes
from mixtally.model.shape import AnyShape, GaussianShape, LaplaceShape
from mixtally.planning.noise import least_noise
from mixtally.planning.request import PlanRequest

_NEAR = 1.25
"""So much less a spread must look for the other shape to be left out."""
_TOLERANCE = 1e-4
_SHIFTS = SearchTolerance(1e3)
"""A table of integers over 2^64 has a delta of its own that rises with its length."""
_VARIANCES, _APPROXIMATE_VARIANCES = (
    SearchTolerance(1e3, floor=0.1),
    SearchTolerance(1e3, floor=0.1, near=0.01),
)
"""A shift is a whole number besides, so that what is left to it goes up and down."""


def least_shape(
    request: PlanRequest, parts: int, accountant: Accountant, fits: Callable[[AnyShape], bool]
) -> AnyShape | None:
    """The shape of least spread that keeps the guarantee for so many ``parts``, the messages of a
    record, of those that fit if any does; None for none.
    """
    laplace, bell = _laplace_spread(request, parts), _gaussian_variance(request, parts)
    ways = [(laplace, _least_laplace), (bell, _least_gaussian)]
    ways.sort(key=lambda way: way[0])
    (least, first), (more, second) = ways
    best = first(request, parts, accountant)
    if best is not None and fits(best) and more > _NEAR * least:
        return best
    both = [one for one in (best, second(request, parts, accountant)) if one is not None]
    return min(both, key=lambda one: (not fits(one), one.spread), default=None)


def _laplace_spread(request: PlanRequest, parts: int) -> float:
    """1 / (2 sinh^2(c / 2)), the variance of a discrete Laplace distribution of decay c."""
    decay = request.guarantee.epsilon / (2.0 * parts * request.collections)
    return 0.5 / math.sinh(0.5 * decay) ** 2


def _gaussian_variance(request: PlanRequest, parts: int) -> float:
    """2 t / mu^2."""
    mu = gaussian_mu(request.guarantee.epsilon, request.guarantee.delta)
    return 2.0 * parts * request.collections / mu**2


def _record(shape: AnyShape) -> Record:
    return Record.of(InClear(bins=2, fakes=ShapedFakes(shape)))


def _least_laplace(request: PlanRequest, parts: int, accountant: Accountant) -> AnyShape | None:
    """The least shift with the usual decay, or where a search for it begins, if that is enough."""
    guarantee, times = request.guarantee, parts * request.collections
    one = LaplaceShape(usual_ratio(guarantee.epsilon, times), 1)
    if request.likely:
        goal = CalibrationTarget(guarantee.epsilon, guarantee.delta, times)
        shift = start(_record(one).message, Parameter.SHIFT, goal)
        return replace(one, shift=shift) if shift <= MOST_SHIFT else None
    mechanism = InClear(bins=2, fakes=ShapedFakes(one))
    given = guarantee.epsilon, guarantee.delta, times
    found = least_noise(accountant, mechanism, Parameter.SHIFT, *given)
    return None if found is None or found.shaped_fakes is None else found.shaped_fakes.shape


def _least_gaussian(request: PlanRequest, parts: int, accountant: Accountant) -> AnyShape | None:
    """The least variance whose usual shift keeps the guarantee, then the least shift with it."""
    guarantee, times = request.guarantee, parts * request.collections
    usual = partial(gaussian_shift, times=times, delta=guarantee.delta)
    likely = math.ceil(_gaussian_variance(request, parts))
    if likely > MOST_VARIANCE or usual(likely) > MOST_SHIFT:
        return None
    if request.likely:
        return GaussianShape(likely, usual(likely))

    def upper(variance: int, shift: int | None = None) -> float:
        shape = GaussianShape(variance, usual(variance) if shift is None else shift)
        return accountant.upper(_record(shape), guarantee.epsilon, times, guarantee.delta)

    variance = find_least_meeting(
        upper,
        guarantee.delta,
        1,
        bisect_right(range(1, MOST_VARIANCE + 1), MOST_SHIFT, key=usual),
        start=likely,
        tolerance=_TOLERANCE,
        axis=ROOT,
        rough=_APPROXIMATE_VARIANCES if accountant.is_approximate else _VARIANCES,
    )
    if variance is None:
        return None
    begin = usual(variance)
    if accountant.is_approximate:
        return GaussianShape(variance, begin)
    given = guarantee.delta, 1, MOST_SHIFT
    shift = find_least_meeting(partial(upper, variance), *given, start=begin, rough=_SHIFTS)
    return None if shift is None else GaussianShape(variance, shift)
