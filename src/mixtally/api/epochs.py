"""Simulations of a question that is asked again and again."""

from dataclasses import replace
from typing import Any

from mixtally.api import checks
from mixtally.api.labels import labels_of, merging_of
from mixtally.api.plays import wanted_of
from mixtally.api.promise import guarantee_of
from mixtally.api.runs import run_of
from mixtally.api.simulated import Simulated
from mixtally.api.values import timeline_of
from mixtally.app.epochs import check_labels, plan_of
from mixtally.app.epochs import epochs as played
from mixtally.app.limits import BudgetOptions
from mixtally.protocol.estimate.analysis import Analysis


@checks.in_python
@checks.takes(BudgetOptions)
def simulate_epochs(
    values: object,
    *,
    epochs: Any,
    epsilon: float,
    delta: float,
    person: Any = None,
    rows_are_people: bool = False,
    order: Any = None,
    labels: Any = None,
    seed: int | None = None,
    level: float = 0.95,
    missing: str = "refuse",
    missing_values: Any = (),
    strip: bool = False,
    ignore_case: bool = False,
    other: str | None = None,
    name: str | None = None,
    **options: Any,
) -> Simulated:
    """A question that is asked in one epoch after another: counts, changes, what everybody spends.

    where
      values           an answer a place, of all epochs
      epochs           when each was given: the name of a column, or as many values
      epsilon, delta   what is promised of all epochs together
      person           who gave it, likewise; None when nobody knows
      rows_are_people  whether every answer in an epoch is a person's, whatever columns say
      order            the epochs in order; when left out, by time, by number, or as the type of the
                       column declares
      labels           the answers in their order; read off the values when left out: for
                       simulation only
      seed             makes the noise repeat: for simulation only
      level            of all intervals, in (0, 1)
      missing          "refuse", "drop", or the label that missing values count as
      strip            whether spaces around a value are no part of its label
      ignore_case      whether capital and small letters are the same in labels
      other            the label of all values that are not listed; None to refuse them
      options          what it may cost and whom it may trust

    Raises DataError for answers that cannot be read, or two of a person in an epoch; ParameterError
    for an option outside its range, InfeasibleError when nothing fits.

    >>> mixtally.simulate_epochs({"answer": answers, "week": weeks}, epochs="week", epsilon=2,
    ...                          delta=1e-6, labels=["yes", "no"])
    """
    guarantee, run = guarantee_of(epsilon, delta), run_of(seed, level)
    wanted = replace(
        wanted_of(missing, missing_values, labels=labels),
        merging=merging_of(strip, ignore_case, other),
        person=person,
        rows_are_people=checks.flag("rows_are_people", rows_are_people),
    )
    budget = checks.made(BudgetOptions, options)
    named = checks.maybe_text("name", name)
    listed = None if order is None else labels_of("order", order)
    crowd = timeline_of(values, named, wanted, epochs, listed)
    timeline = crowd.population
    check_labels(timeline)
    answers = f"{timeline.answers:,} answers in {len(timeline.epochs):,} epochs."
    source = " ".join([answers, *crowd.public])
    chosen = plan_of(timeline, guarantee, budget, run.lab.planner)
    analysis = Analysis(level=run.level)
    outcome = played(timeline, guarantee, chosen, analysis, replace(run, source=source))
    return Simulated(outcome, crowd.backend)
