"""Three ways to ask the same crowd repeatedly, on the same timeline: their errors and costs.

- ``shared``: fresh flips and fakes in every epoch, planned so that all epochs together keep the
  guarantee.
- ``full``: fresh noise in every epoch, each planned with the whole guarantee. The composed loss of
  a person in all epochs is larger than the guarantee.
- ``once``: one collection in the first epoch, whose counts are shown in all epochs. No further
  privacy is spent, and nothing new is learned.

A fourth way, the memoized answer, has no crowd that hides it: see
``accounting.divergence.memoized``.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.budget import compose
from mixtally.errors import InfeasibleError
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.run import simulate_release
from mixtally.model.contract import Plan
from mixtally.model.guarantee import Guarantee
from mixtally.planning import Planner, PlanRequest, choose

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One way to ask repeatedly.

    Attributes
    ----------
    times : int
        Collections of a person who takes part in every epoch.
    epsilon : float or None
        The composed loss of that person at the guarantee's delta; None above 20.
    errors : array
        Root mean square error of the counts over the bins, shape (epochs,).
    change_error : float
        Root mean square error of the changes from epoch to epoch.
    """

    name: str
    plan: Plan
    times: int
    epsilon: float | None
    errors: Floats
    change_error: float


def ways_to_ask(timeline: Timeline, guarantee: Guarantee, lab: Lab) -> tuple[Way, Way, Way]:
    """Simulate ``shared``, ``full`` and ``once`` on a timeline, with the planner's own choices.

    Raises
    ------
    InfeasibleError
        If no plan keeps the guarantee.
    """
    every = len(timeline.epochs)
    shared = best_plan(timeline, guarantee, every, lab.planner)
    full = best_plan(timeline, guarantee, 1, lab.planner)
    fresh = [_counts(plan, timeline, every, lab) for plan in (shared, full)]
    once = np.repeat(_counts(full, timeline, 1, lab), every, axis=0)
    return (
        _way("shared", shared, every, fresh[0] - timeline.truth, guarantee, lab),
        _way("full", full, every, fresh[1] - timeline.truth, guarantee, lab),
        _way("once", full, 1, once - timeline.truth, guarantee, lab),
    )


def best_plan(
    timeline: Timeline, guarantee: Guarantee, collections: int, planner: Planner | None = None
) -> Plan:
    """Return the planner's choice for the smallest epoch, if all collections share a guarantee."""
    wish = PlanRequest(
        question=timeline.question,
        guarantee=guarantee,
        users=int(timeline.users.min()),
        collections=collections,
    )
    return choose(wish, planner).plan


def _counts(plan: Plan, timeline: Timeline, epochs: int, lab: Lab) -> Floats:
    """Return unbiased counts of the first ``epochs`` epochs, shape (epochs, bins)."""
    found = [simulate_release(plan, timeline.crowd(epoch), lab).result for epoch in range(epochs)]
    return np.array([result.estimate.counts for result in found])


def _way(name: str, plan: Plan, times: int, off: Floats, guarantee: Guarantee, lab: Lab) -> Way:
    """Return the way whose counts differ from the true ones by ``off``, shape (epochs, bins)."""
    accountant = lab.planner.accountant
    try:
        epsilon = compose.epsilon_of([(plan, times)], guarantee.delta, accountant).epsilon
    except InfeasibleError:  # The composed epsilon exceeds 20.
        epsilon = None
    return Way(
        name=name,
        plan=plan,
        times=times,
        epsilon=epsilon,
        errors=np.sqrt(np.mean(off**2, axis=1)),
        change_error=math.sqrt(float(np.mean(np.diff(off, axis=0) ** 2))),
    )
