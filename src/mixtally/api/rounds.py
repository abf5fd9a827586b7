"""Simulations of one collection, and of a question that is asked in several epochs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mixtally.api import checks
from mixtally.api.budget import Budget, check_budget
from mixtally.api.files import contract_bytes
from mixtally.api.labels import labels_of
from mixtally.api.planning import Plan
from mixtally.api.reading import (
    RecordOptions,
    RowOptions,
    list_given,
    load_given_plan,
    make_reading_request,
    make_run,
    prepare_run,
    read_as_planned,
    split_options,
)
from mixtally.api.requests import read_request
from mixtally.api.result import Result
from mixtally.api.values import (
    CrowdData,
    read_counted,
    read_crowd,
    read_timeline,
)
from mixtally.app import simulate as use
from mixtally.app.count import load_signed_contract
from mixtally.app.epochs import EpochsOptions, check_given_plan
from mixtally.app.epochs import epochs as play_epochs
from mixtally.app.simulate import SimulateOptions
from mixtally.app.winner import example_voters
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.counts_only import Histogram


@checks.translate_errors
@checks.accept_options(SimulateOptions, RecordOptions, RowOptions)
def simulate(
    values: object = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    plan: Plan | None = None,
    contract: str | Path | bytes | None = None,
    budget: Budget | None = None,
    seed: int | None = None,
    counts: Any = None,
    group_by: Any = None,
    name: str | None = None,
    level: float = 0.95,
    **options: Any,
) -> Result:
    """Simulate a private collection: plan, randomize, mix, tally and estimate.

    Parameters
    ----------
    values : list, array, series, frame or dict of lists
        One value per person. A list of labels is a set. Several boolean columns are bits, and
        several other columns are attributes. Numbers need the argument ``number``.
    epsilon, delta : float or None
        The guarantee, in [0.01, 20] and [1e-15, 0.1]. None if ``plan`` or ``contract`` is given.
    plan : Plan or None
        A finished plan, which states the guarantee and the question.
    contract : str, Path, bytes or None
        A contract in place of a plan, as a path or as bytes. The round is simulated mix by mix.
    budget : Budget or None
        The budget that is charged before noise is drawn. A round that would exceed the budget is
        refused.
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    counts : str, list or None
        The number of people who have each value: the name of a column, or one number per value.
        Each value then occurs only once in ``values``, and tallies are drawn in place of messages.
    group_by : str, list or None
        The group of each row: the name of a column, or one group per row. Values are counted within
        groups, and ``labels`` is a mapping with the labels of "values" and of "groups".
    name : str or None
        The name of the question. The default is the name of the column.
    level : float
        Confidence level of all intervals, in (0, 1).
    repeats : int, optional
        The number of times that each vector of bits is sent, with protocol "flip".
    observer : str, default 'messages'
        "sums" also states the privacy against an adversary who sees only the sums of all messages.
    dishonest : sequence of int, optional
        With ``contract``, the positions of the mixes that cheat, from 1. They draw no fakes (dummy
        messages).
    leave_out : float, optional
        With ``contract``, the share of messages that mix 1 drops if it is dishonest, 0 to 1. Mix 1
        keeps all messages of the first person, whom it attacks. The default is 1.
    winner : bool, default False
        Whether values are ballots. The result names the winner and compares the shuffled ballots
        with local ballots, whose noise protects a voter who trusts nobody. Blank ballots
        (``missing``) cannot win.
    keep_probability : float, optional
        The probability that a mark on a local ballot is kept, not flipped. The default is the
        largest that epsilon allows.
    example : bool, default False
        Whether to simulate 100,000 invented voters in place of ``values``. Without ``epsilon``, the
        default of ``keep_probability`` is then 0.63.
    **options
        The options of ``mixtally simulate``, and how values are read.

    Returns
    -------
    Result
        The estimated counts. The true counts are in its ``simulation``.

    Raises
    ------
    DataError
        If a value cannot be read as a record. The message states its position.
    InfeasibleError
        If no plan meets the request, or if the budget would be exceeded.
    MessageError
        If the numbers of a round with dishonest mixes are inconsistent. Nothing is released.
    ParameterError
        If an argument is outside its range, or if two arguments exclude each other.
    PlanError
        If the plan or contract does not fit the values.

    Examples
    --------
    >>> import mixtally
    >>> answers, labels = mixtally.example("answer")
    >>> result = mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6, seed=1)
    >>> round(result["yes"].estimate)
    985
    >>> result.simulation.truth
    [987, 756, 257]
    """
    run, given = make_run(seed, level), load_given_plan(plan)
    check_budget(budget, seed)
    asked = read_request(SimulateOptions, {"epsilon": epsilon, "delta": delta} | options)
    rows, records = split_options(options)
    use.check_vote(asked, _list_given(plan=plan, contract=contract, counts=counts, budget=budget))
    if contract is not None:
        given = load_signed_contract(contract_bytes(contract), "contract")
    extra_flags = ["--plan"] * (plan is not None and contract is not None)
    use.check_options(asked, given, extra_flags, counts=counts is not None)
    request = make_reading_request(
        rows, records, group=group_by, words=asked.candidates is not None
    )
    request = request if given is None else read_as_planned(request, given.plan)
    people: Population | Histogram
    backend: Any = None
    if asked.vote.example:
        extra_flags = _list_given(values=values, group_by=group_by, name=name)
        people, source = example_voters([*extra_flags, *list_given(records), *list_given(rows)])
        run = replace(run, source=source)
    elif counts is None:
        people, run, backend = prepare_run(values, name, request, run)
    else:
        crowd = read_counted(values, name, request, counts)
        people, backend = crowd.population, crowd.backend
        source = f"{people.users:,} people, as the counts have them."
        run = replace(run, source=" ".join([source, *crowd.public]))
    found = use.simulate(
        asked,
        people,
        run,
        given,
        scale=request.scale,
        blank=rows.blank,
        # The budget is charged after the plan is chosen and before its noise is drawn.
        charge=None if budget is None else lambda chosen: budget.charge(Plan(chosen)),
    )
    _ = found.release.result  # raises MessageError if the round releases nothing
    return Result(found.outcome(), backend)


def _list_given(**given: object) -> list[str]:
    """Return the names of the arguments that are not None, as options of the command line."""
    return [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]


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
        The epoch of each row: the name of a column, or one value per row. None if ``synthetic``
        is given.
    order : list or None
        The names of the epochs in order. By default, epochs are sorted as times or numbers, or have
        the order that the type of the column declares.
    plan : Plan or None
        The plan of every epoch. It states the guarantee and the question.
    budget : Budget or None
        The budget to which each epoch is charged before its messages are drawn. All epochs must
        fit into it.
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    level : float
        Confidence level of all intervals, in (0, 1).
    name : str or None
        The name of the question. The default is the name of the column.
    partial_epoch : bool, default False
        Whether to accept a last epoch that has far fewer answers than each of the others.
    synthetic : int, optional
        The number of epochs to invent. ``values`` are then the answers in the first epoch.
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
    asked.promise.guarantee()  # raises for numbers out of range, before the data are read
    run, request = make_run(seed, level), make_reading_request(rows, records)
    given = load_given_plan(plan)
    if given is not None:
        check_given_plan(given.plan, asked, [], "plan")
        request = read_as_planned(request, given.plan)
    check_budget(budget, seed)
    listed = None if order is None else labels_of("order", order)
    asked.turnover.check(
        ["--epoch-column"] * (epochs is not None) + ["--epoch-order"] * (order is not None)
    )
    named, invented = checks.check_optional_text("name", name), asked.turnover.synthetic
    crowd: CrowdData[Any]
    if invented is None:
        crowd, source = read_timeline(values, named, request, epochs, listed), "."
        timeline: Timeline | EpochCounts = crowd.population
    else:
        crowd = read_crowd(values, named, request)
        source = ", invented: the values are the crowd of the first."
        timeline = asked.turnover.invent(
            crowd.population, invented, run.lab.chance, counts_only=asked.counts_only
        )
    found = play_epochs(
        asked,
        timeline,
        replace(run, source=" ".join([source, *crowd.public])),
        given,
        scale=request.scale,
        order=listed,
        change=None if budget is None else budget.change,
    )
    return Result(found, crowd.backend)
