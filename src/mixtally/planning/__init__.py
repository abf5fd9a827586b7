"""The planner: from a request to the plan of least standard error, with alternatives and reason."""

from mixtally.planning.choose import Planner, choose
from mixtally.planning.explain import explain
from mixtally.planning.forecast import Forecast, choose_users, choose_with_error, forecast
from mixtally.planning.gains import Gain, gains
from mixtally.planning.options import Candidate, Choice, Infeasible
from mixtally.planning.pareto_front import pareto_front
from mixtally.planning.relaxations import MOST_PRICES, Relaxation, Relaxations, relaxations
from mixtally.planning.request import PlanRequest
from mixtally.planning.rounding_grid import forecast_mean

__all__ = [
    "MOST_PRICES",
    "Candidate",
    "Choice",
    "Forecast",
    "Gain",
    "Infeasible",
    "PlanRequest",
    "Planner",
    "Relaxation",
    "Relaxations",
    "choose",
    "choose_users",
    "choose_with_error",
    "explain",
    "forecast",
    "forecast_mean",
    "gains",
    "pareto_front",
    "relaxations",
]
