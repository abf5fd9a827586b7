"""The mean of numbers in every epoch, and its changes, beside the truth."""

from collections.abc import Sequence
from dataclasses import replace

from mixtally.data.timeline import Timeline
from mixtally.encode.numbers import Scale
from mixtally.estimate.cumulants import cumulants
from mixtally.estimate.numbers import Cuts
from mixtally.records.results import Figures
from mixtally.report.study import Release
from mixtally.report.trend.trend import Step

_RESOLUTION = (
    "A value is known up to its bin: the resolution is in the intervals, half a bin for each epoch."
)


def means_over_time(
    timeline: Timeline, scale: Scale, releases: Sequence[Release], steps: Sequence[Step]
) -> tuple[Figures, ...]:
    """A mean for every epoch and a change for every step; the crowd was read on ``scale``."""
    cuts = [
        Cuts(
            release.estimate.counts, scale.edges, users,
            cumulants(release.plan.mechanism, release.messages, release.estimate.counts),
        )
        for release, users in zip(releases, timeline.users.tolist(), strict=True)
    ]  # fmt: skip
    name, level = timeline.question.name, releases[0].estimate.each.level
    true = [_true_mean(timeline, epoch) for epoch in range(len(cuts))]
    means = [
        replace(one.mean(level), label=epoch, truth=truth)
        for epoch, one, truth in zip(timeline.epochs, cuts, true, strict=True)
    ]
    changes = [
        replace(
            cuts[step.first].rise_to(cuts[step.last], level),
            label=f"{timeline.epochs[step.first]} to {timeline.epochs[step.last]}",
            truth=true[step.last] - true[step.first],
        )
        for step in steps
    ]
    told = f"{100 * level:g} % for each number alone. {_RESOLUTION}"
    found = [Figures("means", f"{name}: mean over time", told, tuple(means))]
    if changes:
        title = f"{name}: change of the mean"
        found.append(Figures("mean_changes", title, told, tuple(changes)))
    return tuple(found)


def _true_mean(timeline: Timeline, epoch: int) -> float:
    values = timeline.crowd(epoch).values
    if values is None:
        raise TypeError("the crowd holds no numbers")
    return float(values.mean())
