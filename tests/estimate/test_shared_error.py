"""What many intervals share: each has its part of the error, and what is unsure is taken off.

An interval among n at one level has the error (1 - level) / n for itself. So it is the interval of
one bin at the level 1 - (1 - level) / n, and where its distribution is off by u in total variation,
at that level plus u. Nothing here is drawn.
"""

import numpy as np
import pytest

from helpers import contracts
from helpers.named import clear_shaped, clear_uniform, flip_blank
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import InClear, KaryResponse, UniformFakes
from mixtally.model.planes import Planes
from mixtally.model.question import Question
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.protocol.estimate import change
from mixtally.protocol.estimate.change import TalliedPart, change_intervals, estimate_change
from mixtally.protocol.estimate.conclude import conclude, differences, set_sizes
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.intervals import intervals

LEVEL, BINS, PEOPLE, UNSURE = 0.95, 7, 500, 3e-3
OVER = Planes(11, 2)
MECHANISMS = {
    "uniform": clear_uniform(bins=BINS, fakes=700),
    "shaped": clear_shaped(bins=BINS, ratio=ratio_of(0.2), shift=60),
    "flips": flip_blank(bins=BINS, fakes=2_000, threshold=threshold_of(0.05)),
    "planes": InClear(bins=BINS, fakes=UniformFakes(300), planes=OVER),
    "replaced": KaryResponse(
        bins=BINS, replaced=SCALE // 4, fakes=UniformFakes(100), crowd=PEOPLE, planes=None
    ),
}


def tally_of(mechanism, first=0):
    """A tally in which every bin holds some people."""
    messages = PEOPLE * mechanism.repeats + mechanism.fakes_promised
    counts = mechanism.offset(messages) + mechanism.gain * (first + 10.0 * np.arange(BINS))
    return Tally(np.rint(counts).astype(np.int64), messages)


def one_of_many(mechanism, tally, over, unsure=UNSURE):
    """The interval of one bin that shares the error with so many, and is ``unsure`` by so much."""
    level = 1.0 - (1.0 - LEVEL) / over + unsure
    return intervals(mechanism, tally, level, simultaneous_over=1)


def ends(found):
    return found.lower.tolist(), found.upper.tolist()


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("changes", [1, 5])
def test_all_changes_at_once_share_the_error(name, changes):
    made = MECHANISMS[name]
    before, after = TalliedPart(made, tally_of(made)), TalliedPart(made, tally_of(made, 30))
    found = estimate_change(before, after, level=LEVEL, changes=changes)
    each = 1.0 - (1.0 - LEVEL) / (BINS * changes)
    alone = change_intervals(before, after, each, simultaneous_over=1)
    assert ends(found.simultaneous) == ends(alone)
    half = change_intervals(before, after, LEVEL, simultaneous_over=BINS * changes // 2)
    assert ends(found.simultaneous) != ends(half)


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_unsure_is_taken_off_every_interval(name):
    made = MECHANISMS[name]
    tally = tally_of(made)
    found = estimate_counts(made, tally, PEOPLE, level=LEVEL, unsure=UNSURE)
    for shown, among in ((found.individual, 1), (found.simultaneous, BINS)):
        assert ends(shown) == ends(one_of_many(made, tally, among))
        assert shown.level == LEVEL
    unmoved = intervals(made, tally, LEVEL, simultaneous_over=BINS)
    assert ends(found.simultaneous) != ends(unmoved)


def test_what_is_unsure_is_taken_off_every_change(plant):
    """Both collections are off by ``UNSURE``, so their difference is by twice as much."""
    plant(change, "total_variation_of", lambda *_, **__: UNSURE)
    made = MECHANISMS["planes"]
    before, after = TalliedPart(made, tally_of(made)), TalliedPart(made, tally_of(made, 30))
    found = estimate_change(before, after, level=LEVEL)
    each = 1.0 - (1.0 - LEVEL) / BINS + 2.0 * UNSURE
    assert ends(found.simultaneous) == ends(
        change_intervals(before, after, each, simultaneous_over=1)
    )


def test_more_that_is_unsure_than_there_is_error_is_said():
    made = MECHANISMS["planes"]
    found = estimate_counts(made, tally_of(made), PEOPLE, level=LEVEL, unsure=0.02)
    assert "general position" in found.simultaneous.method
    assert "general position" not in found.individual.method


def test_what_is_unsure_is_taken_off_the_sizes_of_sets(plant):
    plant(set_sizes, "total_variation_of", lambda *_, **__: 4.0 * UNSURE)
    made = clear_uniform(bins=BINS, fakes=700, max_set=3)
    pads = Tally(np.array([90, 130, 280]), 3 * PEOPLE + 700)
    _, *rows = set_sizes.set_sizes("q", made, pads, PEOPLE, LEVEL).rows
    found = one_of_many(made, pads, 3, 4.0 * UNSURE)
    shown = [(row.lower_simultaneous, row.upper_simultaneous) for row in rows]
    assert shown == list(zip(*ends(found), strict=True))[::-1]


def test_what_is_unsure_is_taken_off_every_difference(plant, watch):
    """A difference has two counts, so it is twice as far from its distribution."""
    plant(differences, "total_variation_of", lambda *_, **__: UNSURE)
    seen = watch(differences, "_difference_row")
    plan = contracts.plan_of(
        Question(name="q", bins=3, labels=("a", "b", "c")),
        [contracts.uniform(3, whole=1, coin=0)],
        users=PEOPLE,
    )
    result = conclude(plan, [Tally(np.array([400, 350, 250]), 2 * PEOPLE)])
    differences.estimate_differences(result, "abc")
    (found,) = {levels for *_, levels in seen}
    assert len(seen) == 3
    assert [over for _, over in found] == [1, 3]
    for level, over in found:
        assert (1.0 - level) / over == pytest.approx((1.0 - LEVEL) / over - 2.0 * UNSURE)
