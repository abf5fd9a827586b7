"""The closest feasible requests, for a request that no plan fits.

Each relaxation changes one field of the request. The search computes a bounded number of prices,
that is, values of delta, so that a refusal comes soon. The result names the searches that reached
this bound.
The applications call ``relaxations`` after ``choose`` has raised InfeasibleError.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import msgspec

from mixtally.accounting.messages import PricesSpentError
from mixtally.model.guarantee import MOST_EPSILON, MOST_USERS
from mixtally.model.plan import Plan
from mixtally.planning.choose import Planner, choose_by_estimates
from mixtally.planning.request import MOST_MESSAGES, PlanRequest
from mixtally.primitives.fixed_point import to_fraction

_PRECISION = 1.015
"""The ratio between the ends of a search at which the search stops."""
_MOST_BYTES = 1e9
"""The upper limit of the search for bytes per user."""
_DOUBLINGS = 4
"""The number of doublings of a value after which a search multiplies by 16."""
MOST_PRICES = 2700
"""The most prices that all searches together may compute: one to two seconds if each is costly."""
_FIRST = ("--bytes-per-user", "--mix-fakes", "no --local-epsilon", "--epsilon", "--users")
"""The searches that run first: those of one or few evaluations, then those that usually succeed."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A change of the request that makes a plan feasible, and the best plan after the change."""

    change: str
    plan: Plan

    def facts(self) -> dict[str, Any]:
        """Return the change and the plan as one flat JSON object."""
        return {"change": self.change, **self.plan.facts()}


class Relaxations(NamedTuple):
    """The relaxations that were found, and the flags whose search reached its limit of prices."""

    found: list[Relaxation]
    unfinished: list[str]


class _Number(NamedTuple):
    """A number of the request that a search increases from ``start`` to at most ``most``.

    ``round_up`` rounds a value up to the digits that are shown, so that the shown value is
    feasible. ``change`` returns the request with a rounded value.
    """

    flag: str
    start: float
    most: float
    round_up: Callable[[float], float]
    change: Callable[[float], PlanRequest]

    def shown_value(self, value: float) -> float:
        """Return ``value`` rounded up to the shown digits, but at most ``most``."""
        return min(self.round_up(value), self.most)

    def request_at(self, value: float) -> PlanRequest:
        """Return the request in which the number has the shown value of ``value``."""
        return self.change(self.shown_value(value))


def relaxations(request: PlanRequest, most_prices: int = MOST_PRICES) -> Relaxations:
    """Find the closest feasible requests: the least epsilon, crowd and budget, and other changes.

    Parameters
    ----------
    request : PlanRequest
        A request that no plan fits.
    most_prices : int
        The maximum number of prices (values of delta of one message) that are computed for all
        relaxations together. The limit bounds the work equally on every machine.

    Returns
    -------
    Relaxations
        Each changed value is within a few percent of the least one; all else is as requested.
        Changes that do not help are left out.

    Notes
    -----
    The searches that most likely succeed run first. Each search except the last may compute at most
    half of the remaining prices.
    """
    planner = Planner()
    searches = _searches(request, planner)
    order = sorted(searches, key=lambda flag: _FIRST.index(flag) if flag in _FIRST else len(_FIRST))
    reached, unfinished = dict[str, Relaxation](), set[str]()
    for flag in order:
        remaining = most_prices - planner.prices
        try:
            # Half of the remaining prices, so that one costly search cannot use up those of the
            # others.
            with planner.accountant.at_most(remaining if flag == order[-1] else remaining // 2):
                found = searches[flag]()
        except PricesSpentError:
            unfinished.add(flag)
        else:
            if found is not None:
                reached[flag] = found
    return Relaxations(
        [reached[flag] for flag in searches if flag in reached],
        [flag for flag in searches if flag in unfinished],
    )


def _searches(request: PlanRequest, planner: Planner) -> dict[str, Callable[[], Relaxation | None]]:
    """Return a dict from the flag of each relaxation to its search.

    The flags are in the order in which relaxations are shown.
    """
    found: dict[str, Callable[[], Relaxation | None]] = {
        one.flag: partial(_least_feasible, planner, one)
        for one in _list_numbers(request)
        if one.start < one.most
    }
    if not request.mixes_draw:
        found["--mix-fakes"] = partial(
            _relaxed, "--mix-fakes", planner, replace(request, mix_fakes=True)
        )
    if request.local_epsilon is not None:
        found["no --local-epsilon"] = partial(
            _relaxed, "no --local-epsilon", planner, replace(request, local_epsilon=None)
        )
    return found


def _list_numbers(request: PlanRequest) -> tuple[_Number, ...]:
    """Return the numbers of the request that a search can increase, in the order of searches."""

    def with_epsilon(value: float) -> PlanRequest:
        promised = msgspec.structs.replace(request.guarantee, epsilon=value)
        return replace(request, guarantee=promised)

    return (
        _Number(
            "--epsilon",
            request.guarantee.epsilon,
            MOST_EPSILON,
            lambda value: math.ceil(10_000.0 * value) / 10_000.0,
            with_epsilon,
        ),
        _Number(
            "--users",
            float(request.users),
            float(MOST_USERS),
            _three_digits,
            lambda value: replace(request, users=int(value)),
        ),
        _Number(
            "--messages-per-user",
            float(request.messages_per_user),
            MOST_MESSAGES,
            lambda value: math.ceil(100.0 * value) / 100.0,
            lambda value: replace(request, messages_per_user=to_fraction(value)),
        ),
        _Number(
            "--bytes-per-user",
            request.bytes_per_user or _MOST_BYTES,
            _MOST_BYTES,
            math.ceil,
            lambda value: replace(request, bytes_per_user=float(value)),
        ),
    )


def _relaxed(flag: str, planner: Planner, request: PlanRequest) -> Relaxation | None:
    """Return the best plan for a relaxed request; None if no plan fits that request either."""
    plan = choose_by_estimates(request, planner)
    return None if plan is None else Relaxation(flag, plan)


def _three_digits(value: float) -> int:
    """Round up to three significant digits."""
    grain: int = 10 ** max(0, math.floor(math.log10(value)) - 2)
    return math.ceil(value / grain) * grain


def _least_feasible(planner: Planner, number: _Number) -> Relaxation | None:
    """Return the relaxation to the least feasible value of a number; None if no value is feasible.

    The search doubles and bisects, and uses estimates. If the plan at the end is not proved, larger
    values are tried until one is.
    """
    start, most = number.start, number.most
    low, high, doubled = start, min(2.0 * start, most), 1
    while not planner.probably_feasible(number.request_at(high)):
        if high >= most:
            return None
        # Larger strides save trials far from the start; bisection visits the same values later.
        stride = 2.0 if doubled < _DOUBLINGS else 16.0
        low, high, doubled = high, min(stride * high, most), doubled + 1
    while high > _PRECISION * low:
        middle = math.sqrt(low * high)
        feasible = planner.probably_feasible(number.request_at(middle))
        low, high = (low, middle) if feasible else (middle, high)
    # An estimate can be slightly too optimistic. Then the proof needs a larger value.
    stride = _PRECISION
    while (plan := choose_by_estimates(number.request_at(high), planner)) is None:
        if high >= most:
            return None
        high, stride = min(stride * high, most), stride * stride
    return Relaxation(f"{number.flag} {number.shown_value(high):.10g}", plan)
