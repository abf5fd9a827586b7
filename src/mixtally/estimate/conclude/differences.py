"""How many more people hold one bin than another of the same collection, with intervals.

The difference of two unbiased counts is a sum of them with the weights 1 and -1, whose noise
``cumulants`` has. Bins of different messages have independent noise, that of each by itself.

Over planes two counts depend on each other. With kappa the share of directions in which two values
meet, a message of others that points at either with the chance q adds at most 2 q to the variance
of the difference, where two independent ones would add 2 q (1 - q), and a fake adds
2 (1 - kappa) / p, which is at most 2 (1/p)(1 - 1/p) / (1 - kappa). So of clear values the variance
is taken for 1 / (1 - q) times theirs, of sets with q = 1/p. Of replaced values ``cumulants`` takes
every message for one that may point at either: more than there are, so that the error is stated too
large rather than too small.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mixtally.estimate.analysis import places_of
from mixtally.estimate.conclude.side_by_side import part_of
from mixtally.estimate.cumulants import Cumulants, cumulants, ends
from mixtally.estimate.debias import surer, unsure_of
from mixtally.estimate.received import Arrived, reconciled
from mixtally.records.mechanism import InClear, Shuffled
from mixtally.records.result import Result
from mixtally.records.results import Figures, Row

NAME = "differences"


def differences(result: Result, labels: Sequence[str]) -> Figures:
    """The count of each label less that of every later one; raises as ``places_of``."""
    question, level = result.question, result.estimate.each.level
    every = [question.label(place) for place in range(question.bins)]
    pairs = list(combinations(places_of(every, labels), 2))
    came, hashed = reconciled(result.plan, result.received), result.plan.question.hashed
    unsure = 2.0 * unsure_of(came[0].mechanism, came[0].people, hashed=hashed is not None)
    (own, how), (wanted, more) = (surer(level, many * unsure) for many in (1, len(pairs)))
    tails = (1.0 - own) / 2.0, (1.0 - wanted) / 2.0 / len(pairs)
    rows = tuple(_row(result, came, pair, tails) for pair in pairs)
    note = (
        f"The first less the second. {100 * level:g} % for each alone, normal approximation{how}."
        + f" All at once{more}." * (more != how)
    )
    return Figures(NAME, f"{question.name}: differences", note, rows, tuple(pairs))


def _row(
    result: Result, came: Sequence[Arrived], pair: tuple[int, int], tails: tuple[float, float]
) -> Row:
    """One difference: alone and among all, either end passed as rarely as ``tails``."""
    asked = list(result.plan.questions)
    parts = [part_of(result.plan.question, asked, place) for place in pair]
    first, second = (
        _noise(result, came[part], place, part, alone=parts[0] != parts[1])
        for place, part in zip(pair, parts, strict=True)
    )
    variance = np.asarray(first.variance + second.variance)
    third, fourth = first.third - second.third, np.asarray(first.fourth + second.fourth)
    counts = result.estimate.counts
    found, most = float(counts[pair[0]] - counts[pair[1]]), float(result.received.contributors)
    own, every = (
        [
            min(max(found - float(np.ravel(off)[0]), -most), most)
            for off in ends(variance, third, fourth, tail)[::-1]
        ]
        for tail in tails
    )
    label = " - ".join(result.question.label(place) for place in pair)
    return Row(label, found, own[0], own[1], float(np.ravel(variance)[0]) ** 0.5, *every)


def _noise(result: Result, came: Arrived, place: int, part: int, *, alone: bool) -> Cumulants:
    """Of one count: by itself, or as a sum sees it whose weights in its part add up to nothing."""
    messages = result.received.parts[part].received
    held = min(max(float(result.estimate.counts[place]), 0.0), float(came.people))
    if alone:
        variance = came.mechanism.variance_at(messages, round(held))
        return Cumulants(variance, np.zeros(1), 0.0)
    return noise_of(came.mechanism, messages, held)


def noise_of(mechanism: Shuffled, messages: int, count: float) -> Cumulants:
    """What the count of a bin, of ``count`` people, adds to the noise of differences."""
    found = cumulants(mechanism, messages, np.array([count]))
    if isinstance(mechanism, InClear) and mechanism.planes is not None:
        return Cumulants(found.variance / (1.0 - mechanism.meeting), found.third, found.fourth)
    return found
