"""Simulations of a question that is asked in several epochs."""

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
from mixtally.app.epochs import EpochsOptions, check_given_plan
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
    """Simulate a question that is asked in several epochs, one after another.

    Parameters
    ----------
    values : list, array, series, frame or dict of lists
        The answers of all epochs, one answer per row.
    epochs : str, list or None
        The epoch of each row: the name of a column, or one value per row. Left out with
        ``synthetic``.
    order : list or None
        The epochs in order. The default is the order of time or number, or the order that the type
        of the column declares.
    plan : Plan or None
        The plan of every epoch. It states the guarantee and the question.
    budget : Budget or None
        The budget that each epoch is charged to before its messages are sent. All epochs must fit.
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    level : float
        Confidence level of all intervals, in (0, 1).
    name : str or None
        The name of the question. The default is the name of the column.
    partial_epoch : bool, default False
        Whether to count a last epoch that has far fewer answers than the others.
    synthetic : int, optional
        The number of epochs to invent. The values are the crowd of the first epoch.
    **options
        The options of ``mixtally simulate epochs``.

    Returns
    -------
    Result
        The counts, their changes and the privacy that each person spends, in ``facts`` and
        ``tables``.

    Raises
    ------
    DataError
        If an answer cannot be read, or if a person has two answers in one epoch.
    InfeasibleError
        If no plan meets the request, or if the budget would be exceeded.
    ParameterError
        If an option is outside its range.
    PlanError
        If the plan does not fit the values.

    Examples
    --------
    >>> import mixtally
    >>> answers = {"answer": ["yes", "no"] * 200, "week": ["1"] * 200 + ["2"] * 200}
    >>> result = mixtally.simulate_epochs(
    ...     answers,
    ...     epochs="week",
    ...     labels=["yes", "no"],
    ...     rows_are_people=True,
    ...     epsilon=2,
    ...     delta=1e-6,
    ...     seed=1,
    ... )
    >>> result.public
    False
    """
    asked, (rows, records) = checks.read_options(EpochsOptions, options), split_options(options)
    asked.promise.guarantee()  # an impossible guarantee is refused before the data are read
    run, request = make_run(seed, level), make_reading_request(rows, records)
    given = load_given_plan(plan)
    if given is not None:
        check_given_plan(given.plan, asked, [], "plan")
        request = read_as_planned(request, given.plan)
    check_budget(budget, seed)
    listed = None if order is None else labels_of("order", order)
    said = ["--epoch-column"] * (epochs is not None) + ["--epoch-order"] * (order is not None)
    asked.turnover.check(said)
    named, invented = checks.check_optional_text("name", name), asked.turnover.synthetic
    crowd: CrowdData[Any]
    if invented is None:
        crowd = read_timeline(values, named, request, epochs, listed)
        timeline: Timeline | EpochCounts = crowd.population
    else:
        crowd = read_crowd(values, named, request)
        chance, only = run.lab.chance, asked.counts_only
        timeline = asked.turnover.invent(crowd.population, invented, chance, counts_only=only)
    source = "." if invented is None else ", invented: the values are the crowd of the first."
    found = played(
        asked,
        timeline,
        replace(run, source=" ".join([source, *crowd.public])),
        given,
        scale=request.scale,
        order=listed,
        change=None if budget is None else budget.change,
    )
    return Result(found, crowd.backend)
