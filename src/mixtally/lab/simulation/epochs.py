"""Repeated collections: one question asked in every epoch of a timeline.

``app.epochs`` calls these functions. They compute counts, their changes, and what each person
spends. A person who takes part in several epochs sends several messages, whose privacy losses
compose.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget import compose
from mixtally.errors import InfeasibleError, PlanError
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
"""Largest number of rows that show what people spend."""
_UNTITLED = Provenance(title="Counts over time")


def collect_epochs(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    lab: Lab,
    analysis: Analysis = COUNTS_ALONE,
    *,
    provenance: Provenance = _UNTITLED,
    before_epoch: Callable[[str], None] = ignore_progress,
    counts_only: bool = False,
) -> Trend:
    """Collect every epoch of ``timeline`` under ``plan``, with fresh noise in each epoch.

    Parameters
    ----------
    plan
        The plan of each epoch.
    timeline
        The answers of people in each epoch, or only their counts.
    guarantee
        The guarantee for a person who takes part in every epoch.
    lab
        The tools of the simulation.
    analysis
        The options of the estimation in each epoch.
    provenance
        The title and the source of the result.
    before_epoch
        Called with the name of each epoch before its first message. If it raises an exception, the
        series stops.
    counts_only
        Whether to draw each tally from the counts of its epoch, without any message.

    Returns
    -------
    Trend
        The estimates of all epochs and their changes, what a person spends, and the truth.

    Raises
    ------
    PlanError
        If the plan is for another question or a larger crowd.
    InfeasibleError
        If all epochs together exceed the guarantee. In this case no message is drawn.
    """
    accountant, users = lab.planner.accountant, tuple(timeline.users.tolist())
    check_plan(plan, timeline, accountant, counts_only=counts_only)
    spending = compute_spending(plan, timeline, guarantee, accountant, lab.progress)
    tallies = _play_epochs(plan, timeline, lab, before_epoch, counts_only=counts_only)
    series = conclude_series(plan, tallies, users, timeline.epochs, analysis)
    return Trend(
        provenance=provenance,
        guarantee=guarantee,
        users=users,
        series=series,
        certificate=spending[-1].certificate,
        least_epsilon=spending[-1].epsilon,
        truth=TrueSeries(
            timeline.truth,
            spending,
            _true_means(timeline, series.steps) if isinstance(timeline, Timeline) else {},
        ),
    )


def _play_epochs(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    lab: Lab,
    before_epoch: Callable[[str], None],
    *,
    counts_only: bool,
) -> Iterator[Tally]:
    """Yield the tally of each epoch in order; an epoch is simulated when its tally is requested."""
    (part,), every = plan.parts, len(timeline.epochs)
    for number, epoch in enumerate(timeline.epochs):
        before_epoch(epoch)
        if isinstance(timeline, EpochCounts):
            # Counts may be stored as int32 to save memory; drawing needs int64.
            counts, many = timeline.truth[number].astype(np.int64), int(timeline.users[number])
            yield draw_part(part, counts, many, plan.hops, lab.chance)[1]
        elif counts_only:
            crowd = timeline.crowd(number)
            counts, sizes = crowd.bin_counts, sizes_of(crowd)
            yield draw_part(part, counts, crowd.users, plan.hops, lab.chance, sizes)[1]
        else:
            records = timeline.crowd(number).records
            yield play(plan, [records], lab.chance, lab.progress).tallies[0]
        lab.progress("epochs", number + 1, every)


def _true_means(timeline: Timeline, steps: Sequence[Step]) -> dict[str, Values]:
    """Return the true means, and their changes from one epoch to another, by name of the figure.

    Returns an empty dict if the answers are not numbers.
    """
    if timeline.values is None:
        return {}
    means = [
        float(timeline.values[timeline.epoch_of_answer == epoch].mean())
        for epoch in range(len(timeline.epochs))
    ]
    changes = [means[step.last] - means[step.first] for step in steps]
    return {"means": tuple(means), "mean_changes": tuple(changes)}


def check_plan(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    accountant: Accountant,
    *,
    counts_only: bool = False,
) -> None:
    """Check that ``plan`` fits every epoch, including the smallest and the largest.

    Raises PlanError if the plan does not fit. Raises ParameterError if the largest batch needs too
    much memory; with ``counts_only`` the memory is not checked.
    """
    part = plan.single_part(
        "plan with another --protocol, or ask for each bit or attribute in a separate series"
    )
    if part.slots is not None:
        raise PlanError(
            "plan",
            expected="records that are sent whole in every epoch",
            got=plan.name,
            do="plan with another --protocol, or with more --messages-per-user",
        )
    check_rounded(plan, timeline)
    # The smallest epoch must be large enough for the guarantee, the largest must fit in memory.
    check_crowd(plan, timeline.question, int(timeline.users.min()), accountant)
    if not counts_only:  # checked before the first epoch, so that no series stops halfway
        check_memory(part, int(timeline.users.max()), plan.hops)


def compute_spending(
    plan: Plan,
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    accountant: Accountant,
    progress: Progress = ignore_progress,
) -> tuple[EpochSpending, ...]:
    """Return the privacy that a person spends, by the number of epochs the person takes part in.

    There are at most 24 entries, in ascending order of the number of epochs. A person whose number
    of epochs has no entry is counted in the next larger entry. The last entry is for a person in
    all epochs, even if nobody took part in all of them. Raises InfeasibleError if that person's
    loss exceeds ``guarantee``.
    """
    every = len(timeline.epochs)
    people = timeline.attendance
    counts = {} if people is None else people
    # Without attendance only one epoch and all epochs are shown.
    times = np.array(sorted({every, *(counts or [1])}))
    shown = times[np.unique(np.linspace(0, len(times) - 1, MOST_SHOWN).round().astype(int))]
    found: list[EpochSpending] = []
    for k in shown.tolist():
        # People are counted in the next larger entry, whose loss is at least theirs.
        least = found[-1].times if found else 0
        inside = sum(number for t, number in counts.items() if least < t <= k)
        found.append(
            _compute_spent(plan, k, None if people is None else inside, guarantee, accountant)
        )
        progress("cost", len(found), len(shown))
    # Written so that a delta of not-a-number is refused, too.
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
    except InfeasibleError:  # the search for epsilon ends at 20
        epsilon = None
    return EpochSpending(times, people, epsilon, whole)


def plan_whole_records(request: PlanRequest, planner: Planner) -> tuple[Plan, str]:
    """Return the best plan that sends records whole, with the reason for the choice.

    A change compares one batch with the next, so a record must be sent in a single part. Raises
    like ``planning.choose``, and InfeasibleError if only split records fit.
    """
    request = replace(request, whole_records=True)
    wholes = _whole_record_protocol(request.question)
    if wholes is not None and request.protocol is None:
        request = replace(request, protocol=wholes)
    answer = choose(request, planner)
    plan = first_fitting_plan(answer, planner, lambda one: len(one.parts) == 1)
    if plan is None:
        raise InfeasibleError(
            "plan",
            expected="records that are sent whole",
            got=answer.plan.name,
            do="leave --protocol out, or ask for each bit or attribute in a separate series",
        )
    return plan, answer.reason


def _whole_record_protocol(question: Question) -> str | None:
    """Return the only protocol that sends records of this question whole; None if several do."""
    if question.kind is Kind.BITS:
        return "single-bit" if question.bins == 1 else "flip"
    return "flip-blank" if question.kind is Kind.SET else None
