"""What several messages need of one: a lower bound alone, an upper one that is close enough.

Ends that two derivations prove contradict each other if the lower one is above.
"""

import math

import pytest

from helpers import contracts as c
from helpers.named import flip, flip_bits, flip_blank, single_bit
from helpers.sampled import among
from mixtally.accounting import accountant as module
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import (
    ObservedMessage,
    bit_flips,
    in_clear,
    kary_response,
    one_hot,
    planes,
    set_in_clear,
    vectors,
)
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.accounting.messages import Messages
from mixtally.accounting.numerics.bracket import Bracket, join_ends
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.errors import AccountingError
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import KaryResponse
from mixtally.model.question import Question
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


def test_ends_that_contradict_each_other_are_not_stated():
    assert join_ends(0.25, 0.5) == Bracket(0.25, 0.5)
    assert join_ends(0.5 * (1.0 + 1e-12), 0.5) == Bracket(0.5, 0.5)  # rounded
    for lower, upper in ((0.5 * (1.0 + 1e-8), 0.5), (1e-30, 0.0), (math.nan, 1.0)):
        with pytest.raises(AccountingError, match="expected a lower end below the upper end"):
            join_ends(lower, upper)


def delta_of(mechanism, **more):
    return lambda: Accountant().delta(Record.of(mechanism, **more), 1.0)


def plan_of(part, bins):
    plan = c.plan_of(Question(name="q", bins=bins), [part], users=40, honest_share=1.0)
    return lambda: certify_terms(PrivacyTerms.of(plan))


CONTRADICTIONS = {
    "a replaced value": (
        kary_response, "lower_bound",
        delta_of(KaryResponse(bins=5, replaced=SCALE // 2, crowd=90)),
    ),
    "a flipped value": (
        one_hot, "_lower_without_common_bit",
        delta_of(flip_blank(bins=9, threshold=Q, crowd=300, fakes=40)),
    ),
    "flipped bits": (
        vectors, "worst_homogeneous_delta", delta_of(flip_bits(bins=3, threshold=Q, crowd=300)),
    ),
    "several messages": (
        Messages, "composed_lower", delta_of(single_bit(fakes=0, threshold=Q, crowd=90), pieces=2),
    ),
    "planes": (planes, "lower", plan_of(c.over_planes(4, 2, whole=1, coin=0), 4)),
    "planes and coins": (planes, "lower", plan_of(c.over_planes(4, 2), 4)),
    "coins": (in_clear, "delta", plan_of(c.uniform(2), 2)),
    "replaced sets": (
        set_in_clear, "lower_by_counting",
        delta_of(KaryResponse(bins=5, replaced=SCALE // 2, crowd=90, max_set=2)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_lower_end_above_the_upper_one_is_never_hidden(name, plant):
    """Planted: what bounds from below is 1 in the place of less."""
    owner, what, compute = CONTRADICTIONS[name]
    compute()
    plant(owner, what, lambda honest, *given, **more: raised(honest(*given, **more)))
    with pytest.raises(AccountingError, match="expected a lower end below the upper end"):
        compute()


def raised(found):
    """A lower end of 1, with whatever else is returned."""
    if isinstance(found, float):
        return 1.0
    if isinstance(found, Bracket):
        return Bracket(1.0, found.upper)
    return found._replace(bounds=Bracket(1.0, found.bounds.upper))
