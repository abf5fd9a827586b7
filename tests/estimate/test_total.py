"""Totals of groups: their law by enumeration, over planes their variance, and how far they err."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from helpers import contracts
from mixtally.errors import ParameterError
from mixtally.lab.simulation.counts_only import draw_part
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import BitFlips, BlankFakes, InClear, KaryResponse, UniformFakes
from mixtally.model.planes import Planes
from mixtally.primitives.draw import draw_below
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate import total as module
from mixtally.protocol.estimate.noise import noise_of_parts
from mixtally.protocol.estimate.planes import count_pointing, sum_named_points
from mixtally.protocol.estimate.total import group_total, total_interval

D, GROUP = 4, (1, 3)
HELD = (0, 1, 3, 3, 2, 1)
"""What six people hold; four of them a bin of the group."""
FAKES = 3
Q = SCALE // 5


def law_of_sum(each):
    """The distribution of a sum of independent numbers, in fractions."""
    found = {0: Fraction(1)}
    for one in each:
        after = {}
        for (a, p), (b, q) in product(found.items(), one.items()):
            after[a + b] = after.get(a + b, 0) + p * q
        found = after
    return found


def shown(messages):
    """How many bins of the group a message sets; ``messages`` are (bins, chance)."""
    found = {}
    for bins, chance in messages:
        many = len(set(bins) & set(GROUP))
        found[many] = found.get(many, 0) + chance
    return found


def flipped(record):
    """Every message of a record of flipped bits."""
    q = Fraction(Q, SCALE)
    for flips in product((0, 1), repeat=D):
        chance = math.prod(q if one else 1 - q for one in flips)
        yield [i for i in range(D) if flips[i] != (i in record)], chance


def uniform():
    return [((one,), Fraction(1, D)) for one in range(D)]


def replaced(bin_, share):
    return [((bin_,), 1 - share), *(((one,), share / D) for one in range(D))]


def flipped_uniform():
    return [(bins, chance / D) for one in range(D) for bins, chance in flipped({one})]


THIRD = Fraction(SCALE // 3, SCALE)
CASES = {
    "clear-uniform": (
        InClear(bins=D, fakes=UniformFakes(FAKES)),
        lambda one: shown([((one,), Fraction(1))]),
        lambda: shown(uniform()),
    ),
    "kary-response": (
        KaryResponse(bins=D, replaced=SCALE // 3, fakes=UniformFakes(FAKES), crowd=6),
        lambda one: shown(replaced(one, THIRD)),
        lambda: shown(uniform()),
    ),
    "flip-blank": (
        BitFlips(bins=D, threshold=Q, max_set=1, fakes=BlankFakes(FAKES), crowd=0),
        lambda one: shown(flipped({one})),
        lambda: shown(flipped(set())),
    ),
    "flip-uniform": (
        BitFlips(bins=D, threshold=Q, max_set=1, fakes=UniformFakes(FAKES), crowd=0),
        lambda one: shown(flipped({one})),
        lambda: shown(flipped_uniform()),
    ),
}


def enumerated(name):
    """The law of the tallied sum, message by message."""
    made, person, fake = CASES[name]
    return made, law_of_sum([*map(person, HELD), *(fake() for _ in range(FAKES))])


def stated(made, total):
    noise = noise_of_parts(made.noise_of_bins(len(HELD) + FAKES, len(GROUP), total))
    return {noise.first + total + i: chance for i, chance in enumerate(noise.pmf.tolist())}


def close(a, b):
    keys = set(a) | set(b)
    return all(math.isclose(a.get(k, 0), b.get(k, 0), abs_tol=1e-12) for k in keys)


@pytest.mark.parametrize("name", CASES)
def test_the_law_of_a_total_is_that_of_all_messages(name):
    made, law = enumerated(name)
    total = sum(one in GROUP for one in HELD)
    assert close(stated(made, total), {k: float(p) for k, p in law.items()})
    mean = sum(k * p for k, p in law.items())
    spread = float(sum((k - mean) ** 2 * p for k, p in law.items()))
    tally = Tally(np.array([0, 5, 0, 4]), len(HELD) + FAKES)
    found = group_total(made, tally, np.array(GROUP), len(HELD))
    offset = len(GROUP) * made.offset(tally.messages)
    assert found.estimate == pytest.approx((9 - offset) / made.gain)
    assert (float(mean) - offset) / made.gain == pytest.approx(total)
    noise = made.noise_of_bins(tally.messages, len(GROUP), total)
    assert module.sum_cumulants(noise)[0] == pytest.approx(spread)


def test_a_uniform_fake_taken_for_a_blank_one_is_found():
    """Planted: the fakes' own bits are forgotten."""
    _, law = enumerated("flip-uniform")
    blank, _ = enumerated("flip-blank")
    assert not close(stated(blank, 4), {k: float(p) for k, p in law.items()})


@pytest.mark.parametrize("name", CASES)
def test_an_interval_is_the_totals_that_the_law_does_not_reject(name):
    made, _ = enumerated(name)
    for tallied in range(3, 9):
        tally = Tally(np.array([0, tallied - 2, 0, 2]), len(HELD) + FAKES)
        found = group_total(made, tally, np.array(GROUP), len(HELD))
        low, high, how = total_interval([found], 0.05)
        assert how == "exact test inversion"
        accepted = [total for total in range(len(HELD) + 1) if accepts(made, total, tallied)]
        if accepted:
            assert (low, high) == (accepted[0], accepted[-1])


def accepts(made, total, tallied, tail=0.05):
    law = stated(made, total)
    above = sum(chance for k, chance in law.items() if k >= tallied)
    return min(above, 1 - above + law.get(tallied, 0)) > tail


def expected_tally(over, held, fakes, share):
    """What all messages come to on average, times J p times the denominator of ``share``."""
    p, directions, counts = (
        over.prime,
        over.device_planes.directions,
        np.zeros(over.messages, np.int64),
    )
    scale = directions * p * share.denominator
    gone = int(scale * share) // over.messages
    for one in held:
        point = over.device_planes.point(one, len(held))
        for number in range(directions):
            kept = int(scale * (1 - share)) // directions
            counts[over.device_planes.message(point, number)] += kept
        counts += gone
    counts += fakes * scale // over.messages
    return Tally(counts, int(counts.sum())), scale


def spread_of_messages(over, held, fakes, points, share):
    """The variance of the tallied sum, message by message, in fractions."""
    p, directions = over.prime, over.device_planes.directions
    load = [0] * over.messages
    for point in points:
        for number in range(directions):
            load[over.device_planes.message(point, number)] += 1
    anywhere = [Fraction(1, over.messages)] * over.messages

    def spread(chances):
        mean = sum(c * g for c, g in zip(chances, load, strict=True))
        return sum(c * g * g for c, g in zip(chances, load, strict=True)) - mean**2

    found = fakes * spread(anywhere)
    for one in held:
        chances = [share / (directions * p)] * over.messages
        for number in range(directions):
            chances[
                over.device_planes.message(over.device_planes.point(one, len(held)), number)
            ] += (1 - share) / directions
        found += spread(chances)
    return found


@pytest.mark.parametrize(("prime", "digits", "values"), [(3, 2, 8), (2, 3, 7), (5, 2, 12)])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 4)])
def test_the_variance_over_planes_is_unbiased(prime, digits, values, share):
    """Fed with what messages come to on average, the estimate is the variance itself."""
    over, held, bins = Planes(prime, digits), list(range(values)), np.array([0, 2, 3])
    held = [held[0]] * 3 + held[3:]
    fakes = 4
    tally, scale = expected_tally(over, held, fakes, share)
    made = InClear(bins=values, fakes=UniformFakes(fakes * scale), planes=over)
    if share:
        made = KaryResponse(
            bins=values,
            replaced=SCALE // 4,
            fakes=UniformFakes(fakes * scale),
            crowd=len(held) * scale,
            planes=over,
        )
    found = group_total(made, tally, bins, len(held) * scale)
    points = [over.device_planes.point(int(one), values) for one in bins]
    due = spread_of_messages(over, held, fakes, points, share)
    assert found.estimate == pytest.approx(sum(one in (0, 2, 3) for one in held) * scale)
    assert found.variance * made.gain**2 == pytest.approx(float(due) * scale)


def test_people_in_the_group_hold_their_own_point_for_certain(plant):
    """Planted: as if everybody were outside the group."""
    over = Planes(5, 2)
    tally, scale = expected_tally(over, [0] * 12, 4, Fraction(0))
    made = InClear(bins=12, fakes=UniformFakes(4 * scale), planes=over)
    points = [over.device_planes.point(one, 12) for one in (0, 2, 3)]
    due = float(spread_of_messages(over, [0] * 12, 4, points, Fraction(0)))
    right = group_total(made, tally, np.array([0, 2, 3]), 12 * scale).variance * made.gain**2
    assert right == pytest.approx(due * scale)
    plant(module, "sum_named_points", lambda honest, *given: (0, honest(*given)[1]))
    wrong = group_total(made, tally, np.array([0, 2, 3]), 12 * scale).variance * made.gain**2
    assert wrong != pytest.approx(due * scale, rel=0.05)


@pytest.mark.parametrize(("prime", "digits"), [(2, 4), (5, 3), (31, 2)])
def test_points_of_messages_are_counted_by_their_directions(prime, digits, monkeypatch):
    over = Planes(prime, digits)
    codes = SeededChance(3).words(300).astype(np.int64) % over.messages
    named, times = np.unique(codes, return_counts=True)
    points = np.array([0, 1, over.points - 1, 4])
    held = [
        sum(over.device_planes.message(point, code // prime) == code for point in points.tolist())
        for code in codes.tolist()
    ]
    monkeypatch.setattr("mixtally.protocol.estimate.planes._PRODUCTS", 3 * prime)
    found = sum_named_points(over, Tally(times, 300, None, named), points)
    assert found == (sum(held), sum(one**2 for one in held))


def test_the_whole_list_is_everybody():
    made = InClear(bins=D, fakes=UniformFakes(FAKES))
    found = group_total(made, Tally(np.array([1, 2, 3, 3]), 9), np.arange(D), 6)
    assert total_interval([found], 0.025) == (6, 6, "exact test inversion")
    assert found.variance == 0.0


def test_a_single_free_bit_is_not_everybody():
    made = BitFlips(bins=1, threshold=Q, max_set=None, fakes=BlankFakes(0), crowd=50)
    found = group_total(made, Tally(np.array([20]), 50), np.array([0]), 50)
    assert found.variance > 0


def test_people_with_two_bins_of_a_group_count_twice():
    made = BitFlips(bins=D, threshold=Q, max_set=2, fakes=BlankFakes(0), crowd=0)
    found = group_total(made, Tally(np.array([0, 6, 0, 6]), 6), np.array(GROUP), 6)
    assert (found.most, total_interval([found], 0.025)[1]) == (12, 12)


def test_a_total_of_two_streams_has_the_noise_of_both():
    """The first has two fakes of 40, the second 40: coverage over all pairs of tallies."""
    covered, within = 0.0, range(41)
    for first, second in product(range(3), within):
        streams = [
            group_total(
                InClear(bins=D, fakes=UniformFakes(fakes)),
                Tally(np.array([0, 10 + more, 0, 10]), 50 + fakes),
                np.array(GROUP),
                50,
            )
            for fakes, more in ((2, first), (40, second))
        ]
        low, high, how = total_interval(streams, 0.025)
        assert how == "normal approximation"
        chance = math.comb(2, first) * math.comb(40, second) / 2**42
        covered += chance * (low <= 40 <= high)
    assert covered >= 0.95


def test_totals_of_sets_over_planes_are_refused():
    made = InClear(bins=300, fakes=UniformFakes(9), planes=Planes(7, 22), max_set=3)
    with pytest.raises(ParameterError, match="sets over planes"):
        group_total(made, Tally(np.array([1]), 9, None, np.array([0])), np.array([0, 1]), 0)


def scores(people, values, prime, size, seeds, groups):
    """Errors of totals in their stated standard errors, for each kind of group, and sums."""
    part = contracts.over_planes(values, prime, whole=1, coin=0)
    weights = 1.0 / np.arange(1, values + 1)
    held = np.floor(people * weights / weights.sum()).astype(np.int64)
    held[0] += people - held.sum()
    mixed = np.argsort(SeededChance(99).words(values), kind="stable")
    chosen = {
        "neighbors": [np.arange(k * size, (k + 1) * size) for k in range(groups)],
        "random": [mixed[k * size : (k + 1) * size] for k in range(groups)],
    }
    found = {name: [] for name in chosen}
    made = part.mechanism(fakes=people)
    for seed in seeds:
        _, tally = draw_part(part, held, people, 1, SeededChance(seed))
        counts = made.debias_counts(count_pointing(part.planes, tally, values), tally.messages)
        if seed == seeds[0]:
            errors = {
                name: [group_total(made, tally, one, people).variance ** 0.5 for one in several]
                for name, several in chosen.items()
            }
        for name, several in chosen.items():
            off = [float(counts[one].sum() - held[one].sum()) for one in several]
            found[name] += (np.array(off) / errors[name]).tolist()
    return {name: float(np.mean(np.square(one))) ** 0.5 for name, one in found.items()}


def test_neighbors_err_as_random_labels_do_and_as_stated():
    """Ten groups of 100 labels in 30 collections, with fixed seeds: 300 errors of each kind."""
    found = scores(5000, 1000, 101, 100, range(1, 31), 10)
    assert found["neighbors"] == pytest.approx(1.0, abs=0.1)
    assert found["random"] == pytest.approx(1.0, abs=0.1)
    assert found["neighbors"] == pytest.approx(found["random"], rel=0.1)


@pytest.mark.slow
def test_a_thousand_neighbors_of_many_err_as_random_labels_do():
    """The same with a million people and 100,000 labels, with fixed seeds."""
    found = scores(1_000_000, 100_000, 23_417, 1000, range(1, 31), 20)
    assert found["neighbors"] == pytest.approx(1.0, abs=0.1)
    assert found["random"] == pytest.approx(1.0, abs=0.1)
    assert found["neighbors"] == pytest.approx(found["random"], rel=0.1)


@pytest.mark.parametrize("prime", [1_048_573, 2**31 - 1])
def test_large_primes_name_as_many_points_as_a_device_says(prime):
    """Messages of the largest point, which also has the largest digits, and others."""
    over, chance = Planes(prime, 2), SeededChance(4)
    points = np.append(draw_below(chance, over.points, 30), over.points - 1)
    numbers = np.append(draw_below(chance, over.device_planes.directions, 60), prime - 1)
    own = [over.device_planes.message(over.points - 1, number) for number in numbers.tolist()]
    others = draw_below(chance, over.messages, 60).tolist()
    codes, times = np.unique(own + others, return_counts=True)
    held = [
        sum(over.device_planes.message(point, code // prime) == code for point in points.tolist())
        for code in codes.tolist()
    ]
    found = sum_named_points(over, Tally(times, int(times.sum()), None, codes), points)
    assert found == (times @ held, times @ np.square(held))
    assert found[0] >= 61
