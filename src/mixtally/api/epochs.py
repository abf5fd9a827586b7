"""Simulations of a question that is asked again and again."""

from dataclasses import replace
from typing import Any

from mixtally.api import checks
from mixtally.api.budget import Budget, check_budget
from mixtally.api.labels import labels_of
from mixtally.api.planning import Plan
from mixtally.api.reading import (
    RecordOptions,
    RowOptions,
    load_given_plan,
    make_reading_request,
    make_run,
    read_as_planned,
    split_options,
)
from mixtally.api.result import Result
from mixtally.api.values import CrowdData, read_crowd, read_timeline
from mixtally.app.epochs import EpochsOptions, check_held
from mixtally.app.epochs import epochs as played
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.timeline import Timeline


@checks.translate_errors
@checks.accept_options(EpochsOptions, RecordOptions, RowOptions)
def simulate_epochs(
    values: object,
    *,
    epochs: Any = None,
    order: Any = None,
    plan: Plan | None = None,
    budget: Budget | None = None,
    seed: int | None = None,
    level: float = 0.95,
    name: str | None = None,
    **options: Any,
) -> Result:
    """Simulate a question that is asked in one epoch after another.

    Parameters
    ----------
    values : list, array, series, frame or dict of lists
        An answer a place, of all epochs.
    epochs : str, list or None
        When each was given: the name of a column, or as many values; left out with ``synthetic``.
    order : list or None
        The epochs in order; when left out, by time, by number, or as the type of the column
        declares.
    plan : Plan or None
        Of every epoch, made before.
    budget : Budget or None
        Every epoch is charged to it before it is sent; all of them have to fit.
    seed : int or None
        Makes the noise repeat, and public: for simulation only.
    level : float
        Confidence level of all intervals, in (0, 1).
    name : str or None
        What the question is called; the column's name when left out.
    **options
        Those of ``mixtally simulate epochs``. ``epsilon`` and ``delta`` of all epochs together,
        what it may cost and whom it may trust. ``synthetic`` invents so many epochs, in which
        people ``join`` and ``leave`` and ``change`` their values; ``partial_epoch``, whether a last
        epoch with far fewer answers counts; ``counts_only`` draws tallies in place of messages.
        What a record is and how values are read is as ``mixtally.simulate`` has it.

    Returns
    -------
    Result
        Counts, changes and what everybody spends, in ``facts`` and ``tables``.

    Raises
    ------
    DataError
        For answers that cannot be read, or two of a person in an epoch.
    InfeasibleError
        If no plan meets the request, or the budget would be exceeded.
    ParameterError
        For an option outside its range.
    PlanError
        For a plan for others.

    Examples
    --------
    >>> mixtally.simulate_epochs({"answer": answers, "week": weeks}, epochs="week", epsilon=2,
    ...                          delta=1e-6, labels=["yes", "no"])
    """
    asked, (rows, records) = checks.read_options(EpochsOptions, options), split_options(options)
    asked.promise.guarantee()  # refused before anything is read
    run, expected, given = (
        make_run(seed, level),
        make_reading_request(rows, records),
        load_given_plan(plan),
    )
    if given is not None:
        check_held(given.plan, asked, [], "plan")
        expected = read_as_planned(expected, given.plan)
    check_budget(budget, seed)
    listed = None if order is None else labels_of("order", order)
    said = ["--epoch-column"] * (epochs is not None) + ["--epoch-order"] * (order is not None)
    asked.turnover.check(said)
    named, invented = checks.check_optional_text("name", name), asked.turnover.synthetic
    crowd: CrowdData[Any]
    if invented is None:
        crowd = read_timeline(values, named, expected, epochs, listed)
        timeline: Timeline | EpochCounts = crowd.population
    else:
        crowd = read_crowd(values, named, expected)
        chance, only = run.lab.chance, asked.counts_only
        timeline = asked.turnover.invent(crowd.population, invented, chance, counts_only=only)
    source = "." if invented is None else ", invented: the values are the crowd of the first."
    found = played(
        asked,
        timeline,
        replace(run, source=" ".join([source, *crowd.public])),
        given,
        scale=expected.scale,
        order=listed,
        change=None if budget is None else budget.change,
    )
    return Result(found, crowd.backend)
