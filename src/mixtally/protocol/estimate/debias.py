"""Unbiased counts from a tally, with standard errors and intervals.

``conclude`` calls ``estimate_counts`` for each part of a record.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixtally.model.estimates import Estimate, Intervals, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.intervals import check_level, intervals
from mixtally.protocol.estimate.noise import KnownTotal, NoiseCache
from mixtally.protocol.estimate.projection import project_to_totals, projected_cumulants, totals_of
from mixtally.protocol.estimate.received_fakes import check_message_count

_MOST_LEVEL = 1.0 - 1e-12
"""The maximum confidence level. If intervals needed a higher one to allow for points in special
position, they do not allow for such points."""
# A remark in the method of intervals that could not allow for points in special position.
_IN_GENERAL = ", as if all points lay in general position"


def estimate_counts(
    mechanism: Shuffled,
    tally: Tally,
    users: int,
    *,
    level: float = 0.95,
    exact_ones: float | None = None,
    simultaneous_over: int | None = None,
    noises: NoiseCache | None = None,
    unsure: float = 0.0,
    summed: Sequence[int] = (),
) -> Estimate:
    """Estimate unbiased counts with intervals.

    Parameters
    ----------
    mechanism : Shuffled
        The mechanism, with the fakes that arrived.
    tally : Tally
        The tally of the messages.
    users : int
        The number of people who sent a record.
    level : float
        The confidence level, in (0, 1).
    exact_ones : float or None
        Intervals are exact up to this expected number of flipped bits in a bin, and approximate
        above it; None for the default.
    simultaneous_over : int or None
        The number of bins for which the simultaneous intervals hold at once; None for all bins of
        the tally.
    noises : NoiseCache or None
        A cache of quantiles, shared by several calls with the same mechanism.
    unsure : float
        An upper bound of the total variation distance between the true and the assumed distribution
        of a bin's count. The error probability that an interval allows is reduced by this bound.
    summed : sequence of int
        The sizes of groups of consecutive bins, each of whose true counts add up to ``users``;
        empty if no sum is known or to be used.

    Raises
    ------
    ParameterError
        If the level is outside (0, 1).
    MessageError
        If the number of messages is impossible for this many people and their fakes.
    """
    check_level(level)
    check_message_count(mechanism, tally.messages, users)
    totals = totals_of(mechanism, tally, users, summed)
    counts = project_to_totals(
        mechanism, mechanism.debias_counts(tally.counts, tally.messages), tally.messages, totals
    )
    among, noises = simultaneous_over or len(counts), noises or NoiseCache()

    def ends(over: int) -> Intervals:
        target, how = adjust_level(level, over * unsure)

        def of(some: Tally, total: KnownTotal | None = None) -> Intervals:
            return intervals(
                mechanism,
                some,
                target,
                simultaneous_over=over,
                exact_ones=exact_ones,
                noises=noises,
                total=total,
            )

        found = (
            join_intervals(list(map(of, split_by_total(tally, totals), totals)))
            if totals
            else of(tally)
        )
        return replace(found, level=level, method=found.method + how)

    errors = (
        errors_with_totals(mechanism, tally.messages, counts, totals)
        if totals
        else errors_by_count(mechanism, tally.messages, counts, users)
    )
    return Estimate(
        counts=counts,
        standard_error=math.sqrt(mechanism.variance(tally.messages))
        if errors is None
        else float(errors.max()),
        individual=ends(1),
        simultaneous=ends(among),
        errors=errors,
    )


def split_by_total(tally: Tally, totals: Sequence[KnownTotal]) -> list[Tally]:
    """Split a tally of consecutive groups of bins into one tally for the bins of each total."""
    ends = np.cumsum([one.bins for one in totals])[:-1]
    return [Tally(some, tally.messages) for some in np.split(tally.counts, ends)]


def join_intervals(found: Sequence[Intervals]) -> Intervals:
    """Concatenate the intervals of consecutive bins."""
    return Intervals(
        lower=np.concatenate([one.lower for one in found]),
        upper=np.concatenate([one.upper for one in found]),
        level=found[0].level,
        method=" and ".join(dict.fromkeys(one.method for one in found)),
    )


def errors_with_totals(
    mechanism: Shuffled, messages: int, counts: Floats, totals: Sequence[KnownTotal]
) -> Floats:
    """Return the standard errors of ``counts`` that use the known ``totals``, shape (bins,)."""
    if mechanism.sent_share < 1.0:
        pieces = np.split(counts, np.cumsum([one.bins for one in totals])[:-1])
        spreads = [
            projected_cumulants(mechanism, messages, np.clip(some, 0.0, one.people), one).variance
            for some, one in zip(pieces, totals, strict=True)
        ]
        return np.sqrt(np.concatenate(spreads))
    errors = [math.sqrt(mechanism.variance_given_total(messages, one.bins)) for one in totals]
    return np.repeat(errors, [one.bins for one in totals])


def adjust_level(level: float, unsure: float) -> tuple[float, str]:
    """Return the level at which to compute an interval that shall cover at ``level``, and a remark.

    The distribution that the interval assumes may be wrong. ``unsure`` is an upper bound of the
    total variation distance between the true and the assumed distribution of a count. The result is
    ``level + unsure`` and an empty remark. If this sum is too close to 1, the result is ``level``
    and a remark that states the assumption; the remark is added to the method of the interval.
    """
    target = level + unsure
    return (target, "") if not unsure or target < _MOST_LEVEL else (level, _IN_GENERAL)


def total_variation_of(mechanism: Shuffled, people: int, *, hashed: bool) -> float:
    """Return an upper bound of the error in the assumed distribution of a count over planes.

    The error is the total variation distance from the true distribution. The assumed distribution
    requires that the points of values are distinct and in general position. The points of sets and
    of ``hashed`` texts may coincide or be in special position (``model.planes``). The result is 0
    for all other counts.
    """
    if mechanism.planes is None:
        return 0.0
    if not hashed and mechanism.max_set == 1:
        return 0.0
    return mechanism.planes.total_variation_bound(people, mechanism.most_set)


def errors_by_count(
    mechanism: Shuffled, messages: int, counts: Floats, users: int
) -> Floats | None:
    """Return the standard error of each bin, shape (bins,), or None if all are equal.

    Variances are linear in the true count, which is replaced by its estimate.
    """
    none, every = (mechanism.variance_at(messages, count) for count in (0, users))
    if not counts.size or math.isclose(none, every, rel_tol=1e-9):
        return None
    clipped = np.clip(counts, 0.0, users)
    return np.asarray(np.sqrt(none + clipped * ((every - none) / users)))
