"""Small crowds, and parts and plans to play them with."""

import numpy as np
import pytest

from helpers.contracts import flipped, shaped, uniform
from mixtally.lab.data.population import Population
from mixtally.model.contract import FakeRecord, OwnFakes, Plan
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.model.shape import ratio_of
from mixtally.planning import PlanRequest, choose
from mixtally.primitives.fixed_point import SCALE
from simulation.studies import make_study

BINS, USERS = 2000, 3000


@pytest.fixture
def codes():
    """Three thousand people in the first hundred of two thousand bins."""
    return np.arange(USERS) % 100


@pytest.fixture
def parts():
    """A part of each kind for that crowd."""
    blank = OwnFakes(FakeRecord.BLANK, 0, int(0.8 * SCALE))
    return {
        "flip-blank": flipped(BINS, q=0.02, own=blank),
        "clear-uniform": uniform(BINS, whole=26, coin=int(0.7 * SCALE)),
        "clear-shaped": shaped(BINS, ratio=ratio_of(0.5), shift=27),
    }


@pytest.fixture
def crowd():
    """A thousand people in five bins."""
    return Population(Question(name="color", bins=5), np.repeat(np.arange(5), 200))


@pytest.fixture
def plan(crowd) -> Plan:
    """The plan of that crowd."""
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    return choose(PlanRequest(question=crowd.question, guarantee=guarantee, users=1000)).plan


@pytest.fixture(scope="session")
def study():
    """The maker of studies."""
    return make_study
