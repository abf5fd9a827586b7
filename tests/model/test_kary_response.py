"""k-ary response says of itself what its messages do: moments and intervals by enumeration."""

import math
from fractions import Fraction

import numpy as np
import pytest

from helpers.named import kary_response
from mixtally.errors import ParameterError
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import KaryResponse, Parameter, UniformFakes
from mixtally.model.mechanism.kary_response import replacement_threshold
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.debias import errors_by_count, estimate_counts
from mixtally.protocol.estimate.noise import noise_distribution

CASES = [
    (users, held, bins, share, fakes)
    for users, held in ((5, 0), (5, 2), (7, 7))
    for bins in (2, 3, 50)
    for share in (0.125, 0.5, 0.9375)
    for fakes in (0, 4)
]


def law(users, held, bins, share, fakes, *, own_too=True):
    """P[a bin that ``held`` people hold is named so often], in fractions, message by message."""
    g, d = Fraction(share), Fraction(bins)
    kept, named = 1 - g + g / d, g / d
    if not own_too:  # the other d - 1 alone
        kept, named = 1 - g, g / (d - 1)
    found = [Fraction(1)]
    for chance in [kept] * held + [named] * (users - held) + [1 / d] * fakes:
        found = [
            (found[k] if k < len(found) else 0) * (1 - chance) + (found[k - 1] * chance if k else 0)
            for k in range(len(found) + 1)
        ]
    return found


def of(users, bins, share, fakes):
    return kary_response(bins=bins, replaced=replacement_threshold(share), crowd=users, fakes=fakes)


def moments_hold(case, *, variance=None, own_too=True):
    """Whether mean and variance of the estimate are those of the enumerated tally."""
    users, held, bins, share, fakes = case
    one, messages = of(users, bins, share, fakes), users + fakes
    chances = law(*case, own_too=own_too)
    mean = sum(k * p for k, p in enumerate(chances))
    spread = sum(k * k * p for k, p in enumerate(chances)) - mean**2
    stated = one.variance_at(messages, held) if variance is None else variance(one, messages)
    (found,) = one.debias_counts(np.array([0]), messages) + float(mean) / one.gain
    unbiased = math.isclose(found, held, rel_tol=1e-9, abs_tol=1e-9)
    return unbiased and math.isclose(stated, float(spread) / one.gain**2, rel_tol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_estimates_have_the_moments_of_their_messages(case):
    assert moments_hold(case)


def test_a_variance_without_what_is_lost_is_found():
    empty = [moments_hold(case, variance=lambda one, m: one.variance(m)) for case in CASES]
    assert not all(empty)
    assert all(fine for case, fine in zip(CASES, empty, strict=True) if not case[1])


def test_values_replaced_by_others_alone_are_found():
    assert not any(moments_hold(case, own_too=False) for case in CASES if case[2] < 50)


@pytest.mark.parametrize("case", CASES)
def test_noise_is_the_law_of_the_tally(case):
    users, held, bins, share, fakes = case
    found = noise_distribution(of(users, bins, share, fakes), users + fakes, held)
    wanted = law(*case)
    for k, chance in enumerate(wanted):
        place = k - held - found.first
        inside = 0 <= place < len(found.pmf)
        assert math.isclose(
            found.pmf[place] if inside else 0.0, float(chance), rel_tol=1e-10, abs_tol=1e-27
        )


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("case", [(30, 0, 4, 0.25, 5), (30, 11, 4, 0.25, 5), (30, 30, 3, 0.5, 0)])
def test_intervals_hold_as_often_as_they_say(case, level):
    """Exactly, over every tally that may come."""
    users, held, bins, share, fakes = case
    one, missed = of(users, bins, share, fakes), Fraction(0)
    for seen, chance in enumerate(law(*case)):
        tally = Tally(np.full(bins, seen), users + fakes)
        each = estimate_counts(one, tally, users, level=level).individual
        missed += chance * (not each.lower[0] <= held <= each.upper[0])
    assert missed <= 1 - Fraction(level)


def test_errors_differ_from_bin_to_bin():
    one, counts = of(1000, 10, 0.25, 100), np.array([-5.0, 0.0, 100.0, 1000.0, 2000.0])
    found = errors_by_count(one, 1100, counts, 1000)
    wanted = [one.standard_error(1000, held) for held in (0, 0, 100, 1000, 1000)]
    assert found == pytest.approx(wanted, rel=1e-12)
    assert one.noise_by_count


def test_local_epsilon_is_that_of_one_message():
    one = of(9, 7, 0.3, 0)
    g = one.replacement_probability
    assert one.local_epsilon == pytest.approx(math.log((1 - g + g / 7) / (g / 7)), rel=1e-12)
    assert one.local_epsilon > math.log((1 - g) * 7 / g)  # without one's own among the uniform


def test_nothing_is_promised_of_bad_numbers():
    for share in (0.0, 1.0, -0.5, 2.0, math.nan, 2.0**-66, 1.0 - 2.0**-66):
        with pytest.raises(ParameterError):
            replacement_threshold(share)
    for wrong in ({"replaced": 0}, {"replaced": SCALE}, {"replaced": True}, {"crowd": 0},
                  {"bins": 1}, {"crowd": 10**10 + 1}):  # fmt: skip
        with pytest.raises(ParameterError):
            KaryResponse(**{"bins": 3, "replaced": 1 << 60, "crowd": 5, **wrong})


def test_other_parameters_are_refused():
    one = of(9, 7, 0.3, 4)
    assert one.with_parameter(Parameter.FAKES, 9).fakes == UniformFakes(9)
    assert one.with_parameter(Parameter.REPLACED, 5).replaced == 5
    assert one.with_honest(0.5).fakes == UniformFakes(2)
    with pytest.raises(TypeError):
        one.with_parameter(Parameter.FLIP, 1 << 60)
