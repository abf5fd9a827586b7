"""Bundles kept back by their devices' coins, which lengths may show and padding hides."""

from collections import Counter
from fractions import Fraction
from math import comb, inf, isfinite

import numpy as np
import pytest
from msgspec.structs import replace

from helpers import contracts
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.lab.attacks import attacks_on, run_attacks, selection
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.outcome import AttackLab, Verdict
from mixtally.lab.attacks.selection import (
    SelectedSenders,
    _least_coins,
    epsilon_of_certain_fakes,
    measure_bundle_lengths,
)
from mixtally.lab.attacks.target import target_of_plan
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.question import Kind, Question
from mixtally.primitives.fixed_point import SCALE

COIN = int(0.0495 * SCALE)
ACCOUNTANT = Accountant()
ERROR = 1e-7
"""Chance of a false alarm of each run here, were its noise drawn anew."""


def target_of(part, question=None, users=100_000, crowd=90_000, hops=2, **more):
    question = question or Question(name="q", bins=part.bins)
    local = part.local_epsilon if isfinite(part.local_epsilon) else None
    fields = {"users": users, "minimum_crowd": crowd, "hops": hops, "local_epsilon": local}
    plan = contracts.plan_of(question, [part], **fields, **more)
    priced = certify_terms(PrivacyTerms.of(plan), ACCOUNTANT)
    return target_of_plan(replace(plan, certificate=priced), accountant=ACCOUNTANT)


def lab(**more):
    return AttackLab(SeededChance(1), ERROR, accountant=ACCOUNTANT, **more)


def unpadded(sealer, place, _, several):
    """A device as it was: no padding."""
    return [sealer.seal(one, place) for one in several]


@pytest.fixture(scope="module")
def small():
    """A plan whose coins give about 20 fakes: all are gone where 40 bundles are kept back."""
    return target_of(contracts.uniform(4, whole=0, coin=COIN), users=400, crowd=360, epsilon=2.0)


def test_padding_leaves_nothing_to_select(small):
    first, mix = run_attacks(small, lab(runs=600), selection.NAME)
    assert (first.verdict, first.promised) == (Verdict.CONSISTENT, small.epsilon)
    assert first.numbers["bundle_bytes"] == [2 * 97]
    assert first.numbers["delta_seen"] < 0.2
    assert (mix.verdict, mix.promised) == (Verdict.MEASURED, None)
    assert mix.numbers["delta_seen"] > 0.7
    assert mix.numbers["kept_back"] == 40


def test_lengths_that_show_the_coin_break_the_promise(small):
    """Twin of the test above, with devices that send no padding."""
    first, _ = run_attacks(small, lab(runs=600, device=Device(sealed=unpadded)), selection.NAME)
    assert (first.verdict, first.promised) == (Verdict.VIOLATED, small.epsilon)
    assert first.numbers["bundle_bytes"] == [97, 2 * 97]
    assert first.numbers["delta_seen"] > 0.7


@pytest.mark.seconds
def test_a_plan_certified_at_6e_7_has_delta_1_where_lengths_show_coins():
    target = target_of(contracts.uniform(100, whole=0, coin=COIN))
    assert target.exact.upper == pytest.approx(6.32e-7, rel=1e-2)
    first, *_ = run_attacks(target, lab(runs=1000), selection.NAME)
    assert first.verdict is Verdict.CONSISTENT
    assert first.numbers["delta_seen"] < 0.01
    shown, _ = run_attacks(target, lab(runs=1000, device=Device(sealed=unpadded)), selection.NAME)
    assert shown.verdict is Verdict.VIOLATED
    assert shown.numbers["delta_seen"] > 0.9


def test_a_first_mix_leaves_what_certain_fakes_are_worth():
    """A tenth of 2,000 coins of one in five gives nearly nothing beside one certain fake each."""
    own = contracts.uniform(5, whole=1, coin=SCALE // 5)
    target = target_of(own, users=2000, crowd=1800, delta=1e-2, epsilon=0.3)
    first, *_, mix = run_attacks(target, lab(runs=200), selection.NAME)
    assert first.verdict is mix.verdict is Verdict.CONSISTENT
    assert target.epsilon < mix.promised < 10.0
    fixed = contracts.uniform(5, whole=1, coin=0)
    behind = {selection.Senders(fixed, 0, 1800): 1}
    alone = epsilon_of_certain_fakes(behind, target.delta, lab())
    assert mix.promised <= alone


@pytest.mark.seconds
@pytest.mark.parametrize("part", [
    contracts.uniform(6, whole=0, coin=SCALE // 2, most_set=2),
    contracts.flipped(6, q=0.2, own=OwnFakes(FakeRecord.BLANK, 0, SCALE // 2)),
    contracts.flipped(6, q=0.2, own=OwnFakes(FakeRecord.UNIFORM, 0, SCALE // 2)),
    contracts.over_planes(30, 7, coin=SCALE // 2),
], ids=["set in clear", "blank", "uniform flips", "planes"])  # fmt: skip
def test_every_mechanism_with_coins_is_attacked(part):
    kind = {"kind": Kind.SET, "max_set": 2} if part.most_set == 2 else {}
    question = Question(name="q", bins=part.bins, **kind)
    target = target_of(part, question, users=300, crowd=200, epsilon=3.0, count_flips=False)
    few = lab(runs=200, drawn=0)
    first, mix = run_attacks(target, few, selection.NAME)
    assert first.verdict is Verdict.CONSISTENT
    assert mix.verdict is not Verdict.VIOLATED
    planted = Device(sealed=unpadded)
    shown, _ = run_attacks(target, lab(runs=200, drawn=0, device=planted), selection.NAME)
    assert shown.case == "keeps back long bundles"


def test_plans_without_coins_and_later_mixes_have_no_such_row():
    whole = target_of(contracts.uniform(4, whole=1, coin=0), users=50, crowd=40, delta=0.09)
    assert selection.NAME not in attacks_on(whole)
    only = target_of(contracts.uniform(4, coin=SCALE // 2), users=50, crowd=40, hops=1, delta=0.09)
    assert [one.case for one in run_attacks(only, lab(runs=200), selection.NAME)] == [
        "sees lengths, which are all equal"
    ]


def law(users, arrive, whole, chance):
    """Number of fakes -> its probability, by the coins of all, as fractions."""
    found = Counter()
    for tossed in range(users + 1):
        weight = comb(users, tossed) * chance**tossed * (1 - chance) ** (users - tossed)
        found[arrive * whole + max(0, tossed - (users - arrive))] += weight
    return found


@pytest.mark.parametrize("draws", ["distribution", "code"])
def test_fakes_that_arrive_have_their_law(draws):
    """20,000 runs: each share within 6 of its standard deviations; false alarm below 1e-7."""
    runs, part = 20_000, contracts.uniform(4, whole=1, coin=SCALE // 3)
    who = SelectedSenders(part, 0, 4, 1, 6)
    wanted = law(6, 4, 1, Fraction(1, 3))
    chance, device = SeededChance(7), Device()
    if draws == "code":
        runs = 2_000
        seen = [sum(map(len, who.draw_own_fakes(part, chance, device))) for _ in range(runs)]
    else:
        seen = who.draw_fake_numbers(runs, Binomials(chance)).tolist()
    for number, share in wanted.items():
        share = float(share)
        spread = 6.0 * np.sqrt(share * (1.0 - share) / runs)
        assert abs(seen.count(number) / runs - share) <= spread
    assert set(seen) <= set(wanted)


@pytest.mark.parametrize("users", [1, 7, 60])
@pytest.mark.parametrize("rare", [1e-2, 1e-5])
def test_fewer_coins_than_counted_on_are_rare(users, rare):
    for part in (1, 5, 9):
        own, chance = OwnFakes(FakeRecord.UNIFORM, 0, SCALE * part // 10), Fraction(part, 10)
        least = _least_coins(users, own, rare)
        below = sum(
            share for number, share in law(users, users, 0, chance).items() if number < least
        )
        assert below <= rare


def test_no_fakes_leave_nothing():
    part = contracts.uniform(100, whole=0, coin=COIN)
    assert epsilon_of_certain_fakes({SelectedSenders(part, 0, 900, 1, 1000): 1}, 1e-6, lab()) == inf


def test_lengths_are_sealed_by_the_code_of_devices():
    part = contracts.flipped(9, own=OwnFakes(FakeRecord.BLANK, 2, 1))
    assert measure_bundle_lengths(part, lab()) == (4 * 98,) * 2
    assert measure_bundle_lengths(part, lab(device=Device(sealed=unpadded))) == (3 * 98, 4 * 98)
