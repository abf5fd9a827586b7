"""From a request to the plan of the smallest standard error, the alternatives and the reason."""

from mixtally.planner.choose import Planner, choose
from mixtally.planner.explain import explain
from mixtally.planner.forecast import Forecast, forecast, users_for, with_error
from mixtally.planner.gains import Gain, gains
from mixtally.planner.options import Candidate, Choice, Infeasible
from mixtally.planner.pareto_front import pareto_front
from mixtally.planner.relaxations import Relaxation, relaxations
from mixtally.planner.request import PlanRequest
from mixtally.planner.rounded import of_mean

__all__ = [
    "Candidate",
    "Choice",
    "Forecast",
    "Gain",
    "Infeasible",
    "PlanRequest",
    "Planner",
    "Relaxation",
    "choose",
    "explain",
    "forecast",
    "gains",
    "of_mean",
    "pareto_front",
    "relaxations",
    "users_for",
    "with_error",
]
