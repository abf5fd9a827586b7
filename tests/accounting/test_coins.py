"""Coins: the average over all numbers of fakes lies between its bounds, however it is cut."""

import math
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise

import pytest
from scipy import stats

from helpers.named import clear_uniform as clear_uniform_of
from helpers.sampled import among, covering
from mixtally.accounting.divergence import clear_uniform, flip_blank
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.coins import Fakes
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from oracle import matrix_of, worst

CASES = [
    (people, whole, coin)
    for people in (2, 40, 3_000)
    for whole in (0, 1)
    for coin in (1, SCALE // 100, SCALE // 3, SCALE - SCALE // 9, SCALE - 1)
]


def flips(fakes):
    return flip_blank.delta(fakes, SCALE // 30, 0.7)


def clear(fakes, bins=6):
    return clear_uniform.delta(fakes, bins, 0.7)


@cache
def exactly(people, whole, coin, delta):
    """E[delta(K)] over every K that is likelier than 1e-18."""
    coins = stats.binom(people, coin / SCALE)
    low, high = int(coins.ppf(1e-18)), int(coins.isf(1e-18))
    chances = coins.pmf(range(low, high + 1))
    whole *= people
    return math.fsum(
        chance * sum(delta(whole + k)) / 2 for k, chance in enumerate(chances, low) if chance > 0
    )


SAMPLE = pytest.mark.parametrize(
    ("people", "whole", "coin", "delta"),
    covering(
        [(*case, delta) for case in CASES for delta in (flips, clear)],
        lambda people, _whole, _coin, _delta: people < 3_000,
    ),
)


@SAMPLE
def test_the_average_lies_between_its_bounds(people, whole, coin, delta):
    case = people, whole, coin
    true, fakes = exactly(*case, delta), Fakes(*case)
    bounds = fakes.average(delta, one_pair=True)
    assert bounds.lower <= true * (1 + 1e-8)
    assert true <= bounds.upper * (1 + 1e-8)
    assert bounds.upper <= bounds.lower * 1.0021 + 1e-12


@pytest.mark.parametrize("bins", [3, 6, 5000])
@pytest.mark.parametrize("case", CASES)
def test_in_clear_the_average_is_one_sum(case, bins):
    """To all digits, where every number of fakes is looked at by itself."""
    people, whole, coin = case
    true = exactly(people, whole, coin, partial(clear, bins=bins))
    found = clear_uniform.average_over_coins(people * whole, bins, 0.7, (people, coin / SCALE))
    assert found.lower <= true * (1 + 1e-9) + 1e-16
    assert true <= found.upper * (1 + 1e-9) + 1e-16
    assert found.upper <= found.lower * (1 + 1e-8) + 1e-15


def test_in_clear_the_average_is_that_of_every_number_in_fractions():
    """Three people: every outcome of two cells and all others, K seen."""
    coin, bins, grow = Fraction(1, 4), 3, Fraction(2)
    true = Fraction(0)
    for more in range(4):
        chance = math.comb(3, more) * coin**more * (1 - coin) ** (3 - more)
        among = matrix_of(clear_uniform_of(bins=bins, fakes=3 + more))
        true += chance * worst(among, [grow])[0]
    found = clear_uniform.average_over_coins(3, bins, math.log(grow), (3, 0.25))
    assert found.lower <= true <= found.upper
    assert float(true) == pytest.approx(found.upper, rel=1e-8)


def test_too_many_fakes_and_two_bins_are_not_summed():
    assert clear_uniform.average_over_coins(9, 2, 1.0, (10, 0.5)) is None
    assert clear_uniform.average_over_coins(10**10, 4, 1.0, (10**10, 0.5)) is None
    assert clear_uniform.average_over_coins(0, 4, 1.0, (10**6, 0.5)) is not None


def test_two_worlds_that_take_turns_have_no_average_of_the_larger():
    """One is worse while fakes are few, the other while they are many."""
    fakes = Fakes(100, 0, SCALE // 2)

    def steep(k):
        return Bracket(*[0.1 * 0.9 ** (k - 50)] * 2)

    def flat(k):
        return Bracket(*[0.1 * 0.99 ** (k - 50)] * 2)

    def worse(k):
        return max(steep(k), flat(k))

    true = max(exactly(100, 0, SCALE // 2, steep), exactly(100, 0, SCALE // 2, flat))
    assert true < fakes.average(worse, one_pair=True).lower
    bounds = fakes.average(worse, one_pair=False)
    assert 0.5 * true < bounds.lower <= true <= bounds.upper


@SAMPLE
def test_few_cells_bound_the_average(people, whole, coin, delta):
    case = people, whole, coin
    true, fakes = exactly(*case, delta), Fakes(*case)
    coarse = fakes.average_upper(lambda k: delta(k).upper, 1e-9)
    assert true * (1 - 1e-8) <= coarse <= true * 1.25 + 2e-9


@pytest.mark.parametrize("case", CASES)
def test_cells_hold_every_number_once(case):
    for cells in (Fakes(*case).cells(2.0), Fakes(*case).few_cells(1e-9)):
        assert cells[0].least == case[0] * case[1]
        assert cells[-1].most == case[0] * (case[1] + 1)
        assert all(a.most + 1 == b.least for a, b in pairwise(cells))
        assert 1.0 <= sum(cell.chance for cell in cells) <= 1.0 + 1e-9


@SAMPLE
def test_one_look_is_below_the_average(people, whole, coin, delta):
    case = people, whole, coin
    true, looked = exactly(*case, delta), []

    def lower(k):
        looked.append(k)
        return delta(k).lower

    found = Fakes(*case).average_lower(lower)
    assert 0.0 < found <= true
    assert len(looked) == 1


MANY = [(3_000_000, 0, SCALE // 13), (40_000, 5, SCALE // 2)]


@pytest.mark.parametrize("case", among(MANY, MANY[1:]))
def test_numbers_that_are_nearly_alike_are_one_cell(case):
    def falling(k):
        return min(1.0, math.exp(-9.0 * k / (case[0] * (case[1] + case[2] / SCALE))))

    fakes, true = Fakes(*case), exactly(*case, lambda k: (falling(k), falling(k)))
    assert len(fakes.few_cells(1e-7)) == 2
    assert true <= fakes.average_upper(falling, 1e-7) <= true * 1.2
    assert true <= fakes.average_upper(lambda k: falling(k) if k else 1.0, 1e-2)


def test_cells_that_bring_next_to_nothing_are_not_looked_at():
    """Their part is that of the cell before, whose fakes are fewer."""

    def steep(k):
        looked.append(k)
        return min(1.0, math.exp(-0.2 * (k - 820)))

    looked, fakes = [], Fakes(3_000, 0, SCALE // 3)
    found = fakes.average_upper(steep, 1e-12)
    assert len(looked) < len(fakes.few_cells(1e-12)) - 2
    every = math.fsum(cell.chance * steep(cell.least) for cell in fakes.few_cells(1e-12))
    assert every < found < every * (1.0 + 2e-4)
    assert exactly(3_000, 0, SCALE // 3, lambda k: (steep(k), steep(k))) <= found


@pytest.mark.parametrize("case", among(MANY, MANY[1:]))
def test_the_unlikely_fewest_count_in_full(case):
    fakes = Fakes(*case)
    step = fakes.few_cells(0.2)[0].most + 1

    def falling(k):
        return 1.0 if k < step else 0.0

    true = exactly(*case, lambda k: (falling(k), falling(k)))
    assert 0.1 < true <= fakes.average_upper(falling, 0.2) <= 0.2 + 1e-9


def test_no_coin_is_one_number():
    assert Fakes(7, 3, 0).average(flips, one_pair=True) == pytest.approx(flips(21))
    assert [tuple(cell) for cell in Fakes(7, 3, 0).few_cells(0.1)] == [(21, 21, 1.0)]


def test_chances_that_do_not_add_up_stop_the_work(plant):
    plant(tails, "pmf", lambda honest, *args: 0.999 * honest(*args))
    with pytest.raises(AccountingError, match="add up to one"):
        Fakes(3_000, 0, SCALE // 3).average(flips, one_pair=True)
