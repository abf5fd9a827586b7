"""The grid of a number: the points that give its mean the least error, for every protocol."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mixtally.errors import InfeasibleError
from mixtally.model.grid import Grid
from mixtally.model.plan import Cover
from mixtally.model.question import Question
from mixtally.planning import Planner, choose, forecast_mean
from mixtally.planning.rounding_grid import mean_error, round_to_grid
from mixtally.protocol.encode.numbers import Points
from planning.requests import request

GOLDEN = json.loads((Path(__file__).parents[1] / "estimate/rounded_golden.json").read_text())[
    "grid"
]


def rounded(planner=None, points=None, low=0.0, high=1.0, **asked):
    own = planner or Planner()
    wish = round_to_grid(request(bins=2, **asked), Points(low, high, points), own)
    return choose(wish, own).plan


def error(plan):
    return forecast_mean(plan).share_of_range


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['epsilon']}-{case['users']}")
def test_the_best_grids_of_uniform_fakes_are_those_of_the_formula(case):
    """Among lambda B fakes, to a part in a hundred; as many points, but where it is flat."""
    asked = {name: case[name] for name in ("epsilon", "delta", "users")}
    plan = rounded(**asked, protocol="clear-uniform")
    assert plan.grid.points == pytest.approx(case["points"], abs=1)
    assert error(plan) == pytest.approx(case["share_of_range"], rel=0.01)


def test_a_mean_of_a_hundred_thousand_numbers():
    """1.2e-4 of the range, whatever its units; half a bin of twenty would be 2.5e-2."""
    plan = rounded(low=-20.0, high=50.0, users=100_000)
    assert error(plan) < 1.2e-4
    assert forecast_mean(plan).standard_error == pytest.approx(70 * error(plan))
    assert forecast_mean(plan).step == pytest.approx(70 / 24)
    assert plan.question.labels[0] == "-20"
    assert len(plan.question.labels) == plan.question.bins == plan.grid.points == 25


@pytest.mark.parametrize(
    "asked",
    [
        {"users": 3000, "protocol": "clear-uniform"},
        {"users": 20_000, "protocol": "flip-blank"},
        {"users": 20_000, "protocol": "flip", "count_crowd": True},
        {"users": 20_000, "mix_fakes": True},
        {"users": 20_000, "hops": 3},
        {"users": 5000, "messages_per_user": Fraction(101, 100)},
    ],
)
def test_no_other_grid_has_a_smaller_error(asked):
    """Within a twentieth of what planning every fourth grid finds."""
    own = Planner()
    best = error(rounded(own, **asked))
    every = [error(rounded(own, points=points, **asked)) for points in range(2, 40, 4)]
    assert best <= 1.05 * min(every)
    assert max(every) > 1.2 * best  # it does matter


def test_where_every_mix_may_draw_they_do():
    plan = rounded(users=50_000, hops=2)
    assert plan.cover is Cover.MIXES
    assert plan.hops == 2


def test_twice_as_many_points_cost_little():
    """18 % at 10^5 people: what a quantile of half the width costs."""
    own = Planner()
    best, finer = (rounded(own, points, users=100_000) for points in (None, 50))
    assert error(finer) / error(best) == pytest.approx(1.18, abs=0.02)


def test_the_error_is_the_noise_of_a_weighted_sum_and_the_worst_rounding():
    """In clear among uniform fakes m w^2 (B^2 - 1) / 12 and n w^2 / 4, by hand."""
    plan = rounded(points=11, users=10_000, protocol="clear-uniform")
    step = Fraction(1, 10)
    noise = plan.fakes * step**2 * (11**2 - 1) / 12
    by_hand = math.sqrt(noise + 10_000 * step**2 / 4) / 10_000
    assert error(plan) == pytest.approx(by_hand, rel=1e-9)
    grid = Grid(low=0.0, high=1.0, points=11)
    assert grid.spread == pytest.approx(np.sum((grid.values - 0.5) ** 2))
    assert mean_error(plan, grid) == error(plan)


def test_half_a_bin_in_place_of_chance_would_be_found():
    """The twin: what a mean of bins' middles is known to, at the same cost."""
    plan = rounded(users=100_000)
    assert 1 / plan.grid.points / 2 > 100 * error(plan)


def test_nothing_that_fits_is_refused_by_name():
    own = Planner()
    asked = request(bins=2, users=4, protocol="flip-blank")
    wish = round_to_grid(asked, Points(0.0, 1.0), own)
    assert wish.grid.points == 2
    with pytest.raises(InfeasibleError, match="flip-blank needs"):
        choose(wish, own)


def test_a_plan_of_other_questions_has_no_mean():
    own = Planner()
    assert (
        forecast_mean(choose(request(question=Question(name="q", bins=3), users=10_000), own).plan)
        is None
    )
