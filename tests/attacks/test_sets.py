"""Games of sets in clear are the likelihood ratios they claim to be, and see broken devices."""

import math
from fractions import Fraction

import numpy as np
import pytest
from msgspec import structs

from accounting import brute_sets as brute
from accounting.test_replaced_sets import sent, together
from helpers.contracts import over_planes, replaced, shaped, uniform
from mixtally.accounting.accountant import Accountant, Record
from mixtally.lab.attacks.clear_games import ShapedGame
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.game import ComposedGame
from mixtally.lab.attacks.games import game_among, game_of
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.set_game import SetGame
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.shape import ratio_of
from mixtally.protocol.randomize import randomize_records, sets
from oracle import scenes

BINS, SIZE = 3, 2


PLANES = over_planes(40, 5, most_set=SIZE, whole=1, coin=0)


REPLACED = replaced(6, most_set=SIZE, share=0.5)
THE_SAME = replaced(3, most_set=SIZE, share=0.5)
OVER = over_planes(40, 7, most_set=SIZE, coin=0, share=0.5)


def game(honest=3, bins=BINS, size=SIZE, part=None):
    part = part or uniform(bins, most_set=size, whole=1, coin=0)
    return game_of(Senders(part, 0 if part.replaced is None else honest, honest))


def test_the_statistic_is_the_log_likelihood_ratio():
    found, cells = game(), BINS + SIZE
    assert isinstance(found, SetGame)
    full, empty = next(scenes(brute.among([(0, 1), (3, 4)], [brute.fake(cells)] * 3)))
    for packed in {*full, *empty}:
        counts = tuple(packed.to_bytes(cells, "little"))
        rows = found.senders.part.layout.rows(np.repeat(np.arange(cells), counts))
        statistic = float(found._statistics(found._counts(rows)[None])[0])
        ratio = full.get(packed, 0), empty.get(packed, 0)
        wanted = -math.inf if not ratio[0] else math.inf if not ratio[1] else math.log(
            ratio[0] / ratio[1]
        )  # fmt: skip
        assert statistic == pytest.approx(wanted, abs=1e-12)


def shares(played, bounds=(-1.0, 0.0, 1.0)):
    return np.array([(played > bound).mean() for bound in bounds])


def played(device, runs=2000, part=None):
    found, chance = game(honest=40, part=part), SeededChance(3)
    return np.array([found.draw(chance, device) for _ in range(runs)]).T


def alike(device, part=None):
    """False alarm: below 10^-6, six shares within six deviations of each other."""
    code = played(device, part=part)
    law = game(honest=40, part=part).draw_from_distribution(100_000, Binomials(SeededChance(4)))
    off = [np.abs(shares(a) - shares(b)) for a, b in zip(code, law, strict=True)]
    return bool((np.array(off) < 6 * 0.5 / math.sqrt(2000)).all())


@pytest.mark.parametrize("part", [None, PLANES, REPLACED, THE_SAME, OVER])
def test_counts_from_the_distribution_are_those_of_the_code(part):
    assert alike(Device(), part)


def test_the_twin_whose_members_meet_is_caught(plant):
    """Over planes a message in a direction in which the line meets is none of the game's."""
    plant(sets, "_find_collisions", lambda honest, *given: ~honest(*given))
    assert not alike(Device(), PLANES)


def test_the_twin_whose_pads_are_bins_is_caught():
    def reports(part, records, chance):
        codes = part.layout.codes(randomize_records(part, records, chance))
        return part.layout.rows(np.where(codes < part.bins, codes, codes - part.bins))

    assert not alike(Device(reports=reports))


def test_the_twin_that_replaces_nothing_is_caught():
    def reports(part, records, chance):
        fakes = OwnFakes(FakeRecord.UNIFORM, 1, 0)
        return randomize_records(structs.replace(part, replaced=None, own=fakes), records, chance)

    assert not alike(Device(reports=reports), REPLACED)


def told(found, grow):
    """What the best threshold of the game's statistic tells, and the truth, by every outcome."""
    laws = []
    for own in ((0, 1), (6, 7)):
        seen = together([sent((2, 3), 8, Fraction(1, 2)), sent(own, 8, Fraction(1, 2))])
        laws.append({np.bincount(one, minlength=8).tobytes(): float(p) for one, p in seen.items()})
    u, v = laws
    every = sorted({*u, *v})
    counts = np.array([np.frombuffer(one, dtype=np.int64) for one in every])
    kinds = np.column_stack([counts[:, [0, 1, 6, 7]], counts[:, 2:6].sum(axis=1)])
    statistic = found._statistics(kinds)
    gaps = np.array([u.get(one, 0.0) - grow * v.get(one, 0.0) for one in every])
    best = max(gaps[statistic >= bound].sum() for bound in np.unique(statistic))
    return best / gaps[gaps > 0].sum()


def test_among_replaced_messages_the_statistic_is_nearly_the_best():
    found = game(honest=1, part=REPLACED)
    for grow in (1.2, 3.0, 10.0):
        assert told(found, grow) > 0.95


def test_without_fakes_everything_is_told():
    u, v = game(honest=0).draw(SeededChance(1), Device())
    assert (u, v) == (math.inf, -math.inf)


SHAPED, EPSILON, RUNS = shaped(12, ratio=ratio_of(0.3), shift=9, most_set=3), 1.0, 400_000


def revealed(times):
    """The mean of (1 - e^(eps - L))_+ in the games of that many messages, and five deviations."""
    one = game_among({Senders(SHAPED, 0, 0, 1): 1})
    assert isinstance(one, ComposedGame)
    ((message, many),) = one.games
    assert isinstance(message, ShapedGame)
    u, _ = ComposedGame(((message, times or many),)).draw_runs(RUNS, SeededChance(5), Device())
    told = np.maximum(0.0, -np.expm1(EPSILON - u))
    return told.mean(), 5.0 * told.std() / math.sqrt(RUNS)


@pytest.mark.parametrize(("times", "held"), [(None, True), (1, False), (2, False)])
def test_among_shaped_fakes_all_messages_of_a_set_are_played(times, held):
    """False alarm: below 10^-6. The twins play fewer of its three messages."""
    found, error = revealed(times)
    record = Record.of(SHAPED.mechanism(fakes=0))
    lower, upper = Accountant().delta(record, EPSILON).bounds
    assert bool(lower - error <= found <= upper + error) is held


def test_whoever_is_hidden_by_no_mix_plays_the_set_itself():
    alone = game_among({Senders(SHAPED, 0, 0, 0): 1})
    assert isinstance(alone, SetGame)
    assert alone.draw(SeededChance(1), Device()) == (math.inf, -math.inf)
