"""The page on epochs says what the code does: its numbers are computed again."""

from pathlib import Path

import numpy as np
import pytest

from examples.ask_again import ways_to_ask
from mixtally.accounting.budget import compose
from mixtally.lab.data.flights import flights_by_month
from mixtally.lab.data.population import Population
from mixtally.lab.data.turnover import simulate_turnover
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to/repeat.md").read_text()


def best(collections):
    wish = PlanRequest(
        question=Question(name="dest", bins=105),
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=24_951,
        collections=collections,
    )
    return choose(wish).plan


def row(name):
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    return [float(cell) for cell in line.split("|")[2:-1] if cell.strip()]


@pytest.mark.seconds
def test_the_table_of_epochs_is_what_the_planner_says():
    errors = row("standard error of a count")
    for times, stated in zip(row("epochs"), errors, strict=True):
        assert best(int(times)).standard_error == pytest.approx(stated, rel=6e-3)


@pytest.mark.seconds
def test_the_whole_budget_each_time_composes_to_what_is_said():
    plan, stated = best(1), row("epsilon if each spends the whole budget")
    for times, epsilon in zip(row("epochs"), stated, strict=False):
        found = compose.epsilon_of([(plan, int(times))], 1e-6).epsilon
        assert found == pytest.approx(epsilon, rel=5e-3)


WAYS = ("fresh noise, one budget for all", "fresh noise, the whole budget each time",
        "one collection, shown ever after")  # fmt: skip


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("column", "rates"), [(0, None), (1, (0.02, 0.02, 0.01)), (2, (0.1, 0.1, 0.2))]
)
def test_the_table_of_ways_is_what_is_played(column, rates):
    """The seed is the page's, so nothing varies."""
    timeline = flights_by_month()
    if rates is not None:
        january = Population(timeline.question, timeline.codes[timeline.epoch_of_answer == 0])
        join, leave, change = rates
        timeline = simulate_turnover(
            january, 12, join=join, leave=leave, change=change, chance=SeededChance(1)
        )
    played = ways_to_ask(timeline, Guarantee(epsilon=1.0, delta=1e-6), Lab(SeededChance(1)))
    for name, way in zip(WAYS, played, strict=True):
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
        spent, *pairs = line.split("|")[2:-1]
        errors = (float(np.sqrt(np.mean(way.errors**2))), way.change_error)
        assert way.epsilon == pytest.approx(float(spent), rel=5e-3)
        assert [float(cell) for cell in pairs[column].split(",")] == pytest.approx(errors, abs=0.06)
