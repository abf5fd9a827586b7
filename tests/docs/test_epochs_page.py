"""The page on epochs says what the code does: its numbers are computed again."""

from pathlib import Path

import pytest

from mixtally.planner import Wish, choose
from mixtally.privacy import compose
from mixtally.privacy.memory import memory_loss
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Question

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "epochs.md").read_text()


def best(collections):
    wish = Wish(
        question=Question(name="dest", bins=105),
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=24_951,
        collections=collections,
    )
    return choose(wish).best


def row(name):
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    return [float(cell) for cell in line.split("|")[2:-1] if cell.strip()]


def test_the_table_of_epochs_is_what_the_planner_says():
    errors = row("standard error of a count")
    for times, stated in zip(row("epochs"), errors, strict=True):
        assert best(int(times)).standard_error == pytest.approx(stated, rel=6e-3)


def test_the_whole_budget_each_time_composes_to_what_is_said():
    plan, stated = best(1).plan, row("epsilon, were the whole budget spent in each")
    for times, epsilon in zip(row("epochs"), stated, strict=False):
        found = compose.epsilon_of([(plan, int(times))], 1e-6).epsilon
        assert found == pytest.approx(epsilon, rel=5e-3)


def test_the_price_of_remembering_is_that_of_the_memory():
    once, twelve = (
        memory_loss(permanent=0.7550813376, p=0.25, q=0.75, hashes=1, reports=k) for k in (1, 12)
    )
    assert once.eps_1 == pytest.approx(0.492, abs=5e-4)
    assert twelve.eps_T == pytest.approx(0.999996, abs=1e-6)
    assert once.eps_inf == pytest.approx(1.0, abs=1e-9)
