"""What a plan may cost and whom it may trust: arguments of both ``plan`` and ``simulate``."""

from typing import TypedDict

from mixtally.door import checks
from mixtally.planner import PlanRequest
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Question


class Wish(TypedDict, total=False):
    """Options of a plan, by name; what is left out has the planner's default.

    where
      messages_per_user   the most messages a person sends on average, own reports included
      bytes_per_user      the most bytes of these
      collections         how often the question will be asked; one guarantee for all
      mix_fakes           whether mixes may be trusted to draw fakes
      mixes               how many of them do, any one of which may be the honest one
      count_crowd         whether honest people's own flips are counted on
      local_epsilon       the most that may be left when every mix colludes
      protocol            a name, to plan with that one only
      honest_fraction     share of fakes and crowd that is counted on, in (0, 1]
      minimum_crowd       people who surely take part
    """

    messages_per_user: float | None
    bytes_per_user: float | None
    collections: int
    mix_fakes: bool
    mixes: int
    count_crowd: bool
    local_epsilon: float | None
    protocol: str | None
    honest_fraction: float
    minimum_crowd: int | None


_CHECKS = {
    "messages_per_user": checks.number,
    "bytes_per_user": checks.number,
    "collections": checks.whole,
    "mix_fakes": checks.flag,
    "mixes": checks.whole,
    "count_crowd": checks.flag,
    "local_epsilon": checks.number,
    "protocol": checks.text,
    "honest_fraction": checks.number,
    "minimum_crowd": checks.whole,
}


def guarantee_of(epsilon: object, delta: object) -> Guarantee:
    """The guarantee; ParameterError for what is no number, or outside its range."""
    return Guarantee(epsilon=checks.number("epsilon", epsilon), delta=checks.number("delta", delta))


def request_of(question: Question, guarantee: Guarantee, users: int, wish: Wish) -> PlanRequest:
    """What is asked of the planner.

    Raises ParameterError for a number outside its range.
    """
    given = {
        name: _CHECKS[name](name.replace("_", " "), value)
        for name, value in wish.items()
        if value is not None
    }
    return PlanRequest(question=question, guarantee=guarantee, users=users, **given)  # type: ignore[arg-type]
