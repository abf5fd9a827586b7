"""Guesses start a search near its end, and decide nothing about where it ends."""

import math

import pytest

from accounting import by_name
from mixtally.accounting import calibrate
from mixtally.accounting.numerics import composed_estimates as module
from mixtally.accounting.numerics.search import FLIPS, ROOT
from mixtally.model.mechanism import Parameter
from mixtally.primitives.fixed_point import SCALE

CASES = {
    "clear": ("clear-uniform", {"bins": 50}, Parameter.FAKES, 12),
    "blanks": ("flip-blank", {"fakes": 10**6}, Parameter.FLIP, 12),
    "bits": ("single-bit", {"users": 5000, "fakes": 0}, Parameter.FLIP, 5),
    "vectors": ("flip", {"users": 5000, "bits": 5, "repeats": 3}, Parameter.FLIP, 1),
}


@pytest.mark.seconds
@pytest.mark.parametrize("case", ["clear", "blanks"])
@pytest.mark.parametrize("wrong", [0.2, 5.0, None])
def test_a_wrong_guess_ends_where_a_good_one_does(case, wrong, plant):
    name, given, sought, times = CASES[case]

    def least():
        found = by_name.calibrated(name, 1.0, 1e-6, more={"collections": times}, **given)
        return by_name.value(found, sought)

    honest = least()

    def misled(honest, *plain, **named):
        found = honest(*plain, **named)
        if wrong is None or found is None:
            return None
        return found._replace(x=max(1, round(found.x * wrong)))

    plant(calibrate, "gaussian_start", misled)
    assert least() == pytest.approx(honest, rel=3e-3, abs=1)  # delta is spent to a few hundredths


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_a_guess_is_near(case, plant):
    name, given, sought, times = CASES[case]
    guesses = []
    plant(
        calibrate,
        "gaussian_start",
        lambda honest, *a, **k: guesses.append(honest(*a, **k)) or guesses[0],
    )
    found = by_name.calibrated(name, 1.0, 1e-6, more={"collections": times}, **given)
    assert by_name.value(found, sought) == pytest.approx(guesses[0].x, rel=0.35)


@pytest.mark.parametrize("start", [10, 10**4, 10**11])
def test_gaussians_are_found_exactly(start):
    epsilon, delta, times = 1.0, 1e-6, 7
    found = module.gaussian_start(
        lambda x: math.erf(1e3 / x / math.sqrt(8.0)),
        times,
        epsilon,
        delta,
        1,
        10**12,
        start=start,
        axis=ROOT,
    )
    mu = math.sqrt(times) * 1e3 / found.x
    assert module._gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=0.1)
    assert found.power == pytest.approx(2.0, rel=0.01)  # along the root of x
    assert abs(found.miss) < 2e-3


@pytest.mark.parametrize("distance", [lambda _: 0.0, lambda _: 1.0, lambda x: x / 1e12])
def test_a_distance_that_does_not_fall_gives_no_guess(distance):
    found = module.gaussian_start(distance, 3, 1.0, 1e-6, 1, 10**9, start=10**6, axis=ROOT)
    assert found is None


def test_what_hides_faster_than_flips_grow_is_found_at_once():
    """Vectors: the blanket grows as q to the number of bits, so a start was far from the end."""
    looks = []

    def distance(threshold):
        looks.append(threshold)
        return min(1.0, 1e-3 * (threshold / (0.4 * SCALE)) ** -25)

    found = module.gaussian_start(
        distance, 30, 1.0, 1e-6, 1 << 24, SCALE // 2, start=SCALE // 8, axis=FLIPS
    )
    assert abs(found.miss) < 2e-3
    assert len(looks) <= 12
    assert found.power > 5
