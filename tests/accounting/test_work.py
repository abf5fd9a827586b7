"""How much work divergences and calibrations take, counted and not timed."""

import pytest

from accounting.by_name import calibrated
from helpers.sampled import covering
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import k_hot, one_hot, single_bit, two_outputs
from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.flip_ratios import (
    Orbit,
    dilute,
    flip_distribution,
    uniform_distribution,
)
from mixtally.accounting.numerics.saddle_line import Saddle
from mixtally.accounting.numerics.saddle_point import saddle_point_bounds
from mixtally.errors import EffortError
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, NoFakes
from mixtally.primitives.fixed_point import threshold_of
from mixtally.primitives.memo import Memo


def every_orbit(most, bins):
    """Every way in which two different sets can lie in so many bins."""
    sizes = range(most + 1)
    return [
        Orbit(u, v, both) for u in sizes for v in sizes for both in sizes
        if u + v and max(u, v) + both <= most and u + v + both <= bins
    ]  # fmt: skip


def within(small, large, bins):
    """Whether ``small`` becomes ``large`` by bits more and by common bits taken apart."""
    if all(map(int.__le__, small, large)):
        return True
    u, v, both = small
    return both > 0 and sum(small) < bins and within(Orbit(u + 1, v + 1, both - 1), large, bins)


CASES = [(1, 2), (2, 2), (2, 3), (2, 4), (3, 4), (3, 5), (3, 9), (4, 6), (4, 99)]


@pytest.mark.parametrize(("most", "bins"), CASES)
def test_every_orbit_fits_into_one_that_is_priced(most, bins):
    orbits = list(k_hot.list_orbits(most, bins))
    assert len(orbits) == len(set(orbits))
    every = every_orbit(most, bins)
    assert set(orbits) <= set(every)
    assert all(any(within(o, p, bins) for p in orbits) for o in every)
    assert len(orbits) == 1 or bins < 2 * most


@pytest.mark.parametrize(
    ("most", "bins", "q", "grow"),
    covering(
        ((*case, q, grow) for case in CASES for q in (0.03, 0.3, 0.45) for grow in (1.0, 1.3, 7.4)),
        lambda most, _bins, _q, _grow: most <= 2,
    ),
)
def test_no_orbit_is_worse_than_those_that_are_priced(most, bins, q, grow):
    """Nor among blanks that are there by chance."""
    made = {o: flip_distribution(o, q, grow) for o in every_orbit(most, bins)}
    for share in (1.0, 0.2):
        ends = {o: saddle_point_bounds(dilute(one, share), 20) for o, one in made.items()}
        priced = max(ends[o].upper for o in k_hot.list_orbits(most, bins))
        assert max(one.lower for one in ends.values()) <= priced


@pytest.mark.parametrize("grow", [1.0, 1.3, 7.4])
@pytest.mark.parametrize("q", [0.03, 0.3, 0.45])
@pytest.mark.parametrize("bits", [2, 3, 6, pytest.param(11, marks=pytest.mark.seconds)])
def test_vectors_that_differ_everywhere_are_the_worst_in_a_blanket(bits, q, grow):
    for share, draws in ((1.0, 5), (0.3, 5), (0.01, 4000)):
        *less, whole = (
            saddle_point_bounds(dilute(uniform_distribution(bits, apart, q, grow), share), draws)
            for apart in range(1, bits + 1)
        )
        assert max(one.lower for one in less) <= whole.upper


def gains(distribution, rest):
    """E[(W + rest)_+] for a fixed rest: these decide the convex order of two numbers."""
    return float((distribution.probabilities * (distribution.values + rest).clip(0.0)).sum())


@pytest.mark.parametrize("q", [0.03, 0.3, 0.45])
def test_what_is_dominated_is_so_at_every_point(q):
    """By the definition: E[(W + s)_+] at every s, where both are piecewise linear."""
    for grow in (1.0, 1.3, 7.4):
        for wide, narrow in (
            (
                flip_distribution(Orbit(2, 2, 0), q, grow),
                flip_distribution(Orbit(1, 1, 1), q, grow),
            ),
            (
                flip_distribution(Orbit(3, 2, 1), q, grow),
                flip_distribution(Orbit(2, 1, 2), q, grow),
            ),
            (uniform_distribution(5, 5, q, grow), uniform_distribution(5, 3, q, grow)),
        ):
            places = [-v for one in (wide, narrow) for v in one.values]
            assert all(gains(narrow, s) <= gains(wide, s) * (1 + 1e-12) + 1e-12 for s in places)
            assert any(gains(wide, s) > 1.0001 * gains(narrow, s) > 0.0 for s in places)


def test_a_delta_near_one_keeps_its_lower_end():
    """The widest distributions say nothing from below there: a set against none does."""
    ends = k_hot.delta_among_blanks(140_358, 6, threshold_of(0.0002891), 1.782)
    assert ends.lower > 0.9999


def test_nothing_is_looked_for_above_a_delta_of_one(watch):
    """`delta --protocol flip --max-set 16 --flip 1e-6`: once 18 orbits, the longest ones first."""
    looked = watch(k_hot, "saddle_point_bounds", 2)
    ends = k_hot.delta_in_crowd(1000, 0, 16, threshold_of(1e-6), 1.0)
    assert 1.0 - 2e-9 <= ends.lower <= ends.upper <= 1.0
    assert looked


def test_deltas_are_added_up_only_where_that_may_be_less(watch):
    """Of bits sent twice every delta took two prices, at epsilon and at half of it."""
    taken = watch(blanket, "largest_upper", 400)
    owner = Accountant()
    message = BitFlips(
        bins=4, threshold=threshold_of(0.3), max_set=None, fakes=NoFakes(), crowd=500, repeats=2
    )
    record = Record.of(message)
    deltas = [owner.upper(record, 0.5 + 0.01 * i) for i in range(100)]
    assert deltas == sorted(deltas, reverse=True)
    assert len(taken) > 20


@pytest.mark.seconds
def test_large_sets_are_calibrated_with_few_distributions(watch):
    """`noise --protocol flip --max-set 16`: once 1,784 distributions a divergence."""
    distributions_made = watch(k_hot, "flip_distribution", 50)
    found = calibrated("flip", 1.0, 1e-6, users=10**6, max_set=16)
    assert found.message.mechanism.threshold
    assert len(distributions_made) > 8


def test_sums_that_spread_widely_are_calibrated_with_few_crowds(watch):
    """`noise --protocol flip --observer sums --max-set 4 --split`: once 17,000, 38 s."""
    looked = watch(one_hot, "exchange_divergences", 1000)
    asked = {"users": 45_650, "max_set": 1, "observer": Observer.SUMS, "bins": 3360}
    found = calibrated("flip", 0.1536, 7.72e-10, more={"collections": 4}, **asked)
    assert found.message.mechanism.threshold
    assert looked


@pytest.mark.parametrize("users", [2, 3, 6, 51, 200])
@pytest.mark.parametrize("repeats", [1, 3])
def test_the_bound_of_all_crowds_is_above_that_of_every_one(users, repeats):
    threshold, memo = threshold_of(0.2), Memo(1 << 26)
    bit = single_bit.flipped_bit_message(threshold, repeats)
    for fakes in (0, 7):
        for epsilon in (0.0, 0.5, 2.0):
            bound = two_outputs.any_crowd_upper(bit, users - 1, fakes, epsilon, memo)
            every = [
                single_bit.delta(users, fakes, threshold, epsilon, ones, repeats=repeats).lower
                for ones in range(0, users, max(1, users // 10))
            ]
            assert max(every) <= bound


@pytest.mark.parametrize("repeats", [10, 50])
def test_people_who_are_left_out_hide_nobody_that_matters(repeats):
    """A person who repeats needs more of them: counted once, 50 repeats had a floor of 2.7e-9."""
    threshold = threshold_of(0.2)
    known = single_bit.delta(20_000, 0, threshold, 1.0, 0, repeats=repeats)
    worst = single_bit.delta(20_000, 0, threshold, 1.0, count_crowd=True, repeats=repeats)
    assert known.upper < 1e-20
    assert worst.upper <= 1e-18


def test_a_distribution_too_long_is_refused_before_it_is_made(watch):
    """`noise --protocol single-bit --users 1e10 --repeats 100 --epsilon 0.01` took minutes."""
    made = watch(two_outputs, "add_certain_coins", 0)
    asked = {"users": 10**10, "fakes": 0, "repeats": 100}
    with pytest.raises(EffortError, match=r"expected .* got .* Repeat less often"):
        calibrated("single-bit", 0.01, 1e-6, **asked)
    assert not made


def test_the_crowds_of_a_proof_serve_all_epsilons(watch):
    """Proved one by one, every epsilon had cells of its own: 4,300 crowds, later 1,200."""
    made = watch(two_outputs, "add_certain_coins", 700)
    message = BitFlips(
        bins=1, threshold=threshold_of(0.0035), max_set=None, fakes=NoFakes(), crowd=27_320
    )
    assert Accountant().upper(Record.of(message, pieces=3), 0.08063) == pytest.approx(
        0.0403911, rel=1e-4
    )
    assert len(made) > 100


@pytest.mark.seconds
def test_a_gaussian_becomes_no_narrower_than_it_must(watch):
    """By eighths it took 12 million frequencies, with all care 6 million."""
    taken = watch(Saddle, "integral")
    message = BitFlips(
        bins=39, threshold=threshold_of(0.4167), max_set=None, fakes=NoFakes(), crowd=22_930
    )
    assert Accountant().upper(Record.of(message, pieces=2), 2.571) == pytest.approx(
        2.12e-4, rel=0.01
    )
    assert 1_000_000 < sum(saddle.frequencies(spread) for saddle, spread in taken) < 3_300_000
