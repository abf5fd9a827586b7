"""Repeat a question over time: the collections, their changes, what everybody spends."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget import compose
from mixtally.errors import InfeasibleError
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.counts_only import draw_part, sizes_of
from mixtally.lab.simulation.lab import Lab, Provenance
from mixtally.lab.simulation.plan_choice import first_fitting_plan
from mixtally.lab.simulation.play import check_memory, play
from mixtally.lab.simulation.run import check_crowd, check_rounded
from mixtally.lab.simulation.trend.trend import EpochSpending, Trend, TrueSeries
from mixtally.lab.simulation.truth import Values
from mixtally.model.contract import Plan
from mixtally.model.estimates import Tally
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question
from mixtally.model.result import Step
from mixtally.planning import Planner, PlanRequest, choose
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.protocol.estimate.conclude import conclude_series

MOST_SHOWN = 24
_UNTITLED = Provenance(title="Counts over time")


def collect_epochs(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    lab: Lab,
    analysis: Analysis = COUNTS_ALONE,
    *,
    about: Provenance = _UNTITLED,
    before: Callable[[str], None] = ignore_progress,
    counts_only: bool = False,
) -> Trend:
    """Every epoch of ``timeline`` collected under ``plan``, with fresh flips and fakes in each.

    where
      guarantee     kept for a person who takes part in every epoch
      before        called with the name of each epoch before its first message is sent; what it
                    raises stops the series there
      counts_only   whether each tally is drawn from its epoch's counts, and no message

    Raises PlanError for a plan of another question or too small a crowd, InfeasibleError when all
    epochs together would exceed the guarantee; nothing is sent then.
    """
    accountant, users = lab.planner.accountant, tuple(timeline.users.tolist())
    check_plan(plan, timeline, accountant, counts_only=counts_only)
    spending = compute_spending(plan, timeline, guarantee, accountant, lab.progress)
    tallies = _play_epochs(plan, timeline, lab, before, counts_only=counts_only)
    series = conclude_series(plan, tallies, users, timeline.epochs, analysis)
    return Trend(
        about=about,
        guarantee=guarantee,
        users=users,
        series=series,
        certificate=spending[-1].certificate,
        least_epsilon=spending[-1].epsilon,
        truth=TrueSeries(
            _true_counts(timeline),
            spending,
            _true_means(timeline, series.steps) if isinstance(timeline, Timeline) else {},
        ),
    )


def _true_counts(timeline: Timeline | EpochCounts) -> NDArray[np.integer]:
    """Return the true counts of every epoch, which stand beside the estimates."""
    return timeline.truth


def _play_epochs(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    lab: Lab,
    before: Callable[[str], None],
    *,
    counts_only: bool,
) -> Iterator[Tally]:
    """Play the epochs one after the other, each when the one before it was concluded."""
    every = len(timeline.epochs)
    for number, epoch in enumerate(timeline.epochs):
        before(epoch)
        if isinstance(timeline, EpochCounts):
            held, many = timeline.truth[number].astype(np.int64), int(timeline.users[number])
            yield draw_part(plan.parts[0], held, many, plan.hops, lab.chance, None)[1]
        elif counts_only:
            crowd = timeline.crowd(number)
            sizes = sizes_of(crowd)
            part = plan.parts[0]
            yield draw_part(part, crowd.bin_counts, crowd.users, plan.hops, lab.chance, sizes)[1]
        else:
            records = timeline.crowd(number).records
            yield play(plan, [records], lab.chance, lab.progress).tallies[0]
        lab.progress("epochs", number + 1, every)


def _true_means(timeline: Timeline, steps: Sequence[Step]) -> dict[str, Values]:
    """Return the mean of every epoch and its changes; nothing where there are no numbers."""
    if timeline.values is None:
        return {}
    means = []
    for epoch in range(len(timeline.epochs)):
        values = timeline.crowd(epoch).values
        if values is None:
            raise TypeError("the crowd holds no numbers")
        means.append(float(values.mean()))
    changes = [means[step.last] - means[step.first] for step in steps]
    return {"means": tuple(means), "mean_changes": tuple(changes)}


def check_plan(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    accountant: Accountant,
    *,
    counts_only: bool = False,
) -> None:
    """Raises PlanError when ``plan`` does not fit every epoch, the smallest as well.

    ParameterError when its largest batch needs too much memory, which none does with
    ``counts_only``.
    """
    part = plan.single_part(
        "plan with another --protocol, or ask each bit or attribute in a series of its own"
    )
    check_rounded(plan, timeline)
    check_crowd(plan, timeline.question, int(timeline.users.min()), accountant)
    if not counts_only:  # now, not in mid-series
        check_memory(part, int(timeline.users.max()), plan.hops)


def compute_spending(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    accountant: Accountant,
    progress: Progress = ignore_progress,
) -> tuple[EpochSpending, ...]:
    """What people spend by the number of epochs they take part in, most epochs last.

    At most 24 numbers are shown; people between two are charged as the larger one. The last entry
    is a person who takes part in all, whether there is one or not.

    Raises InfeasibleError when that person's loss passes ``guarantee``.
    """
    every = len(timeline.epochs)
    people = timeline.attendance
    counts = {} if people is None else people
    times = np.array(sorted({every, *(counts or [1])}))
    shown = times[np.unique(np.linspace(0, len(times) - 1, MOST_SHOWN).round().astype(int))]
    found: list[EpochSpending] = []
    for k in shown.tolist():
        least = found[-1].times if found else 0
        inside = sum(number for t, number in counts.items() if least < t <= k)
        found.append(
            _compute_spent(plan, k, None if people is None else inside, guarantee, accountant)
        )
        progress("cost", len(found), len(shown))
    if not found[-1].delta <= guarantee.delta:
        raise InfeasibleError(
            "epochs",
            expected=f"delta <= {guarantee.delta:g} at epsilon {guarantee.epsilon:g} for a person "
            f"in all {every:,} epochs",
            got=f"{found[-1].delta:.6g}",
            do=f"plan for {every:,} collections, or ask in fewer epochs",
        )
    return tuple(found)


def _compute_spent(
    plan: Plan, times: int, people: int | None, guarantee: Guarantee, accountant: Accountant
) -> EpochSpending:
    charges = [(plan, times)]
    whole = compose.delta_of(charges, guarantee.epsilon, accountant=accountant)
    try:
        epsilon = compose.epsilon_of(charges, guarantee.delta, accountant).epsilon
    except InfeasibleError:  # beyond 20
        epsilon = None
    return EpochSpending(times, people, epsilon, whole)


def plan_whole_records(wish: PlanRequest, planner: Planner | None = None) -> tuple[Plan, str]:
    """The best plan that sends records whole, and why; changes are those of one batch to the next.

    Raises as ``planning.choose``, and InfeasibleError when only split records fit.
    """
    wholes = _whole_record_protocol(wish.question)
    if wholes is not None and wish.protocol is None:
        wish = replace(wish, protocol=wholes)
    planner = planner or Planner()
    answer = choose(wish, planner)
    plan = first_fitting_plan(answer, planner, lambda one: len(one.parts) == 1)
    if plan is None:
        raise InfeasibleError(
            "plan",
            expected="records that travel whole",
            got=answer.plan.name,
            do="leave --protocol out, or ask for each bit or attribute in a series of its own",
        )
    return plan, answer.reason


def _whole_record_protocol(question: Question) -> str | None:
    """The only protocol that sends such records whole; None where there is a choice."""
    if question.kind is Kind.BITS:
        return "single-bit" if question.bins == 1 else "flip"
    return "flip-blank" if question.kind is Kind.SET else None
