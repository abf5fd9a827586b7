"""The composition of several collections in which one person takes part.

The ledger and the epoch simulations call this module. The person's answers u_1, u_2, .. are
replaced by v_1, v_2, .. in all collections. Fakes and flips are drawn anew in each collection, so
the observer's distributions are products. Let delta_i(x) be the divergence of collection i at every
real x, and delta_{1,2} that of collections 1 and 2 jointly. Let h_i be an upper bound of delta_i.
Let m_i be a loss distribution whose curve is h_i, and t_1 the true loss distribution of collection
1. Then

    delta_{1,2}(e) = E_{l ~ t_1}[delta_2(e - l)] <= E_{l ~ t_1}[h_2(e - l)]
                   = E_{l ~ m_2}[delta_1(e - l)] <= E_{l ~ m_2}[h_1(e - l)].

The order of expectations may be exchanged, since all terms of the double sum are positive. More
collections follow in the same way. So dominating distributions may be rounded one by one
(``losses``) and added up (``convolve``). h_i bounds the divergence in both orders of the neighbors
and for all pairs of answers. So every order and every choice of answers is covered, and the answers
of others are arbitrary. A collection whose answers depend on earlier results is covered too, since
h_2 bounds the divergence of all these answers. A *choice of plans* that depends on earlier results
is not covered: the certificate says so.

Source: Sommer, Meiser, Mohammadi, Privacy Loss Classes (2019); Zhu, Dong, Wang, Optimal Accounting
via Characteristic Function (2022), theorem 10: dominating pairs compose.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.composition.pld import Curve
from mixtally.accounting.numerics.bracket import join_ends
from mixtally.accounting.plans.terms import (
    ComposedTerms,
    PrivacyTerms,
    cap_cost,
    certify_terms,
    compose_terms,
    count_honest_parts,
)
from mixtally.errors import AccountingError, InfeasibleError, ParameterError, PlanError
from mixtally.model.certificate import Certificate, Status
from mixtally.model.guarantee import LEAST_EPSILON, MOST_EPSILON, Observer, check_epsilon
from mixtally.model.plan import Plan

Charges = Sequence[tuple[Plan, int]]
"""Plans, each with the number of collections that used it."""

MOST_TIMES = 1_000_000
"""Largest total number of collections."""
SOURCE = (
    "privacy loss distributions, rounded to dominate the exact ones (Connect the Dots 2022) and "
    "convolved with every error added (Zhu, Dong, Wang 2022, theorem 10)"
)
INDEPENDENCE_ASSUMPTION = (
    "every collection draws its flips and fakes afresh; which plans are used, and how often, does "
    "not depend on what earlier ones showed"
)
_TOLERANCE = 1e-6
"""Relative accuracy of an epsilon."""
_ROUNDING_FACTOR = 1.001
"""Factor by which rounding may raise a bound from one epsilon to the next, with a wide margin."""


class ComposedDelta(NamedTuple):
    """The upper bound of delta(epsilon) of several collections, as a function on [0, 20].

    The bound is the sum of two functions of epsilon. ``without_caps`` is the bound for messages
    without caps, and falls. ``cap_cost`` is the increase of delta due to the caps, and rises.
    """

    without_caps: Curve
    cap_cost: Curve

    def __call__(self, epsilon: float) -> float:
        """Return the composed delta plus the cost of caps, at most 1."""
        return min(1.0, self.without_caps(epsilon) + self.cap_cost(epsilon))


def delta_of(
    charges: Charges,
    epsilon: float,
    accountant: Accountant | None = None,
    aim: float | None = None,
) -> Certificate:
    """Return a certificate for delta(epsilon) of all collections jointly.

    The lower end is the largest lower end of a single collection.

    Parameters
    ----------
    charges : Charges
        The plans, each with its number of collections.
    epsilon : float
        The privacy loss in nats, in [0.01, 20].
    accountant : Accountant or None
        Keeps the computed numbers; None for a new accountant.
    aim : float or None
        The delta that the result will be compared with; None for the smallest delta of the plans.

    Raises
    ------
    ParameterError
        If ``epsilon`` is outside [0.01, 20], or a number of collections outside [1, 10^6].
    PlanError
        If the plans have different observers, or a plan is impossible.
    AccountingError
        If a number cannot be right.
    """
    check_epsilon(epsilon)
    accountant = accountant or Accountant()
    upper = upper_curve(charges, accountant, aim)(epsilon)
    return _certificate(merge_charges(charges), epsilon, upper, accountant)


def epsilon_of(charges: Charges, delta: float, accountant: Accountant | None = None) -> Certificate:
    """Return a certificate for the least epsilon in [0.01, 20] that satisfies ``delta``.

    Epsilon is rounded up to six digits. Raises InfeasibleError if even epsilon 20 does not satisfy
    ``delta``, ParameterError if ``delta`` is outside (0, 1), and all errors of ``delta_of``.

    Parameters
    ----------
    charges : Charges
        The plans, each with its number of collections.
    delta : float
        The required delta, in (0, 1).
    accountant : Accountant or None
        Keeps the computed numbers; None for a new accountant.
    """
    if not 0.0 < delta < 1.0:
        raise ParameterError(
            "delta", expected="a number between 0 and 1", got=delta, do="1e-6 is a common choice"
        )
    accountant = accountant or Accountant()
    groups, upper = merge_charges(charges), upper_curve(charges, accountant, delta)
    first = LEAST_EPSILON, upper.without_caps(LEAST_EPSILON)
    met = first
    if first[1] + upper.cap_cost(LEAST_EPSILON) > delta:
        met = _find_least_epsilon(upper, delta, *_bracket_epsilon(upper, delta, first))
    epsilon, composed = met
    return _certificate(groups, epsilon, composed + upper.cap_cost(epsilon), accountant)


_Point = tuple[float, float]


def _bracket_epsilon(upper: ComposedDelta, delta: float, below: _Point) -> tuple[_Point, _Point]:
    """Return two points, one that misses the target ``delta`` and one that meets it.

    A point is an epsilon and its delta without the cost of caps. The cost of caps increases with
    epsilon, so the largest epsilon may miss the target because of this cost. In that case the
    interval is halved until an epsilon meets the target, the cost of caps included.
    """
    above = MOST_EPSILON, upper.without_caps(MOST_EPSILON)
    while (missed := above[1] + upper.cap_cost(above[0])) > delta:
        if above[1] > delta or above[0] - below[0] <= _TOLERANCE * above[0]:
            raise InfeasibleError(
                "collections",
                expected=f"delta <= {delta:g} at some epsilon up to {MOST_EPSILON:g}",
                got=f"{missed:.3g} at {above[0]:.4g}",
                do="take part in fewer, or allow a larger delta",
            )
        middle = math.sqrt(below[0] * above[0])
        point = middle, upper.without_caps(middle)
        if point[1] + upper.cap_cost(middle) <= delta or point[1] < upper.cap_cost(middle):
            above = point
        else:
            below = point
    return below, above


def _find_least_epsilon(upper: ComposedDelta, delta: float, below: _Point, above: _Point) -> _Point:
    """Return the least epsilon between ``below`` and ``above`` that meets ``delta``, and its delta.

    The method is false position with frequent halving. The returned delta does not include the cost
    of caps.
    """
    (low, at_low), (high, at_high) = below, above
    step = 0
    while high - low > _TOLERANCE * high:
        # Every third step halves the interval, because false position alone may move one end only.
        share = 0.5
        if step % 3 and at_high > 0.0:
            fall = math.log(at_low / at_high)
            share = math.log(at_low / delta) / fall if fall > 0.0 else 0.5
            share += 0.02 if step % 3 == 1 else -0.02  # so that both ends move
        middle = low + (high - low) * min(max(share, 0.001), 0.999)
        value = upper.without_caps(middle)
        if not at_high <= value * _ROUNDING_FACTOR or not value <= at_low * _ROUNDING_FACTOR:
            raise AccountingError(
                f"composition: expected a delta that falls with epsilon, got {at_low}, {value}, "
                f"{at_high} at {low}, {middle}, {high}; nothing may be promised from it"
            )
        if value + upper.cap_cost(middle) <= delta:
            high, at_high = middle, value
        else:
            low, at_low = middle, value
        step += 1
    return high, at_high


def upper_curve(
    charges: Charges, accountant: Accountant | None = None, aim: float | None = None
) -> ComposedDelta:
    """Return the upper bound of all ``charges`` jointly.

    ``aim`` is a delta that the result will be compared with; a small share of it may be added. None
    stands for the smallest delta of the plans.
    """
    own, groups = accountant or Accountant(), merge_charges(charges)
    taken = [_make_composed_terms(plan, times) for plan, times in groups]
    least = min(plan.guarantee.delta for plan, _ in groups)

    def compute_cap_cost(epsilon: float) -> float:
        return math.fsum(cap_cost(one.terms, epsilon) for one in taken)

    return ComposedDelta(
        compose_terms(taken, own, least if aim is None else min(aim, least)), compute_cap_cost
    )


def _make_composed_terms(plan: Plan, times: int) -> ComposedTerms:
    """Return the terms of ``times`` collections under a plan, and their share of epsilon.

    The plan's epsilon is divided equally among the collections of the plan. With this share, basic
    composition is exact for a guarantee whose curve bends sharply at the plan's epsilon, such as
    the guarantee of clear-shaped.
    """
    terms = PrivacyTerms.of(plan, times)
    return ComposedTerms(
        terms, count_honest_parts(terms), plan.guarantee.epsilon * times / plan.collections
    )


def merge_charges(charges: Charges) -> list[tuple[Plan, int]]:
    """Return the charges with equal plans merged; raise as ``delta_of`` does."""
    groups: dict[str, tuple[Plan, int]] = {}
    is_single = (
        len(charges) == 1
    )  # a fingerprint of 10^5 labels takes longer than many compositions
    for plan, times in charges:
        key = "" if is_single else plan.fingerprint
        groups[key] = (plan, groups.get(key, (plan, 0))[1] + validate_times(times))
    if not groups:
        raise ParameterError(
            "collections", expected="at least one", got="none", do="nothing was spent yet"
        )
    validate_times(sum(times for _, times in groups.values()))
    observers = {plan.guarantee.observer for plan, _ in groups.values()}
    if len(observers) > 1:
        raise PlanError(
            "plans",
            expected="one observer for all",
            got=" and ".join(sorted(observers)),
            do="keep a separate ledger for each observer, because their guarantees cannot be added",
        )
    return list(groups.values())


def validate_times(times: int) -> int:
    """Return ``times`` if it is in [1, 10^6]; raise ParameterError otherwise."""
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise ParameterError(
            "times",
            expected=f"an integer in [1, {MOST_TIMES:,}]",
            got=times,
            do="it is the number of collections a person takes part in",
        )
    return times


def _certificate(
    groups: list[tuple[Plan, int]], epsilon: float, upper: float, accountant: Accountant
) -> Certificate:
    single = [
        certify_terms(_single_collection_terms(plan, epsilon), accountant) for plan, _ in groups
    ]
    assumptions = dict.fromkeys(certificate.assumption for certificate in single)
    is_single = len(groups) == 1 and groups[0][1] == 1
    return Certificate(
        epsilon=epsilon,
        lower=join_ends(max(certificate.lower for certificate in single), upper).lower,
        upper=upper,
        observer=Observer(groups[0][0].guarantee.observer),
        status=Status.PROVED,
        source=single[0].source if is_single else SOURCE,
        assumption="; ".join([*assumptions, *([] if is_single else [INDEPENDENCE_ASSUMPTION])]),
    )


def _single_collection_terms(plan: Plan, epsilon: float) -> PrivacyTerms:
    """Return the terms of one collection under a plan, at another epsilon."""
    terms = PrivacyTerms.of(plan, 1)
    return replace(terms, guarantee=structs.replace(terms.guarantee, epsilon=epsilon))
