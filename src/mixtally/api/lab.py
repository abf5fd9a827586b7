"""``simulate``: real values played through the whole system in one call."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mixtally.api import checks
from mixtally.api.budget import Budget, check_budget
from mixtally.api.contracts import contract_bytes
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
    """Simulate a private collection: plan, randomize, mix and count values of real people.

    Parameters
    ----------
    values : list, array, series, frame or dict of lists
        A value a person. Labels are counted by their bins, lists of labels as sets, columns of
        booleans as bits, other columns as attributes, numbers where they are cut.
    epsilon, delta : float or None
        The guarantee, in [0.01, 20] and [1e-15, 0.1], where no plan has it.
    plan : Plan or None
        Made before; it has the guarantee and the question.
    contract : str, Path, bytes or None
        In place of a plan: a round is played as the contract says, mix by mix.
    budget : Budget or None
        Charged before anything is drawn; a round that would exceed it is refused.
    seed : int or None
        Makes the noise repeat, and public: for simulation only.
    counts : str, list or None
        How many people hold each value, which then occurs once: tallies are drawn.
    group_by : str, list or None
        The group of each place: counts are within groups, and ``labels`` has both.
    name : str or None
        What the question is called; the column's name when left out.
    level : float
        Confidence level of all intervals, in (0, 1).
    **options
        The names of the options of ``mixtally simulate``. What the collection may cost and who
        is trusted; ``repeats``, how often vectors of bits are sent.

        What a record is: ``kind`` ("one", "set", "bits", "attributes" or "number"), where the
        values do not say. ``labels``, the bins in their order; for attributes, by column. Without
        them, and where no type declares them, they are read off the values: for simulation only.
        ``max_set``, the most labels of a set; the largest when left out: for simulation only.
        ``separator`` of the labels of a set that is one text; ``empty_sets``, whether a missing
        value is a set without labels. ``number=(low, high)``, where numbers end; they are rounded
        at random to ``points``, or cut into ``bins``.

        How values are read: ``missing`` is "refuse", "drop", or the label, bit or number that
        missing values count as; ``missing_values``, which mean missing, ["NA", -99] for example;
        ``strip``, whether spaces around a value are no part of its label; ``ignore_case``;
        ``other``, the label of all values that are not listed. ``person``, whose each place is: a
        column's name, or a list; ``several``, how places of a person are combined: "first", "last"
        or "set"; ``rows_are_people``, whether every place is a person's though a column seems to
        identify people.

        ``candidates``, words that are looked for where any may be answered, with ``hash_seed``.
        Beside the counts: ``pairs``, people who have both of two bits; ``compare``, labels whose
        counts are compared with each other; ``total``, the labels of each group whose counts are
        added up; ``shares``; ``project="simplex"``, counts that add up, or ``no_project``;
        ``observer="sums"``, what is hidden from anyone who sees sums alone. ``counts_only`` draws
        tallies in place of messages. Under a contract: ``dishonest``, the places of mixes that
        cheat, from 1, and ``leave_out``, the share of other people's messages that they leave out.

        With ``winner`` values are ballots: who has won, and what local ballots hide without a mix,
        which keep a mark with ``keep_probability``. Blank ballots (``missing``) cannot win.
        ``example`` plays 100,000 made-up voters in place of values.

    Returns
    -------
    Result
        The counts, and the true counts in its ``simulation``.

    Raises
    ------
    DataError
        For values that cannot be records, by their position.
    InfeasibleError
        If no plan meets the request, or the budget would be exceeded.
    MessageError
        If the numbers of a round with dishonest mixes do not add up: nothing is released.
    ParameterError
        For an argument outside its range, or beside another that it does not go with.
    PlanError
        For a plan for others.

    Examples
    --------
    >>> mixtally.simulate(["yes", "no"] * 500, epsilon=1, delta=1e-6)
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
    beside = ["--plan"] * (plan is not None and contract is not None)
    use.check_options(asked, given, beside, counts=counts is not None)
    request = make_reading_request(
        rows, records, group=group_by, words=asked.candidates is not None
    )
    request = request if given is None else read_as_planned(request, given.plan)
    run = make_run(seed, level)
    if asked.vote.example:
        beside = _list_given(values=values, group_by=group_by, name=name)
        voters, source = example_voters([*beside, *list_given(records), *list_given(rows)])
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
        charge=None if budget is None else lambda chosen: budget.charge(Plan(chosen)),
    )
    _ = found.release.result  # raises where a round releases nothing
    return Result(found.outcome(), crowd.backend)


def _list_given(**given: object) -> list[str]:
    """Return the options of arguments that were given."""
    return [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]


def _describe_source(people: Population | Histogram) -> str:
    """Return who is played, in a sentence."""
    if isinstance(people, Population):
        return f"{people.users:,} values, {people.people_per_row}."
    return f"{people.users:,} people, as the counts have them."


def _read_crowd(
    values: object, name: object, request: ReadingRequest, counts: object
) -> CrowdData[Population] | CrowdData[Histogram]:
    """Whom a simulation plays; a histogram of people who were counted before."""
    if counts is None:
        return read_shared_crowd(values, name, request)
    return read_counted(values, name, request, counts)
