"""The audit of a collection of replaced sets accuses nobody who is honest, and a broken device.

Where nothing is planted a failure has the stated chance of a false alarm, 1e-4 a run; seeds are
fixed.
"""

import sys

import pytest
from msgspec.structs import replace

from attacks.releases import failures
from helpers.contracts import over_planes, replaced
from mixtally.lab.attacks import collection

PLAY = sys.modules["mixtally.lab.simulation.play"]
PARTS = {
    "in clear": replaced(9, most_set=3, share=0.5),
    "over planes": over_planes(40, 11, most_set=3, whole=1, coin=0, share=0.5),
    "one value": replaced(9, share=0.5),
}


def failed_tests(part, lab):
    checks, _ = collection.collection_checks("", part, 1, lab())
    return failures(checks)


@pytest.mark.parametrize("name", PARTS)
def test_honest_devices_are_not_accused(name, lab):
    assert failed_tests(PARTS[name], lab) == []


@pytest.mark.parametrize("name", PARTS)
def test_devices_that_replace_half_as_often_are_found(name, lab, plant):
    def replace_less(honest, part, *more):
        return honest(replace(part, replaced=part.replaced // 2), *more)

    plant(PLAY, "randomize_records", replace_less)
    assert failed_tests(PARTS[name], lab) != []
