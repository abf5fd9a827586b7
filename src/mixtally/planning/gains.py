"""What would be better: the error with a little more of what a plan is short of, beside its own."""

import re
from dataclasses import dataclass, replace
from typing import Any

from mixtally.planning.choose import Planner
from mixtally.planning.options import Candidate, Choice, Infeasible
from mixtally.planning.reason import format_error
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import to_fraction

_MESSAGES = re.compile(r"--messages-per-user ([\d.]+)$")
_MIXES = "--mix-fakes"
_WORTHWHILE_SHARE = 0.9
"""A gain is told when the error would be less than this share of the plan's own."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A change of the request, and the better option it would most likely bring.

    where
      flag     as it is typed
      change   in words
      error    standard error of the plan that is had without it, in counts
    """

    flag: str
    change: str
    option: Candidate
    error: float

    @property
    def sentence(self) -> str:
        """The gain, and how to have it."""
        error, own = format_error(self.option.error), format_error(self.error)
        return (
            f"With {self.change} the error would be about {error} instead of {own} ({self.flag})."
        )

    def facts(self) -> dict[str, Any]:
        """As one flat JSON object."""
        return {
            "change": self.flag,
            "protocol": self.option.name,
            "standard_error": self.option.error,
            "instead_of": self.error,
        }


def gains(request: PlanRequest, choice: Choice, planner: Planner) -> list[Gain]:
    """What each option that is out of reach would bring, the largest gain first.

    Only what the choice names as out of reach is looked at, each with its own protocol alone.
    """
    found = [_gain(request, choice, planner, one) for one in choice.infeasible]
    worth = [one for one in found if one is not None]
    return sorted(worth, key=lambda gain: gain.option.error)


def _gain(
    request: PlanRequest, choice: Choice, planner: Planner, lacking: Infeasible
) -> Gain | None:
    asked = _MESSAGES.search(lacking.needs)
    if asked:
        more = asked.group(1)
        wider = replace(
            request, protocol=lacking.protocol, messages_per_user=to_fraction(float(more))
        )
        flag, change = f"--messages-per-user {more}", f"{more} messages per user"
    elif lacking.needs.endswith(_MIXES):
        wider = replace(request, protocol=lacking.protocol, mix_fakes=True)
        flag, change = _MIXES, "a mix that may be trusted to draw the fakes"
    else:
        return None
    option, own = planner.best_estimate(wider), choice.plan.error_of(request.count)
    if option is None or option.error >= _WORTHWHILE_SHARE * own:
        return None
    return Gain(flag, change, option, own)
