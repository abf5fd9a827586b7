"""Points of a curve that are to be composed: above the exact ones, and by little."""

import math
from functools import partial

import numpy as np
import pytest

from helpers.contracts import flipped, plan_of, uniform
from helpers.sampled import among
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition.pld import connect_points
from mixtally.accounting.divergence import (
    Bound,
    ObservedMessage,
    bit_flips,
    clear_uniform,
    in_clear,
    repeats,
    single_bit,
    two_outputs,
)
from mixtally.accounting.numerics.coins import Fakes
from mixtally.accounting.numerics.composed_estimates import _gaussian_delta
from mixtally.accounting.numerics.gap import Gap
from mixtally.accounting.plans.terms import PrivacyTerms, count_honest_parts, delta_of
from mixtally.errors import AccountingError
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.mechanism import BitFlips, BlankFakes, InClear, NoFakes, UniformFakes
from mixtally.model.question import Kind, Question
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.primitives.memo import Memo

CLEAR = [(3, 2), (40, 5), (3000, 200), (20_000, 100), (10**6, 3), (520_100_000, 15)]
EPSILONS = (0.0, 0.3, 1.0, 4.0)


def deviations(fakes, bins):
    """Epsilons as a Gaussian of the same spread has them."""
    return [share * math.sqrt(2.0 * bins / fakes) for share in (0.0, 0.5, 2.0, 5.0)]


def close(near, bounds):
    """Whether ``near`` is an upper bound, and how far it may lie above."""
    return bounds.lower <= near <= bounds.upper * 1.001 + 1e-24


def near_in_clear(case):
    return all(
        close(clear_uniform.near_upper(*case, epsilon), clear_uniform.delta(*case, epsilon))
        for epsilon in deviations(*case)
    )


@pytest.mark.parametrize("case", CLEAR, ids=str)
def test_sums_of_three_values_are_near_the_exact_divergence(case):
    assert near_in_clear(case)


COINS = [(88, 3, 0.4, 6), (88, 0, 0.5, 4), (1000, 2, 0.9, 900), (10**6, 0, 1e-3, 50)]


def near_with_coins(case):
    people, whole, chance, bins = case
    coin, memo = int(chance * SCALE), Memo(1 << 26)
    fakes = Fakes(people, whole, coin)
    averages = [
        fakes.average(lambda k: clear_uniform.delta(k, bins, epsilon, memo), one_pair=True)  # noqa: B023
        for epsilon in EPSILONS
    ]
    found = [
        clear_uniform.near_upper(fakes.certain, bins, epsilon, people, coin / SCALE)
        for epsilon in EPSILONS
    ]
    return all(map(close, found, averages))


@pytest.mark.parametrize("case", COINS, ids=str)
def test_coins_are_averaged_in_one_integral(case):
    assert near_with_coins(case)


BLANKS = [  # people, whole, coin, bins, most, flip, counted flips
    (88, 3, 0.4, 30, 1, 0.2, False),
    (88, 0, 0.5, 9, 2, 0.2, False),
    (1000, 0, 0.3, 20, 4, 0.3, False),
    (10**5, 0, 1e-2, 50, 3, 0.02, True),
]


def part_of_blanks(case):
    people, whole, chance, bins, most, flip, counts = case
    own = OwnFakes(FakeRecord.BLANK, whole, int(chance * SCALE))
    kind = Kind.SET if most > 1 else Kind.ONE
    question = Question(name="q", bins=bins, kind=kind, max_set=most)
    part = flipped(bins, most_set=most, q=flip, own=own)
    plan = plan_of(question, [part], users=people, count_flips=counts)
    ((group, _),) = count_honest_parts(PrivacyTerms.of(plan)).items()
    return group


def near_blanks(case):
    group, accountant = part_of_blanks(case), Accountant()
    curve = group.curve(accountant, 1e-12)
    return all(
        bounds.lower <= curve(epsilon) <= bounds.upper * 1.006 + 1e-24
        for epsilon in EPSILONS
        for bounds in [group.bounds(accountant, epsilon)]
    )


@pytest.mark.parametrize("case", among(BLANKS, BLANKS[:2]), ids=str)
def test_blanks_by_coins_are_averaged_in_one_integral(case, watch):
    watch(Fakes, "few_cells", 0)
    assert near_blanks(case)


def test_flips_that_bring_many_blanks_count_in_cells():
    group = part_of_blanks((500, 0, 0.01, 9, 1, 0.3, True))
    assert group._average_over_coins(Accountant(), group.fakes, [1.0]) is None
    assert near_blanks((88, 0, 0.5, 9, 2, 0.2, False))


def test_only_long_sums_are_integrals():
    short, long = (ObservedMessage(InClear(bins=5, fakes=UniformFakes(n))) for n in (900, 10**9))
    memo = Memo(0)
    for bound in Bound:
        assert in_clear.choose_bound(short, bound) is Bound.EXACT
    for bound in (Bound.NEAR, Bound.ROUGH):
        assert in_clear.choose_bound(long, bound) is Bound.NEAR
        (found,) = in_clear.upper(long, [1e-4], bound, memo)
        assert found == clear_uniform.near_upper(10**9, 5, 1e-4)


@pytest.mark.seconds
def test_a_composition_of_integrals_comes_near_that_of_sums(monkeypatch):
    record = Record(ObservedMessage(InClear(bins=5, fakes=UniformFakes(10**9))), 30)
    near = Accountant().upper(record, 1e-3)
    monkeypatch.setattr(clear_uniform, "is_near_faster", lambda *_: False)
    assert Accountant().upper(record, 1e-3) == pytest.approx(near, rel=5e-3)


FLIPS = [
    BitFlips(bins=9, threshold=threshold_of(0.3), max_set=None, fakes=NoFakes(), crowd=4000),
    BitFlips(bins=45, threshold=threshold_of(0.408), max_set=None, fakes=NoFakes(), crowd=90_953),
    BitFlips(bins=99, threshold=threshold_of(0.05), max_set=3, fakes=NoFakes(), crowd=10**5),
    BitFlips(bins=99, threshold=threshold_of(0.1), max_set=2, fakes=BlankFakes(900), crowd=999),
    BitFlips(bins=99, threshold=threshold_of(0.01), fakes=BlankFakes(9000), crowd=40_000),
    BitFlips(bins=99, threshold=threshold_of(0.1), fakes=UniformFakes(900)),
]


@pytest.mark.parametrize("epsilon", among(EPSILONS, [0.0, 1.0]))
@pytest.mark.parametrize("mechanism", FLIPS, ids=lambda m: f"{m.bins} bins, {m.max_set} set")
def test_near_points_lie_some_thousandths_above(mechanism, epsilon):
    message, memo = ObservedMessage(mechanism), Memo(1 << 20)
    (near,) = bit_flips.upper(message, [epsilon], Bound.NEAR, memo)
    exact = bit_flips.delta(message, epsilon, memo)
    assert exact.bounds.lower <= near <= exact.bounds.upper * 1.005 + 1e-24


def test_a_composition_takes_near_points(plant, watch):
    asked = watch(bit_flips, "upper")
    record = Record(ObservedMessage(FLIPS[0]), 3)
    near = Accountant().upper(record, 1.0)
    assert sum(len(epsilons) for _, epsilons, bound, _ in asked if bound is Bound.NEAR) > 20
    plant(
        bit_flips,
        "upper",
        lambda honest, message, epsilons, _, memo: honest(message, epsilons, Bound.EXACT, memo),
    )
    assert Accountant().upper(record, 1.0) == pytest.approx(near, rel=1e-2)


def test_a_contract_counts_its_coins_at_once():
    part, question = uniform(9, whole=1, coin=SCALE // 3), Question(name="q", bins=9)
    terms = PrivacyTerms.of(plan_of(question, [part], users=50, collections=2))
    (group,) = count_honest_parts(terms)
    curve = group.curve(Accountant(), 1e-12)
    for epsilon in (0.1, 0.5, 2.0):
        assert close(curve(epsilon), group.bounds(Accountant(), epsilon))
    both = delta_of(terms, Accountant())
    assert both.lower <= both.upper <= 1.0


def test_chances_of_rare_kinds_are_chances():
    """`plan --users 519 --bits 35`, sent again: rounding made one of them 1 + 2e-16."""
    for q in np.linspace(0.01, 0.499, 60):
        for kind in repeats.bit_count_kinds(37, float(q), [(500, float(q))]):
            assert 0.0 <= kind.u <= 1.0
            assert 0.0 <= kind.v <= 1.0
            assert all(0.0 <= chance <= 1.0 for _, chance in kind.others)


def test_what_tells_nearly_everything_may_rise():
    """`check delta --protocol flip-uniform --fakes 119 --bins 64590`: .9969 and then .99996."""
    made = connect_points(1.0, {0: 0.9969, 1: 0.99996, 2: 0.98})
    assert made.infinite == 0.98
    with pytest.raises(AccountingError, match="falls with epsilon"):
        connect_points(1.0, {0: 0.5, 1: 0.51, 2: 0.4})


def test_a_gap_is_shifted_where_a_curve_is_steep():
    """By at most the part of epsilon that it says, of a Gaussian's curve."""
    curve, epsilons = partial(_gaussian_delta, mu=0.1), [0.4, 0.0, 0.2, 0.3, 0.1]
    found = np.array([curve(epsilon) for epsilon in epsilons])
    shares = Gap(1e-3).widen_for_curve(epsilons, found).share
    for epsilon, share, delta in zip(epsilons, shares, found, strict=True):
        less = epsilon - 2.5e-4 * max(epsilon, 2.5 * max(found))
        assert delta * (1.0 + share) <= max(curve(less), delta * 1.001) * (1.0 + 1e-12)
    assert shares[1] == 1e-3
    assert shares[0] > 3e-3
    one = Gap(1e-3)
    assert (
        one.widen_for_curve([0.3], found[:1]) == one.widen_for_curve([0.3, 0.3], found[:2]) == one
    )


def test_a_wider_gap_is_wider_everywhere():
    curve, epsilons = partial(_gaussian_delta, mu=0.1), [0.0, 0.1, 0.2, 0.3, 0.4]
    found = np.array([curve(epsilon) for epsilon in epsilons])
    narrow, wide = (
        gap.widen_for_curve(epsilons, found) for gap in (Gap(1e-3), Gap(1e-3).widen(3.0))
    )
    assert wide.share == pytest.approx(3.0 * narrow.share)
    assert Gap(1e-3).widen(1.0) == Gap(1e-3)


@pytest.mark.parametrize("parts", [1.5, 3])
def test_proofs_of_long_sums_end_within_their_gap(monkeypatch, watch, parts):
    """The longer the distribution, the fewer are looked at; here as if 300 integers were long."""
    given, epsilons = (3000, 0, threshold_of(0.2)), [0.0, 0.1, 0.2, 0.4]
    usual = single_bit.delta_at_several(*given, epsilons)
    looked = watch(two_outputs, "_directions")
    single_bit.delta_at_several(*given, epsilons)
    before = len(looked)
    length = two_outputs._length(single_bit.flipped_bit_message(threshold_of(0.2)), 2999)
    monkeypatch.setattr(two_outputs, "_LONG", length / parts)
    looked.clear()
    longer = single_bit.delta_at_several(*given, epsilons)
    assert len(looked) < before
    for one, other in zip(usual, longer, strict=True):
        assert one.lower * 0.999 <= other.lower <= one.upper
        assert one.lower <= other.upper <= one.upper * (1.0 + 0.03 * parts**1.5)
