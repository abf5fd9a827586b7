"""What is told at least at a distance: coins by enumeration, and below every kind of message."""

import itertools
import math
from fractions import Fraction

import pytest

from mixtally.accounting import calibrate, messages
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.numerics.composed_estimates import estimate_least_delta
from mixtally.model.mechanism import BitFlips, BlankFakes, InClear, NoFakes, UniformFakes
from mixtally.primitives.fixed_point import threshold_of


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 3.0])
@pytest.mark.parametrize("distance", [0.0, 1e-3, 0.25, 0.75])
@pytest.mark.parametrize("times", [1, 2, 5, 8])
def test_coins_are_told_apart_as_all_their_sides_say(times, distance, epsilon):
    one, grow = Fraction(1 + Fraction(distance)) / 2, Fraction(math.exp(epsilon))
    total = Fraction(0)
    for sides in itertools.product((one, 1 - one), repeat=times):
        seen = math.prod(sides)
        total += max(Fraction(0), seen - grow * math.prod(1 - side for side in sides))
    assert estimate_least_delta(times, distance, epsilon) == pytest.approx(float(total), abs=1e-12)


@pytest.mark.parametrize("times", [1, 300, 10**6])
def test_who_is_told_all_is_told_apart(times):
    assert estimate_least_delta(times, 1.0, 10.0) == pytest.approx(1.0, abs=1e-6)


RECORDS = {
    "value": BitFlips(bins=9, threshold=threshold_of(0.01), fakes=BlankFakes(9000)),
    "rare flips": BitFlips(bins=9, threshold=threshold_of(1e-4), fakes=BlankFakes(90_000)),
    "set": BitFlips(bins=99, threshold=threshold_of(0.2), max_set=3, fakes=BlankFakes(900)),
    "vector": BitFlips(
        bins=9, threshold=threshold_of(0.3), max_set=None, fakes=NoFakes(), crowd=400
    ),
    "tiny crowd": BitFlips(
        bins=4, threshold=threshold_of(0.4), max_set=None, fakes=NoFakes(), crowd=3
    ),
    "clear": InClear(bins=20, fakes=UniformFakes(4000)),
}


def below(name, factor=1.0):
    """Whether no epsilon has less than the coins, composed as often."""
    owner, record = Accountant(), Record.of(RECORDS[name])
    distance = min(1.0, factor * owner.upper(record, 0.0))
    return all(
        estimate_least_delta(times, distance, epsilon)
        <= owner.upper(record, epsilon, times) * (1.0 + 1e-9) + 1e-15
        for times in (2, 7, 60)
        for epsilon in (0.05, 0.5, 2.0)
    )


@pytest.mark.parametrize("name", RECORDS)
def test_no_message_at_a_distance_tells_less_than_coins(name):
    assert below(name)


def test_coins_at_a_larger_distance_are_noticed():
    assert not all(below(name, 1.5) for name in RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_kept_is_what_composed_messages_keep(name):
    owner, record = Accountant(), Record.of(RECORDS[name])
    for times, delta in ((1, 1e-6), (9, 1e-6), (9, 1e-2), (400, 1e-9)):
        for epsilon in (0.1, 1.0, 8.0):
            kept = owner.upper(record, epsilon, times, proved=False) <= delta
            assert calibrate.probably_satisfies(owner, record, epsilon, delta, times) == kept


def test_where_coins_tell_too_much_nothing_is_composed(watch):
    composed = watch(messages, "choose_points")
    record = Record.of(RECORDS["value"])
    assert not calibrate.probably_satisfies(Accountant(), record, 0.5, 1e-6, 100_000)
    assert not composed
    assert calibrate.probably_satisfies(Accountant(), record, 8.0, 1e-6, 2)
    assert composed
