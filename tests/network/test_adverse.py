"""Every adverse case ends as its table says; a refusal leaves no trace in what roles remember."""

from collections import Counter

import pytest

from helpers.sampled import each
from network.stage import people, stage_of
from network.table import came_of, cases

SHARED, ALONE = cases("SHARED"), cases("ALONE")


@pytest.fixture(scope="module")
def shared(shared_place):
    stage = stage_of(shared_place)
    people(stage)
    for number in (2, 3):
        stage.text_of_sheet(number)  # keys that cases ask for are there
    yield stage
    stage.end()


@pytest.mark.adverse
@pytest.mark.parametrize("name", SHARED)
def test_a_case_leaves_no_trace(name, shared):
    (act, wanted), before, now = SHARED[name], shared.memory(), shared.now
    assert came_of(act, shared) == wanted
    shared.now = now
    assert shared.memory() == before


@pytest.mark.adverse
@pytest.mark.parametrize("name", each(ALONE, 6))
def test_a_case_on_a_stage_of_its_own(name, place):
    act, wanted, *made = ALONE[name]
    stage = stage_of(place, **(made[0] if made else {}))
    assert came_of(act, stage) == wanted
    stage.end()


def test_there_are_enough_of_every_group_and_all_are_different():
    every = {**SHARED, **ALONE}
    assert len(every) == len(SHARED) + len(ALONE) >= 180
    assert min(Counter(name.partition(":")[0] for name in every).values()) >= 15
    acts = [act for act, *_ in every.values()]
    assert len(set(acts)) == len(acts)
