"""Exact draws: what every word becomes, and the spread of many."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from helpers.scripted_chance import Scripted
from mixtally.errors import AccountingError
from mixtally.primitives import draw
from mixtally.primitives.chance import Keystream

KEY = b"32 bytes that never change here."
TOP = (1 << 64) - 1
ALARM = 1e-6


class TwoBits:
    """A planted bug: words of only four values, so that ties are common."""

    def __init__(self):
        self.stream = Keystream(KEY)

    def words(self, count):
        return self.stream.words(count) >> np.uint64(62)


def looks_uniform(counts):
    """Chi-square against equal chances; a uniform law is refused with probability 1e-6."""
    expected = sum(counts) / len(counts)
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    return statistic < stats.chi2.isf(ALARM, len(counts) - 1)


def cells(values, bound, count):
    return np.bincount(values // (bound // count), minlength=count).tolist()


def orders_of_four(shuffle, repeats=12_000):
    places = {order: i for i, order in enumerate(itertools.permutations(range(4)))}
    seen = [0] * len(places)
    for _ in range(repeats):
        seen[places[tuple(int(i) for i in shuffle())]] += 1
    return seen


@given(st.integers(1, (1 << 63) - 1), st.integers(0, TOP))
def test_an_accepted_word_becomes_its_remainder(bound, word):
    limit = (1 << 64) // bound * bound
    source = Scripted(word, 0)
    assert draw.draw_below(source, bound, 1).tolist() == [word % bound if word < limit else 0]
    assert len(source.left) == (1 if word < limit else 0)


@pytest.mark.parametrize("bound", [3, 5, 7, 10**7, (1 << 62) + 1, (1 << 63) - 1])
def test_every_remainder_has_equally_many_words(bound):
    """The last accepted word is the last of its round, the next one is drawn again."""
    limit = (1 << 64) // bound * bound
    assert limit <= TOP
    assert draw.draw_below(Scripted(limit - 1), bound, 1).tolist() == [bound - 1]
    assert draw.draw_below(Scripted(limit, TOP, 2), bound, 1).tolist() == [2]


@pytest.mark.parametrize("bound", [1, 2, 256, 1 << 62])
def test_a_power_of_two_rejects_nothing(bound):
    assert draw.draw_below(Scripted(TOP, 0), bound, 2).tolist() == [bound - 1, 0]


def test_rejected_words_are_replaced_in_their_place():
    limit = (1 << 64) // 5 * 5
    source = Scripted(limit, 1, TOP, 3, TOP, 4, 2)  # two fall out, one of their heirs as well
    assert draw.draw_below(source, 5, 4).tolist() == [2, 1, 4, 3]
    assert source.left == []


def test_no_draws_are_an_empty_array():
    assert draw.draw_below(Scripted(), 3, 0).shape == (0,)
    assert draw.draw_below(Scripted(), 3, 0).dtype == np.int64


@pytest.mark.parametrize("bound", [6, 60, 6 * 10**6, 3 << 61])
def test_draws_below_a_bound_are_uniform(bound):
    """Chi-square over six cells, false alarm 1e-6 (the key is fixed: it never alarms again)."""
    assert looks_uniform(cells(draw.draw_below(Keystream(KEY), bound, 60_000), bound, 6))


def test_a_remainder_without_rejection_is_seen():
    """The twin: with 3 * 2^61 values the first two cells of three get an extra half of words."""
    bound = 3 << 61
    biased = (Keystream(KEY).words(60_000) % np.uint64(bound)).astype(np.int64)
    assert not looks_uniform(cells(biased, bound, 6))


@given(st.sets(st.integers(0, 60) | st.integers(TOP - 60, TOP) | st.integers(0, TOP)))
def test_an_order_is_that_of_whole_keys_however_near_they_are(keys):
    """They come mixed up."""
    listed = np.array(sorted(keys, key=lambda key: key * 0x9E37_79B9 % 65_537), dtype=np.uint64)
    found = draw.draw_permutation(Scripted(*listed.tolist()), len(listed))
    assert found.tolist() == np.argsort(listed).tolist()
    assert found.dtype == np.intp


def test_a_permutation_is_the_order_of_its_keys():
    assert draw.draw_permutation(Scripted(50, TOP, 0, 7), 4).tolist() == [2, 3, 0, 1]


def test_a_tie_throws_all_keys_away():
    source = Scripted(5, 9, 5, 3, 1, 2)
    assert draw.draw_permutation(source, 3).tolist() == [1, 2, 0]
    assert source.left == []


@pytest.mark.parametrize(("count", "draws"), [(40, 102), (9000, 64)])
def test_words_that_repeat_for_ever_are_refused(count, draws):
    """A source of seventeen words: every draw has ties, and the end says why."""
    drawn = []

    class Repeating:
        def words(self, size):
            drawn.append(size)
            assert len(drawn) <= draws, "more was drawn than the bound allows"
            return np.resize(np.arange(17, dtype=np.uint64), size)

    with pytest.raises(AccountingError, match="repeat"):
        draw.draw_permutation(Repeating(), count)
    assert drawn == [count] * draws


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_one_thing_have_one_order(count):
    assert draw.draw_permutation(Keystream(KEY), count).tolist() == list(range(count))


def test_a_large_permutation_holds_every_number_once():
    order = draw.draw_permutation(Keystream(KEY), 100_000)
    assert np.array_equal(np.sort(order), np.arange(100_000))


def test_all_orders_of_four_are_equally_likely():
    """Chi-square over 24 orders, false alarm 1e-6."""
    chance = Keystream(KEY)
    assert looks_uniform(orders_of_four(lambda: draw.draw_permutation(chance, 4)))


def test_an_order_that_keeps_ties_is_seen():
    """The twin: keys of two bits, sorted without drawing ties again."""
    chance = TwoBits()
    assert not looks_uniform(orders_of_four(lambda: np.argsort(chance.words(4), kind="stable")))


def test_even_coarse_keys_give_a_uniform_order_when_ties_are_drawn_again():
    """Chi-square over 24 orders, false alarm 1e-6: distinct keys are all it takes."""
    chance = TwoBits()
    assert looks_uniform(orders_of_four(lambda: draw.draw_permutation(chance, 4), repeats=4000))


def test_a_table_is_cut_exactly_at_its_boundaries():
    cumulative = np.array([10, 1 << 63, TOP], dtype=np.uint64)
    words = [0, 9, 10, (1 << 63) - 1, 1 << 63, TOP - 1, TOP]
    got = draw.draw_from_table(Scripted(*words), cumulative, len(words))
    assert got.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert got.dtype == np.int64


def test_a_number_without_weight_is_never_drawn():
    cumulative = np.array([0, 5, 5], dtype=np.uint64)
    assert draw.draw_from_table(Scripted(0, 4, 5, TOP), cumulative, 4).tolist() == [1, 1, 3, 3]


def test_a_table_of_one_number_gives_that_number():
    assert draw.draw_from_table(Scripted(0, TOP), np.array([], dtype=np.uint64), 2).tolist() == [
        0,
        0,
    ]
