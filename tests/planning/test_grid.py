"""Over a grid of settings the planner picks what theory says, and caps what broken mixes leave."""

from contextlib import suppress
from itertools import product
from math import floor, isqrt

import pytest

from helpers import least
from helpers.sampled import each
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.planning import choose
from mixtally.planning.choose import SIMILAR_ERROR_RATIO
from planning import requests

GRID = list(
    product(
        (0.2, 1.0, 3.0),  # epsilon
        (1e-5, 1e-9),  # delta
        (5_000, 200_000, 10**7),  # users
        (10, 1000, 50_000),  # bins
        (1.1, 2.0),  # messages a user
        (False, True),  # a mix may draw fakes
    )
)


def request(epsilon, delta, users, bins, budget, mix, **rest):
    return requests.request(
        bins, users, epsilon, delta, messages_per_user=budget, mix_fakes=mix, **rest
    )  # fmt: skip


def expected(epsilon, delta, users, bins, budget, mix):
    """Shaped fakes where a mix may draw them; else uniform ones while they cover all bins; else the
    least error for a bin of the root of all people: of planes of as many fakes as they cover, of
    values that are replaced and of flips, those of fewest bytes if alike.
    """
    if mix:
        return "clear-shaped"
    needed = least.uniform_fakes(bins, epsilon, delta)
    affordable = floor((budget - 1.0) * users + 1e-6)
    if needed <= affordable:
        return "clear-uniform"
    setting = (epsilon, delta, users, bins, budget, mix)
    plans = [choose(request(*setting, protocol="flip-blank")).plan]
    with suppress(InfeasibleError):
        plans.append(choose(request(*setting, protocol="kary-response")).plan)
    if least.uniform_fakes(2, epsilon, delta) + 20 < affordable:
        plans.append(choose(request(*setting, protocol="clear-uniform")).plan)
        assert plans[-1].name == "clear-uniform, over planes"
    count = isqrt(users)
    alike = SIMILAR_ERROR_RATIO * min(plan.error_of(count) for plan in plans)
    found = [plan for plan in plans if plan.error_of(count) <= alike]
    return min(found, key=lambda plan: plan.bytes_per_user).protocol


@pytest.mark.seconds
def test_the_grid_has_more_than_two_hundred_settings():
    """Three protocols are best somewhere; settings are asked in turns until all were seen."""
    assert len(GRID) >= 200
    seen = set()
    for number in range(len(GRID)):
        seen.add(expected(*GRID[number * 89 % len(GRID)]))
        if len(seen) == 3:
            break
    assert seen == {"clear-shaped", "clear-uniform", "kary-response"}


@pytest.mark.parametrize("setting", each(GRID, 5, kept=3))
def test_the_choice_is_what_theory_says(setting):
    answer = choose(request(*setting))
    assert answer.plan.protocol == expected(*setting)
    assert all(
        answer.plan.error_of(answer.count) <= SIMILAR_ERROR_RATIO * one.error_of(answer.count)
        for one in answer.others
        if one.cover is answer.plan.cover
    )
    assert answer.plan.certificate.upper <= setting[1]


@pytest.mark.parametrize("cap", [0.5, 2.0, 8.0])
def test_a_local_epsilon_is_kept_and_costs_error(cap):
    asked = (1.0, 1e-6, 10**6, 100, 2.0, True)
    answer = choose(request(*asked, local_epsilon=cap))
    assert answer.plan.protocol == "flip-blank"
    assert 0.999 * cap <= answer.plan.local_epsilon <= cap
    assert answer.plan.standard_error > choose(request(*asked)).plan.standard_error
    assert "local epsilon" in answer.reason
    assert answer.plan.certificate.upper <= 1e-6


def test_a_cap_above_what_the_flips_have_changes_nothing():
    asked = (1.0, 1e-6, 10**6, 10**5, 2.0, False)
    flips = choose(request(*asked, protocol="flip-blank")).plan
    capped = request(*asked, local_epsilon=50.0, protocol="flip-blank")
    assert choose(capped).plan == flips


def test_records_in_clear_cannot_keep_a_local_epsilon():
    with pytest.raises(InfeasibleError, match="colluding mixes can read them"):
        choose(
            request(1.0, 1e-6, 10**6, 100, 2.0, False, local_epsilon=1.0, protocol="clear-uniform")
        )
    with pytest.raises(ParameterError, match="local epsilon"):
        request(1.0, 1e-6, 10**6, 100, 2.0, False, local_epsilon=0.0)


def test_the_crowd_hides_a_person_without_any_fake():
    asked = (1.0, 1e-6, 10**6, 10**5, 1.0, False)
    counted = choose(request(*asked, count_crowd=True, protocol="flip"))
    assert counted.plan.standard_error == pytest.approx(81.1, abs=0.1)
    assert counted.facts()["crowd_counted"] == 10**6
    half = choose(request(*asked, count_crowd=True, protocol="flip", honest_share=0.5))
    assert half.facts()["crowd_counted"] == 500_000
