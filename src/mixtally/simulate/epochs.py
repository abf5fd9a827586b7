"""Ask again and again under one plan: the collections, their changes, what everybody spends."""

from collections.abc import Callable

import numpy as np

from mixtally.data.cells import Progress, quiet
from mixtally.data.timeline import Timeline
from mixtally.encode.numbers import Scale
from mixtally.errors import InfeasibleError, PlanError
from mixtally.estimate.change import estimate_change
from mixtally.estimate.debias import estimate_counts
from mixtally.estimate.intervals import checked_level
from mixtally.ground.chance import Chance
from mixtally.mix.shuffle import room_for
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.certify import verify
from mixtally.privacy.composition import compose
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.results import Tally
from mixtally.report.study import Release
from mixtally.report.trend.trend import Spent, Step, Trend
from mixtally.simulate.means import means_over_time
from mixtally.simulate.simulate import MOST_BATCH_BYTES, play

MOST_SHOWN = 24


def collect(
    plan: Plan,
    timeline: Timeline,
    guarantee: Guarantee,
    chance: Chance,
    progress: Progress = quiet,
    *,
    before: Callable[[str], None] = quiet,
    level: float = 0.95,
    title: str = "Counts over time",
    source: str = "",
    reason: str = "",
    seed: int | None = None,
    scale: Scale | None = None,
    accountant: Accountant | None = None,
) -> Trend:
    """Every epoch of ``timeline`` collected under ``plan``, with fresh flips and fakes in each.

    where
      guarantee   kept for a person who takes part in every epoch
      scale       where numbers were cut, to tell their means; None for no numbers
      before      called with the name of each epoch before its first message is sent; what it
                  raises stops the series there

    Raises PlanError for a plan of another question or too small a crowd, InfeasibleError when all
    epochs together would pass the guarantee; nothing is sent then.
    """
    checked_level(level)
    accountant = accountant or Accountant()
    mechanism = checked(plan, timeline, accountant)
    spending = spent_by(plan, timeline, guarantee, accountant)
    releases, tallies = [], []
    for number, epoch in enumerate(timeline.epochs):
        before(epoch)
        crowd = timeline.crowd(number)
        tally = play(mechanism, crowd.records, chance, progress)
        found = estimate_counts(mechanism, tally, crowd.users, level=level)
        tallies.append(tally)
        releases.append(Release(plan, tally.messages, found))
        progress("epochs", number + 1, len(timeline.epochs))
    changes = tuple(steps(mechanism, tallies, level))
    means = () if scale is None else means_over_time(timeline, scale, releases, changes)
    return Trend(
        title=title,
        source=source,
        guarantee=guarantee,
        epochs=timeline.epochs,
        users=tuple(timeline.users.tolist()),
        releases=tuple(releases),
        steps=changes,
        spending=spending,
        truth=timeline.truth,
        reason=reason,
        seed=seed,
        figures=means,
    )


def checked(plan: Plan, timeline: Timeline, accountant: Accountant) -> Shuffled:
    """The mechanism of ``plan`` once it fits every epoch.

    Raises PlanError when it does not, ParameterError when its largest batch needs too much memory.
    """
    fewest = int(timeline.users.min())
    if plan.question != timeline.question:
        raise PlanError(
            "plan",
            wanted=f"the question {timeline.question.name!r} with its "
            f"{timeline.question.bins:,} bins",
            got=f"{plan.question.name!r} with {plan.question.bins:,}",
            do="plan again for this question, or name its column and labels",
        )
    if plan.users > fewest:
        raise PlanError(
            "plan",
            wanted=f"one for at most {fewest:,} users, the smallest epoch",
            got=f"one for {plan.users:,}",
            do="plan for the smallest crowd: its fakes have to arrive in every epoch",
        )
    mechanism = verify(plan, accountant)
    most = int(timeline.users.max()) * mechanism.repeats + mechanism.fakes_promised
    room_for(most, mechanism.layout.message_bytes, MOST_BATCH_BYTES)  # now, not in mid-series
    return mechanism


def steps(mechanism: Shuffled, tallies: list[Tally], level: float) -> list[Step]:
    """The change from each epoch to the next and, last, from the first to the last."""
    last = len(tallies) - 1
    pairs = [(i, i + 1) for i in range(last)] + [(0, last)] * (last > 1)
    return [
        Step(
            i,
            j,
            estimate_change(mechanism, tallies[i], tallies[j], level=level, changes=len(pairs)),
        )
        for i, j in pairs
    ]


def spent_by(
    plan: Plan, timeline: Timeline, guarantee: Guarantee, accountant: Accountant
) -> tuple[Spent, ...]:
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
    found: list[Spent] = []
    for k in shown.tolist():
        least = found[-1].times if found else 0
        inside = sum(number for t, number in counts.items() if least < t <= k)
        found.append(_spent(plan, k, None if people is None else inside, guarantee, accountant))
    if not found[-1].delta <= guarantee.delta:
        raise InfeasibleError(
            "epochs",
            wanted=f"delta <= {guarantee.delta:g} at epsilon {guarantee.epsilon:g} for a person "
            f"in all {every:,} epochs",
            got=f"{found[-1].delta:.6g}",
            do=f"plan for {every:,} collections, or ask in fewer epochs",
        )
    return tuple(found)


def _spent(
    plan: Plan, times: int, people: int | None, guarantee: Guarantee, accountant: Accountant
) -> Spent:
    whole = compose.delta_of([(plan, times)], guarantee.epsilon, accountant=accountant)
    try:
        epsilon = compose.epsilon_of([(plan, times)], guarantee.delta, accountant).epsilon
    except InfeasibleError:  # beyond 20
        epsilon = None
    return Spent(times, people, epsilon, whole)
