"""Guesses start a search near its end, and decide nothing about where it ends."""

import math

import pytest

from mixtally.privacy import laws
from mixtally.privacy.laws import Ask
from mixtally.privacy.numerics import gaussian_start as guess
from mixtally.privacy.numerics.search import least_meeting

CASES = {
    "clear": ("clear-uniform", Ask(bins=50), "fakes", 12),
    "blanks": ("flip-blank", Ask(fakes=10**6), "threshold", 12),
    "bits": ("single-bit", Ask(users=5000, fakes=0), "threshold", 5),
    "vectors": ("flip", Ask(users=5000, bits=5, repeats=3), "threshold", 1),
}


@pytest.mark.parametrize("case", ["clear", "blanks"])
@pytest.mark.parametrize("wrong", [(0.2, 1.0), (5.0, 1.0), (1.0, 0.2), (1.0, 5.0), None])
def test_a_wrong_guess_ends_where_a_good_one_does(case, wrong, monkeypatch):
    name, ask, field, times = CASES[case]

    def least():
        laws._least.cache_clear()
        found = laws.calibrate(name, ask, 1.0, 1e-6, collections=times)
        return getattr(found, field)

    honest, true = least(), laws.gaussian

    def misled(*given, **named):
        found = true(*given, **named)
        if wrong is None or found is None:
            return None
        return guess.Guess(max(1, round(found.start * wrong[0])), found.slope * wrong[1])

    monkeypatch.setattr(laws, "gaussian", misled)
    assert least() == pytest.approx(honest, rel=5e-4, abs=1)
    laws._least.cache_clear()


@pytest.mark.parametrize("case", CASES)
def test_a_guess_is_near(case, monkeypatch):
    name, ask, field, times = CASES[case]
    guesses, true = [], laws.gaussian
    monkeypatch.setattr(
        laws, "gaussian", lambda *a, **k: guesses.append(true(*a, **k)) or guesses[0]
    )
    laws._least.cache_clear()
    found = getattr(laws.calibrate(name, ask, 1.0, 1e-6, collections=times), field)
    laws._least.cache_clear()
    assert found == pytest.approx(guesses[0].start, rel=0.35)


def test_gaussians_are_found_exactly():
    epsilon, delta, times = 1.0, 1e-6, 7
    found = guess.gaussian(
        lambda x: math.erf(1e3 / x / math.sqrt(8.0)), times, epsilon, delta, 1, 10**12, start=10**4
    )
    mu = math.sqrt(times) * 1e3 / found.start
    assert guess._gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=0.1)


@pytest.mark.parametrize("distance", [lambda _: 0.0, lambda _: 1.0, lambda x: x / 1e12])
def test_a_distance_that_does_not_fall_gives_no_guess(distance):
    assert guess.gaussian(distance, 3, 1.0, 1e-6, 1, 10**9, start=10**6) is None


@pytest.mark.parametrize("start", [10, 9_000, 10_000, 11_000, 10**8])
@pytest.mark.parametrize("slope", [0.1, 12.0, 100.0])
def test_a_search_with_a_slope_ends_within_its_tolerance(start, slope):
    seen = []

    def upper(x):
        seen.append(x)
        return min(1.0, math.exp(-6.0 * math.log(x / 1000.0)))  # 1e-6 at 10,000

    found = least_meeting(upper, 1e-6, 1, 10**9, start=start, tolerance=1e-4, slope=slope)
    assert 10_000 <= found <= 10_002
    assert len(seen) < 60
