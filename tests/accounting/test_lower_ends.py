"""What several messages need of one: a lower bound alone, an upper one that is close enough."""

import pytest

from helpers.named import flip, flip_bits, single_bit
from helpers.sampled import among
from mixtally.accounting import accountant as module
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import ObservedMessage, bit_flips
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.model.guarantee import Observer
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

Q = SCALE // 12


@pytest.mark.parametrize(
    ("mechanism", "observer"),
    [
        (single_bit(fakes=0, threshold=Q, crowd=300), Observer.MESSAGES),
        (single_bit(fakes=40, threshold=SCALE // 10, crowd=900), Observer.MESSAGES),
        (flip(bins=9, threshold=Q, crowd=300), Observer.SUMS),
        (flip(bins=2, threshold=Q, crowd=300), Observer.SUMS),
        (flip(bins=9, threshold=Q, crowd=300), Observer.MESSAGES),
        (flip_bits(bins=3, threshold=Q, crowd=300), Observer.MESSAGES),
    ],
    ids=str,
)
@pytest.mark.parametrize("epsilon", among([0.0, 0.5, 2.0], [0.5, 2.0]))
def test_a_lower_bound_alone_is_that_of_both_or_nearly(mechanism, observer, epsilon):
    message = ObservedMessage(mechanism, observer)
    own = divergence_of(message)
    both, alone = (
        own.delta(message, epsilon, Memo(1 << 26), lower_only=way) for way in (False, True)
    )
    assert 0.99 * both.bounds.lower <= alone.bounds.lower <= both.bounds.lower
    assert alone._replace(bounds=both.bounds) == both


def test_of_several_messages_no_worst_crowd_of_one_is_proved(plant):
    """The proof of one is for its upper bound, which several messages do not need."""

    def lower(honest, *given, lower_only=False):
        assert lower_only, "one was proved"
        return honest(*given, lower_only=True)

    plant(bit_flips, "delta", lower)
    record = Record.of(single_bit(fakes=0, threshold=Q, crowd=300), pieces=3)
    bounds = Accountant().delta(record, 1.0).bounds
    assert 0.0 < bounds.lower < bounds.upper


def test_what_was_proved_in_view_of_too_much_is_proved_again(monkeypatch):
    """What a Gaussian has may be many times what rare heavy losses have."""
    record = Record.of(flip_bits(bins=3, threshold=SCALE // 5, crowd=3000), pieces=2)
    close, loose = Accountant().upper(record, 1.0), Accountant().upper(record, 1.0, aim=0.01)
    assert 0.0 < 3.0 * close < loose
    monkeypatch.setattr(module, "approximate_composed_delta", lambda *_: 1.0)
    told = Accountant().delta(record, 1.0).bounds.upper
    assert told <= close * 1.01
    assert Accountant().delta(record, 1.0, aim=0.01).bounds.upper == told
