"""A crowd's numbers are rounded before they are played, each with a word of its own."""

import numpy as np
import pytest

from helpers import contracts
from mixtally.errors import PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.rounding import round_crowd, round_timeline
from mixtally.lab.simulation.run import check_rounded, simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.grid import Grid
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import Planner, choose
from mixtally.planning.request import PlanRequest

GRID = Grid(low=0.0, high=10.0, points=6)
PLAN = contracts.plan_of(GRID.make_question("x"), [contracts.shaped(6)], grid=GRID)
OTHER = contracts.plan_of(Question(name="x", bins=6), [contracts.shaped(6)])
VALUES = np.full(4000, 3.0)
CROWD = Population(Question(name="x", bins=2), np.zeros(4000, dtype=np.int64), VALUES)


def test_people_go_to_both_points_and_keep_their_numbers():
    """False alarm below 10^-9: half of 4,000 people, seven deviations of 32."""
    found = round_crowd(CROWD, PLAN, SeededChance(1))
    assert found.question == PLAN.question
    assert set(found.codes.tolist()) == {1, 2}
    assert abs(found.truth[1] - 2000) < 230
    assert (found.values == VALUES).all()
    again = round_crowd(found, PLAN, SeededChance(2))
    assert (again.codes != found.codes).any()


def test_every_answer_of_a_series_is_rounded_anew():
    line = Timeline(
        question=CROWD.question,
        epochs=("a", "b"),
        codes=CROWD.codes,
        epoch_of_answer=np.arange(4000) % 2,
        people=np.arange(4000) // 2,
        values=VALUES,
    )
    found = round_timeline(line, PLAN, SeededChance(1))
    first, second = (found.crowd(epoch).codes for epoch in (0, 1))
    assert 800 < np.count_nonzero(first != second) < 1200
    check_rounded(PLAN, found)


def test_only_one_of_a_plan_and_its_data_with_numbers_is_refused():
    labels = Population(OTHER.question, np.zeros(40, dtype=np.int64))
    assert round_crowd(labels, OTHER, SeededChance(1)) is labels
    for crowd, plan in ((labels, PLAN), (CROWD, OTHER)):
        with pytest.raises(PlanError, match="numbers that are rounded"):
            round_crowd(crowd, plan, SeededChance(1))


def test_numbers_that_were_not_rounded_are_not_played():
    coarse = Grid(low=0.0, high=10.0, points=2)
    plan = contracts.plan_of(coarse.make_question("x"), [contracts.shaped(2)], grid=coarse)
    for crowd, asked in (
        (CROWD, plan),
        (CROWD, OTHER),
        (round_crowd(CROWD, PLAN, SeededChance(1)), plan),
    ):
        with pytest.raises(PlanError, match="rounded to the grid of the plan"):
            check_rounded(asked, crowd)


def test_a_play_estimates_the_mean_of_the_numbers_themselves():
    """False alarm below 10^-6 for five standard errors of a normal mean."""
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    wish = PlanRequest(question=GRID.make_question("x"), guarantee=guarantee, users=4000, grid=GRID)
    planner = Planner()
    plan = choose(wish, planner).plan
    lab = Lab(SeededChance(5), planner=planner)
    values = np.linspace(-3.0, 12.0, 4000).clip(0.0, 10.0)
    crowd = round_crowd(Population(wish.question, CROWD.records, values), plan, lab.chance)
    result = simulate_release(plan, crowd, lab).result
    (figures,) = result.figures
    truth = truth_of(crowd, result).figures["numbers"]
    rows = dict(
        zip((row.label for row in figures.rows), zip(figures.rows, truth, strict=True), strict=True)
    )
    mean, true = rows["mean"]
    assert true == pytest.approx(values.mean())
    assert abs(mean.estimate - true) < 5 * mean.standard_error
    assert mean.standard_error < 0.03
    clipped, share = rows["share at 0"]
    assert clipped.lower <= share <= clipped.upper
    assert share > 0.2
