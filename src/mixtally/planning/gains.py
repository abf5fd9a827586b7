"""Improvements of a plan: the error that one more message or a trusted mix would allow.

The applications show these sentences after a plan.
"""

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
"""An improvement is shown if its error is below this share of the plan's error."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A change of the request, and the better candidate that most likely results.

    ``flag`` is the command line option. ``error`` is the plan's standard error without the change.
    """

    flag: str
    change: str
    option: Candidate
    error: float

    @property
    def sentence(self) -> str:
        """The improvement and the option that gives it, as a sentence."""
        error, own = format_error(self.option.error), format_error(self.error)
        return (
            f"With {self.change} the error would be about {error} instead of {own} ({self.flag})."
        )

    def facts(self) -> dict[str, Any]:
        """Return the improvement as one flat JSON object."""
        return {
            "change": self.flag,
            "protocol": self.option.name,
            "standard_error": self.option.error,
            "instead_of": self.error,
        }


def gains(request: PlanRequest, choice: Choice, planner: Planner) -> list[Gain]:
    """Return the worthwhile improvements, the smallest error first.

    Only protocols that the choice names as infeasible are considered, one at a time.

    Parameters
    ----------
    request : PlanRequest
        The request for which ``choice`` was made.
    choice : Choice
        The chosen plan, the other candidates and the infeasible protocols.
    planner : Planner
        A planner to share between calls.
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
