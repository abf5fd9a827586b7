"""Mistakes by name, through every public name: each is refused, none passes in silence."""

import re

import pytest

from api.wrong import WRONG, codes, people, planned, play
from helpers.small_plan import FRUIT, PEOPLE, by_mixes, by_people, fruit_plan, mixed
from mixtally.api import Budget, conclude, delta, mix
from mixtally.errors import InputError


def test_there_are_many():
    assert len(WRONG) >= 120


@pytest.mark.parametrize("name", WRONG)
def test_it_is_refused_and_says_what_to_do(name, tmp_path):
    with pytest.raises(InputError) as refused:
        WRONG[name](tmp_path)
    (line,) = str(refused.value).splitlines()
    assert re.match(r".+?: expected .+, got .+\. .+", line), line
    assert "--" not in re.sub("`.*?`", "", line), line


def test_what_is_right_is_not_refused(tmp_path):
    """The twin: the same calls without their mistakes."""
    assert play().people == 400
    assert planned(list(FRUIT) * 133 + ["pear"]).people == PEOPLE
    assert codes([0, 1, 2, 2] * 100).record.question.bins == 3
    assert codes([0.0, 1.0, 2.0, 2.0] * 100).record.question.bins == 3
    assert play({"a": [True, False] * 200, "b": [True] * 400}).record.question.kind == "bits"
    assert conclude(fruit_plan(), mixed()).people == PEOPLE
    assert conclude(by_people(), mix(people(40), by_people())).people == 40
    assert conclude(by_mixes(), mix(people(41, by_mixes()), by_mixes())).people == 41
    budget = Budget(tmp_path / "budget.json", epsilon=2, delta=1e-5)
    budget.charge(fruit_plan())
    assert len(Budget(tmp_path / "budget.json").charges) == 1
    assert delta("clear-uniform", epsilon=1, bins=9, fakes=99).upper < 1
