"""Forecast errors are what simulated collections show, and a expected error finds its budget."""

from dataclasses import replace

import numpy as np
import pytest

from mixtally.errors import InfeasibleError, ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose, choose_with_error, forecast
from reference.coverage import draw_counts

WISH = PlanRequest(
    question=Question(name="q", bins=50),
    guarantee=Guarantee(epsilon=1.0, delta=1e-6),
    users=20_000,
    protocol="flip-blank",
)
RUNS = 2000


def drawn_errors(plan, truth):
    """Errors of the estimates of RUNS collections, shape (runs, bins)."""
    (part,) = plan.parts
    made = part.mechanism(fakes=plan.fakes)
    messages = plan.users + plan.fakes
    counts = draw_counts(made, truth, messages, RUNS, SeededChance(5))
    return made.debias_counts(counts, messages) - truth


def shares_within(expected, errors):
    """Shares of (bins within the half width, runs within the largest error)."""
    size = np.abs(errors)
    return (size <= expected.half_width).mean(), (size.max(axis=1) <= expected.largest_error).mean()


def test_forecast_errors_hold_as_often_as_said():
    """False alarm below 1e-6: 100,000 bins at 95 % have deviation 0.07 %, 2,000 runs 0.5 %; the
    normal approximation and whole counts may add 1 %.
    """
    plan = choose(WISH).plan
    truth = np.full(50, 400)
    alone, together = shares_within(forecast(plan), drawn_errors(plan, truth))
    assert 0.94 <= alone <= 0.965
    assert 0.92 <= together <= 0.98


def test_a_forecast_of_two_thirds_of_the_error_is_found():
    plan = choose(WISH).plan
    expected = forecast(plan)
    small = replace(
        expected,
        half_width=expected.half_width * 2 / 3,
        largest_error=expected.largest_error * 2 / 3,
    )
    alone, together = shares_within(small, drawn_errors(plan, np.full(50, 400)))
    assert alone < 0.94
    assert together < 0.92


def test_the_visible_count_clears_the_noise_of_all_bins():
    """False alarm below 1e-6: 2,000 runs at 95 % have deviation 0.5 %."""
    plan = choose(WISH).plan
    expected = forecast(plan)
    truth = np.zeros(50, dtype=np.int64)
    truth[7] = expected.visible_count
    seen = drawn_errors(plan, truth)[:, 7] + truth[7] > expected.largest_error
    assert 0.92 <= seen.mean() <= 0.99


def test_a_wanted_error_is_met_with_the_fewest_messages():
    answer = choose_with_error(WISH, 8.0)
    assert answer.plan.standard_error <= 8.0
    budget = answer.facts()["messages_per_user"]
    less = choose(replace(WISH, messages_per_user=budget - 0.002))
    assert less.plan.standard_error > 8.0


@pytest.mark.parametrize(
    ("error", "protocol"),
    [(6.5, "kary-response"), pytest.param(7.0, "kary-response", marks=pytest.mark.seconds)],
)
def test_a_wanted_error_may_change_the_protocol(error, protocol):
    found = choose_with_error(replace(WISH, protocol=None), error).plan
    assert found.protocol == protocol
    assert found.standard_error <= error


@pytest.mark.parametrize("target", [0.0, -1.0, float("nan")])
def test_an_impossible_target_is_refused(target):
    with pytest.raises(ParameterError, match="target error"):
        choose_with_error(WISH, target)


def test_a_target_out_of_reach_names_the_error_in_reach():
    with pytest.raises(InfeasibleError, match=r"got 6\.\d+ at 1000 messages"):
        choose_with_error(WISH, 2.0)


def test_a_level_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="level"):
        forecast(choose(WISH).plan, 1.0)
