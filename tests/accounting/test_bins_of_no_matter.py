"""Bins in which two records cannot differ: many are priced as few, and once for all."""

import pytest

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import Bound, ObservedMessage, k_hot
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, BlankFakes, InClear, NoFakes, ShapedFakes
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.primitives.memo import Memo


def flips(most, fakes, crowd, q):
    return lambda bins: BitFlips(
        bins=bins, threshold=threshold_of(q), max_set=most, fakes=fakes, crowd=crowd
    )


CASES = {
    "value": (flips(1, BlankFakes(50), 90, 0.1), 2, Observer.MESSAGES),
    "value in a crowd": (flips(1, NoFakes(), 90, 0.1), 2, Observer.MESSAGES),
    "sums": (flips(1, NoFakes(), 90, 0.1), 2, Observer.SUMS),
    "set in a crowd": (flips(2, NoFakes(), 60, 0.2), 2, Observer.MESSAGES),
    "set among blanks": (flips(3, BlankFakes(60), 0, 0.2), 3, Observer.MESSAGES),
    "shaped": (
        lambda bins: InClear(bins=bins, fakes=ShapedFakes(LaplaceShape(SCALE // 2, 20))),
        2, Observer.MESSAGES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_few_bins_have_the_prices_of_many(case):
    made, least, observer = CASES[case]
    memo = Memo(1 << 22)
    for bins in (least, least + 1, 2 * least, 2 * least + 1, 40):
        message = ObservedMessage(made(bins), observer)
        own = divergence_of(message)
        few, pieces = own.observed_unit(message)
        assert pieces == 1
        assert own.delta(few, 0.7, memo) == own.delta(message, 0.7, memo)
        one, other = (own.upper(each, [0.7], Bound.EXACT, memo) for each in (few, message))
        assert one == other
        assert own.lower_of(few, 0.7, 3) == own.lower_of(message, 0.7, 3)


def test_questions_of_many_sizes_are_priced_once(watch):
    made = watch(k_hot, "flip_distribution")
    owner = Accountant()
    deltas = {
        owner.upper(Record.of(flips(3, BlankFakes(60), 0, 0.2)(bins)), 0.7)
        for bins in (7, 8, 100, 1000)
    }
    assert len(deltas) == len(made) == 1
