"""The Pareto front: candidates that no other candidate beats in error, messages and bytes."""

from mixtally.planning.choose import Planner
from mixtally.planning.options import Candidate
from mixtally.planning.request import PlanRequest


def pareto_front(request: PlanRequest, planner: Planner | None = None) -> list[Candidate]:
    """Return the candidates within the budget that no other candidate beats, by increasing error.

    Smaller budgets are tried as well, because fakes are a cost. The errors do not include coins and
    caps; a plan's errors are about a thousandth larger.

    Parameters
    ----------
    request : PlanRequest
        The request.
    planner : Planner or None
        A planner to share between calls; None for a new one.
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
    """Return whether no cost in ``one`` is larger than in ``other``, and some cost is smaller."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
