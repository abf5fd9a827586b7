"""delta of a remembered answer: every outcome of a few reports in fractions, and the least noise.

Two values differ in h bits set and h cleared. Every report of every bit is seen with its sender, so
an outcome is a table of bits; the memory is summed over.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.divergence import memoized as remembered
from mixtally.privacy.divergence.memoized import Memory
from privacy.brute import exp_exactly

RESPONSES = ((0.5, 0.75), (0.25, 0.5), (0.125, 0.875), (0.0, 0.5), (0.5, 1.0), (0.0, 1.0))
CASES = [
    Memory(permanent=f, p=p, q=q, hashes=hashes, reports=reports)
    for f in (0.25, 0.5, 0.875)
    for p, q in RESPONSES
    for hashes, most in ((1, 4), (2, 2))
    for reports in range(1, most + 1)
]
SHARES = (0.01, 0.3, 0.7, 0.99, 1 - 1e-6)
"""Epsilons as parts of the largest loss."""


def gone(kept):
    """Whether some count in the middle has no chance: a one shows a one, a zero a zero."""
    return (kept.p, kept.q) == (0.0, 1.0) and kept.reports > 1


def marked(kept):
    return pytest.param(kept, id=str(kept))


def chances(kept):
    """(P, Q) of every row of one bit's reports, under a true one and a true zero."""
    f, p, q = (Fraction(x) for x in (kept.permanent, kept.p, kept.q))
    found = []
    for row in itertools.product((0, 1), repeat=kept.reports):
        shown = [math.prod(c if bit else 1 - c for bit in row) for c in (p, q)]
        found.append(tuple(h * shown[0] + (1 - h) * shown[1] for h in (f / 2, 1 - f / 2)))
    return found


def truth(kept, epsilon):
    """sum of (P - e^epsilon Q)_+ over all tables of 2 h bits."""
    grow, bits = exp_exactly(epsilon), chances(kept)
    joint = {(Fraction(1), Fraction(1)): 1}
    for bit in range(2 * kept.hashes):
        wider = {}
        for (a, b), times in joint.items():
            for one, zero in bits:
                pair = (a * zero, b * one) if bit % 2 else (a * one, b * zero)
                wider[pair] = wider.get(pair, 0) + times
        joint = wider
    return sum(max(p - grow * q, 0) * times for (p, q), times in joint.items())


def faults(kept):
    largest = remembered.loss(kept).eps_T
    for epsilon in (share * largest for share in SHARES):
        ends, exact = remembered.delta(kept, epsilon), truth(kept, epsilon)
        if not ends.lower <= exact <= ends.upper:
            yield kept, epsilon, ends, float(exact)
        elif kept.hashes == 1 and ends.upper - ends.lower > 1e-8 * exact + 1e-11:
            yield kept, epsilon, ends, "wide"
    if largest and not truth(kept, largest * (1 + 1e-9)) == 0 == remembered.delta(kept, largest)[1]:
        yield kept, "above the largest loss"


@pytest.mark.parametrize("kept", [marked(kept) for kept in CASES])
def test_both_ends_hold_all_reports_of_one_memory(kept):
    assert list(faults(kept)) == []


@pytest.mark.parametrize(("p", "q"), [*RESPONSES, (0.125, 0.25), (0.625, 0.875)])
@pytest.mark.parametrize(("hashes", "reports"), [(2, 1), (2, 2), (2, 5), (3, 2)])
def test_several_hashes_come_within_a_twentieth_of_the_truth(p, q, hashes, reports):
    """Nor is there a floor that no epsilon below the largest loss comes under."""
    for permanent in (0.5, 0.875):
        kept = Memory(permanent=permanent, p=p, q=q, hashes=hashes, reports=reports)
        largest = remembered.loss(kept).eps_T
        for epsilon in (share * largest for share in (0.05, 0.4, 0.8, 0.957, 0.99)):
            exact, upper = truth(kept, epsilon), remembered.delta(kept, epsilon).upper
            assert exact <= upper <= exact * Fraction(21, 20) + Fraction(1, 10**15)


def test_a_smaller_delta_takes_more_noise_of_two_hashes():
    """At epsilon 2, where one permanent response was said to be the least for all three."""
    kept = Memory(permanent=1.0, p=0.5, q=0.75, hashes=2, reports=5)
    found = [remembered.least_permanent(kept, 2.0, most) for most in (1e-3, 1e-6, 1e-15)]
    assert found[0] == pytest.approx(0.631, abs=5e-4)
    assert found[0] + 0.05 < found[1] < found[2] - 1e-6
    least, less = (
        truth(replace(kept, permanent=permanent), 2.0) for permanent in (found[0], 0.999 * found[0])
    )
    assert 0.99e-3 < least <= 1e-3 < less


def test_the_enumerated_chances_are_two_laws():
    rows = chances(CASES[3])
    assert [sum(column) for column in zip(*rows, strict=True)] == [1, 1]


def test_one_report_of_a_memory_shown_as_it_is_by_hand():
    kept = Memory(permanent=0.5, p=0.0, q=1.0, hashes=1, reports=1)
    by_hand = Fraction(3, 4) ** 2 - exp_exactly(1.0) * Fraction(1, 4) ** 2
    assert truth(kept, 1.0) == by_hand
    assert remembered.delta(kept, 1.0).upper == pytest.approx(float(by_hand), rel=1e-8)


@pytest.mark.parametrize("reports", [600, 800, 1200, 10_000, 10**6])
def test_many_reports_tell_as_much_as_the_memory_itself(reports):
    """The counts of a kept one and a kept zero lie so far apart that none between has a chance."""
    kept = Memory(permanent=0.5, p=0.05, q=0.95, hashes=1, reports=reports)
    for epsilon in (0.1, 1.0, 2.0):
        itself = Fraction(3, 4) ** 2 - exp_exactly(epsilon) * Fraction(1, 4) ** 2
        ends = remembered.delta(kept, epsilon)
        assert ends.upper >= itself
        assert ends.lower <= itself * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("hashes", [1, 2])
@pytest.mark.parametrize("reports", [1, 2, 5])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.75), (0.0, 0.5), (0.25, 1.0)])
def test_the_least_permanent_response_keeps_the_promise_and_a_smaller_one_does_not(
    p, q, reports, hashes
):
    kept = Memory(permanent=1.0, p=p, q=q, hashes=hashes, reports=reports)
    for epsilon, most in ((0.5, 1e-3), (1.0, 0.0)):
        least = remembered.least_permanent(kept, epsilon, most)
        assert 2.0**-40 < least < 1
        found = replace(kept, permanent=least)
        if reports * hashes < 10:
            assert truth(found, epsilon) <= most
        assert remembered.delta(found, epsilon).upper <= most
        less = replace(kept, permanent=least * (1 - 1e-6))
        assert remembered.delta(less, epsilon).upper > most
        if hashes == 1:
            assert truth(replace(kept, permanent=least * (1 - 1e-3)), epsilon) > most


def test_hardly_any_memory_is_needed_where_the_reports_are_private_already():
    kept = Memory(permanent=1.0, p=0.49, q=0.51, hashes=1, reports=1)
    assert remembered.least_permanent(kept, 1.0, 1e-6) == 2.0**-40


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("reports", [1, 1000])
@pytest.mark.parametrize("permanent", [2.0**-40, 0.5, 1.0])
@pytest.mark.parametrize("hashes", [1, 64])
def test_corners_give_a_number_without_a_warning(epsilon, reports, permanent, hashes):
    for p, q in ((0.5, 0.75), (0.4999, 0.5), (1e-300, 0.5)):
        kept = Memory(permanent=permanent, p=p, q=q, hashes=hashes, reports=reports)
        ends = remembered.delta(kept, epsilon)
        assert 0 <= ends.lower <= ends.upper <= 1


@pytest.mark.parametrize(
    "bug",
    [
        lambda honest, kept: honest(replace(kept, permanent=min(1.0, 1.1 * kept.permanent))),
        lambda honest, kept: honest(replace(kept, reports=max(1, kept.reports - 1))),
        lambda honest, kept: honest(kept)._replace(q=honest(kept).p),
    ],
    ids=["a tenth more noise", "a report missing", "no difference"],
)
def test_a_wrong_law_of_the_reports_is_noticed(plant, bug):
    plant(remembered, "_pair", bug)
    remembered._composed.cache_clear()
    assert any(any(faults(kept)) for kept in CASES if not gone(kept) and kept.reports < 3)
    remembered._composed.cache_clear()


@pytest.mark.parametrize("fewer", [1, 2])
def test_bits_left_out_are_noticed(monkeypatch, fewer):
    """Two hashes are two pairs of bits."""

    def less(parts):
        return Sum([(law, times - fewer) for law, times in parts])

    remembered._composed.cache_clear()
    monkeypatch.setattr(remembered, "Sum", less)
    monkeypatch.setattr(remembered, "max", lambda _lower, composed: composed, raising=False)
    cases = [kept for kept in CASES if kept.hashes == 2 and not gone(kept)]
    assert any(any(faults(kept)) for kept in cases)
    remembered._composed.cache_clear()


def test_the_bits_composed_to_one_short_of_the_largest_loss_are_noticed(plant):
    plant(remembered, "exchange_divergence", lambda honest, a, b, grow: honest(a, b, 1.02 * grow))
    assert any(any(faults(kept)) for kept in CASES if kept.hashes == 1 and not gone(kept))
