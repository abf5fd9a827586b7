"""Small collections that are sound, and broken devices to attack them with."""

import numpy as np
import pytest
from msgspec.structs import replace

import least
from mixtally.attacks import Lab
from mixtally.ground.fixed import threshold_of
from mixtally.planner import PlanRequest, choose
from mixtally.privacy.accountant import Accountant, Record
from mixtally.randomize import reports
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism.named import (
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    flip_uniform,
    single_bit,
)
from mixtally.records.question import Question
from mixtally.simulate.seeded import SeededChance
from mixtally.simulate.simulate import play

ERROR = 1e-4


def upper(mechanism, epsilon):
    """The proved delta of one record."""
    return Accountant().upper(Record.of(mechanism), epsilon)


@pytest.fixture(scope="session")
def accountant():
    """What all labs have proved: many runs ask alike."""
    return Accountant()


@pytest.fixture
def lab(accountant):
    """A lab with a seed, a number of runs and, perhaps, a broken device."""

    def make(runs=None, seed=1, error=ERROR, **parts):
        given = {"play": play, "accountant": accountant, **parts}
        return Lab(SeededChance(seed), error, runs=runs, **given)

    return make


@pytest.fixture
def sound():
    """One collection of every protocol and kind of question that keeps (1, 0.03) or better."""
    shape = least.shape(1.0, 1e-3)
    return {
        "flip-blank": flip_blank(bins=12, fakes=2000, threshold=threshold_of(0.02)),
        "flip-blank, rare": flip_blank(bins=40, fakes=10**5, threshold=threshold_of(4e-4)),
        "flip-blank, crowd": flip_blank(bins=12, fakes=0, threshold=threshold_of(0.1), crowd=2000),
        "flip-blank, two bins": flip_blank(bins=2, fakes=2000, threshold=threshold_of(0.02)),
        "flip-blank, sets": flip_blank(bins=9, fakes=2000, threshold=threshold_of(0.15), max_set=3),
        "flip-uniform": flip_uniform(bins=40, fakes=900, threshold=threshold_of(0.02)),
        "clear-uniform": clear_uniform(bins=20, fakes=900),
        "clear-shaped": clear_shaped(bins=30, **shape),
        "clear-shaped, two mixes": clear_shaped(bins=30, **shape, mixes=2),
        "single-bit": single_bit(fakes=500, threshold=threshold_of(0.03), crowd=500),
        "flip": flip_bits(bins=4, threshold=threshold_of(0.25), crowd=2000),
        "flip, repeats": flip_bits(bins=3, threshold=threshold_of(0.3), crowd=500, repeats=2),
    }


@pytest.fixture
def plan():
    """A plan for a thousand people in five bins."""
    question, guarantee = Question(name="color", bins=5), Guarantee(epsilon=1.0, delta=1e-6)
    return choose(PlanRequest(question=question, guarantee=guarantee, users=1000)).best.plan


def last_bit_in_clear(mechanism, codes, chance):
    """Accident: the last bit of a report is never randomized."""
    rows = reports(mechanism, codes, chance)
    last = mechanism.bins - 1
    mask = np.uint8(1 << (last & 7))
    true = mechanism.layout.rows(codes)
    rows[:, last >> 3] = (rows[:, last >> 3] & ~mask) | (true[:, last >> 3] & mask)
    return rows


def flipping_with(threshold):
    """Accident: epsilon is mapped to another flip probability."""

    def device(mechanism, codes, chance):
        return reports(replace(mechanism, threshold=threshold), codes, chance)

    return device


def off_by_one(mechanism, codes, chance):
    """Accident: the mapper counts from one, and the last two items become one."""
    return reports(mechanism, np.minimum(codes + 1, mechanism.bins - 1), chance)
