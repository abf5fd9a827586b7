"""Totals of groups of labels: how many people have any label of a group, with intervals.

``conclude`` calls ``estimate_totals`` for the groups of an analysis, and the Python interface calls
it for one group.
"""

from collections.abc import Sequence

import numpy as np

from mixtally.errors import ParameterError
from mixtally.model.estimates import Figures, Row
from mixtally.model.question import Kind
from mixtally.model.result import Result
from mixtally.protocol.estimate.analysis import Groups, bins_of_groups
from mixtally.protocol.estimate.conclude.combined_parts import part_of
from mixtally.protocol.estimate.debias import adjust_level, total_variation_of
from mixtally.protocol.estimate.projection import total_over, totals_of
from mixtally.protocol.estimate.received import ReconciledPart, reconcile_parts
from mixtally.protocol.estimate.total import GroupTotal, group_total, total_interval

NAME = "totals"


def estimate_totals(result: Result, groups: Groups) -> Figures:
    """Estimate the total of each group of labels, with individual and simultaneous intervals.

    Parameters
    ----------
    result : Result
        The result of a round, with its tallies.
    groups : sequence of (name, labels)
        The groups. No label is in two groups.

    Raises
    ------
    ParameterError
        If a label is unknown or repeated, if a group is empty, if the result has no tallies, or if
        the question is about sets over planes.
    """
    question, level = result.question, result.estimate.individual.level
    every = [question.label(place) for place in range(question.bins)]
    places = bins_of_groups(every, groups)
    if not result.tallies:
        raise ParameterError(
            "totals",
            expected="the tallies of a round",
            got="a result without tallies",
            do="conclude the round again",
        )
    reconciled = reconcile_parts(result.plan, result.received)
    hashed = result.plan.question.hashed is not None
    found = [_group_by_part(result, reconciled, bins) for bins in places]
    unsure = total_variation_of(reconciled[0].mechanism, reconciled[0].people, hashed=hashed)
    rows, methods = [], dict[str, None]()
    for (name, _), several, bins in zip(groups, found, places, strict=True):
        ends = []
        for among in (1, len(groups)):
            target, how = adjust_level(level, among * len(bins) * unsure)
            low, high, method = total_interval(several, (1.0 - target) / 2.0 / among)
            ends += [low, high]
            methods[method + how] = None
        estimate = sum(one.estimate for one in several)
        error = sum(one.variance for one in several) ** 0.5
        rows.append(Row(name, estimate, ends[0], ends[1], error, ends[2], ends[3]))
    once = question.kind is Kind.ONE
    note = (
        f"The sums of the counts of labels, with {100 * level:g} % intervals for each alone "
        f"({' and '.join(methods)}) that include the covariance of counts. "
        + ("" if once else "A person counts once for each label of a group that they hold. ")
        + "The same messages answer any other groups, at no further cost."
    )
    about = tuple(tuple(bins) for bins in places)
    return Figures(NAME, f"{question.name}: totals", note, tuple(rows), about)


def _group_by_part(
    result: Result, reconciled: Sequence[ReconciledPart], bins: Sequence[int]
) -> list[GroupTotal]:
    """Split a group by part and by known total, and return the total of each piece."""
    own, asked = result.plan.question, list(result.plan.questions)
    if own.hashed is not None:
        assert result.listed is not None
        lines = result.listed.lines[np.array(bins)]
        return [
            group_total(reconciled[0].mechanism, result.tallies[0], lines, reconciled[0].people)
        ]
    totals = [
        totals_of(one.mechanism, tally, one.people, sizes)
        for one, tally, sizes in zip(
            reconciled, result.bin_tallies, result.known_total_sizes, strict=True
        )
    ]
    bins_of: dict[tuple[int, int | None], list[int]] = {}
    for place in bins:
        part, own_bin = part_of(own, asked, place)
        bins_of.setdefault((part, total_over(totals[part], own_bin)), []).append(own_bin)
    return [
        group_total(
            reconciled[part].mechanism,
            result.tallies[part],
            np.array(several),
            reconciled[part].people,
            None if number is None else totals[part][number],
        )
        for (part, number), several in bins_of.items()
    ]
