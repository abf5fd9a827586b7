"""What a search may skip: averages that are close, lower bounds that nobody knows, close
prices.

Each is counted, held against the whole sum, and seen to fail where a mistake is planted.
"""

import math

import numpy as np
import pytest
from scipy.stats import poisson

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.composition.pld import connect_points
from mixtally.accounting.divergence import Bound, ObservedMessage, bit_flips, repeats, vectors
from mixtally.accounting.divergence.repeats import MessageKind
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.coins import Fakes
from mixtally.accounting.numerics.saddle_point import ROUGH
from mixtally.errors import AccountingError
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, BlankFakes, NoFakes, Parameter
from mixtally.primitives.fixed_point import threshold_of
from mixtally.primitives.memo import Memo


def counting(price):
    asked = []

    def asking(value):
        asked.append(value)
        return price(value)

    return asking, asked


def test_an_average_without_lower_bounds_ends_where_its_upper_one_is_close():
    """Once every such average took all 600 looks."""
    found = Fakes(10**6, 0, 1 << 62)
    fall = lambda k: 1e-6 * math.exp(-(k - 250_000) / 5e4)  # noqa: E731
    price, asked = counting(lambda k: Bracket(0.0, fall(k)))
    known = Fakes(10**6, 0, 1 << 62).average(lambda k: Bracket(fall(k), fall(k)), one_pair=True)
    bounds = found.average(price, one_pair=True)
    assert len(asked) < 200
    assert bounds.lower == 0.0
    assert known.lower <= bounds.upper <= known.lower * 1.003


def kinds(bits, users, q):
    m = BitFlips(bins=bits, threshold=threshold_of(q), max_set=None, fakes=NoFakes(), crowd=users)
    return repeats.flip_kinds(m, Observer.MESSAGES, None)


def test_short_lower_bounds_are_all_looked_at():
    every = kinds(5, 5000, 0.25)
    largest = max(repeats._kind_lower_bound(kind, 2.0, 10) for kind in every)
    assert repeats.lower_bound(every, 2.0, 10) == largest > 0.0


def test_nothing_is_told_by_what_all_send():
    """`plan --bits 57`: a chance of 1 - 1e-17 is rounded, which looked like 4e-16."""
    told = MessageKind([(11_769, 1.0 - 2.0**-53)], 1.0 - 2.0**-52, 1.0 - 2.0**-53)
    assert repeats.lower_bound([told], 0.8495, 2) == 0.0
    for others, u, v in ((1.0, 1.0, 1.0 - 2.0**-53), (1.0 - 1e-15, 1.0 - 3e-16, 1.0 - 6e-16)):
        assert repeats.lower_bound([MessageKind([(10**6, others)], u, v)], 0.01, 30) == 0.0
    assert repeats.lower_bound(kinds(57, 11_770, 0.478), 0.8495, 2) == 0.0
    rare = MessageKind(
        [(9_590_999, 1.0 - 4e-16)], 1.0 - 2.0**-53, 6e-7
    )  # 160 times one was rounding
    assert repeats.lower_bound([rare], 0.1372, 10) == 0.0


def test_a_chance_near_one_may_be_farther_from_it_than_it_seems():
    """1 - 1.6e-16 is 1 - 1.1e-16 in floating point: a third less hides."""
    others, u, v, grow = 5 * 10**15, 0.9, 0.1, math.exp(0.1)
    missing = poisson.pmf(np.arange(60), others * 1.6e-16)
    p, q = (np.convolve(missing, [chance, 1.0 - chance]) for chance in (u, v))
    true = max(np.maximum(p - grow * q, 0.0).sum(), np.maximum(q - grow * p, 0.0).sum())
    kind = MessageKind([(others, 1.0 - 1.6e-16)], u, v)
    assert 0.2 < true < 0.8
    assert repeats.lower_bound([kind], 0.1, 1) <= true


def test_of_many_kinds_few_are_looked_at(watch):
    """All 1,653 of 57 bits took a third of a second, and none told more than the likely ones."""
    every = kinds(20, 100_000, 0.217)
    largest = max(repeats._kind_lower_bound(kind, 3.0, 2) for kind in every)
    looked = watch(repeats, "_kind_lower_bound")
    assert repeats.lower_bound(every, 3.0, 2) == largest > 0.5
    assert len(looked) <= 2 * repeats._MOST_KINDS < len(every) / 4


def test_long_lower_bounds_take_no_more_than_allowed(watch):
    """`plan --users 2225466473 --bits 24`: once 300 distributions of 730,000 steps, 13 seconds."""
    asked = watch(repeats, "_kind_lower_bound")
    assert repeats.lower_bound(kinds(24, 2_225_466_473, 0.28), 1.817, 2) > 1.7e-7
    looked = [repeats._length(kind, copies) for kind, _, copies in asked]
    assert 1 < len(looked) < 200
    assert sum(looked) <= repeats._MOST_WORK + max(looked)


@pytest.mark.parametrize(
    "mechanism",
    [
        BitFlips(bins=9, threshold=threshold_of(0.3), max_set=None, fakes=NoFakes(), crowd=4000),
        BitFlips(bins=99, threshold=threshold_of(0.05), max_set=3, fakes=NoFakes(), crowd=10**7),
        BitFlips(bins=99, threshold=threshold_of(0.2), max_set=3, fakes=BlankFakes(0), crowd=6129),
        BitFlips(bins=99, threshold=threshold_of(0.2), max_set=3, fakes=BlankFakes(9000)),
        BitFlips(bins=99, threshold=threshold_of(0.1), max_set=2, fakes=BlankFakes(900), crowd=999),
        BitFlips(bins=99, threshold=threshold_of(0.01), fakes=BlankFakes(9000), crowd=40_000),
        BitFlips(bins=99, threshold=threshold_of(0.2), fakes=BlankFakes(20), crowd=1000),
    ],
    ids=[
        "vectors", "sets in a crowd", "no blank came", "sets among blanks", "sets among both",
        "values among both", "few values",
    ],
)  # fmt: skip
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_rough_prices_are_near_those_that_are_proved(mechanism, epsilon):
    message, memo = ObservedMessage(mechanism), Memo(1 << 20)
    rough, close = (
        bit_flips.upper(message, [epsilon], bound, memo)[0] for bound in (Bound.ROUGH, Bound.EXACT)
    )
    assert rough == pytest.approx(close, rel=0.03, abs=1e-12)


@pytest.mark.seconds
def test_what_a_rough_search_finds_is_proved_closely():
    owner = Accountant()
    made = BitFlips(bins=6, threshold=1 << 24, max_set=None, fakes=NoFakes(), crowd=3000, repeats=3)
    found = calibrate(owner, Record.of(made), Parameter.FLIP, 2.0, 1e-6)
    assert Accountant().upper(found, 2.0) <= 1e-6
    less = found.with_parameter(Parameter.FLIP, round(found.message.mechanism.threshold * 0.995))
    assert Accountant().upper(less, 2.0) > 1e-6


def test_no_price_of_a_search_is_taken_for_a_proof(monkeypatch, plant):
    """A price that is rough by half only makes a search end elsewhere."""

    def lower(honest, users, bits, threshold, epsilon, smoothed=0.0):
        return honest(users, bits, threshold, epsilon) * (0.5 if smoothed == ROUGH else 1.0)

    plant(vectors, "blanket_upper", lower)
    made = BitFlips(bins=4, threshold=1 << 24, max_set=None, fakes=NoFakes(), crowd=3000, repeats=2)
    found = calibrate(Accountant(), Record.of(made), Parameter.FLIP, 2.0, 1e-6)
    monkeypatch.undo()
    assert Accountant().upper(found, 2.0) <= 1e-6


def test_far_below_all_promises_bounds_may_rise_and_the_least_is_taken():
    """`check noise --protocol flip --bits 60 --repeats 14 --epsilon 13`: 9e-18 and then 4.5e-17."""
    made = connect_points(1.0, {0: 0.1, 1: 9e-18, 2: 4.5e-17})
    assert made.infinite == 9e-18
    with pytest.raises(AccountingError, match="falls with epsilon"):
        connect_points(1.0, {0: 0.1, 1: 1e-12, 2: 2e-12})
    with pytest.raises(AccountingError, match="falls with epsilon"):
        connect_points(1.0, {0: 1e-5, 1: 1e-15, 2: 2e-15})
