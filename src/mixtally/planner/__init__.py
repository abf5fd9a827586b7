"""From a wish to the plan of least error, the alternatives, and the reason in words."""

from mixtally.planner.answer import Answer, Misfit, Offer
from mixtally.planner.choose import choose
from mixtally.planner.forecast import Forecast, forecast, with_error
from mixtally.planner.wish import Wish

__all__ = ["Answer", "Forecast", "Misfit", "Offer", "Wish", "choose", "forecast", "with_error"]
