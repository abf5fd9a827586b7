"""The planner: search for the plan of least standard error that keeps a guarantee.

The applications (``mixtally.app``) call this package with a ``PlanRequest``. They receive a plan
with a proved certificate, the alternatives, and the reason for the choice. Terms that are used in
all files of the package:

- A *fake* is a dummy message that carries no answer. A *blank* is a fake without set bits.
- The *cover* is the source of the fakes: the devices of people, or every mix.
- A *part* is a stream of messages of a record, with its own mixes and tally. A *hop* is one mix.
- A *coin* is the random fraction of a device's fakes: a mean of 2.3 fakes is 2 fakes, and a third
  one with probability 0.3.
- A *cap* is the maximum number of set bits of a message. Flips that exceed it are drawn again.
- A *plane* is a set of values that one message can name (``model.planes``).
- A *candidate* is a way to send records whose noise is only estimated. A plan has a proof.
"""

from mixtally.planning.choose import Planner, choose, pareto_front
from mixtally.planning.explain import explain
from mixtally.planning.forecast import Forecast, choose_users, choose_with_error, forecast
from mixtally.planning.gains import Gain, gains
from mixtally.planning.options import Candidate, Choice, Infeasible
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
