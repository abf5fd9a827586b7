"""When nothing fits: the nearest wishes that something does, each changed in one respect."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from mixtally.ground.fixed import decimal
from mixtally.planner.answer import Offer
from mixtally.planner.choose import Planner, choose
from mixtally.planner.wish import MOST_MESSAGES, Wish
from mixtally.records.guarantee import MOST_EPSILON, MOST_USERS

_PRECISION = 1.015
_MOST_BYTES = 1e9
_DOUBLINGS = 4
_Change = Callable[[float], Wish]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The option that makes a plan possible, and the best plan then."""

    change: str
    offer: Offer

    def facts(self) -> dict[str, Any]:
        """The change and the offer as one flat JSON object."""
        return {"change": self.change, **self.offer.facts()}


def nearest(wish: Wish, planner: Planner | None = None) -> list[Nearest]:
    """The least epsilon, crowd and budget with which something fits, and a mix that draws fakes.

    Each within a few percent, everything else as wished; what does not help at all is left out.
    """
    found, planner = [], planner or Planner()
    for flag, start, most, change in (
        ("--epsilon", wish.guarantee.epsilon, MOST_EPSILON, _epsilon(wish)),
        ("--users", float(wish.users), float(MOST_USERS), _users(wish)),
        ("--messages-per-user", float(wish.messages_per_user), MOST_MESSAGES, _messages(wish)),
        ("--bytes-per-user", wish.bytes_per_user or _MOST_BYTES, _MOST_BYTES, _bytes(wish)),
    ):
        reached = _least(planner, start, most, change)
        if reached is not None:
            value, offer = reached
            found.append(Nearest(f"{flag} {value:.10g}", offer))
    mixed = None if wish.mix_fakes else _best(planner, replace(wish, mix_fakes=True))
    if mixed is not None:
        found.append(Nearest("--mix-fakes", mixed))
    free = None
    if wish.local_epsilon is not None:
        free = _best(planner, replace(wish, local_epsilon=None))
    if free is not None:
        found.append(Nearest("no --local-epsilon", free))
    return found


def _epsilon(wish: Wish) -> _Change:
    def change(value: float) -> Wish:
        rounded = math.ceil(10_000.0 * value) / 10_000.0
        promised = msgspec.structs.replace(wish.guarantee, epsilon=min(rounded, MOST_EPSILON))
        return replace(wish, guarantee=promised)

    return change


def _users(wish: Wish) -> _Change:
    return lambda value: replace(wish, users=min(_three_digits(value), MOST_USERS))


def _three_digits(value: float) -> int:
    """``value`` rounded up to three digits that are not zero."""
    grain: int = 10 ** max(0, math.floor(math.log10(value)) - 2)
    return math.ceil(value / grain) * grain


def _messages(wish: Wish) -> _Change:
    return lambda value: replace(wish, messages_per_user=decimal(math.ceil(100.0 * value) / 100.0))


def _bytes(wish: Wish) -> _Change:
    return lambda value: replace(wish, bytes_per_user=float(math.ceil(value)))


def _value(flagged: Wish, wish: Wish) -> float:
    """What was changed, as it is said."""
    if flagged.users != wish.users:
        return flagged.users
    if flagged.guarantee != wish.guarantee:
        return flagged.guarantee.epsilon
    if flagged.bytes_per_user is not None and flagged.bytes_per_user != wish.bytes_per_user:
        return flagged.bytes_per_user
    return float(flagged.messages_per_user)


def _least(
    planner: Planner, start: float, most: float, change: _Change
) -> tuple[float, Offer] | None:
    """The least value from ``start`` on with which something fits, by doubling and halving."""
    if start >= most:
        return None
    low, high, doubled = start, min(2.0 * start, most), 1
    while not planner.fits(change(high)):
        if high >= most:
            return None
        # Far away in larger strides, whose halvings come to the same values.
        stride = 2.0 if doubled < _DOUBLINGS else 16.0
        low, high, doubled = high, min(stride * high, most), doubled + 1
    while high > _PRECISION * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if planner.fits(change(middle)) else (middle, high)
    changed, original = change(high), change(start)
    return _value(changed, original), choose(changed, planner).best


def _best(planner: Planner, wish: Wish) -> Offer | None:
    return choose(wish, planner).best if planner.fits(wish) else None
