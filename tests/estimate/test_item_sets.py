"""Sets out of flipped bits: unbiased, errors as stated, no more false sets than stated."""

import numpy as np
import pytest

from helpers.named import flip_blank
from helpers.sampled import among
from mixtally.errors import ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.primitives.fixed_point import threshold_of
from mixtally.primitives.flips import flip
from mixtally.protocol.estimate.item_sets import (
    estimate_sets,
    patterns_of_pairs,
    set_intervals,
    set_significance,
)
from mixtally.protocol.tally.patterns import count_patterns

QUARTER = flip_blank(bins=4, fakes=0, threshold=threshold_of(0.25))


def shown_on_average(held, bits, q):
    """Patterns shown on average, written out bit by bit."""
    out = np.zeros(1 << bits)
    for x, people in enumerate(held):
        for y in range(1 << bits):
            differ = (x ^ y).bit_count()
            out[y] += people * q**differ * (1 - q) ** (bits - differ)
    return out


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_the_estimate_of_the_mean_is_the_truth(bits):
    held = [4**bits * (3 + 5 * x % 7) for x in range(1 << bits)]
    shown = shown_on_average(held, bits, 0.25)
    assert shown.tolist() == np.round(shown).tolist()
    found = estimate_sets(QUARTER, shown.astype(np.int64)[None])
    assert found.counts[0] == pytest.approx(held[-1], rel=1e-12)


def test_forgotten_debiasing_would_be_seen():
    held = [16000, 160, 320, 480]
    shown = shown_on_average(held, 2, 0.25)
    assert abs(shown[-1] - held[-1]) > 100


def test_pairs_give_the_same_patterns_as_counting_them():
    tally = np.array([[50, 20], [20, 30]])
    assert patterns_of_pairs(tally, np.array([[0, 1]]), 100).tolist() == [[40, 30, 10, 20]]


def play(mechanism, held, runs, seed):
    """Shown patterns of ``runs`` crowds, ``held`` people with each pattern of the first bits."""
    layout, chance = Layout(Form.BITS, mechanism.bins), SeededChance(seed)
    rows = np.repeat(np.arange(len(held), dtype=np.uint8), held)[:, None]
    bits = tuple(range((len(held) - 1).bit_length()))
    return np.concatenate([
        count_patterns(layout, flip(rows, mechanism.bins, mechanism.threshold, chance), [bits])
        for _ in range(runs)
    ])  # fmt: skip


@pytest.mark.parametrize("held", [[4000, 300, 200, 100], [4000, 90, 80, 50, 70, 60, 40, 30]])
@pytest.mark.parametrize("q", [0.02, 0.2])
def test_errors_are_as_stated(held, q):
    """False alarm: below 1e-5 a case.

    The mean of 400 standardized errors is within 5 / 20 of zero, their deviation within
    5 / sqrt(800) of one; plugged-in patterns add 0.03.
    """
    mechanism = flip_blank(bins=4, fakes=0, threshold=threshold_of(q))
    found = estimate_sets(mechanism, play(mechanism, held, 400, 7))
    off = (found.counts - held[-1]) / found.standard_error
    assert abs(off.mean()) < 5 / 20
    assert abs(off.std() - 1) < 5 / 800**0.5 + 0.03


HELD = {"pair": [6000, 900, 700, 0], "triple": [6000, 500, 400, 120, 300, 100, 90, 0]}
RATE, RUNS = 0.2, 400


@pytest.mark.parametrize("kind", HELD)
@pytest.mark.parametrize("q", [0.01, 0.1])
def test_sets_that_nobody_holds_are_marked_no_more_often_than_stated(kind, q):
    """False alarm: below 1e-6; at most 0.2 in truth, five standard errors above it are 0.1."""
    mechanism = flip_blank(bins=4, fakes=0, threshold=threshold_of(q))
    shown = play(mechanism, HELD[kind], RUNS, 11)
    marked = [set_significance(mechanism, one[None], rate=RATE)[0] for one in shown]
    assert np.mean(marked) < RATE + 5 * (RATE * (1 - RATE) / RUNS) ** 0.5


@pytest.mark.parametrize("kind", HELD)
def test_a_positive_estimate_is_no_evidence(kind):
    """The planted mistake: what is above zero is taken for held."""
    mechanism = flip_blank(bins=4, fakes=0, threshold=threshold_of(0.1))
    found = estimate_sets(mechanism, play(mechanism, HELD[kind], RUNS, 11))
    assert np.mean(found.counts > 0) > RATE + 0.1


def test_support_is_what_more_people_must_hold():
    mechanism = flip_blank(bins=4, fakes=0, threshold=threshold_of(0.01))
    shown = play(mechanism, [5000, 100, 100, 400], 1, 3)
    marks = [bool(set_significance(mechanism, shown, support=s)[0]) for s in (0, 200, 400, 600)]
    assert marks == [True, True, False, False]


def test_wrong_shapes_and_coins_are_refused():
    for shape in [(1, 3), (1, 1), (1, 512), (4,)]:
        with pytest.raises(ParameterError, match="patterns: expected"):
            estimate_sets(QUARTER, np.zeros(shape, dtype=np.int64))
    coin = flip_blank(bins=4, fakes=0, threshold=1 << 63)
    with pytest.raises(ParameterError, match="flip probability"):
        estimate_sets(coin, np.zeros((1, 4), dtype=np.int64))


def test_one_message_alone_marks_nothing():
    """Poisson's tail bounds the sum only above its mean plus one."""
    quiet = flip_blank(bins=2, fakes=0, threshold=threshold_of(1e-9))
    assert not set_significance(quiet, np.array([[10**6, 0, 0, 1]])).any()
    assert set_significance(quiet, np.array([[10**6, 0, 0, 2]])).all()


def test_sets_share_the_rate():
    """The least count that is marked rises with the number of sets looked at."""
    tiny = flip_blank(bins=2, fakes=0, threshold=threshold_of(0.01))
    alone = [set_significance(tiny, np.array([[40_000, 400, 400, c]]))[0] for c in range(60)]
    beside = [
        set_significance(tiny, np.tile([40_000, 400, 400, c], (500, 1)))[0] for c in range(60)
    ]
    assert 0 < alone.index(True) < beside.index(True)
    shared = [
        set_significance(tiny, np.array([[40_000, 400, 400, c]]), rate=0.05 / 500)[0]
        for c in range(60)
    ]
    assert beside.index(True) == shared.index(True)


@pytest.mark.parametrize("held", [*HELD.values(), [4000, 300, 200, 2000], [600, 5, 4, 3000]])
@pytest.mark.parametrize("q", among([0.01, 0.1, 0.25], [0.01, 0.25]))
def test_intervals_hold_as_often_as_stated(held, q):
    """False alarm: below 1e-6; each end misses with 0.1 at most, five errors above it are 0.075."""
    mechanism = flip_blank(bins=4, fakes=0, threshold=threshold_of(q))
    lower, upper = set_intervals(
        mechanism, play(mechanism, held, RUNS, 5), people=sum(held), rate=RATE, among=1
    )
    room = 5 * (RATE / 2 * (1 - RATE / 2) / RUNS) ** 0.5
    assert np.mean(lower > held[-1]) < RATE / 2 + room
    assert np.mean(upper < held[-1]) < RATE / 2 + room


def test_an_interval_begins_after_what_the_test_rejects():
    """A set is marked at a support exactly when its lower end is above it."""
    mechanism = flip_blank(bins=4, fakes=0, threshold=threshold_of(0.02), repeats=2)
    shown = play(mechanism, [4000, 300, 200, 100], 5, 3)
    lower, upper = set_intervals(mechanism, shown, people=4600, rate=0.1, among=7)
    assert (lower > 0).all()
    assert (upper > lower).all()
    for support in (0, *lower.tolist(), *(lower - 1).tolist()):
        marked = set_significance(mechanism, shown, support=support, rate=0.05, among=7)
        assert marked.tolist() == (lower > support).tolist()


def test_exact_messages_give_exact_ends():
    quiet = flip_blank(bins=2, fakes=0, threshold=1 << 24)
    lower, upper = set_intervals(quiet, np.array([[50, 0, 0, 40], [90, 0, 0, 0]]), people=90)
    assert (lower.tolist(), upper.tolist()) == ([39, 0], [40, 0])  # one may be another's flips
