"""Audits of sets over planes pass what is sound, and find messages that tell more or other things.

Where nothing is planted a failure has the stated chance of a false alarm, 1e-4 a run.
"""

import sys

import pytest

from attacks.releases import failures
from helpers.contracts import over_planes, plan_of, proved
from mixtally.device.client import draw
from mixtally.device.contract.planes import Planes
from mixtally.lab.attacks import Verdict, collection, run_attacks
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.single_records import single_record_checks
from mixtally.lab.attacks.target import target_of_plan
from mixtally.model.question import Kind, Question
from mixtally.protocol.randomize import randomize_records, sets

BINS, MOST = 40, 3
PART = over_planes(BINS, 11, most_set=MOST, whole=1, coin=0)
LARGE = over_planes(10**6, 1009, most_set=MOST, whole=3, coin=0)
PLAY = sys.modules["mixtally.lab.simulation.play"]
PLAN = plan_of(
    Question(name="q", bins=BINS, kind=Kind.SET, max_set=MOST),
    [PART],
    epsilon=5.0,
    delta=1e-2,
    hops=1,
)


@pytest.fixture(scope="module")
def target():
    return target_of_plan(proved(PLAN))


def audited(target, lab, **given):
    (found,) = run_attacks(target, lab(**given), "randomizer")
    return found


def test_sets_whose_members_meet_are_found(target, lab, plant):
    plant(sets, "_find_collisions", lambda honest, *given: honest(*given) & False)
    found = audited(target, lab)
    assert found.verdict is Verdict.VIOLATED
    assert {flag["test"] for flag in found.numbers["flags"]} == {
        "message that holds more or others than its member"
    }


MEETING = Planes, "has_collision", lambda honest, *given: honest(*given) and False
REVERSED = draw, "_draw_set", lambda honest, *given: honest(*given)[::-1]


@pytest.mark.seconds
@pytest.mark.parametrize(("part", "fault"), [(PART, MEETING), (LARGE, MEETING), (LARGE, REVERSED)])
def test_one_person_s_code_is_audited_alike(part, fault, lab, plant):
    """Where a direction has many planes, members hardly ever meet: a probe with few shows it."""
    assert failures(single_record_checks("", part, lab())[0]) == []
    plant(*fault)
    assert failures(single_record_checks("", part, lab())[0]) != []


def pads_alike(part, records, chance):
    """What a set lacks is named by one message, again and again."""
    codes = part.layout.codes(randomize_records(part, records, chance)).reshape(-1, MOST)
    codes[:, 2] = codes[:, 1]
    return part.layout.rows(codes.ravel())


def test_messages_of_other_points_are_found(target, lab, plant):
    """The twins name what sets lack once for all, or a bin by the point of its own number."""
    assert audited(target, lab).verdict is Verdict.CONSISTENT
    assert audited(target, lab, device=Device(reports=pads_alike)).verdict is Verdict.VIOLATED
    plant(sets, "_set_points", lambda honest, *given: 0 * honest(*given) + given[1])
    assert audited(target, lab).verdict is Verdict.VIOLATED


def next_planes(honest, part, *given):
    """Every report names the plane beside that of its point."""
    codes = part.layout.codes(honest(part, *given))
    return part.layout.rows((codes + 1) % part.layout.bins)


def counted(lab, part):
    return failures(collection.collection_checks("", part, 2, lab())[0])


@pytest.mark.seconds
@pytest.mark.parametrize("part", [PART, over_planes(10**9, 10007, whole=1, coin=0)])
def test_a_collection_is_counted_at_the_points_of_its_values(part, lab, plant):
    """Also one whose planes are more than fit a table."""
    assert counted(lab, part) == []
    plant(PLAY, "randomize_records", next_planes)
    assert counted(lab, part) != []
