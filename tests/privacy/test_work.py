"""How much work divergences and calibrations take, counted and not timed."""

import pytest

from mixtally.errors import EffortError
from mixtally.ground.fixed import threshold_of
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.divergence import k_hot, single_bit, vectors
from mixtally.privacy.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.privacy.numerics.saddle_point import saddle_point_bounds
from mixtally.records.guarantee import Observer
from mixtally.records.mechanism import BitFlips, NoFakes
from privacy.by_name import calibrated, certificate_of


class TooMuchError(Exception):
    """More work than a test allows."""


@pytest.fixture
def counted(monkeypatch):
    """Counts the calls of a function, and stops at ``most``."""

    def count(room, name, most):
        honest, calls = getattr(room, name), []

        def counting(*given, **named):
            calls.append(given)
            if len(calls) > most:
                raise TooMuchError(f"{room.__name__}.{name}: more than {most} calls")
            return honest(*given, **named)

        monkeypatch.setattr(room, name, counting)
        return calls

    return count


def every_orbit(most, bins):
    """Every way in which two different sets can lie in so many bins."""
    sizes = range(most + 1)
    return [
        Orbit(u, v, both) for u in sizes for v in sizes for both in sizes
        if u + v and max(u, v) + both <= most and u + v + both <= bins
    ]  # fmt: skip


@pytest.mark.parametrize(("most", "bins"), [(2, 2), (2, 3), (3, 4), (3, 9), (4, 99)])
def test_no_smaller_orbit_is_worse_than_those_that_are_priced(most, bins):
    """Nor is one left out to which no bit can be added."""
    orbits = list(k_hot.orbits(most, bins))
    assert len(orbits) == len(set(orbits))
    every = every_orbit(most, bins)
    assert set(orbits) <= set(every)
    assert all(any(all(map(int.__le__, o, p)) for p in orbits) for o in every)
    ends = {o: saddle_point_bounds(flip_distribution(o, 0.3, 2.0), 50) for o in every}
    assert max(one.lower for one in ends.values()) <= max(ends[o].upper for o in orbits)


def test_a_delta_near_one_keeps_its_lower_end():
    """The widest distributions say nothing from below there: a set against none does."""
    ends = k_hot.among_blanks(140_358, 6, threshold_of(0.0002891), 1.782)
    assert ends.lower > 0.9999


def test_nothing_is_looked_for_above_a_delta_of_one(counted):
    """`delta --protocol flip --max-set 16 --flip 1e-6`: once 18 orbits, the longest ones first."""
    looked = counted(k_hot, "saddle_point_bounds", 2)
    ends = k_hot.in_crowd(1000, 16, threshold_of(1e-6), 1.0)
    assert 1.0 - 2e-9 <= ends.lower <= ends.upper <= 1.0
    assert looked


def test_deltas_are_added_up_only_where_that_may_be_less(counted):
    """Of bits sent twice every delta took two prices, at epsilon and at half of it."""
    taken = counted(vectors, "largest_upper", 200)
    owner = Accountant()
    message = BitFlips(
        bins=4, threshold=threshold_of(0.3), max_set=None, fakes=NoFakes(), crowd=500, repeats=2
    )
    record = Record.of(message)
    deltas = [owner.upper(record, 0.5 + 0.01 * i) for i in range(100)]
    assert deltas == sorted(deltas, reverse=True)
    assert len(taken) > 20


@pytest.mark.seconds
def test_large_sets_are_calibrated_with_few_distributions(counted):
    """`calibrate --protocol flip --max-set 16`: once 1,784 distributions a divergence, now 16."""
    distributions_made = counted(k_hot, "flip_distribution", 700)
    found = calibrated("flip", 1.0, 1e-6, users=10**6, max_set=16)
    assert found.message.mechanism.threshold
    assert len(distributions_made) > 16


def test_sums_that_hide_beyond_all_deltas_need_no_worst_crowd(counted):
    """`delta --protocol flip --max-set 3 --observer sums`: once 9,500 crowds at 54 epsilons."""
    looked = counted(single_bit, "flipped_bits", 50)
    asked = {"users": 100_000, "max_set": 3, "observer": Observer.SUMS, "bins": 1000}
    shown = certificate_of("flip", 2.0, threshold=threshold_of(0.214), **asked)
    assert 0.0 < shown.upper <= 1e-18
    assert looked


@pytest.mark.parametrize("users", [2, 3, 6, 51, 200])
@pytest.mark.parametrize("repeats", [1, 3])
def test_the_bound_of_all_crowds_is_above_that_of_every_one(users, repeats):
    threshold = threshold_of(0.2)
    for fakes in (0, 7):
        for epsilon in (0.0, 0.5, 2.0):
            bound = single_bit.any_crowd(users, fakes, threshold, epsilon, repeats=repeats)
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


def test_a_distribution_too_long_is_refused_before_it_is_made(counted):
    """`calibrate --protocol single-bit --users 1e10 --repeats 100 --epsilon 0.01` took minutes."""
    made = counted(single_bit, "flipped_bits", 0)
    asked = {"users": 10**10, "fakes": 0, "repeats": 100}
    with pytest.raises(EffortError, match=r"wanted .* got .* repeat less often"):
        calibrated("single-bit", 0.01, 1e-6, **asked)
    assert not made
