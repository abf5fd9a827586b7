"""The fake-count distribution of least variance: discrete Laplace or discrete Gaussian.

Mixes of ``clear-shaped`` draw the number of fakes of each bin from a *shape*, a shifted discrete
distribution. ``planning.clear_shaped`` calls this module for the shape with the least variance.

Let t be the number of messages that a person sends, over all parts and collections. A
Laplace shape spends epsilon / 2 on each bin of each of the t messages, so its variance grows as
t^2. Let v be the variance of a Gaussian shape. Take the count of the person's bin minus the count
of another bin, and let N be the sum of these differences over the t messages. An attacker may know
the messages of all other people. If they are subtracted, N has mean t and variance 2 t v. The
privacy loss between the two bins is N / v, that is

    (N - t) / v + t / v.

This is the privacy loss of a Gaussian mechanism with mu^2 = 2 t / v. Hence v = 2 t / mu^2 grows as
t. These two formulas decide which shape is tried first. The parameters of the chosen shape are then
searched for with the delta of its integer table.

The fakes of two bins can be *paired*, so that they have a fixed total. Then only one count of each
message is seen. A Laplace shape spends epsilon on it, and the Gaussian one has mu^2 = t / v, which
halves its variance.

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
from mixtally.accounting.numerics.composed_estimates import gaussian_mu
from mixtally.accounting.numerics.search import ROOT, SearchTolerance, find_least_meeting
from mixtally.device.contract.shape import MOST_SHIFT, MOST_VARIANCE
from mixtally.model.mechanism import InClear, Parameter, ShapedFakes
from mixtally.model.shape import (
    AnyShape,
    GaussianShape,
    LaplaceShape,
    PairedGaussianShape,
    PairedLaplaceShape,
)
from mixtally.planning.noise import least_noise
from mixtally.planning.request import PlanRequest

_NEAR = 1.25
"""The ratio of the estimated variances above which the larger one is not tried."""
_TOLERANCE = 1e-4
"""The relative tolerance of a Gaussian variance."""
_SHIFTS = SearchTolerance(1e3)
"""The tolerance of a search for a shift. Delta is not monotone: the rounding errors of the table of
integers over 2^64 increase with its length.
"""
_VARIANCES, _APPROXIMATE_VARIANCES = (
    SearchTolerance(1e3, floor=0.1),
    SearchTolerance(1e3, floor=0.1, near=0.01),
)
"""The tolerance of a search for a variance. Delta is not monotone, because the shift of each
variance is rounded up to an integer.
"""


def least_shape(
    request: PlanRequest,
    parts: int,
    accountant: Accountant,
    fits: Callable[[AnyShape], bool],
    *,
    paired: bool = False,
) -> AnyShape | None:
    """Return the shape of least variance for a record of ``parts`` messages; None if there is none.

    Shapes that fit the budget of the mixes are preferred to others. With ``paired``, the shape is
    for messages with two bins whose fakes have a fixed total.
    """
    laplace, bell = (
        _laplace_spread(request, parts, paired=paired),
        _gaussian_variance(request, parts, paired=paired),
    )
    ways = [
        (laplace, partial(_least_laplace, paired=paired)),
        (bell, partial(_least_gaussian, paired=paired)),
    ]
    ways.sort(key=lambda way: way[0])
    (least, first), (more, second) = ways
    best = first(request, parts, accountant)
    if best is not None and fits(best) and more > _NEAR * least:
        return best
    # The estimates are close, or the first shape does not fit, so both are computed.
    both = [one for one in (best, second(request, parts, accountant)) if one is not None]
    return min(both, key=lambda one: (not fits(one), one.spread), default=None)


def _laplace_spread(request: PlanRequest, parts: int, *, paired: bool) -> float:
    """Return the variance of the discrete Laplace distribution that the guarantee needs.

    It is 1 / (2 sinh^2(c / 2)), where c is the decay: the share of epsilon for one count.
    """
    counts = (1.0 if paired else 2.0) * parts * request.collections
    decay = request.guarantee.epsilon / counts
    return 0.5 / math.sinh(0.5 * decay) ** 2


def _gaussian_variance(request: PlanRequest, parts: int, *, paired: bool) -> float:
    """Return the estimate of a Gaussian shape's variance: 2 t / mu^2, or t / mu^2 if paired."""
    mu = gaussian_mu(request.guarantee.epsilon, request.guarantee.delta)
    return (1.0 if paired else 2.0) * parts * request.collections / mu**2


def _record(shape: AnyShape) -> Record:
    return Record.of(InClear(bins=2, fakes=ShapedFakes(shape)))


def _least_laplace(
    request: PlanRequest, parts: int, accountant: Accountant, *, paired: bool
) -> AnyShape | None:
    """Return the Laplace shape with the decay of basic composition and the least shift.

    If the request accepts a probable candidate, there is no search, and the shift is the value at
    which a search would start.
    """
    guarantee, times = request.guarantee, parts * request.collections
    kind = PairedLaplaceShape if paired else LaplaceShape
    one = kind(usual_ratio(guarantee.epsilon, times, paired=paired), 1)
    if request.accept_probable:
        goal = CalibrationTarget(guarantee.epsilon, guarantee.delta, times)
        shift = start(_record(one).message, Parameter.SHIFT, goal)
        return replace(one, shift=shift) if shift <= MOST_SHIFT else None
    mechanism = InClear(bins=2, fakes=ShapedFakes(one))
    given = guarantee.epsilon, guarantee.delta, times
    found = least_noise(accountant, mechanism, Parameter.SHIFT, *given)
    return None if found is None or found.shaped_fakes is None else found.shaped_fakes.shape


def _least_gaussian(
    request: PlanRequest, parts: int, accountant: Accountant, *, paired: bool
) -> AnyShape | None:
    """Return the Gaussian shape of least variance, with the least shift for this variance.

    During the search for the variance, each variance has the shift that ``gaussian_shift`` returns.
    """
    guarantee, times = request.guarantee, parts * request.collections
    usual = partial(gaussian_shift, times=times, delta=guarantee.delta)
    kind = PairedGaussianShape if paired else GaussianShape
    estimated = math.ceil(_gaussian_variance(request, parts, paired=paired))
    if estimated > MOST_VARIANCE or usual(estimated) > MOST_SHIFT:
        return None
    if request.accept_probable:
        return kind(estimated, usual(estimated))

    def upper(variance: int, shift: int | None = None) -> float:
        shape = kind(variance, usual(variance) if shift is None else shift)
        return accountant.upper(_record(shape), guarantee.epsilon, times, guarantee.delta)

    variance = find_least_meeting(
        upper,
        guarantee.delta,
        1,
        bisect_right(range(1, MOST_VARIANCE + 1), MOST_SHIFT, key=usual),
        start=estimated,
        tolerance=_TOLERANCE,
        axis=ROOT,
        rough=_APPROXIMATE_VARIANCES if accountant.is_approximate else _VARIANCES,
    )
    if variance is None:
        return None
    begin = usual(variance)
    if accountant.is_approximate:
        return kind(variance, begin)
    given = guarantee.delta, 1, MOST_SHIFT
    shift = find_least_meeting(partial(upper, variance), *given, start=begin, rough=_SHIFTS)
    return None if shift is None else kind(variance, shift)
