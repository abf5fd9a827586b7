"""A promise is called broken when more was proved than it allows, and never before."""

import numpy as np
import pytest

from mixtally.lab.attack.outcome import Lab, Verdict, told_apart
from mixtally.lab.attack.trial import Worlds, prove
from mixtally.lab.seeded import SeededChance

RUNS, ERROR = 4000, 1e-3
APART = Worlds(np.repeat([1.0, 0.0], [3000, 1000]), np.repeat([0.0, 1.0], [3000, 1000]))


def dealt():
    """The same statistics in an order of which every fourth is a fair sample."""
    order = np.argsort(SeededChance(1).words(RUNS))
    return Worlds(APART.u[order], APART.v[order])


def verdict(promised, delta=0.0):
    lab = Lab(SeededChance(1), ERROR)
    return told_apart(
        "a", "b", dealt(), lab, promised=promised, delta=delta, played="", test=""
    ).verdict


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_verdict_is_that_of_the_proof(delta):
    proved = prove(dealt(), delta, ERROR).epsilon
    assert 0.5 < proved < 1.1  # ln 3 at most
    assert verdict(0.9 * proved, delta) is Verdict.BROKEN
    assert verdict(1.1 * proved, delta) is Verdict.HOLDS
    assert verdict(None, delta) is Verdict.SHOWN


def test_what_delta_allows_is_no_proof():
    """Three quarters in one world are all that an epsilon of 0 and a delta of a half explain."""
    assert prove(dealt(), 0.55, ERROR).epsilon == 0.0
    assert prove(dealt(), 0.2, ERROR).epsilon < prove(dealt(), 0.0, ERROR).epsilon - 0.1
