"""The least integer that meets a target, against a walk over all of them; and what it refuses."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.accounting.numerics.search import (
    FLIPS,
    ROOT,
    SearchTolerance,
    find_least_meeting,
    steepen_axis,
)
from mixtally.errors import AccountingError
from mixtally.primitives.fixed_point import SCALE

HEIGHTS = st.floats(-40, 0).map(lambda exponent: 10.0**exponent) | st.just(0.0)


@st.composite
def falling_steps(draw):
    """Values over 0, 1, 2, .. that never rise."""
    pieces = draw(st.lists(st.tuples(HEIGHTS, st.integers(1, 60)), min_size=1, max_size=8))
    heights = sorted((height for height, _ in pieces), reverse=True)
    return [h for h, (_, width) in zip(heights, pieces, strict=True) for _ in range(width)]


@given(falling_steps(), st.floats(-30, -0.5), st.data())
def test_the_least_is_what_a_walk_finds(values, exponent, data):
    target = 10.0**exponent
    low = data.draw(st.integers(0, len(values) - 1))
    start = data.draw(st.integers(-5, len(values) + 5))
    walked = next((x for x in range(low, len(values)) if values[x] <= target), None)
    high = len(values) - 1
    assert find_least_meeting(values.__getitem__, target, low, high, start=start) == walked


@given(st.integers(1, 10**13), st.integers(0, 10**13), st.floats(0.1, 30))
def test_a_smooth_fall_is_solved_in_few_steps(edge, start, power):
    asked = []

    def upper(x):
        asked.append(x)
        return math.exp(-power * x / edge)

    target = math.exp(-power) * (1 + 1e-9)  # met at ``edge`` whatever the rounding
    found = find_least_meeting(upper, target, 0, 10**13, start=start)
    assert upper(found) <= target < upper(found - 1)
    assert len(asked) < 150


@given(st.integers(1 << 30, 1 << 62), st.floats(1e-12, 1e-3))
def test_with_a_tolerance_the_answer_still_meets_the_target(edge, tolerance):
    def upper(x):
        return 0.5 * (edge / x) ** 2 * (1.0 + 1e-11)  # never the very target

    found = find_least_meeting(upper, 0.5, 1 << 24, 1 << 63, start=1 << 40, tolerance=tolerance)
    assert upper(found) <= 0.5
    assert edge * (1 - 1e-14) <= found <= edge * (1 + 2 * tolerance + 1e-11) + 1


@pytest.mark.parametrize("plateau", [3, 1000, 10**6])
def test_values_that_equal_the_target_on_a_stretch_do_not_stop_the_search(plateau):
    """A step at the very target: false position has no slope to follow there."""

    def upper(x):
        return 0.5 if x < 10**6 else 1e-6 if x < 10**6 + plateau else 1e-9

    assert find_least_meeting(upper, 1e-6, 0, 10**7, start=10) == 10**6


def test_nothing_is_found_where_nothing_meets_the_target():
    assert find_least_meeting(lambda _: 1.0, 1e-6, 0, 10**6, start=10) is None


def test_the_lowest_is_found_where_everything_meets_the_target():
    assert find_least_meeting(lambda _: 0.0, 1e-6, 3, 10**6, start=1000) == 3


@pytest.mark.parametrize("inside", [2.0, 1e-12, math.nan, -1.0])
def test_a_value_between_that_is_not_between_stops_the_work(inside):
    def upper(x):
        return 1.0 if x <= 10 else 1e-9 if x >= 40 else inside

    with pytest.raises(AccountingError, match="calibration"):
        find_least_meeting(upper, 1e-6, 0, 1000, start=10)


def test_a_rise_seen_while_looking_upwards_stops_the_work():
    with pytest.raises(AccountingError):
        find_least_meeting(lambda x: x / 1e4, 1e-3, 0, 1000, start=50)


def test_a_rise_seen_while_looking_downwards_stops_the_work():
    with pytest.raises(AccountingError):
        find_least_meeting(lambda x: x / 1e4, 1e-1, 0, 1000, start=50)


def test_a_value_that_is_no_number_stops_the_work_from_the_first():
    with pytest.raises(AccountingError):
        find_least_meeting(lambda _: math.nan, 1e-3, 0, 1000, start=50)


@pytest.mark.parametrize("start", [1e-9, 0.002, 0.0101, 0.3, 0.49])
@pytest.mark.parametrize("end", [0.01, 0.2, 0.44])
def test_flips_that_hide_as_a_gaussian_does_are_found_with_few_looks(start, end):
    """By halving the logarithm it took 15 of them from a fair start, each a composition."""
    seen = []

    def upper(threshold):
        seen.append(threshold)
        return math.exp(-13.8 * (FLIPS.along(threshold) / FLIPS.along(end * SCALE)) ** 2)

    target = math.exp(-13.8)
    most = round(0.4999 * SCALE)
    found = find_least_meeting(
        upper, target, 1 << 24, most, start=round(start * SCALE), tolerance=1e-4, axis=FLIPS
    )
    assert end * (1 - 1e-9) <= found / SCALE <= end * (1 + 1.01e-4)
    assert len(seen) <= (9 if 0.002 <= start <= 0.3 else 20)


@given(st.floats(1e-18, 0.4999999))
def test_the_way_along_flips_leads_back(share):
    there = FLIPS.along(share * SCALE)
    assert FLIPS.back(there) == pytest.approx(share * SCALE, rel=1e-9)


@pytest.mark.parametrize("start", [10, 9_000, 10_000, 11_000, 10**8])
def test_a_search_ends_within_its_tolerance_from_any_start(start):
    seen = []

    def upper(x):
        seen.append(x)
        return min(1.0, math.exp(-6.0 * math.log(x / 1000.0)))  # 1e-6 at 10,000

    found = find_least_meeting(upper, 1e-6, 1, 10**9, start=start, tolerance=1e-4)
    assert 10_000 <= found <= 10_002
    assert len(seen) < 60


def test_what_rises_far_below_the_target_is_no_rise():
    """Bounds of what was cut off lie so far apart; a little further up it is a fault."""

    def upper(x, floor):
        return 1.0 if x < 100 else floor if x < 5000 else 1e3 * floor

    assert find_least_meeting(lambda x: upper(x, 1e-23), 1e-6, 1, 10**6, start=10**5) == 100
    with pytest.raises(AccountingError, match="calibration"):
        find_least_meeting(lambda x: upper(x, 1e-12), 1e-6, 1, 10**6, start=10**5)


@pytest.mark.parametrize("low", [0, 1])
def test_what_no_longer_changes_is_left_at_once(low):
    """Downwards over a plain, to an end that meets the target too: four looks, not dozens."""
    looks = []

    def upper(x):
        looks.append(x)
        return 1e-40

    assert find_least_meeting(upper, 1e-6, low, 10**12, start=10**9) == low
    assert len(looks) <= 4


@pytest.mark.parametrize("edge", [1, 40, 10**5, 10**8])
def test_an_edge_behind_a_plain_is_found(edge):
    def upper(x):
        return 1e-40 if x >= edge else 1e-3

    assert find_least_meeting(upper, 1e-6, 0, 10**12, start=10**9) == edge


@pytest.mark.parametrize("near", [1e-2, 1e-1])
@pytest.mark.parametrize("start", [9_000, 9_999, 10_001, 12_000, 10**6])
def test_a_search_ends_where_its_target_is_nearly_spent(near, start):
    seen = []

    def upper(x):
        seen.append(x)
        return min(1.0, math.exp(-6.0 * math.log(x / 1000.0)))  # 1e-6 at 10,000

    rough = SearchTolerance(near=near)
    found = find_least_meeting(upper, 1e-6, 1, 10**9, start=start, tolerance=1e-9, rough=rough)
    assert 1e-6 * (1 - near) <= upper(found) <= 1e-6
    assert len(seen) <= (6 if start < 20_000 else 12)


def test_a_search_that_starts_near_takes_no_second_look():
    seen = []

    def upper(x):
        seen.append(x)
        return 10.0 / x

    assert (
        find_least_meeting(upper, 1e-3, 1, 10**6, start=10_050, rough=SearchTolerance(near=1e-2))
        == 10_050
    )
    assert seen == [10_050]


def test_without_nearness_the_least_is_found_all_the_same():
    assert find_least_meeting(lambda x: 10.0 / x, 1e-3, 1, 10**6, start=10_050) == 10_000


def test_along_a_steeper_axis_what_hides_faster_is_found_with_fewer_looks():
    """A blanket of vectors grows as the tenth power of their flips."""

    def looks(axis):
        seen = []

        def upper(x):
            seen.append(x)
            return math.exp(-13.8 * (x / 1e6) ** 10.0)

        target = math.exp(-13.8)
        rough = SearchTolerance(near=1e-2)
        found = find_least_meeting(upper, target, 1, 10**9, start=900_000, axis=axis, rough=rough)
        assert target * 0.99 <= upper(found) <= target
        return len(seen)

    assert looks(steepen_axis(ROOT, 10.0)) < looks(ROOT)


@given(st.floats(0.3, 64.0), st.floats(1e-6, 0.49))
def test_the_way_along_a_steeper_axis_leads_back(power, share):
    axis = steepen_axis(FLIPS, power)
    assert axis.back(axis.along(share * SCALE)) == pytest.approx(share * SCALE, rel=1e-9)


def test_what_rises_more_than_a_rough_search_allows_stops_it():
    def upper(x):
        return 1.0 if x < 100 else 2e-9 if x < 5000 else 8e-9

    assert (
        find_least_meeting(upper, 1e-6, 1, 10**6, start=10**5, rough=SearchTolerance(floor=1e-2))
        == 100
    )
    with pytest.raises(AccountingError, match="calibration"):
        find_least_meeting(upper, 1e-6, 1, 10**6, start=10**5, rough=SearchTolerance(floor=1e-3))
