"""``simulate``: real values played through the whole system in one call."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mixtally.api import checks
from mixtally.api.budget import Budget
from mixtally.api.contracts import contract_bytes
from mixtally.api.labels import merging_of, missing_texts, separator_of
from mixtally.api.planning import Ends, Plan, scale_of
from mixtally.api.requests import request_of
from mixtally.api.result import Result
from mixtally.api.runs import run_of
from mixtally.api.simulated_result import SimulatedResult
from mixtally.api.values import KINDS, Crowd, Wanted, counted_of, shared_crowd_of
from mixtally.app import simulate as use
from mixtally.app.simulate import Given, SimulateOptions
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Several
from mixtally.lab.simulation.counts_only import Histogram
from mixtally.lab.simulation.lab import Signed
from mixtally.model.contract import Plan as Record
from mixtally.model.contract import fingerprint_of, read_contract
from mixtally.protocol.encode.numbers import Range
from mixtally.protocol.encode.numbers import scale_of as planned_scale


@checks.in_python
@checks.takes(SimulateOptions)
def simulate(
    values: object,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    plan: Plan | None = None,
    contract: str | Path | bytes | None = None,
    budget: Budget | None = None,
    seed: int | None = None,
    kind: str | None = None,
    labels: Any = None,
    max_set: int | None = None,
    separator: str | None = None,
    empty_sets: bool = False,
    number: Ends | None = None,
    bins: int | None = None,
    points: int | None = None,
    missing: str = "refuse",
    missing_values: Any = (),
    strip: bool = False,
    ignore_case: bool = False,
    other: str | None = None,
    person: Any = None,
    several: str | None = None,
    rows_are_people: bool = False,
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
    kind : str or None
        "one", "set", "bits", "attributes" or "number", where the values do not say.
    labels : list of str, Mapping or None
        The bins in their order; for attributes, by column. Without them, and where no type declares
        them, they are read off the values: for simulation only.
    max_set : int or None
        The most labels of a set; the largest when left out: for simulation only.
    separator : str or None
        Separates the labels of a set that is one text, ";" for example.
    empty_sets : bool
        Whether a missing value is a set without labels.
    number : tuple of float or None
        (low, high), where numbers end.
    bins : int or None
        Cut numbers into so many bins, in place of rounding: a histogram.
    points : int or None
        Numbers are rounded at random to so many points; to the best number when left out.
    missing : str
        "refuse", "drop", or the label, bit or number that missing values count as.
    missing_values : list
        Values that mean missing, ["NA", -99] for example.
    strip : bool
        Whether spaces around a value are no part of its label.
    ignore_case : bool
        Whether capital and small letters are the same in labels.
    other : str or None
        The label of all values that are not listed; None to refuse them.
    person : str, list or None
        Whose each place is, where some people have several: a column's name, or a list.
    several : str or None
        How several places of a person are combined: "first", "last" or "set".
    rows_are_people : bool
        Whether every place is a person's, though a column seems to identify people.
    counts : str, list or None
        How many people hold each value, which then occurs once: tallies are drawn.
    group_by : str, list or None
        The group of each place: counts are within groups, and ``labels`` has both.
    name : str or None
        What the question is called; the column's name when left out.
    level : float
        Confidence level of all intervals, in (0, 1).
    **options
        The names of the options of ``mixtally simulate``: what it may cost and who is trusted;
        ``repeats``, how often vectors of bits are sent. ``candidates``, words that are
        looked for where any may be answered, with ``hash_seed``. Beside the counts: ``pairs``,
        people who have both of two bits; ``compare``, labels whose counts are compared with each
        other; ``total``, the labels of each group whose counts are added up; ``shares``;
        ``project="simplex"``, counts that add up, or ``no_project``; ``observer="sums"``, what is
        hidden from anyone who sees sums alone. ``counts_only`` draws tallies in place of messages.
        Under a contract: ``dishonest``, the places of mixes that cheat, from 1, and ``leave_out``,
        the share of other people's messages that they leave out.

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
    seed = checks.maybe_whole("seed", seed)
    _check(plan, budget, seed)
    asked, given = (
        request_of(SimulateOptions, {"epsilon": epsilon, "delta": delta, **options}),
        _given(plan, contract),
    )
    beside = ["--plan"] * (plan is not None and contract is not None)
    use.check(asked, given, beside, counts=counts is not None)
    wanted = _wanted(
        None if given is None else given.plan,
        scale=_scale(given, scale_of(bins, points, number)),
        kind=kind, labels=labels, separator=separator, empty_sets=empty_sets, max_set=max_set,
        missing=missing, missing_values=missing_values, person=person, several=several,
        rows_are_people=rows_are_people, group=group_by, words=asked.candidates is not None,
        merging=merging_of(strip, ignore_case, other),
    )  # fmt: skip
    run, crowd = run_of(seed, level), _crowd(values, name, wanted, counts)
    people = crowd.population
    if isinstance(people, Population):
        people = replace(people, note=" ".join(crowd.raw))
        source = f"{people.users:,} values, {people.one_each}."
    else:
        source = f"{people.users:,} people, as the counts have them."
    found = use.simulate(
        asked,
        people,
        replace(run, source=" ".join([source, *crowd.public])),
        given,
        scale=wanted.scale,
        charge=None if budget is None else lambda chosen: budget.charge(Plan(chosen)),
    )
    return Result(
        found.release.result,
        seed,
        found.about.source,
        SimulatedResult(found, crowd.backend, crowd.raw),
        crowd.backend,
        found.from_data,
        found.release.sums,
    )


def _given(plan: Plan | None, contract: object) -> Given | None:
    """Return the plan or the contract that is played; raise as ``contract_bytes``."""
    if contract is not None:
        data = contract_bytes(contract)
        found = read_contract(data, "contract")
        return Given(found.plan, signed=Signed(found.name, found.serial, fingerprint_of(data)))
    return None if plan is None else Given(plan.record, plan.reason or "The plan was given.")


def _wanted(plan: Record | None, **given: Any) -> Wanted:
    """Return how values are read, once every argument has the type that it needs."""
    return Wanted(
        question=None if plan is None else plan.question,
        **given
        | {
            "kind": checks.maybe_chosen("kind", given["kind"], KINDS),
            "separator": separator_of(given["separator"]),
            "empty_sets": checks.flag("empty_sets", given["empty_sets"]),
            "max_set": checks.maybe_whole("max set", given["max_set"]),
            "missing": checks.text("missing", given["missing"]),
            "missing_values": missing_texts(given["missing_values"]),
            "several": checks.maybe_chosen("several", given["several"], list(Several)),
            "rows_are_people": checks.flag("rows_are_people", given["rows_are_people"]),
        },
    )


def _scale(given: Given | None, asked: Range | None) -> Range | None:
    """Return how numbers are read; a plan says so itself."""
    if given is None:
        return asked
    if asked is not None:
        raise ParameterError(
            "plan", wanted="a plan alone", got="how numbers are read beside it", do="leave them out"
        )
    return planned_scale(given.plan)


def _crowd(
    values: object, name: object, wanted: Wanted, counts: object
) -> Crowd[Population] | Crowd[Histogram]:
    """Whom a simulation plays; a histogram of people who were counted before."""
    if counts is None:
        return shared_crowd_of(values, name, wanted)
    return counted_of(values, name, wanted, counts)


def _check(plan: object, budget: object, seed: int | None) -> None:
    """Raise ParameterError for a plan or a budget of another type, and for a budget of a seed."""
    for subject, value, wanted in (("plan", plan, Plan), ("budget", budget, Budget)):
        if value is not None and not isinstance(value, wanted):
            raise ParameterError(
                subject,
                wanted=f"a mixtally.{wanted.__name__}",
                got=checks.shown(value),
                do=f"make one with mixtally.{subject if wanted is Plan else 'Budget'}",
            )
    if budget is not None and seed is not None:
        raise ParameterError(
            "seed",
            wanted="a seed or a budget",
            got="both",
            do="leave the seed out: noise that repeats is public, and no charge pays for it",
        )
