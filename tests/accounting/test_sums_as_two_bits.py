"""Sums that spread widely: two bits composed, each in the crowd that is the worst for it alone."""

from itertools import product

import numpy as np
import pytest

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import one_hot, two_outputs
from mixtally.errors import EffortError
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, NoFakes
from mixtally.primitives.fixed_point import threshold_of
from mixtally.primitives.memo import Memo

CASES = [  # users, flip, epsilons
    (20_001, 0.2, (0.0, 0.02, 0.06, 0.1)),
    (200_000, 0.01, (0.05, 0.15, 0.2)),
    (7_000, 0.3, (0.01, 0.05, 0.1)),
]


def largest(users, threshold, epsilons):
    """Of many crowds, for each epsilon: so many hold either bin."""
    others, every = users - 1, np.arange(len(epsilons))
    divergences = one_hot._two_bins(others, threshold, epsilons, Memo(1 << 26))
    shares = (0.0, 1e-4, 0.1, 0.3, 0.5, 0.8, 1.0)
    counts = [round(share * others) for share in shares]
    crowds = [(one, two) for one, two in product(counts, counts) if one + two <= others]
    found = [
        divergences(((one, one), (two, two)), every).lower for one, two in (*crowds, (0, others))
    ]
    return np.max(found, axis=0)


def proved(users, threshold, epsilons):
    return np.array(
        [one.upper for one in one_hot.sums_delta_at_several(users, 0, threshold, epsilons)]
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_crowd_is_worse_than_two_bits_and_they_are_close(case):
    users, flip, epsilons = case
    truth, found = (look(users, threshold_of(flip), epsilons) for look in (largest, proved))
    assert np.all(truth <= found)
    assert np.all(found <= truth * 1.02)
    assert np.all(truth > 1e-14)


def test_only_sums_that_spread_widely_are_two_bits(watch):
    made = watch(one_hot, "_two_bits_upper")
    one_hot.sums_delta(300, 0, threshold_of(0.2), 0.5)
    assert not made
    one_hot.sums_delta(20_001, 0, threshold_of(0.2), 0.05)
    assert len(made) == 1


def test_sums_too_long_for_bits_are_proved_by_cells(monkeypatch):
    users, threshold = 7_000, threshold_of(0.3)
    truth = largest(users, threshold, (0.05,))
    close = proved(users, threshold, (0.05,))
    monkeypatch.setattr(two_outputs, "_MOST_PRODUCTS", 1000)
    found = proved(users, threshold, (0.05,))
    assert np.all(truth <= found)
    assert found != close


def test_a_composition_of_sums_too_long_is_refused_before_the_work(watch):
    """`delta --observer sums --split --max-set 3 --users 3936000000`: 119 looks, and then that."""
    watch(one_hot, "_largest_candidate_divergence", 0)
    record = Record.of(
        BitFlips(
            bins=9, threshold=threshold_of(0.0105), max_set=1, fakes=NoFakes(), crowd=3_936_000_000
        ),
        Observer.SUMS,
        pieces=3,
    )
    with pytest.raises(EffortError, match="count on fewer people"):
        Accountant().upper(record, 0.1067)


def test_what_is_refused_is_what_would_be_too_long():
    for users in (400, 10**6, 3_936_000_000):
        given = (users, 0, threshold_of(0.0105))
        try:
            one_hot.check_work_at_several(*given)
        except EffortError:
            with pytest.raises(EffortError):
                one_hot.sums_delta_at_several(*given, [0.0, 0.1])
        else:
            assert len(one_hot.sums_delta_at_several(*given, [0.0, 0.1])) == 2
