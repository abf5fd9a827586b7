"""delta of memoized answers: every outcome of a few reports in fractions, and the least noise.

Two values differ in h bits set and h cleared. Every report of every bit is seen with its sender, so
an outcome is a table of bits; the permanent response is summed over.
"""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from helpers.sampled import among, rows
from mixtally.accounting.divergence import memoized as module
from mixtally.model.mechanism.memoized import LEAST_PERMANENT, Memoized, make_memoized
from mixtally.primitives.fixed_point import SCALE
from oracle import exp_exactly


class Kept(NamedTuple):
    mechanism: Memoized
    reports: int


def kept_of(permanent, p, q, hashes, reports):
    return Kept(make_memoized(2 * hashes, permanent, p, q, hashes=hashes), reports)


RESPONSES = ((0.5, 0.75), (0.25, 0.5), (0.125, 0.875), (0.0, 0.5), (0.5, 1.0), (0.0, 1.0))
CASES = [
    kept_of(f, p, q, hashes, reports)
    for f in (0.25, 0.5, 0.875)
    for p, q in RESPONSES
    for hashes, most in ((1, 4), (2, 2))
    for reports in range(1, most + 1)
]
SHARES = (0.01, 0.3, 0.7, 0.99, 1 - 1e-6)
"""Epsilons as parts of the largest loss."""


def marked(kept):
    one, (p, q) = kept.mechanism, kept.mechanism.report_probabilities
    return pytest.param(kept, id=f"{one.f}-{p}-{q}-{one.hashes}-{kept.reports}")


def chances(kept):
    """(P, Q) of every row of one bit's reports, under a true one and a true zero."""
    one = kept.mechanism
    f, p, q = (Fraction(x, SCALE) for x in (one.permanent, one.p, one.q))
    found = []
    for row in itertools.product((0, 1), repeat=kept.reports):
        shown = [math.prod(c if bit else 1 - c for bit in row) for c in (p, q)]
        found.append(tuple(h * shown[0] + (1 - h) * shown[1] for h in (f / 2, 1 - f / 2)))
    return found


def truth(kept, epsilon):
    """sum of (P - e^epsilon Q)_+ over all tables of 2 h bits."""
    grow, bits = exp_exactly(epsilon), chances(kept)
    joint = {(Fraction(1), Fraction(1)): 1}
    for bit in range(2 * kept.mechanism.hashes):
        wider = {}
        for (a, b), times in joint.items():
            for one, zero in bits:
                pair = (a * zero, b * one) if bit % 2 else (a * one, b * zero)
                wider[pair] = wider.get(pair, 0) + times
        joint = wider
    return sum(max(p - grow * q, 0) * times for (p, q), times in joint.items())


def faults(kept):
    largest = module.loss(*kept).eps_T
    for epsilon in (share * largest for share in SHARES):
        ends, exact = module.delta(*kept, epsilon), truth(kept, epsilon)
        if not ends.lower <= exact <= ends.upper:
            yield kept, epsilon, ends, float(exact)
        elif kept.mechanism.hashes == 1 and ends.upper - ends.lower > 1e-8 * exact + 2e-11:
            yield kept, epsilon, ends, "wide"
    if largest and not truth(kept, largest * (1 + 1e-9)) == 0 == module.delta(*kept, largest)[1]:
        yield kept, "above the largest loss"


@pytest.mark.parametrize("kept", [marked(kept) for kept in CASES])
def test_both_ends_hold_all_reports_of_one_answer(kept):
    assert list(faults(kept)) == []


@pytest.mark.parametrize(("p", "q"), rows([*RESPONSES, (0.125, 0.25), (0.625, 0.875)], 3))
@pytest.mark.parametrize(("hashes", "reports"), rows([(2, 1), (2, 5), (3, 2), (2, 2)], 2))
def test_several_hashes_come_within_a_twentieth_of_the_truth(p, q, hashes, reports):
    """Nor is there a floor that no epsilon below the largest loss comes under."""
    for permanent in (0.5, 0.875):
        kept = kept_of(permanent, p, q, hashes, reports)
        largest = module.loss(*kept).eps_T
        for epsilon in (share * largest for share in (0.05, 0.4, 0.8, 0.957, 0.99)):
            exact, upper = truth(kept, epsilon), module.delta(*kept, epsilon).upper
            assert exact <= upper <= exact * Fraction(21, 20) + Fraction(1, 10**15)


def test_a_smaller_delta_takes_more_noise_of_two_hashes():
    """At epsilon 2, where one permanent response was said to be the least for all three."""
    made = [module.least_permanent(*kept_of(1.0, 0.5, 0.75, 2, 5), 2.0, most)
            for most in (1e-3, 1e-6, 1e-15)]  # fmt: skip
    found = [one.f for one in made]
    assert found[0] == pytest.approx(0.631, abs=5e-4)
    assert found[0] + 0.05 < found[1] < found[2] - 1e-6
    least, less = (
        truth(kept_of(permanent, 0.5, 0.75, 2, 5), 2.0)
        for permanent in (found[0], 0.999 * found[0])
    )
    assert 0.99e-3 < least <= 1e-3 < less


def test_the_enumerated_chances_are_two_distributions():
    rows = chances(CASES[3])
    assert [sum(column) for column in zip(*rows, strict=True)] == [1, 1]


def test_one_report_that_shows_what_is_kept_by_hand():
    kept = kept_of(0.5, 0.0, 1.0, 1, 1)
    by_hand = Fraction(3, 4) ** 2 - exp_exactly(1.0) * Fraction(1, 4) ** 2
    assert truth(kept, 1.0) == by_hand
    assert module.delta(*kept, 1.0).upper == pytest.approx(float(by_hand), rel=1e-8)


@pytest.mark.seconds
@pytest.mark.parametrize("reports", [600, 800, 1200, 10_000, 10**6])
def test_many_reports_tell_as_much_as_what_is_kept(reports):
    """The counts of a kept one and a kept zero lie so far apart that none between has a chance."""
    kept = kept_of(0.5, 0.05, 0.95, 1, reports)
    for epsilon in (0.1, 1.0, 2.0):
        itself = Fraction(3, 4) ** 2 - exp_exactly(epsilon) * Fraction(1, 4) ** 2
        ends = module.delta(*kept, epsilon)
        assert ends.upper >= itself
        assert ends.lower <= itself * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("hashes", [1, 2])
@pytest.mark.parametrize("reports", among([1, 2, 5], [2]))
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.75), (0.0, 0.5), (0.25, 1.0)])
def test_the_least_permanent_response_keeps_the_promise_and_a_smaller_one_does_not(
    p, q, reports, hashes
):
    mechanism = make_memoized(2 * hashes, 1.0, p, q, hashes=hashes)

    def at(share):
        return Kept(replace(mechanism, permanent=2 * round(share * found.permanent / 2)), reports)

    for epsilon, most in ((0.5, 1e-3), (1.0, 0.0)):
        found = module.least_permanent(mechanism, reports, epsilon, most)
        assert LEAST_PERMANENT < found.permanent < SCALE
        if reports * hashes < 10:
            assert truth(Kept(found, reports), epsilon) <= most
        assert module.delta(found, reports, epsilon).upper <= most
        assert module.delta(*at(1 - 1e-6), epsilon).upper > most
        if hashes == 1:
            assert truth(at(1 - 1e-3), epsilon) > most


def test_hardly_any_permanent_noise_is_needed_where_the_reports_are_private_already():
    found = module.least_permanent(make_memoized(2, 1.0, 0.49, 0.51), 1, 1.0, 1e-6)
    assert found.permanent == LEAST_PERMANENT


@pytest.mark.parametrize("epsilon", [11.0, 13.5, 18.0, 20.0])
def test_a_tiny_permanent_response_is_proved_as_it_is_held(epsilon):
    """Below 2^-11 a float is finer than what a mechanism can hold; any less is too little."""
    found = module.least_permanent(make_memoized(2, 1.0, 0.0, 1.0), 1, epsilon, 0.0)
    assert module.eps_inf(found) <= epsilon
    less = replace(found, permanent=found.permanent - 2 * (1 + (found.permanent >> 38)))
    assert module.eps_inf(less) > epsilon


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("reports", [1, 1000])
@pytest.mark.parametrize("permanent", [2.0**-40, 0.5, 1.0])
@pytest.mark.parametrize("hashes", [1, 64])
def test_corners_give_a_number_without_a_warning(epsilon, reports, permanent, hashes):
    for p, q in ((0.5, 0.75), (0.4999, 0.5), (2.0**-64, 0.5)):
        kept = kept_of(permanent, p, q, hashes, reports)
        ends = module.delta(*kept, epsilon)
        assert 0 <= ends.lower <= ends.upper <= 1
