"""Small crowds and mechanisms to play them with."""

import numpy as np
import pytest

from mixtally.data.population import Population
from mixtally.ground.fixed import threshold_of
from mixtally.planner import PlanRequest, choose
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism.fakes import ratio_of
from mixtally.records.mechanism.named import clear_shaped, clear_uniform, flip_blank
from mixtally.records.plan import Plan
from mixtally.records.question import Question
from simulation.studies import make_study

BINS, USERS = 2000, 3000


@pytest.fixture
def codes():
    """Three thousand people in the first hundred of two thousand bins."""
    return np.arange(USERS) % 100


@pytest.fixture
def mechanisms():
    """A mechanism of each kind for that crowd."""
    return {
        "flip-blank": flip_blank(bins=BINS, fakes=2500, threshold=threshold_of(0.02)),
        "clear-uniform": clear_uniform(bins=BINS, fakes=80_000),
        "clear-shaped": clear_shaped(bins=BINS, ratio=ratio_of(0.5), shift=27),
    }


@pytest.fixture
def crowd():
    """A thousand people in five bins."""
    return Population(Question(name="color", bins=5), np.repeat(np.arange(5), 200))


@pytest.fixture
def plan(crowd) -> Plan:
    """The plan of that crowd."""
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    return choose(PlanRequest(question=crowd.question, guarantee=guarantee, users=1000)).best.plan


@pytest.fixture(scope="session")
def study():
    """The maker of studies."""
    return make_study
