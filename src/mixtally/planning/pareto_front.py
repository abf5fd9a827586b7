"""The Pareto front: candidates that no other one beats in error, messages and bytes at once."""

from mixtally.planning.choose import Planner
from mixtally.planning.options import Candidate
from mixtally.planning.request import PlanRequest


def pareto_front(request: PlanRequest, planner: Planner | None = None) -> list[Candidate]:
    """Candidates within the request's budget from good to bad, none of them beaten.

    Besides the whole budget smaller ones are tried: fakes are what a person pays with. Errors are
    those before coins and caps, about a thousandth less than a plan's.
    """
    options = (planner or Planner()).candidates(request, smaller=True).found
    by_cost = {option.cost: option for option in reversed(options)}
    distinct = {
        cost: option
        for cost, option in by_cost.items()
        if not any(_beats(other, cost) for other in by_cost)
    }
    return sorted(distinct.values(), key=lambda option: option.error)


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether ``one`` is nowhere worse and somewhere better."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
