"""From a wish to the plan of least error, the alternatives, and the reason in words."""

from mixtally.planner.answer import Answer, Misfit, Offer
from mixtally.planner.choose import Planner, choose
from mixtally.planner.explain import explain
from mixtally.planner.forecast import Forecast, forecast, users_for, with_error
from mixtally.planner.front import front
from mixtally.planner.nearest import Nearest, nearest
from mixtally.planner.wish import Wish

__all__ = [
    "Answer", "Forecast", "Misfit", "Nearest", "Offer", "Planner", "Wish", "choose", "explain",
    "forecast", "front", "nearest", "users_for", "with_error",
]  # fmt: skip
