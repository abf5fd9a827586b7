"""Guesses start a search near its end, and decide nothing about where it ends."""

import math

import pytest

from mixtally.privacy import calibrate
from mixtally.privacy.numerics import gaussian_start as module
from mixtally.records.mechanism import Parameter
from privacy import by_name

CASES = {
    "clear": ("clear-uniform", {"bins": 50}, Parameter.FAKES, 12),
    "blanks": ("flip-blank", {"fakes": 10**6}, Parameter.FLIP, 12),
    "bits": ("single-bit", {"users": 5000, "fakes": 0}, Parameter.FLIP, 5),
    "vectors": ("flip", {"users": 5000, "bits": 5, "repeats": 3}, Parameter.FLIP, 1),
}


@pytest.mark.seconds
@pytest.mark.parametrize("case", ["clear", "blanks"])
@pytest.mark.parametrize("wrong", [0.2, 5.0, None])
def test_a_wrong_guess_ends_where_a_good_one_does(case, wrong, monkeypatch):
    name, given, sought, times = CASES[case]

    def least():
        found = by_name.calibrated(name, 1.0, 1e-6, more={"collections": times}, **given)
        return by_name.value(found, sought)

    honest, true = least(), calibrate.gaussian_start

    def misled(*plain, **named):
        found = true(*plain, **named)
        if wrong is None or found is None:
            return None
        return max(1, round(found * wrong))

    monkeypatch.setattr(calibrate, "gaussian_start", misled)
    assert least() == pytest.approx(honest, rel=5e-4, abs=1)


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_a_guess_is_near(case, monkeypatch):
    name, given, sought, times = CASES[case]
    guesses, true = [], calibrate.gaussian_start
    monkeypatch.setattr(
        calibrate, "gaussian_start", lambda *a, **k: guesses.append(true(*a, **k)) or guesses[0]
    )
    found = by_name.calibrated(name, 1.0, 1e-6, more={"collections": times}, **given)
    assert by_name.value(found, sought) == pytest.approx(guesses[0], rel=0.35)


def test_gaussians_are_found_exactly():
    epsilon, delta, times = 1.0, 1e-6, 7
    found = module.gaussian_start(
        lambda x: math.erf(1e3 / x / math.sqrt(8.0)), times, epsilon, delta, 1, 10**12, start=10**4
    )
    mu = math.sqrt(times) * 1e3 / found
    assert module._gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=0.1)


@pytest.mark.parametrize("distance", [lambda _: 0.0, lambda _: 1.0, lambda x: x / 1e12])
def test_a_distance_that_does_not_fall_gives_no_guess(distance):
    assert module.gaussian_start(distance, 3, 1.0, 1e-6, 1, 10**9, start=10**6) is None
