"""``simulate``: real values played through the whole system in one call."""

from typing import Any

from mixtally.api import checks
from mixtally.api.budget import Budget
from mixtally.api.labels import merging_of, missing_texts, separator_of
from mixtally.api.planning import Ends, Plan, scale_of
from mixtally.api.promise import guarantee_of
from mixtally.api.result import Result
from mixtally.api.simulated_result import SimulatedResult
from mixtally.api.values import KINDS, Crowd, Wanted, counted_of, shared_crowd_of
from mixtally.app.limits import BudgetOptions, wish_of, with_room
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Several
from mixtally.lab.simulation import offers
from mixtally.lab.simulation.counts_only import (
    Histogram,
    checked_counts,
    collect_counts,
)
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.rounding import rounded_crowd
from mixtally.lab.simulation.run import checked, release
from mixtally.lab.simulation.seeded import chance_of
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.encode.numbers import Range
from mixtally.protocol.encode.numbers import scale_of as planned_scale
from mixtally.protocol.estimate.analysis import Analysis


@checks.in_python
@checks.takes(BudgetOptions)
def simulate(
    values: object,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    plan: Plan | None = None,
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
    pairs: bool = False,
    repeats: int | None = None,
    **options: Any,
) -> Result:
    """Values of real people played through the whole system: planned, randomized, mixed, counted.

    where
      values           a value a person: a list, a NumPy array, a series or frame of any library.
                       Labels are counted by their bins, lists of labels as sets, columns of
                       booleans as bits, other columns as attributes, numbers where they are cut
      epsilon, delta   what is promised, in [0.01, 20] and [1e-15, 0.1]; or
      plan             made before, which has them
      budget           charged before anything is drawn; what would exceed it is refused
      seed             makes the noise repeat, and public: for simulation only
      kind             "one", "set", "bits", "attributes" or "number", where the values do not say
      labels           the bins in their order; for attributes, by column. Without them, and where
                       no type declares them, they are read off the values: for simulation only
      max_set          the most labels of a set; the largest when left out: for simulation only
      separator        what parts the labels of a set that is one text, ";" for example
      empty_sets       whether a missing value is a set without labels
      number           (low, high), where numbers end
      points           numbers are rounded at random to so many; to the best when left out
      bins             cut numbers into so many in place of it: a histogram
      missing          "refuse", "drop", or the label, bit or number that missing values count as
      missing_values   values that mean missing, ["NA", -99] for example
      strip            whether spaces around a value are no part of its label
      ignore_case      whether capital and small letters are the same in labels
      other            the label of all values that are not listed; None to refuse them
      person           whose each place is, where some have several: a column's name, or a list
      several          what is taken of several places of a person: "first", "last" or "set"
      rows_are_people  whether every place is a person's, though a column seems to identify people
      group_by         the group of each place: counts are within groups, ``labels`` has both
      counts           how many people hold each value, which then stands once: tallies are drawn
      name             what the question is called; the column's name when left out
      level            of all intervals, in (0, 1)
      pairs            whether people who have both of two bits are counted, too
      repeats          send vectors of bits so many times
      options          what it may cost and whom it may trust

    Raises DataError for values that cannot be records, by their position; PlanError for a plan for
    others; InfeasibleError when nothing fits or the budget would be exceeded; ParameterError for an
    argument outside its range, or beside another that it does not go with.

    >>> mixtally.simulate(["yes", "no"] * 500, epsilon=1, delta=1e-6)
    """
    seed = checks.maybe_whole("seed", seed)
    _check(plan, budget, seed, [epsilon, delta], options)
    wanted = _wanted(
        plan, scale=_scale(plan, scale_of(bins, points, number)),
        kind=kind, labels=labels, separator=separator, empty_sets=empty_sets, max_set=max_set,
        missing=missing, missing_values=missing_values, person=person, several=several,
        rows_are_people=rows_are_people, group=group_by,
        merging=merging_of(strip, ignore_case, other),
    )  # fmt: skip
    analysis = Analysis(level=checks.number("level", level), pairs=checks.flag("pairs", pairs))
    lab, crowd = Lab(chance_of(seed)), _crowd(values, name, wanted, counts)
    if plan is None:
        guarantee, times = guarantee_of(epsilon, delta), checks.maybe_whole("repeats", repeats)
        limits, people = checks.made(BudgetOptions, options), crowd.population
        plan = _planned(people, guarantee, limits, lab, times, analysis, wanted.scale)
    return _played(plan, crowd, lab, analysis, budget, seed)


def _wanted(plan: Plan | None, **given: Any) -> Wanted:
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


def _planned(
    people: Population | Histogram,
    guarantee: Guarantee,
    limits: BudgetOptions,
    lab: Lab,
    times: int | None,
    analysis: Analysis,
    scale: Range | None,
) -> Plan:
    """The plan of least error for these people."""
    budget = with_room(limits, times)
    wish = wish_of(
        budget, people.question, guarantee, people.users, scale=scale, planner=lab.planner
    )
    return Plan(*offers.best(wish, lab.planner, repeats=times, pairs=analysis.pairs))


def _scale(plan: Plan | None, given: Range | None) -> Range | None:
    """How numbers are read; a plan says so itself."""
    if plan is None:
        return given
    if given is not None:
        raise ParameterError(
            "plan", wanted="a plan alone", got="how numbers are read beside it", do="leave them out"
        )
    return planned_scale(plan.record)


def _played(
    plan: Plan,
    crowd: Crowd[Population] | Crowd[Histogram],
    lab: Lab,
    analysis: Analysis,
    budget: Budget | None,
    seed: int | None,
) -> Result:
    """The result, once the budget was charged; what cannot be played is not charged."""
    whole = crowd.population
    if isinstance(whole, Population):
        whole = rounded_crowd(whole, plan.record, lab.chance)
        checked(plan.record, whole, analysis, lab.planner.accountant)
    else:
        checked_counts(plan.record, whole, analysis, lab.planner.accountant)
    if budget is not None:
        budget.charge(plan)
    if isinstance(whole, Population):
        played = release(plan.record, whole, lab, analysis)
        source = f"{whole.users:,} values, {whole.one_each}."
    else:
        played = collect_counts(plan.record, whole, lab, analysis)
        source = f"{whole.users:,} people, as the counts have them."
    record, truth, backend = played.result, whole.truth.tolist(), crowd.backend
    note = " ".join([source, *crowd.public])
    simulation = SimulatedResult(record, truth, backend, crowd.raw)
    read = whole.from_data
    return Result(record, seed, note, simulation, backend, read)


def _crowd(
    values: object, name: object, wanted: Wanted, counts: object
) -> Crowd[Population] | Crowd[Histogram]:
    """Whom a simulation plays; a histogram of people who were counted before."""
    if counts is None:
        return shared_crowd_of(values, name, wanted)
    return counted_of(values, name, wanted, counts)


def _check(
    plan: object, budget: object, seed: int | None, promise: list[float | None], options: object
) -> None:
    """Raises ParameterError for arguments that do not go together."""
    for subject, value, wanted in (("plan", plan, Plan), ("budget", budget, Budget)):
        if value is not None and not isinstance(value, wanted):
            raise ParameterError(
                subject,
                wanted=f"a mixtally.{wanted.__name__}",
                got=checks.shown(value),
                do=f"make one with mixtally.{subject if wanted is Plan else 'Budget'}",
            )
    given = [value for value in promise if value is not None]
    if plan is not None and (given or options):
        raise ParameterError(
            "plan",
            wanted="a plan, or what one is made of",
            got="both",
            do="leave epsilon, delta and its options out: the plan has them",
        )
    if plan is None and len(given) < len(promise):
        raise ParameterError(
            "guarantee",
            wanted="epsilon and delta, or a plan",
            got="one of them" if given else "neither",
            do="epsilon=1, delta=1e-6, for example",
        )
    if budget is not None and seed is not None:
        raise ParameterError(
            "seed",
            wanted="a seed or a budget",
            got="both",
            do="leave the seed out: noise that repeats is public, and no charge pays for it",
        )
