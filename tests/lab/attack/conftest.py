"""Small collections that are sound, and broken devices to attack them with."""

from dataclasses import replace

import numpy as np
import pytest

import least
from mixtally.ground.fixed import threshold_of
from mixtally.lab.attack import Lab
from mixtally.lab.seeded import SeededChance
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.single_bit import SingleBit
from mixtally.randomize import reports

ERROR = 1e-4


@pytest.fixture
def lab():
    """A lab with a seed, a number of runs and, perhaps, a broken device."""

    def make(runs=None, seed=1, error=ERROR, **parts):
        return Lab(SeededChance(seed), error, runs=runs, **parts)

    return make


@pytest.fixture
def sound():
    """One collection of every protocol and kind of question that keeps (1, 0.03) or better."""
    shape = least.shape(1.0, 1e-3)
    return {
        "flip-blank": FlipBlank(bins=12, fakes=2000, threshold=threshold_of(0.02)),
        "flip-blank, rare": FlipBlank(bins=40, fakes=10**5, threshold=threshold_of(4e-4)),
        "flip-blank, crowd": FlipBlank(bins=12, fakes=0, threshold=threshold_of(0.1), crowd=2000),
        "flip-blank, two bins": FlipBlank(bins=2, fakes=2000, threshold=threshold_of(0.02)),
        "flip-blank, sets": FlipBlank(bins=9, fakes=2000, threshold=threshold_of(0.15), max_set=3),
        "flip-uniform": FlipUniform(bins=40, fakes=900, threshold=threshold_of(0.02)),
        "clear-uniform": ClearUniform(bins=20, fakes=900),
        "clear-shaped": ClearShaped.shaped(30, *shape),
        "clear-shaped, two mixes": ClearShaped.shaped(30, *shape, mixes=2),
        "single-bit": SingleBit(bins=1, fakes=500, threshold=threshold_of(0.03), crowd=500),
        "flip": FlipVector(bins=4, fakes=0, threshold=threshold_of(0.25), crowd=2000),
        "flip, repeats": FlipVector(
            bins=3, fakes=0, threshold=threshold_of(0.3), crowd=500, repeats=2
        ),
    }


def last_bit_in_clear(protocol, codes, chance):
    """Accident: the last bit of a report is never randomized."""
    rows = reports(protocol, codes, chance)
    last = protocol.bins - 1
    mask = np.uint8(1 << (last & 7))
    true = protocol.layout.rows(codes)
    rows[:, last >> 3] = (rows[:, last >> 3] & ~mask) | (true[:, last >> 3] & mask)
    return rows


def flipping_with(threshold):
    """Accident: epsilon is mapped to another flip probability."""

    def device(protocol, codes, chance):
        return reports(replace(protocol, threshold=threshold), codes, chance)

    return device


def off_by_one(protocol, codes, chance):
    """Accident: the mapper counts from one, and the last two items become one."""
    return reports(protocol, np.minimum(codes + 1, protocol.bins - 1), chance)
