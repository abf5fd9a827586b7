"""Attacks on sampled slots: the ratio in fractions, and devices that are broken on purpose."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from accounting.test_sampled_slots import law_of
from helpers import contracts as c
from mixtally.accounting.accountant import Accountant
from mixtally.lab.attacks import AttackLab, Verdict, run_attacks
from mixtally.lab.attacks.audit import find_failures
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.games import game_of
from mixtally.lab.attacks.randomizer import clear_checks
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.set_game import SlotsGame, sum_of_products
from mixtally.lab.attacks.target import target_of_plan
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.question import Kind, Question
from mixtally.protocol.randomize import parts, randomize_records

CHOSEN = Question(name="q", bins=20, kind=Kind.SET, max_set=4)
FREE = Question(name="q", bins=5, kind=Kind.BITS)
PARTS = {
    "set": c.sampled(20, 4, whole=1, coin=0),
    "two of a set": c.sampled(20, 4, 2, whole=1, coin=0),
    "bits": c.sampled(10, 5, whole=1, coin=0, full=True),
}


@pytest.mark.parametrize("slots", [1, 2])
def test_the_statistic_is_the_ratio_of_the_laws(slots):
    part = c.sampled(6, 3, slots, full=True)
    game = game_of(Senders(part, 0, 2))
    assert isinstance(game, SlotsGame)
    u, v = (law_of(cells, 6, 3, slots) for cells in ((0, 1, 2), (3, 4, 5)))
    for counts in {*u, *v}:
        found = float(game._statistics(np.array([[*counts, 0]]))[0])
        p, q = u.get(counts, 0), v.get(counts, 0)
        true = math.log(p / q) if p and q else math.inf if p else -math.inf
        assert found == pytest.approx(true, abs=1e-12)


def test_sums_of_products():
    counts = np.array([[1.0, 2.0, 5.0, 7.0]])
    for size in range(5):
        true = sum(math.prod(chosen) for chosen in combinations(counts[0], size))
        assert sum_of_products(counts, size)[0] == true


def wrong(part, records, chance):
    """Planted: the first cells of a record are sent each time."""
    return part.layout.rows(parts._cells(part, records)[:, : part.slots].reshape(-1))


def pads_in_one_bin(part, records, chance):
    codes = part.layout.codes(randomize_records(part, records, chance))
    return part.layout.rows(np.minimum(codes, part.bins))


def another_record(part, records, chance):
    codes = part.layout.codes(randomize_records(part, records, chance))
    return part.layout.rows((codes + 1) % part.layout.bins)


@pytest.mark.parametrize("name", PARTS)
def test_the_randomizer_passes_and_broken_ones_do_not(name):
    """False alarm: 10^-6."""
    lab = AttackLab(SeededChance(3), 1e-6, accountant=Accountant())

    def failed(device):
        checks, _ = clear_checks("", PARTS[name], replace(lab, device=device), 8_000)
        return bool(find_failures(checks, 1e-6)[0])

    assert not failed(Device())
    assert failed(Device(reports=wrong))
    assert failed(Device(reports=another_record))
    assert name == "bits" or failed(Device(reports=pads_in_one_bin))


def outcomes(question, part, device=None, **more):
    plan = c.proved(c.plan_of(question, [part], users=300))
    lab = AttackLab(SeededChance(3), 1e-4, runs=3000, accountant=Accountant(), **more)
    lab = lab if device is None else replace(lab, device=device)
    return {
        attack: run_attacks(target_of_plan(plan), lab, attack)
        for attack in ("tell-apart", "poisoning")
    }


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("question", "part"),
    [
        (CHOSEN, c.sampled(20, 4, coin=1 << 62)),
        (CHOSEN, c.sampled(20, 4, 2, whole=1, coin=0)),
        (FREE, c.sampled(10, 5, full=True, drawn=30)),
    ],
)
def test_the_promise_is_kept(question, part):
    for found in outcomes(question, part).values():
        assert all(one.verdict is Verdict.CONSISTENT for one in found)
        assert all(one.attacked > 0.0 for one in found) or part.slots == 2


def test_a_device_without_fakes_is_caught():
    def bare(part, people, chance):
        return part.layout.blank_rows(0), 0

    found = outcomes(CHOSEN, c.sampled(20, 4, coin=1 << 62), Device(fakes=bare))
    assert any(one.verdict is Verdict.VIOLATED for one in found["tell-apart"])


@pytest.mark.seconds
def test_one_lie_moves_a_bin_by_the_slots_of_a_record():
    (found,) = outcomes(CHOSEN, c.sampled(20, 4, coin=1 << 62))["poisoning"]
    assert found.attacked == pytest.approx(4.0)
    assert found.promised == Fraction(4)
