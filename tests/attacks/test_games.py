"""The statistics are the likelihood ratios they claim to be, the games those that are bounded."""

import math
from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from attacks.conftest import upper
from attacks.mechanisms import flipped, uniformly
from attacks.mechanisms import game as game_of
from helpers.named import (
    clear_paired,
    clear_uniform,
    flip_bits,
    flip_blank,
    flip_uniform,
    single_bit,
)
from helpers.named import clear_shaped as in_clear_among_shaped
from mixtally.accounting.divergence import clear_shaped, repeats, vectors
from mixtally.accounting.divergence.single_bit import delta as single_bit_delta
from mixtally.accounting.numerics.flip_ratios import Orbit
from mixtally.lab.attacks import uniform_flips
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.game import play
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.uniform_flips import UniformFlipsGame
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.protocol.randomize import draw_part_fakes

EPSILON = 0.5


def pmf(record, seen, q):
    """P[flipped record = seen]."""
    return math.prod(q if a != b else 1 - q for a, b in zip(record, seen, strict=True))


def multiset(records, seen, q):
    """Likelihood of messages in this order when they were shuffled, up to a constant."""
    return sum(
        math.prod(pmf(r, s, q) for r, s in zip(order, seen, strict=True))
        for order in permutations(records)
    )


def statistic_of(game, rows):
    return float(game._statistics(game._counts(rows)[None])[0])


@pytest.mark.parametrize(
    ("people", "fakes_sent", "x"), [(3, 0, (1, 0, 0)), (0, 3, (0, 0, 0)), (3, 0, (0, 1, 1))]
)
def test_the_statistic_is_the_log_likelihood_ratio(people, fakes_sent, x):
    u, v, q = (0, 1, 0), (0, 0, 1), 0.3
    game = flipped(q, x, u, v, people, fakes_sent)
    others = [x] * people + [(0, 0, 0)] * fakes_sent
    for seen in product(product((0, 1), repeat=3), repeat=4):
        if seen != tuple(sorted(seen)):
            continue
        rows = np.packbits(np.array(seen, dtype=np.uint8), axis=1, bitorder="little")
        wanted = math.log(multiset([*others, u], seen, q) / multiset([*others, v], seen, q))
        assert statistic_of(game, rows) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("forgotten", [False, True])
def test_the_statistic_among_uniform_fakes_is_the_log_likelihood_ratio(forgotten, monkeypatch):
    """The twin takes fakes for blanks, as if they set no bit of their own."""
    u, v, q = (1, 0, 0), (0, 1, 0), 0.2
    game = uniformly(q, 3, 0, 2)
    if forgotten:
        blank = flipped(q, (0, 0, 0), u, v, 0, 2)
        monkeypatch.setattr(UniformFlipsGame, "_counts", lambda _, rows: blank._counts(rows))
        monkeypatch.setattr(UniformFlipsGame, "_statistics", lambda _, c: blank._statistics(c))
    wrong = 0
    for seen in product(product((0, 1), repeat=3), repeat=3):
        if seen != tuple(sorted(seen)):
            continue
        rows = np.packbits(np.array(seen, dtype=np.uint8), axis=1, bitorder="little")
        in_u, in_v = (
            sum(multiset([*sent, own], seen, q) for sent in product(np.eye(3), repeat=2))
            for own in (u, v)
        )
        found = statistic_of(game, rows)
        wrong += found != pytest.approx(math.log(in_u / in_v), abs=1e-9)
    assert (wrong > 0) is forgotten


def test_what_is_seen_of_a_fake_is_what_its_first_positions_show():
    """Eight of 30 positions, 40,000 fakes: each count within five deviations, chance 1e-5."""
    q, runs, device, chance = 0.1, 40_000, Device(), SeededChance(3)
    senders = uniformly(q, 30, 0, runs).senders
    rows = np.concatenate(list(senders.draw_fakes(8, chance, device)))
    assert rows.shape == (runs, 1)
    shown = q + (1 - 2 * q) / 30
    sizes = np.bincount(np.bitwise_count(rows[:, 0]), minlength=9)
    for bit in range(8):
        assert agrees_with(int((rows[:, 0] >> bit & 1).sum()), runs, shown)
    ones = (8 * (q * (1 - q) ** 7) * 22 + 8 * ((1 - q) ** 8 + 7 * q**2 * (1 - q) ** 6)) / 30
    assert agrees_with(int(sizes[1]), runs, ones)


@pytest.mark.parametrize("forgotten", [False, True])
@pytest.mark.parametrize(("bins", "view"), [(2, 2), (3, 3), (30, 8), (8, 8)])
def test_kinds_come_as_often_as_their_distribution_says(bins, view, forgotten, monkeypatch):
    """40,000 fakes, each kind within five deviations and a half: chance 1e-5 over all. The twin
    takes fakes for blanks.
    """
    q, runs, device, chance = 0.1, 40_000, Device(), SeededChance(5)
    monkeypatch.setattr(uniform_flips, "_NARROW", 8)
    monkeypatch.setattr(uniform_flips, "_WIDE", 8)
    game = uniformly(q, bins, 3, runs)
    assert game.view == view
    pmf = game._pmf(None) if forgotten else game._fake_pmf
    assert pmf.sum() == pytest.approx(1.0, abs=1e-12)
    rows = np.concatenate(list(game.senders.draw_fakes(view, chance, device)))
    seen = game._counts(rows)
    off = np.abs(seen - runs * pmf) > 5.5 * np.sqrt(runs * pmf * (1 - pmf)) + 1.0
    assert off.any() is np.bool_(forgotten)
    for code in (0, 1, min(2, bins - 1)):
        record = tuple(int(place == code) for place in range(view))
        seen = game._counts(game.senders.draw_reports(record, runs, chance, device))
        pmf = game._pmf(code)
        assert (np.abs(seen - runs * pmf) <= 5.5 * np.sqrt(runs * pmf * (1 - pmf)) + 1.0).all()


def agrees_with(hits, trials, chance):
    return abs(hits - trials * chance) < 5.0 * math.sqrt(trials * chance * (1 - chance))


def repeated(own, seen, q):
    """Likelihood when two people sent their record twice each, shuffled, up to a constant."""
    return multiset([(0, 0), (0, 0), own, own], seen, q)


def test_repeats_are_weighed_by_pairs_of_messages():
    """Two messages a person, four in the batch, every multiset of them."""
    u, v, q = (1, 0), (1, 1), 0.2
    game = flipped(q, (0, 0), u, v, 1, 0, times=2)
    for seen in product(product((0, 1), repeat=2), repeat=4):
        if seen != tuple(sorted(seen)):
            continue
        rows = np.packbits(np.array(seen, dtype=np.uint8), axis=1, bitorder="little")
        wanted = math.log(repeated(u, seen, q) / repeated(v, seen, q))
        assert statistic_of(game, rows) == pytest.approx(wanted, abs=1e-9)


def test_wide_messages_are_counted_as_narrow_ones():
    """More than eight positions take another way through the same kinds."""
    u, v = (1,) * 3 + (0,) * 3, (0,) * 3 + (1,) * 3
    narrow = flipped(0.2, (0,) * 6, u, v, 0, 20)
    wide = flipped(0.2, (0,) * 9, (*u, 0, 0, 0), (*v, 0, 0, 0), 0, 20)
    rows = np.arange(64, dtype=np.uint8)[:, None]
    padded = np.concatenate([rows, rows * 0], axis=1)
    a, b = statistic_of(narrow, rows), statistic_of(wide, padded)
    assert b == pytest.approx(a, abs=1e-9)


def deltas(u, v):
    """delta(EPSILON) as the mean of (1 - e^(eps - L))_+ in the world of the statistic L.

    Both directions; each with its standard error.
    """
    parts = [np.maximum(0.0, -np.expm1(EPSILON - statistic)) for statistic in (u, -v)]
    return [(part.mean(), part.std() / math.sqrt(len(part))) for part in parts]


def measured(game, lab, runs, **parts):
    worlds = play(game, lab(runs=runs, **parts), "test")
    return deltas(worlds.u, worlds.v)


def measured_by_pmf(game, lab, runs):
    """The same with counts drawn from their distribution."""
    return deltas(*game.draw_from_distribution(runs, Binomials(lab().chance)))


def agrees(found, wanted):
    """Whether the larger direction is what was bounded: five standard errors, chance 1e-6."""
    mean, error = max(found)
    return abs(mean - wanted) < 5.0 * error


CASES = {
    "flip-blank": (
        flip_blank(bins=7, fakes=400, threshold=threshold_of(0.05)), 0, 400,
        lambda p: upper(p, EPSILON),
    ),
    "flip-blank, sets": (
        flip_blank(bins=4, fakes=400, threshold=threshold_of(0.2), max_set=2), 0, 400,
        lambda p: vectors.orbit_delta(401, Orbit(2, 2, 0), p.threshold, EPSILON).upper,
    ),
    "crowd alike": (
        flip_blank(bins=7, fakes=0, threshold=threshold_of(0.15), crowd=500), 499, 0,
        lambda p: vectors.orbit_delta(500, Orbit(1, 1, 1), p.threshold, EPSILON).upper,
    ),
    "two bins": (
        flip_blank(bins=2, fakes=0, threshold=threshold_of(0.15), crowd=500), 499, 0,
        lambda p: vectors.homogeneous_delta(500, 2, p.threshold, EPSILON).upper,
    ),
    "flip-uniform": (
        flip_uniform(bins=5, fakes=150, threshold=threshold_of(0.05)), 0, 150,
        lambda p: upper(p, EPSILON),
    ),
    "flip-uniform, hardly flipped": (
        flip_uniform(bins=2, fakes=60, threshold=threshold_of(0.001)), 0, 60,
        lambda p: upper(p, EPSILON),
    ),
    "clear-uniform": (
        clear_uniform(bins=9, fakes=180), 0, 180, lambda p: upper(p, EPSILON),
    ),
    "single-bit": (
        single_bit(fakes=100, threshold=threshold_of(0.05), crowd=200), 199, 100,
        lambda p: single_bit_delta(200, 100, p.threshold, EPSILON, ones=0).upper,
    ),
    "vector": (
        flip_bits(bins=3, threshold=threshold_of(0.15), crowd=300), 299, 0,
        lambda p: vectors.worst_homogeneous_delta(300, 3, p.threshold, EPSILON).upper,
    ),
}  # fmt: skip


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_the_game_is_the_one_that_is_priced(name, lab):
    """The nine cases together fail by chance with probability 1e-5."""
    mechanism, people, sent, wanted = CASES[name]
    assert agrees(measured(game_of(mechanism, people, sent), lab, 2000), wanted(mechanism))


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_the_distribution_is_the_one_that_is_priced(name, lab):
    """A hundred times as many runs; seven cases fail by chance with probability 1e-5."""
    mechanism, people, sent, wanted = CASES[name]
    game = game_of(mechanism, people, sent, EPSILON)
    assert agrees(measured_by_pmf(game, lab, 200_000), wanted(mechanism))


@pytest.mark.parametrize("play_it", [pytest.param("code", marks=pytest.mark.seconds), "law"])
def test_repeats_are_the_ones_that_are_priced(play_it, lab):
    """One bit sent three times by a hundred people, all mixed together; five standard errors."""
    game = flipped(0.1, (0,), (1,), (0,), 99, 0, times=3)
    found = measured(game, lab, 2000) if play_it == "code" else measured_by_pmf(game, lab, 200_000)
    rounds = repeats.MessageKind([(99, 0.1)], 0.9, 0.1)
    assert agrees(found, repeats.lower_bound([rounds], EPSILON, 3))


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_a_tenth_more_hiding_messages_would_be_seen(name, lab):
    """The twin: a tenth more messages hide the person."""
    mechanism, people, sent, wanted = CASES[name]
    game = game_of(mechanism, people * 11 // 10, sent * 11 // 10, EPSILON)
    assert not agrees(measured_by_pmf(game, lab, 200_000), wanted(mechanism))


def test_shaped_fakes_are_the_ones_that_are_priced(lab):
    """A decay that tells two bins apart; five standard errors."""
    mechanism = in_clear_among_shaped(bins=30, ratio=ratio_of(0.4), shift=6)
    wanted = clear_shaped.delta(mechanism.shaped_fakes.shape.weights, EPSILON).upper
    assert agrees(measured(game_of(mechanism, 0, 0), lab, 2000), wanted)


@pytest.mark.parametrize("mixes", [1, 2])
def test_paired_fakes_are_the_ones_that_are_priced(mixes, lab):
    """By two mixes the table is that of both numbers; five standard errors."""
    mechanism = clear_paired(ratio=ratio_of(1.3), shift=4, mixes=mixes)
    one = [Fraction(weight, SCALE) for weight in mechanism.shaped_fakes.shape.weights]
    law = one
    for _ in range(mixes - 1):
        law = [
            sum(one[k] * law[j - k] for k in range(len(one)) if 0 <= j - k < len(law))
            for j in range(len(one) + len(law) - 1)
        ]
    grow = Fraction(math.exp(EPSILON))
    wanted = float(sum(max(0, p - grow * q) for p, q in pairwise((0, *law, 0))))
    game = game_of(mechanism, 0, 0, mixes=mixes)
    assert agrees(measured(game, lab, 2000), wanted)


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["flip-blank", "clear-uniform"])
def test_missing_fakes_would_be_seen(name, lab):
    """The twin: a device that sends half the fakes is no longer the game that is bounded."""
    mechanism, people, sent, wanted = CASES[name]

    def lazy(part, people, chance):
        return draw_part_fakes(part, people // 2, chance)

    found = measured(game_of(mechanism, people, sent), lab, 3000, device=Device(fakes=lazy))
    assert not agrees(found, wanted(mechanism))


@pytest.mark.seconds
def test_a_wrong_likelihood_would_be_seen(lab):
    """The twin: twice the log-likelihood ratio is none."""
    mechanism, people, sent, wanted = CASES["flip-blank"]
    game = game_of(mechanism, people, sent)
    right = game._statistics
    object.__setattr__(game, "_statistics", lambda counts: 2.0 * right(counts))
    assert not agrees(measured(game, lab, 2000), wanted(mechanism))


def test_large_batches_are_not_shuffled_and_say_so(lab):
    small = game_of(flip_blank(bins=3, fakes=100, threshold=SCALE // 10), 0, 100)
    large = game_of(flip_blank(bins=3, fakes=9000, threshold=SCALE // 10), 0, 9000)
    assert small.setting.played.endswith("; shuffled")
    assert "not shuffled" in large.setting.played
    shuffled = []
    device = Device(shuffle=lambda batch, _: shuffled.append(len(batch)) or batch)
    for game in (small, large):
        game.draw(lab().chance, device)
    assert shuffled == [101, 101]
