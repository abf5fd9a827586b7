"""When nothing fits: the nearest requests that can be met, each relaxed in one respect."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from mixtally.model.guarantee import MOST_EPSILON, MOST_USERS
from mixtally.model.plan import Plan
from mixtally.planning.choose import Planner
from mixtally.planning.request import MOST_MESSAGES, PlanRequest
from mixtally.primitives.fixed import decimal

_PRECISION = 1.015
_MOST_BYTES = 1e9
_DOUBLINGS = 4
_Change = Callable[[float], PlanRequest]


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The relaxation that makes a plan possible, and the best plan then."""

    change: str
    plan: Plan

    def facts(self) -> dict[str, Any]:
        """The change and the plan as one flat JSON object."""
        return {"change": self.change, **self.plan.facts()}


def relaxations(request: PlanRequest) -> list[Relaxation]:
    """The least epsilon, crowd and budget with which something fits, and a mix that draws fakes.

    Each within a few percent, everything else as requested; what does not help at all is left out.
    """
    found, planner = [], Planner()
    for flag, start, most, change in (
        ("--epsilon", request.guarantee.epsilon, MOST_EPSILON, _epsilon(request)),
        ("--users", float(request.users), float(MOST_USERS), _users(request)),
        (
            "--messages-per-user",
            float(request.messages_per_user),
            MOST_MESSAGES,
            _messages(request),
        ),
        ("--bytes-per-user", request.bytes_per_user or _MOST_BYTES, _MOST_BYTES, _bytes(request)),
    ):
        reached = _least(planner, start, most, change)
        if reached is not None:
            value, option = reached
            found.append(Relaxation(f"{flag} {value:.10g}", option))
    mixed = None if request.mixes_draw else planner.best(replace(request, mix_fakes=True))
    if mixed is not None:
        found.append(Relaxation("--mix-fakes", mixed))
    unlimited = None
    if request.local_epsilon is not None:
        unlimited = planner.best(replace(request, local_epsilon=None))
    if unlimited is not None:
        found.append(Relaxation("no --local-epsilon", unlimited))
    return found


def _epsilon(request: PlanRequest) -> _Change:
    def change(value: float) -> PlanRequest:
        rounded = math.ceil(10_000.0 * value) / 10_000.0
        promised = msgspec.structs.replace(request.guarantee, epsilon=min(rounded, MOST_EPSILON))
        return replace(request, guarantee=promised)

    return change


def _users(request: PlanRequest) -> _Change:
    return lambda value: replace(request, users=min(_three_digits(value), MOST_USERS))


def _three_digits(value: float) -> int:
    """``value`` rounded up to three digits that are not zero."""
    grain: int = 10 ** max(0, math.floor(math.log10(value)) - 2)
    return math.ceil(value / grain) * grain


def _messages(request: PlanRequest) -> _Change:
    return lambda value: replace(
        request, messages_per_user=decimal(math.ceil(100.0 * value) / 100.0)
    )


def _bytes(request: PlanRequest) -> _Change:
    return lambda value: replace(request, bytes_per_user=float(math.ceil(value)))


def _value(flagged: PlanRequest, request: PlanRequest) -> float:
    """What was changed, as it is said."""
    if flagged.users != request.users:
        return flagged.users
    if flagged.guarantee != request.guarantee:
        return flagged.guarantee.epsilon
    if flagged.bytes_per_user is not None and flagged.bytes_per_user != request.bytes_per_user:
        return flagged.bytes_per_user
    return float(flagged.messages_per_user)


def _least(
    planner: Planner, start: float, most: float, change: _Change
) -> tuple[float, Plan] | None:
    """The least value from ``start`` on with which something fits, by doubling and halving.

    By what most likely fits; where that is not proved of the end, a larger one is.
    """
    if start >= most:
        return None
    low, high, doubled = start, min(2.0 * start, most), 1
    while not planner.likely(change(high)):
        if high >= most:
            return None
        # Far away in larger strides, whose halvings come to the same values.
        stride = 2.0 if doubled < _DOUBLINGS else 16.0
        low, high, doubled = high, min(stride * high, most), doubled + 1
    while high > _PRECISION * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if planner.likely(change(middle)) else (middle, high)
    stride = _PRECISION
    while (option := planner.best(change(high))) is None:
        if high >= most:
            return None
        high, stride = min(stride * high, most), stride * stride
    return _value(change(high), change(start)), option
