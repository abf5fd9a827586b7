"""Chords of a privacy curve against 60 digits, next to points of far smaller deltas."""

import mpmath as mp
import pytest

from mixtally.accounting.curves import PrivacyCurve

POINTS = [
    ((1.0, 2.0), (1e-3, 1e-30)),
    ((0.0, 1e-9, 3.0), (0.5, 1e-20, 0.0)),
    ((5.0, 5.0 + 2.0**-30), (1e-2, 1e-17)),
    ((20.0,), (1e-25,)),
]


def chord(points, epsilon):
    """The chord in e^epsilon; a curve is 1 where e^epsilon is 0."""
    ends = [(mp.mpf(0), mp.mpf(1)), *((mp.exp(mp.mpf(x)), mp.mpf(y)) for x, y in points)]
    place = mp.exp(mp.mpf(epsilon))
    at = next(i for i, (end, _) in enumerate(ends) if end >= place)
    (left, before), (right, after) = ends[at - 1], ends[at]
    return ((right - place) * before + (place - left) * after) / (right - left)


@pytest.mark.parametrize("share", [0.5, 1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(("epsilons", "deltas"), POINTS)
def test_a_chord_keeps_its_digits_next_to_its_ends(epsilons, deltas, share):
    curve = PrivacyCurve(epsilons, deltas)
    with mp.workdps(60):
        for left, right in zip((0.0, *epsilons), epsilons, strict=False):
            for epsilon in (right - (right - left) * share, left + (right - left) * share):
                if left < epsilon < right:
                    true = chord(list(zip(epsilons, deltas, strict=True)), epsilon)
                    assert true <= curve.delta(epsilon) <= true * (1 + mp.mpf("3e-12"))


def test_a_curve_is_shown_by_its_ends():
    """A curve that the interpreter prints in full would fill the screen."""
    curve = PrivacyCurve((0.0, 1.0, 2.0), (0.25, 1e-3, 1e-6))
    first, last = "delta <= 0.25 at epsilon 0.0", "delta <= 1e-06 at epsilon 2.0"
    assert repr(curve) == f"PrivacyCurve of 3 points: {first}, to {last}"
