"""Differences between the counts of two bins of one collection, with intervals.

``conclude`` calls ``estimate_differences``. ``protocol.estimate.two_bins`` derives the distribution
of each difference. It also has the method for differences whose noise depends on both true counts.
"""

import math
from collections.abc import Sequence
from itertools import combinations

from mixtally.model.estimates import Figures, Row, Tally
from mixtally.model.result import Result
from mixtally.protocol.estimate.analysis import places_of
from mixtally.protocol.estimate.change import TalliedPart
from mixtally.protocol.estimate.conclude.combined_parts import part_of
from mixtally.protocol.estimate.debias import adjust_level, total_variation_of
from mixtally.protocol.estimate.projection import total_over, totals_of
from mixtally.protocol.estimate.received import ReconciledPart, reconcile_parts
from mixtally.protocol.estimate.two_bins import difference_intervals, difference_variance

NAME = "differences"


def estimate_differences(result: Result, labels: Sequence[str]) -> Figures:
    """Return for each pair of labels the count of the first minus the count of the second.

    Parameters
    ----------
    result : Result
        The result of one round, with its tallies.
    labels : sequence of str
        From 2 to 40 different labels of the question.

    Returns
    -------
    Figures
        A row for each pair of labels. The individual interval covers this difference at the
        confidence level, and the simultaneous intervals cover all differences together.

    Raises
    ------
    ParameterError
        If a label is unknown or repeated, or if there are fewer than 2 or more than 40 labels.
    """
    question, level = result.question, result.estimate.individual.level
    every = [question.label(place) for place in range(question.bins)]
    pairs = list(combinations(places_of(every, labels), 2))
    reconciled, hashed = reconcile_parts(result.plan, result.received), result.plan.question.hashed
    unsure = 2.0 * total_variation_of(
        reconciled[0].mechanism, reconciled[0].people, hashed=hashed is not None
    )
    (own, how), (target, more) = (adjust_level(level, many * unsure) for many in (1, len(pairs)))
    found = [
        _difference_row(result, reconciled, pair, ((own, 1), (target, len(pairs))))
        for pair in pairs
    ]
    methods = " and ".join(dict.fromkeys(method for _, method in found))
    note = (
        f"The first count less the second, with {100 * level:g} % intervals for each difference "
        f"alone ({methods}{how})." + f" Intervals for all at once{more}." * (more != how)
    )
    rows = tuple(row for row, _ in found)
    return Figures(NAME, f"{question.name}: differences", note, rows, tuple(pairs))


def _difference_row(
    result: Result,
    reconciled: Sequence[ReconciledPart],
    pair: tuple[int, int],
    levels: tuple[tuple[float, int], tuple[float, int]],
) -> tuple[Row, str]:
    """Return the row of one difference, and the name of the method of its individual interval.

    ``levels`` has two pairs (confidence level, number of differences): one for the individual and
    one for the simultaneous interval. The error probability is divided among this number of
    differences.
    """
    asked = list(result.plan.questions)
    places = [part_of(result.plan.question, asked, place) for place in pair]
    (first, second), numbers = zip(
        *(_select_bin(result, reconciled, *place) for place in places), strict=True
    )
    one_message = places[0][0] == places[1][0]
    one_total = one_message and numbers[0] is not None and numbers[0] == numbers[1]
    own, every = (
        difference_intervals(
            first, second, level, over=over, one_message=one_message, one_total=one_total
        )
        for level, over in levels
    )
    counts = result.estimate.counts
    row = Row(
        " - ".join(result.question.label(place) for place in pair),
        float(counts[pair[0]] - counts[pair[1]]),
        int(own.lower[0]),
        int(own.upper[0]),
        math.sqrt(difference_variance(first, second, one_message=one_message, one_total=one_total)),
        int(every.lower[0]),
        int(every.upper[0]),
    )
    return row, own.method


def _select_bin(
    result: Result, reconciled: Sequence[ReconciledPart], part: int, place: int
) -> tuple[TalliedPart, int | None]:
    """Return the bin ``place`` of a part, and the index of the bin's known total.

    The bin is returned as a tally of one bin, with the mechanism of the part and the total. The
    index counts the totals of the part; it is None if no total is known.
    """
    tally = result.bin_tallies[part]
    mechanism = reconciled[part].mechanism
    totals = totals_of(mechanism, tally, reconciled[part].people, result.known_total_sizes[part])
    number = total_over(totals, place)
    total = None if number is None else totals[number]
    found = TalliedPart(mechanism, Tally(tally.counts[place : place + 1], tally.messages), total)
    return found, number
