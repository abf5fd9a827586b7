"""Ways to ask the same crowd again, played on the same timeline: what each errs and what it spends.

- ``shared``: fresh flips and fakes in every epoch, planned so that all epochs keep the guarantee.
- ``full``: fresh in every epoch, each planned with the whole guarantee for itself; what a person in
  all epochs really spends is composed, and is more.
- ``once``: one collection in the first epoch, its counts shown ever after. Nothing more is spent,
  and nothing new is learned.

The fourth way, a memoized answer, has no crowd to hide in: ``accounting.divergence.memoized``.
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
    """One way to ask again.

    where
      times          collections that a person in every epoch takes part in
      epsilon        what that person spends at the guarantee's delta; None above 20
      errors         shape (epochs,), root mean square error of the counts over the bins
      change_error   the same of the changes from epoch to epoch
    """

    name: str
    plan: Plan
    times: int
    epsilon: float | None
    errors: Floats
    change_error: float


def ways_to_ask(timeline: Timeline, guarantee: Guarantee, lab: Lab) -> tuple[Way, Way, Way]:
    """``shared``, ``full`` and ``once`` played on ``timeline`` with the planner's own choices.

    Raises InfeasibleError when no plan keeps the guarantee, as ``planning.choose``.
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
    """The planner's choice for the smallest epoch, when that many collections share a guarantee."""
    wish = PlanRequest(
        question=timeline.question,
        guarantee=guarantee,
        users=int(timeline.users.min()),
        collections=collections,
    )
    return choose(wish, planner).plan


def _counts(plan: Plan, timeline: Timeline, epochs: int, lab: Lab) -> Floats:
    """Unbiased counts of the first ``epochs`` epochs, shape (epochs, bins)."""
    found = [simulate_release(plan, timeline.crowd(epoch), lab).result for epoch in range(epochs)]
    return np.array([result.estimate.counts for result in found])


def _way(name: str, plan: Plan, times: int, off: Floats, guarantee: Guarantee, lab: Lab) -> Way:
    """The way whose counts are ``off`` the true ones by so much, shape (epochs, bins)."""
    accountant = lab.planner.accountant
    try:
        epsilon = compose.epsilon_of([(plan, times)], guarantee.delta, accountant).epsilon
    except InfeasibleError:  # beyond 20
        epsilon = None
    return Way(
        name=name,
        plan=plan,
        times=times,
        epsilon=epsilon,
        errors=np.sqrt(np.mean(off**2, axis=1)),
        change_error=math.sqrt(float(np.mean(np.diff(off, axis=0) ** 2))),
    )
