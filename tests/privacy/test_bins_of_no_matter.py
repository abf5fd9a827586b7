"""Bins in which two records cannot differ: many are priced as few, and once for all."""

import pytest

from mixtally.ground.fixed import SCALE, threshold_of
from mixtally.ground.memo import Memo
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.divergence import ObservedMessage, divergence_of, k_hot
from mixtally.records.guarantee import Observer
from mixtally.records.mechanism import BitFlips, BlankFakes, InClear, NoFakes, ShapedFakes


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
        lambda bins: InClear(bins=bins, fakes=ShapedFakes(SCALE // 2, 20)), 2, Observer.MESSAGES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_few_bins_have_the_prices_of_many(case):
    made, least, observer = CASES[case]
    memo = Memo(1 << 22)
    for bins in (least, least + 1, 2 * least, 2 * least + 1, 40):
        message = ObservedMessage(made(bins), observer)
        own = divergence_of(message)
        few, pieces = own.apart(message)
        assert pieces == 1
        assert own.exact(few, 0.7, memo) == own.exact(message, 0.7, memo)
        assert own.upper(few, 0.7, memo) == own.upper(message, 0.7, memo)
        assert own.lower_of(few, 0.7, 3) == own.lower_of(message, 0.7, 3)


def test_questions_of_many_sizes_are_priced_once(monkeypatch):
    made, honest = [], k_hot.flip_distribution
    monkeypatch.setattr(
        k_hot, "flip_distribution", lambda *given: made.append(given) or honest(*given)
    )
    owner = Accountant()
    deltas = {
        owner.upper(Record.of(flips(3, BlankFakes(60), 0, 0.2)(bins)), 0.7)
        for bins in (7, 8, 100, 1000)
    }
    assert len(deltas) == len(made) == 1


@pytest.mark.parametrize(("most", "bins"), [(10, 16), (13, 22)])
def test_records_that_must_share_bins_are_bounded_by_those_that_share_none(monkeypatch, most, bins):
    """Among a crowd's blanks one pair of sets is looked at; alone every orbit is.

    What is lost is a sixth of epsilon at most.
    """
    given = (3000, 400, most, threshold_of(0.4), 0.5, bins)
    for bound in (k_hot.expected_blanket_upper, k_hot.rough_blanks_upper):
        assert bound(*given) == bound(*given[:-1], None)
    quick = k_hot.among_blanket_blanks(*given).upper
    monkeypatch.setattr(k_hot, "_MOST_COMMON", most)
    every, tighter = (
        k_hot.among_blanket_blanks(*given[:4], epsilon, bins).upper for epsilon in (0.5, 0.42)
    )
    assert every <= quick <= tighter
    alone = (400, most, threshold_of(0.4), 0.5, bins)
    assert k_hot.blanks_upper(*alone) < k_hot.blanks_upper(*alone[:-1], None)


@pytest.mark.parametrize(("most", "bins"), [(4, 6), (4, 4), (10, 12), (10, 17), (10, 30)])
def test_where_much_would_be_lost_or_little_is_to_do_every_pair_is_looked_at(most, bins):
    assert k_hot._widened(most, bins) == bins
