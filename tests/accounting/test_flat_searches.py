"""Searches whose curve is flat far below the target."""

import pytest

from accounting import by_name
from mixtally.accounting.accountant import Accountant
from mixtally.errors import AccountingError
from mixtally.primitives.fixed_point import LEAST_THRESHOLD


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
