"""Integrals that leave more to bounds: where it is enough, and how it is seen where it is not."""

import numpy as np
import pytest

from helpers.sampled import among
from mixtally.accounting.divergence import vectors
from mixtally.accounting.numerics import saddle_point
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.saddle_line import ENOUGH, EXACT, IntegralAccuracy, Saddle
from mixtally.accounting.numerics.saddle_point import NEAR, ROUGH
from mixtally.primitives.fixed_point import threshold_of

TELLS_MUCH = [(756, 64, 0.4506), (7482, 52, 0.4327), (90_953, 45, 0.4079), (262, 12, 0.113)]


def near_vectors(case):
    """Whether points of whole vectors are above the exact ones, and by how little."""
    users, bits, q = case
    for epsilon in (0.0, 0.5, 2.0, 5.0, 8.0, 10.0, 11.0):
        given = (users, bits, threshold_of(q), epsilon)
        exact = vectors.blanket_upper(*given)
        for smoothed in (NEAR, ROUGH):
            near = vectors.blanket_upper(*given, smoothed)
            if not exact * 0.998 <= near <= exact * (1.0 + 2.0 * smoothed) + 1e-30:
                return False
    return True


@pytest.mark.parametrize("case", among(TELLS_MUCH, TELLS_MUCH[:2]), ids=str)
def test_points_are_near_however_little_is_left(case):
    """Far from delta(0) aliases and what is cut off were many times what they were added to."""
    assert near_vectors(case)


def test_a_curve_takes_half_the_frequencies(monkeypatch, watch):
    taken = watch(Saddle, "integral")

    def frequencies():
        return sum(saddle.frequencies(spread) for saddle, spread in taken)

    given = (90_953, 45, threshold_of(0.4079), 1.0, NEAR)
    near = vectors.blanket_upper(*given)
    usual = frequencies()
    taken.clear()
    monkeypatch.setattr(saddle_point, "ENOUGH", EXACT)
    assert near == pytest.approx(vectors.blanket_upper(*given), rel=1e-5)
    assert usual < 0.5 * frequencies()


@pytest.mark.parametrize("smoothing", [0.5, 0.1, 0.02])
def test_what_a_gaussian_added_is_bounded_wherever_it_is_cut_off(smoothing):
    """The lower end takes off what was added: it must not count the frequencies beyond the last
    as nothing.
    """
    values, chances = np.array([-1.0, 0.5, 3.0]), np.array([0.5, 0.45, 0.05])
    exact = Saddle(values, chances, Draws(40))
    (true, _, _) = exact.sum_by_counts(1 << 24)
    values_alone = []
    for care in (EXACT, ENOUGH, IntegralAccuracy(0.5, 9.0), IntegralAccuracy(0.01, 16.0)):
        saddle = Saddle(values, chances, Draws(40), care=care)
        value, added, cut = saddle.integral(saddle.spread(smoothing))
        assert value - added - cut - saddle.alias_bound(value) <= true <= value + cut
        values_alone.append(value)
    assert min(values_alone) < 0.9 * true or max(values_alone) > 1.1 * true


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("users", "bits", "q"), [(3_939_000_000, 57, 0.354), (756, 64, 0.4506), (96, 64, 0.45)]
)
def test_a_curve_falls_where_no_work_brings_its_points_near(users, bits, q):
    """`delta --protocol flip --bits 57 --repeats 32`: a point four hundred times the one before."""
    epsilons = np.arange(0.0, 14.0, 0.2)
    given = users, bits, threshold_of(q)
    found = np.array([vectors.blanket_upper(*given, float(one), NEAR) for one in epsilons])
    most = np.where(found[:-1] > 0.5, 1.0, found[:-1] * 1.003 + 1e-12 * found[0])
    assert np.all(found[1:] <= most)
    assert found[-1] < 1e-2
