"""Simulation of a whole collection with known values, in one call."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mixtally.api import checks
from mixtally.api.budget import Budget, check_budget
from mixtally.api.files import contract_bytes
from mixtally.api.planning import Plan
from mixtally.api.reading import (
    RecordOptions,
    RowOptions,
    list_given,
    load_given_plan,
    make_reading_request,
    make_run,
    read_as_planned,
    split_options,
)
from mixtally.api.requests import read_request
from mixtally.api.result import Result
from mixtally.api.values import CrowdData, ReadingRequest, read_counted, read_shared_crowd
from mixtally.app import simulate as use
from mixtally.app.count import load_signed_contract
from mixtally.app.simulate import SimulateOptions
from mixtally.app.winner import example_voters
from mixtally.lab.data.population import Population
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
        One value per person. Labels are counted by bin, lists of labels are sets, boolean columns
        are bits, and several other columns are attributes. Numbers need ``number``.
    epsilon, delta : float or None
        The guarantee, in [0.01, 20] and [1e-15, 0.1]. Left out with ``plan`` or ``contract``.
    plan : Plan or None
        A finished plan, which states the guarantee and the question.
    contract : str, Path, bytes or None
        A contract in place of a plan, as a path or as bytes. The round is simulated mix by mix.
    budget : Budget or None
        The budget that is charged before noise is drawn. A round that would exceed it is refused.
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    counts : str, list or None
        How many people have each value. Each value then occurs once, and tallies are drawn.
    group_by : str, list or None
        The group of each row. Values are counted within groups, and ``labels`` is a mapping with
        the labels of "values" and of "groups".
    name : str or None
        The name of the question. The default is the name of the column.
    level : float
        Confidence level of all intervals, in (0, 1).
    repeats : int, optional
        How many times each vector of bits is sent (protocol "flip").
    observer : str, default 'messages'
        "sums" also states the privacy against an adversary who sees only the sums of all messages.
    dishonest : sequence of int, optional
        Under a contract, the positions of the mixes that cheat, from 1. They draw no fakes.
    leave_out : float, optional
        Under a contract, the share of other people's messages that dishonest mixes drop, 0 to 1.
        The default is 1.
    winner : bool, default False
        Whether values are ballots. The result names the winner and compares the shuffled ballots
        with local ballots. Blank ballots (``missing``) cannot win.
    keep_probability : float, optional
        The probability that a local ballot keeps its mark. The default is what epsilon allows.
    example : bool, default False
        Whether to simulate 100,000 invented voters, with a share of 0.63, in place of values.
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
    seed = checks.check_optional_whole("seed", seed)
    given = load_given_plan(plan)
    check_budget(budget, seed)
    promise = {"epsilon": epsilon, "delta": delta}
    asked = read_request(SimulateOptions, promise | options)
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
    run = make_run(seed, level)
    if asked.vote.example:
        extra_flags = _list_given(values=values, group_by=group_by, name=name)
        voters, source = example_voters([*extra_flags, *list_given(records), *list_given(rows)])
        crowd: CrowdData[Population] | CrowdData[Histogram] = CrowdData(voters, None)
    else:
        crowd = _read_crowd(values, name, request, counts)
        source = _describe_source(crowd.population)
    people = crowd.population
    if isinstance(people, Population):
        people = replace(people, note=" ".join(crowd.raw))
    found = use.simulate(
        asked,
        people,
        replace(run, source=" ".join([source, *crowd.public])),
        given,
        scale=request.scale,
        blank=rows.blank,
        # Charged once the plan is chosen, and before its noise is drawn.
        charge=None if budget is None else lambda chosen: budget.charge(Plan(chosen)),
    )
    _ = found.release.result  # raises MessageError if the round releases nothing
    return Result(found.outcome(), crowd.backend)


def _list_given(**given: object) -> list[str]:
    """Return the names of the options whose arguments were given."""
    return [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]


def _describe_source(people: Population | Histogram) -> str:
    """Return a sentence about the simulated people."""
    if isinstance(people, Population):
        return f"{people.users:,} values, {people.people_per_row}."
    return f"{people.users:,} people, as the counts have them."


def _read_crowd(
    values: object, name: object, request: ReadingRequest, counts: object
) -> CrowdData[Population] | CrowdData[Histogram]:
    """Return the people to simulate; with ``counts``, a histogram of them."""
    if counts is None:
        return read_shared_crowd(values, name, request)
    return read_counted(values, name, request, counts)
