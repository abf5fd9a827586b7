"""The planner: search for the plan of least standard error that keeps a guarantee.

The applications (``mixtally.app``) call this package with a ``PlanRequest``. They receive a plan
with a proved certificate, the alternatives, and the reason for the choice. Terms that are used in
all files of the package:

- A *fake* is a dummy message that carries no answer. A *blank* is a fake without set bits.
- The *cover* is the source of the fakes: the devices of people, or every mix.
- A *part* is a stream of messages that is mixed and tallied separately. A record is sent in one
  part, or its bits or attributes are sent in separate parts. A *hop* is one mix of several in a
  row.
- A *coin* decides at random whether a device sends one more fake. With a mean of 2.3 fakes, a
  device sends 2 fakes, and a third one with probability 0.3.
- A *cap* is the maximum number of set bits of a message. Flips that set more bits are drawn again.
- A *plane* is a set of values that a message can name in place of one value (``model.planes``). A
  *cell* is one of the outcomes among which a message chooses: a bin, or a plane of its direction.
- A *candidate* is a way to send records, with an estimate of the noise that the guarantee needs.
  The noise of a plan is proved to suffice.
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
