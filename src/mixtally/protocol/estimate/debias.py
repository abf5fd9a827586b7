"""Unbiased counts out of a tally, with their standard error and intervals."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixtally.model.estimates import Estimate, Intervals, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.intervals import check_level, intervals
from mixtally.protocol.estimate.noise import KnownTotal, NoiseCache
from mixtally.protocol.estimate.projection import project_to_totals, totals_of
from mixtally.protocol.estimate.received_fakes import check_message_count

_SUREST = 1.0 - 1e-12
_IN_GENERAL = ", as if all points lay in general position"


def estimate_counts(
    mechanism: Shuffled,
    tally: Tally,
    users: int,
    *,
    level: float = 0.95,
    exact_ones: float | None = None,
    together: int | None = None,
    noises: NoiseCache | None = None,
    unsure: float = 0.0,
    summed: Sequence[int] = (),
) -> Estimate:
    """Unbiased counts with intervals at ``level``.

    where
      users        people who sent their records
      exact_ones   as ``intervals`` has it
      together     bins over which intervals hold at once, if more than this tally's own
      noises       shared by many estimates that are alike, which saves their time
      unsure       how far a bin's count is from its distribution: each interval is as much surer
      summed       of how many consecutive bins each the true counts add up to the users; none where
                   that is not known, or not to be used

    Raises ParameterError for a level outside (0, 1), MessageError when the batch is not what so
    many people and their fakes make.
    """
    check_level(level)
    check_message_count(mechanism, tally.messages, users)
    totals = totals_of(mechanism, tally, users, summed)
    counts = project_to_totals(
        mechanism, mechanism.debias_counts(tally.counts, tally.messages), tally.messages, totals
    )
    among, noises = together or len(counts), noises or NoiseCache()

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
        errors_with_totals(mechanism, tally.messages, totals)
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
    """Return the tally of the bins of each total."""
    ends = np.cumsum([one.bins for one in totals])[:-1]
    return [Tally(some, tally.messages) for some in np.split(tally.counts, ends)]


def join_intervals(found: Sequence[Intervals]) -> Intervals:
    """Return the intervals of consecutive bins as one."""
    return Intervals(
        lower=np.concatenate([one.lower for one in found]),
        upper=np.concatenate([one.upper for one in found]),
        level=found[0].level,
        method=" and ".join(dict.fromkeys(one.method for one in found)),
    )


def errors_with_totals(mechanism: Shuffled, messages: int, totals: Sequence[KnownTotal]) -> Floats:
    """Return the standard errors of bins whose counts use these totals."""
    errors = [math.sqrt(mechanism.variance_given_total(messages, one.bins)) for one in totals]
    return np.repeat(errors, [one.bins for one in totals])


def adjust_level(level: float, unsure: float) -> tuple[float, str]:
    """A level that leaves ``unsure`` less error, and what is assumed where there is none."""
    target = level + unsure
    return (target, "") if not unsure or target < _SUREST else (level, _IN_GENERAL)


def total_variation_of(mechanism: Shuffled, people: int, *, hashed: bool) -> float:
    """How far the count of one value of ``people`` is from its distribution, in total variation:
    points of sets, and of ``hashed`` texts, may be one, or in special position.
    """
    if mechanism.planes is None:
        return 0.0
    if not hashed and mechanism.max_set == 1:
        return 0.0
    return mechanism.planes.total_variation_bound(people, mechanism.most_set)


def errors_by_count(
    mechanism: Shuffled, messages: int, counts: Floats, users: int
) -> Floats | None:
    """Standard errors of bins that hold about ``counts``, shape (bins,); None where all are alike.

    Variances are linear in the true count, for which the estimate stands.
    """
    none, every = (mechanism.variance_at(messages, count) for count in (0, users))
    if not counts.size or math.isclose(none, every, rel_tol=1e-9):
        return None
    held = np.clip(counts, 0.0, users)
    return np.asarray(np.sqrt(none + held * ((every - none) / users)))
