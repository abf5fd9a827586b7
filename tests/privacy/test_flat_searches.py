"""Searches whose curve is flat far below the target, and shares of an epsilon."""

import math

import pytest

from mixtally.errors import AccountingError
from mixtally.ground.fixed import LEAST_THRESHOLD
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.numerics import search
from privacy import by_name


@pytest.mark.seconds
def test_rough_bounds_may_wobble_where_hardly_any_flips_suffice():
    """Uniform fakes hide three rounds by themselves; more flips change the bounds at random."""
    given = {"users": 10**6, "fakes": 200_000, "bins": 1000, "repeats": 3}
    found = by_name.calibrated("flip-uniform", 1.0, 1e-6, **given)
    assert found.message.mechanism.threshold == LEAST_THRESHOLD
    assert Accountant().certificate(found, 1.0).upper <= 1e-6


class Rising(Accountant):
    """One whose bounds rise with the flips."""

    def upper(self, record, *_, **__):
        return min(1.0, record.message.mechanism.threshold / 2.0**54)


def test_a_composed_curve_that_rises_by_far_more_is_refused():
    given = {"fakes": 10**6, "repeats": 3, "users": 9, "count_crowd": True}
    with pytest.raises(AccountingError, match="falls"):
        by_name.calibrated("flip-blank", 1, 0.01, accountant=Rising(), **given)


def gaussian(epsilon):
    return 0.3 * math.exp(-0.5 * (epsilon / 0.2) ** 2)


def edge(epsilon):
    """As shaped fakes have one."""
    return 1e-9 if epsilon >= 1 / 3 else 0.1


@pytest.mark.parametrize(
    ("upper", "end"), [(gaussian, 0.2 * math.sqrt(2 * math.log(3e5))), (edge, 1 / 3)]
)
def test_the_least_epsilon_meets_its_target_and_is_least(upper, end):
    looks = []

    def counted(epsilon):
        looks.append(epsilon)
        return upper(epsilon)

    found = search.least_epsilon(counted, 1e-6, 0.01, 2.0)
    assert found in looks
    assert upper(found) <= 1e-6
    assert found == pytest.approx(end, rel=1.1e-8)
    assert len(looks) <= (12 if upper is gaussian else 80)


def test_the_least_epsilon_is_the_low_end_where_that_suffices():
    assert search.least_epsilon(gaussian, 0.5, 0.01, 2.0) == 0.01


def test_an_end_that_misses_would_be_noticed():
    """The same search of a curve that lies lower: its end misses the honest target."""
    found = search.least_epsilon(lambda epsilon: 0.999 * gaussian(epsilon), 1e-6, 0.01, 2.0)
    assert gaussian(found) > 1e-6
