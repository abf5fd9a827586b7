"""Messages with two outputs against every small crowd, in fractions, and against known numbers."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from helpers.named import kary_response as made
from helpers.sampled import covering, each
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.divergence import Bound, ObservedMessage, kary_response, two_outputs
from mixtally.accounting.divergence.two_outputs import TwoOutputMessage
from mixtally.accounting.numerics.binomial_pairs import (
    BitChances,
    add_own_bits,
    divergence,
    exchange_divergence,
    prepare_pair,
)
from mixtally.model.mechanism import Parameter
from mixtally.model.mechanism.kary_response import replacement_threshold
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from oracle import Collection, exp_exactly, worst

HALF = Fraction(1, 2)
CLOSE = 1.0 + 1.1e-3
"""How far above the truth an upper end may lie."""


def truth(values, users, fakes, grow, *, pairs=None, crowds=None):
    """Return delta over all crowds, values of the person and directions.

    ``values`` are the chances of output 1 that a person may have, ``fakes`` those of fakes.
    """
    rows, public = ([[1 - one, one] for one in some] for some in (values, fakes))
    return worst(Collection(rows, users, public), [grow], crowds, pairs)[0]


def cases():
    """Small crowds with random chances, seeded: users, chances, fair fakes and e^epsilon."""
    chance, found = random.Random(5), []
    for users in (2, 3, 4, 5, 6):
        for fair in (0, 1, 3):
            for _ in range(6):
                low, high = sorted(Fraction(one, 64) for one in chance.sample(range(1, 64), 2))
                grow = chance.choice([Fraction(9, 8), Fraction(3, 2), Fraction(3)])
                found.append((users, low, high, fair, grow))
    return found


SMALL = cases()


def bit_of(low, high, fair):
    return TwoOutputMessage(BitChances(*(int(one * SCALE) for one in (low, high))), fair=fair)


def priced(case):
    users, low, high, fair, grow = case
    return two_outputs.delta(bit_of(low, high, fair), users - 1, 0, math.log(grow))


@pytest.mark.parametrize("case", each(SMALL, 3, kept=3))
def test_no_crowd_of_two_to_six_people_is_above_the_upper_end(case):
    users, low, high, fair, grow = case
    most, ends = truth((low, high), users, [HALF] * fair, grow), priced(case)
    assert ends.lower <= float(most) * (1 + 1e-12)
    assert float(most) <= ends.upper <= float(most) * CLOSE + 2e-18


@pytest.mark.parametrize("case", [one for one in SMALL if one[0] <= 4][::5])
def test_values_between_are_never_worse(case):
    """The theorem: people between the two chances, in the crowd or attacked, change nothing."""
    users, low, high, fair, grow = case
    values = (low, (2 * low + high) / 3, (low + 3 * high) / 4, high)
    extreme = truth((low, high), users, [HALF] * fair, grow)
    assert truth(values, users, [HALF] * fair, grow) == extreme


@pytest.mark.parametrize("wrong", ["ends alone", "one direction"])
def test_a_wrong_maximum_is_below_the_truth_of_some_crowd(wrong):
    """The twins: crowds whose people all hold the same, and one direction only."""
    missed = False
    for users, low, high, fair, grow in SMALL:
        ends = [(0,) * (users - 1), (1,) * (users - 1)] if wrong == "ends alone" else None
        ways = [(0, 1)] if wrong == "one direction" else None
        given = (low, high), users, [HALF] * fair, grow
        missed = missed or truth(*given, pairs=ways, crowds=ends) < truth(*given)
    assert missed


KNOWN = [  # low, high, people, epsilon, delta, where it is attained
    (0.1, 0.7, 200, 0.5, 5.242100338234e-5, 0),
    (1 / (1 + math.exp(3)), None, 1000, 0.8, 1.069298609152e-7, 997),
    (1 / (1 + math.exp(3)), None, 1000, 0.8232, 7.084474856e-8, 0),
]


@pytest.mark.parametrize(("low", "high", "users", "epsilon", "value", "ones"), KNOWN)
def test_known_numbers(low, high, users, epsilon, value, ones):
    scale = 1 << 80
    rarer = round(low * scale)
    bit = TwoOutputMessage(
        BitChances(rarer, scale - rarer if high is None else round(high * scale), scale)
    )
    ends = two_outputs.delta(bit, users - 1, 0, epsilon)
    assert ends.lower <= value * (1 + 1e-9)
    assert value * (1 - 1e-9) <= ends.upper <= value * CLOSE
    attained = two_outputs.delta_in_known_crowd(bit, ones, users - 1 - ones, epsilon, Memo(1 << 24))
    assert attained.lower == pytest.approx(value, rel=1e-8)
    at_ends = [
        two_outputs.delta_in_known_crowd(bit, m, users - 1 - m, epsilon, Memo(1 << 24))
        for m in (0, users - 1)
    ]
    assert (max(one.upper for one in at_ends) < value * (1 - 1e-9)) == (ones == 997)


def test_unlike_outputs_in_large_crowds_are_above_every_crowd():
    """By the recurrence, in crowds that are no corner, at several epsilons at once."""
    bit, users = TwoOutputMessage(BitChances(SCALE // 5, SCALE // 2), fair=40), 9_000
    epsilons, memo = [0.03, 0.04], Memo(1 << 26)
    found = two_outputs.delta_at_several(bit, users - 1, 0, epsilons, memo)
    for epsilon, ends in zip(epsilons, found, strict=True):
        some = [
            two_outputs.delta_in_known_crowd(bit, m, users - 1 - m, epsilon, memo).lower
            for m in range(0, users, 1499)
        ]
        assert 1e-12 < max(some) <= ends.upper
        assert ends.lower <= ends.upper <= 1.02 * ends.lower


def test_a_crowd_that_hides_little_is_looked_at_where_another_hides_all():
    """Half of the people at one half hide a person fully; people who nearly all send a 1 do not."""
    bit = TwoOutputMessage(BitChances(SCALE // 2, SCALE - (SCALE >> 20)))
    ends = two_outputs.delta(bit, 2_000, 0, 1.5)
    worst = two_outputs.delta_in_known_crowd(bit, 2_000, 0, 1.5, Memo(1 << 24))
    assert 0.1 < worst.lower <= ends.upper


BINS = [
    (users, g, fakes, grow)
    for users in (2, 3, 5, 6)
    for g in (Fraction(1, 16), HALF, Fraction(7, 8))
    for fakes in (0, 1, 4)
    for grow in (Fraction(9, 8), Fraction(2))
]


@pytest.mark.parametrize(
    ("users", "g", "fakes", "grow"),
    covering(BINS, lambda users, _g, fakes, _grow: users + fakes <= 6, width=3),
)
def test_two_bins_are_priced_by_the_worst_crowd_of_fractions(users, g, fakes, grow):
    most = truth((g / 2, 1 - g / 2), users, [HALF] * fakes, grow)
    one = made(bins=2, replaced=int(g * SCALE), crowd=users, fakes=fakes)
    proved = Accountant().delta(Record.of(one), math.log(grow))
    assert proved.bounds.lower <= float(most) * (1 + 1e-12)
    assert float(most) <= proved.bounds.upper <= float(most) * CLOSE + 2e-18
    assert proved.source == kary_response.TWO_BINS_SOURCE


def test_an_odd_chance_of_a_replacement_is_priced_to_its_last_bit():
    """Half of it is no integer over 2^64."""
    given = Fraction(3, SCALE)
    for replaced in (1, 3):
        one = made(bins=2, replaced=replaced, crowd=1)
        upper = kary_response.upper(ObservedMessage(one), [20.0], Bound.EXACT, Memo(1 << 20))[0]
        chance = Fraction(replaced, 2 * SCALE)
        exact = 1 - chance - Fraction(math.exp(20.0)) * chance
        assert float(exact) <= upper <= float(exact) + 2e-9
        assert given > chance


@pytest.mark.parametrize(
    ("users", "epsilon"), [(1000, 0.5), pytest.param(10**5, 0.05, marks=pytest.mark.seconds)]
)
def test_bins_need_what_bits_need(users, epsilon):
    """The least replacement of two bins is twice the least flip of one bit."""
    start = made(bins=2, replaced=1 << 63, crowd=users)
    bins = calibrate(Accountant(), Record.of(start), Parameter.REPLACED, epsilon, 1e-6)
    chance = bins.message.mechanism.replacement_probability
    bit = two_outputs.delta(
        TwoOutputMessage(BitChances(round(chance / 2 * SCALE), SCALE - round(chance / 2 * SCALE))),
        users - 1,
        0,
        epsilon,
    )
    assert 0.99e-6 <= bit.upper <= 1e-6


def epsilon_at(curve, delta):
    """Return the epsilon at which a falling curve is ``delta``."""
    low, high = 1e-4, 3.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return high


def replaced_at(bins, users, local):
    return made(
        bins=bins, replaced=replacement_threshold(bins / (math.exp(local) + bins - 1)), crowd=users
    )


@pytest.mark.parametrize(("users", "times"), [(1000, 14), (10**4, 247), (10**5, 388)])
def test_the_bound_of_many_bins_is_many_times_too_large_for_two(users, times):
    """The figures of docs/explanation/accounting.md, at a local epsilon of 3."""
    one = replaced_at(2, users, 3.0)
    epsilon = epsilon_at(lambda at: kary_response.upper_bound(one, at), 1e-6)
    exact = kary_response.upper(ObservedMessage(one), [epsilon], Bound.EXACT, Memo(1 << 24))[0]
    assert math.floor(kary_response.upper_bound(one, epsilon) / exact) == times


@pytest.mark.parametrize(
    ("users", "share"),
    [
        (100, 0.33),
        (1000, 0.019),
        pytest.param(10**4, 0.0015, marks=pytest.mark.seconds),
        pytest.param(10**5, 0.0002, marks=pytest.mark.seconds),
    ],
)
def test_the_bound_of_three_bins_or_more_is_close_to_a_crowd(users, share):
    """The figures of docs/explanation/accounting.md, at a local epsilon of 1."""
    found = []
    for bins in (3, 4, 10, 100):
        one = replaced_at(bins, users, 1.0)
        epsilon = epsilon_at(lambda at, one=one: kary_response.upper_bound(one, at), 1e-6)
        upper = kary_response.upper_bound(one, epsilon)
        found.append(upper / kary_response.lower_bound(one, epsilon))
    assert 1.0 + 0.9 * share < max(found) <= 1.0 + share


def test_what_takes_too_long_has_the_bound_of_many_bins(monkeypatch):
    monkeypatch.setattr(two_outputs, "_MOST_FAIR", 1000)
    one = made(bins=2, replaced=SCALE // 10, crowd=3000, fakes=500)
    found = Accountant().delta(Record.of(one), 0.5)
    assert found.source == kary_response.SOURCE
    assert found.bounds.upper == kary_response.upper_bound(one, 0.5)
    near = kary_response.upper(ObservedMessage(one), [0.4, 0.5], Bound.NEAR, Memo(1 << 20))
    assert near[1] >= found.bounds.upper


def test_more_fair_fakes_than_matter_are_not_looked_at(watch):
    made_laws = watch(two_outputs, "add_certain_coins")
    one = made(bins=2, replaced=SCALE // 10, crowd=10**6, fakes=10**9)
    assert Accountant().delta(Record.of(one), 1.0).bounds.upper < 1e-25
    assert len(made_laws) == 1


@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize(
    ("low", "high", "epsilon"),
    [
        (10**16, 10**16 + 1, 0.0),  # both outputs are almost equally likely
        (123456789, 123456790, 0.0),
        (10**18, 2 * 10**18, math.log(2.0)),  # just below and just above the ratio of output 1
        (10**18, 2 * 10**18, math.nextafter(math.log(2.0), 0.0)),
        (3 * 10**17, 10**18, math.log(10.0 / 3.0) - 2.0**-52),
        (2 * 10**19, 10**20 - 2 * 10**19, math.nextafter(math.log(4.0), 0.0)),
    ],
)
def test_points_whose_ratio_rounding_hides_count(low, high, epsilon, others):
    bit, grow = TwoOutputMessage(BitChances(low, high, 10**20)), exp_exactly(epsilon)
    values = [Fraction(one, 10**20) for one in (low, high)]
    for ones in range(others + 1):
        crowd = [[1] * ones + [0] * (others - ones)]
        true = truth(values, others + 1, [], grow, crowds=crowd)
        found = two_outputs.delta_in_known_crowd(bit, ones, others - ones, epsilon, Memo(1 << 20))
        assert found.lower <= true <= found.upper <= true + Fraction(1, 10**11)
        (several,) = two_outputs.delta_at_several(bit, others, 0, [epsilon])
        assert true <= several.upper


@pytest.mark.parametrize(
    ("low", "high", "epsilon"),
    [
        (167220, 167221, 0.0),
        (2767956, 2767957, 0.0),
        (195, 196, math.log(196 / 195)),
        (10**18, 2 * 10**18, 2 * math.log(2.0) - 2.0**-52),
    ],
)
def test_points_of_two_bins_whose_ratio_rounding_hides_count(low, high, epsilon):
    chances, grow = BitChances(low, high), exp_exactly(epsilon)
    pair = add_own_bits(np.ones(1), 0.0, chances)
    one, other = ([Fraction(SCALE - k, SCALE), Fraction(k, SCALE)] for k in (high, low))
    single = sum(max(0, p - grow * q) for p, q in zip(one, other, strict=True))
    exchanged = sum(
        max(0, p1 * q2 - grow * q1 * p2)
        for p1, q1 in zip(one, other, strict=True)
        for p2, q2 in zip(one, other, strict=True)
    )
    ready = prepare_pair(pair)
    both = exchange_divergence(ready, ready, math.exp(epsilon))
    alone = divergence(pair, math.exp(epsilon))
    assert both.lower <= exchanged <= both.upper <= exchanged + Fraction(1, 10**10)
    assert alone.lower <= single <= alone.upper <= single + Fraction(1, 10**11)
