"""Side notes 002 section 3: the textbook's bounds, their exact probabilities, and OpenDP."""

import math
import sys

import pytest

from literature import central
from mixtally.lab.simulation.central import MISSING

HOLDS = "reproduces"


def only(findings, what):
    (one,) = [f for f in findings if what in f.what]
    return one


@pytest.fixture(scope="module")
def found():
    return central.findings()


def test_bounds_by_hand():
    assert central.laplace_within(1.0, 10, 0.05) == pytest.approx(2 * math.log(200))
    assert central.laplace_within(0.5, 1, 0.05, moved=1.0) == pytest.approx(2 * math.log(20))
    assert central.exponential_within(2.0, 8, math.exp(-3)) == pytest.approx(math.log(8) + 3)


@pytest.mark.parametrize(
    ("what", "low", "high", "word"),
    [
        ("Laplace noise passes", 0.0488, 0.0490, HOLDS),
        ("at a whole bound", 1.244, 1.246, "computed"),
        ("passes the bound itself", 0.755, 0.756, HOLDS),
        ("exponential mechanism passes", 0.0354, 0.0356, HOLDS),
        ("wrong for noise added locally", 0.994, 0.996, HOLDS),
        ("over that of noise added once", 316.0, 316.4, "computed"),
        ("epsilon of 10", 0.0045, 0.0046, HOLDS),
    ],
)
def test_known_numbers(found, what, low, high, word):
    one = only(found, what)
    assert low < one.bounds[0] < high
    assert one.word == word


def test_opendp_stands_beside_the_formulas(found):
    """False alarm: below 1e-15 each; 6,000 draws at a chance of 0.05 and of 0.02."""
    assert only(found, "OpenDP's own accuracy").computed == 10.0
    share = only(found, "passes the Laplace bound, measured")
    assert "OpenDP 0." in share.note
    assert 0.02 < share.bounds[0] < 0.075
    assert 0.003 < only(found, "noisy selection").bounds[0] < 0.036


def test_without_opendp_the_formulas_stay_and_it_is_said(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    alone = central.findings()
    assert [f for f in alone if f.holds is not None] == [f for f in found if f.holds is not None]
    assert sum(f.note == MISSING for f in alone) == 2
    assert not [f for f in alone if "measured" in f.what]
    assert MISSING in central.chart().caption
    assert len(central.chart().curves) == 2


def test_opendp_s_accuracies_lie_near_the_bound():
    theorem, _, laplace, gaussian = central.chart().curves
    for (epsilon, counts), (_, more) in zip(laplace.points, gaussian.points, strict=True):
        assert counts <= central.laplace_within(epsilon, central.BINS, central.MISS) + 1 <= more + 1
    assert theorem.points[0][0] == laplace.points[0][0]
