"""Values counted in messages that name planes: by three ways, unbiased, with errors as stated.

Crowds are played message by message with the production randomizer; estimates of one collection
are alike, so that means of collections are what is held against the truth.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.planes_golden import golden
from mixtally.errors import AccountingError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import InClear, UniformFakes
from mixtally.model.planes import Planes, points_on_curve
from mixtally.primitives.draw import draw_below
from mixtally.primitives.wide import make_numbers, to_plain
from mixtally.protocol.estimate import planes as module
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.noise import NoiseCache, noise_distribution
from mixtally.protocol.estimate.planes import (
    count_pointing,
    count_pointing_at,
    count_pointing_at_free,
)
from mixtally.protocol.tally.fold import tally_messages
from reference.played import play

SMALL = [(2, 2), (2, 3), (2, 5), (3, 2), (3, 3), (5, 2), (7, 3), (11, 2)]
LARGE = [(419, 7), (23_447, 4), (2, 61), (101, 9), (9_999_991, 2), (1_048_573, 3), (2**31 - 1, 2)]


def mechanism(prime, digits, fakes, bins=None):
    over = Planes(prime, digits)
    return InClear(bins=bins or over.points, fakes=UniformFakes(fakes), planes=over)


def drawn(over, count, seed=1):
    """Random messages, many of them twice or more where there are few."""
    codes = draw_below(SeededChance(seed), over.messages, count)
    return np.unique(codes, return_counts=True), Tally(
        np.bincount(codes, minlength=over.messages), count
    )


def brute(over, codes, times, points):
    """How often messages point at each point: those that a record of it could have sent."""
    where = dict(zip(codes.tolist(), times.tolist(), strict=True))
    own = range(over.device_planes.directions)
    return [
        sum(where.get(over.device_planes.message(point, number), 0) for number in own)
        for point in points
    ]


def placed(over, values):
    """The points of a list of so many values, as a device finds them one by one."""
    return [over.device_planes.point(one, values) for one in range(values)]


def counted(over, tally, way, monkeypatch):
    """All values, counted in one way."""
    points = over.points
    if way == "products":
        return count_pointing_at(over, tally, np.array(placed(over, points)))[0]
    monkeypatch.setattr(module, "_MESSAGES_PER_POINT", 0.0 if way == "Fourier" else math.inf)
    return count_pointing(over, tally, points)


WAYS = ("rows", "Fourier", "products")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("prime", "digits"), SMALL)
def test_three_ways_count_what_brute_force_does(prime, digits, way, monkeypatch):
    over = Planes(prime, digits)
    (codes, times), tally = drawn(over, 200)
    found = counted(over, tally, way, monkeypatch)
    assert found.tolist() == brute(over, codes, times, placed(over, over.points))
    assert int(found.sum()) == over.points // prime * 200


@pytest.mark.parametrize("values", [4, 5, 23, 24])
@pytest.mark.parametrize("way", WAYS[:2])
def test_values_of_a_list_are_counted_at_their_points(values, way, monkeypatch):
    over = Planes(5, 2)
    (codes, times), tally = drawn(over, 100)
    monkeypatch.setattr(module, "_MESSAGES_PER_POINT", 0.0 if way == "Fourier" else math.inf)
    assert count_pointing(over, tally, values).tolist() == brute(
        over, codes, times, placed(over, values)
    )


@pytest.mark.parametrize(
    ("prime", "digits", "first"), [(5, 2, 7), (7, 3, 300), (11, 2, 22), (2, 5, 9)]
)
def test_points_that_no_value_has_are_counted_by_rows_as_by_products(
    prime, digits, first, monkeypatch
):
    over = Planes(prime, digits)
    (codes, times), tally = drawn(over, 200)
    numbers = range(first, over.points)
    held = points_on_curve(over.device_planes, np.array(numbers[:64])).tolist()
    for rows in (0, over.points):
        monkeypatch.setattr(module, "_FEW_ROWS", rows)
        assert count_pointing_at_free(over, tally, numbers).tolist() == brute(
            over, codes, times, held
        )
    assert count_pointing_at_free(over, tally, range(over.points, over.points)).tolist() == []


def test_few_messages_of_many_are_counted_as_well():
    """A tally that keeps only what came."""
    over = Planes(7, 3)
    (codes, times), _ = drawn(over, 60)
    few = Tally(times, 60, None, codes)
    assert count_pointing(over, few, over.points).tolist() == brute(
        over, codes, times, placed(over, 343)
    )


@pytest.mark.parametrize(("prime", "digits"), LARGE)
def test_products_are_exact_in_families_of_eight_bytes(prime, digits):
    """Messages of a point, and the same plus one, which miss it; others hit by chance."""
    over, chance = Planes(prime, digits), SeededChance(4)
    points = draw_below(chance, over.points, 30)
    numbers = draw_below(chance, over.device_planes.directions, 60)
    codes = [over.device_planes.message(points[0], number) for number in numbers.tolist()]
    missing = [
        number * prime + (code + 1) % prime
        for code, number in zip(codes, numbers.tolist(), strict=True)
    ]
    every, times = np.unique(codes + missing, return_counts=True)
    found, _ = count_pointing_at(over, Tally(times, len(codes) * 2, None, every), points)
    truth = [
        sum(
            many * (over.device_planes.message(point, code // prime) == code)
            for code, many in zip(every.tolist(), times.tolist(), strict=True)
        )
        for point in points.tolist()
    ]
    assert found.tolist() == truth
    assert truth[0] >= 60


@pytest.mark.parametrize(("prime", "digits"), [(5, 54), (9661, 9), (2**31 - 1, 4)])
def test_products_are_exact_in_families_of_sixteen_bytes(prime, digits):
    """As above; among the points is the one with the largest digits."""
    over = Planes(prime, digits)
    bare = over.device_planes
    points = [bare.points - 1, *(bare.points * part // 31 for part in range(30))]
    numbers = [bare.directions - 1, *(bare.directions * part // 61 for part in range(60))]
    hits = [bare.message(points[0], number) for number in numbers]
    missing = [
        number * prime + (code + 1) % prime for code, number in zip(hits, numbers, strict=True)
    ]
    rows = Layout(Form.INDEX, over.messages).rows(make_numbers(hits + missing, over.messages))
    tally = tally_messages(Layout(Form.INDEX, over.messages), rows)
    every = [int(one, 16) for one in to_plain(tally.nonzero_counts[0])]
    assert sorted(set(hits + missing)) == every
    found, _ = count_pointing_at(over, tally, make_numbers(points, bare.points))
    truth = [sum(bare.message(point, code // prime) == code for code in every) for point in points]
    assert found.tolist() == truth
    assert truth[0] >= 61


PLANTED_COUNTS = {
    "table index c J + j": lambda tally, over: Tally(
        tally.counts.reshape(-1, over.prime).T.ravel(), tally.messages
    ),
    "a direction too far": lambda tally, over: Tally(
        np.roll(tally.counts, over.prime), tally.messages
    ),
}


@pytest.mark.parametrize("name", PLANTED_COUNTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_tally_in_another_order_is_found(name, way, monkeypatch):
    """Planted: the table of messages is read by another index than it is written by."""
    over = Planes(5, 2)
    (codes, times), tally = drawn(over, 200)
    found = counted(over, PLANTED_COUNTS[name](tally, over), way, monkeypatch)
    assert found.tolist() != brute(over, codes, times, placed(over, over.points))


@pytest.mark.parametrize("way", ["rows", "products"])
def test_digits_in_the_other_order_are_found(way, plant, monkeypatch):
    """Planted: whoever counts takes the most significant digit of a point first."""
    over = Planes(5, 3)
    (codes, times), tally = drawn(over, 200)
    plant(module, "digits_in_base", lambda honest, *given: honest(*given)[::-1])
    found = counted(over, tally, way, monkeypatch)
    assert found.tolist() != brute(over, codes, times, placed(over, over.points))


def test_the_most_significant_digit_moves_fastest_in_a_transform(plant, monkeypatch):
    """Planted: directions read backwards, as if arrays had their first axis fastest."""
    over = Planes(5, 3)
    (codes, times), tally = drawn(over, 200)
    plant(module, "directions", lambda honest, *given: honest(*given)[::-1])
    found = counted(over, tally, "Fourier", monkeypatch)
    assert found.tolist() != brute(over, codes, times, placed(over, over.points))


def test_a_transform_that_loses_messages_stops(plant, monkeypatch):
    """Planted: a direction has the frequencies of another one, which stay empty."""
    over = Planes(5, 2)
    _, tally = drawn(over, 200)
    plant(module, "directions", lambda honest, *given: honest(*given) * 0 + 1)
    with pytest.raises(AccountingError, match="counts of 25 points are off"):
        counted(over, tally, "Fourier", monkeypatch)


@pytest.mark.parametrize(("prime", "digits"), [(3, 2), (5, 3)])
def test_the_squares_of_what_messages_point_at_are_summed(prime, digits):
    over = Planes(prime, digits)
    (codes, times), tally = drawn(over, 150)
    points = np.array([0, 1, over.points - 1, 4])
    held = np.array(
        [
            sum(
                over.device_planes.message(point, code // prime) == code
                for point in points.tolist()
            )
            for code in codes.tolist()
        ]
    )
    assert count_pointing_at(over, tally, points)[1] == int((times * held**2).sum())


def number_of(digits, prime):
    return sum(digit * prime**place for place, digit in enumerate(digits))


@pytest.mark.parametrize(("inputs", "value"), golden("planes-count-law"))
def test_the_law_of_a_count_is_that_of_others(inputs, value):
    """S = n_x + Bin(n - n_x, kappa) + Bin(m, 1/p), against fractions of another program."""
    prime, digits, fakes = inputs["p"], inputs["t"], inputs["m"]
    held = sum(person == inputs["value"] for person in inputs["people"])
    made = mechanism(prime, digits, fakes)
    messages = len(inputs["people"]) + fakes
    law = noise_distribution(made, messages, held)
    found = np.zeros(messages + 1)
    found[held + law.first : held + law.first + len(law.pmf)] = law.pmf
    assert found.tolist() == pytest.approx([float(Fraction(one)) for one in value["law"]])
    estimates = made.debias_counts(np.arange(messages + 1), messages)
    mean = float(found @ estimates)
    assert mean == pytest.approx(float(Fraction(value["estimate_mean"]))) == pytest.approx(held)
    variance = float(found @ (estimates - mean) ** 2)
    assert variance == pytest.approx(float(Fraction(value["estimate_variance"])))
    if not held:
        assert made.variance(messages) == pytest.approx(variance)


@pytest.mark.parametrize("planted", ["1/p for people and kappa for fakes", "all people are others"])
def test_another_law_is_found(planted):
    """Planted: the chances exchanged, and people who hold a value point at it by chance too."""
    inputs, value = golden("planes-count-law")[int(planted.startswith("1/p"))]
    prime, fakes, people = inputs["p"], inputs["m"], len(inputs["people"])
    held = sum(person == inputs["value"] for person in inputs["people"])
    kappa = Planes(prime, inputs["t"]).collision_probability
    chances = (1 / prime, kappa) if planted.startswith("1/p") else (kappa, 1 / prime)
    others_ = people - held if planted.startswith("1/p") else people

    def binomial(n, q):
        return [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]

    law = np.convolve(binomial(others_, chances[0]), binomial(fakes, chances[1]))
    truth = np.array([float(Fraction(one)) for one in value["law"]])[held:]
    assert not np.allclose(law[: len(truth)], truth)


@pytest.mark.parametrize(("inputs", "value"), golden("planes-interval"))
def test_an_interval_inverts_that_law(inputs, value):
    made = mechanism(inputs["p"], inputs["t"], inputs["m"])
    tally = Tally(np.array([inputs["s"]]), inputs["n"] + inputs["m"])
    found = intervals(made, tally, float(inputs["level"]), simultaneous_over=1)
    assert [int(found.lower[0]), int(found.upper[0])] == value


def test_every_direction_is_drawn_alike():
    """30,000 records of one value, and as many fakes: chi-square, false alarm 2e-6."""
    over = Planes(5, 2)
    made = mechanism(5, 2, 30_000)
    tally = play(made, np.full(30_000, 7), SeededChance(8))
    own = [
        over.device_planes.message(over.device_planes.point(7, 25), number)
        for number in range(over.device_planes.directions)
    ]
    due = np.full(over.messages, 30_000 / over.messages)
    due[own] += 30_000 / over.device_planes.directions
    assert stats.chisquare(tally.counts, due).pvalue > 2e-6


def test_one_digit_is_a_value_in_clear():
    """Planes of one digit would be the values themselves: nobody else points at one."""
    assert Planes(7, 1).collision_probability == 0.0
    assert Planes(7, 1).messages == 7


HELD = np.array([60, 30, 20, 15, 10, 5, 0, 0, 0] + [1] * 40)
"""Of 180 people; values 6 to 8 nobody holds."""


class Run:
    """One collection of the 49 values of Z_7^2, or so many of another family."""

    def __init__(self, chance, prime=7, digits=2, fakes=150, held=HELD, level=0.95):
        self.truth = held
        made = mechanism(prime, digits, fakes, len(held))
        tally = play(made, np.repeat(np.arange(len(held)), held), chance)
        shown = Tally(count_pointing(made.planes, tally, len(held)), tally.messages)
        self.found = estimate_counts(
            made, shown, int(held.sum()), level=level, noises=NOISES, simultaneous_over=len(held)
        )

    @property
    def errors(self):
        return self.found.counts - self.truth

    def holds(self, ends):
        return (ends.lower <= self.truth) & (self.truth <= ends.upper)


NOISES = NoiseCache()


def collected(runs, seed=1, **more):
    chance = SeededChance(seed)
    return [Run(chance, **more) for _ in range(runs)]


@pytest.fixture(scope="module")
def crowd():
    return collected(400)


def score(means):
    """The mean of independent numbers in its standard errors."""
    return float(np.mean(means) / (np.std(means, ddof=1) / math.sqrt(len(means))))


def scores(runs):
    """That of the most frequent value, of those nobody holds, and of the rare ones."""
    kinds = (slice(0, 1), slice(6, 9), slice(9, None))
    return [score([run.errors[kind].mean() for run in runs]) for kind in kinds]


def test_counts_are_unbiased(crowd):
    """Three means of independent collections: false alarm 2e-6 by the normal approximation."""
    assert max(map(abs, scores(crowd))) < 5


def test_the_variance_is_the_one_stated(crowd):
    """Of values that nobody holds, 1,200 squares that vary by 1.4 of their mean, a little alike:
    deviation 4 % to 6 %; false alarm below 1e-4.
    """
    squares = np.array([np.mean(run.errors[6:9] ** 2) for run in crowd])
    stated = crowd[0].found.standard_error ** 2
    assert squares.mean() / stated == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(("prime", "digits"), [(2, 3), (3, 2)])
@pytest.mark.parametrize("planted", ["nothing", "kappa = 1/p", "1/(1 - kappa) forgotten"])
def test_small_primes_show_a_wrong_chance(prime, digits, planted, monkeypatch):
    """Of 60 people with one value: false alarm 6e-7; planted, kappa = 1/p or no gain."""
    held = np.array([60] + [0] * (prime**digits - 1))
    if planted == "kappa = 1/p":
        monkeypatch.setattr(
            Planes, "collision_probability", property(lambda self: 1.0 / self.prime)
        )
    elif planted != "nothing":
        monkeypatch.setattr(InClear, "gain", property(lambda _: 1.0))
    runs = []
    chance = SeededChance(2)
    for _ in range(300):
        made = mechanism(prime, digits, 40, len(held))
        tally = play(made, np.zeros(60, dtype=np.int64), chance)
        shown = count_pointing(made.planes, tally, len(held))
        runs.append(made.debias_counts(shown, tally.messages) - held)
    bias = [
        abs(score([errors[0] for errors in runs])) if np.std([e[0] for e in runs]) else 0.0,
        abs(score([errors[1:].mean() for errors in runs])),
    ]
    assert (max(bias) > 5) == (planted != "nothing")


def test_without_leading_zeros_a_common_total_cannot_be_told():
    """Planted: every direction begins with 1. Values that differ in the first digit alone never
    meet, so that they are pointed at N times in all, whatever anybody holds.
    """
    over, chance = Planes(5, 2), SeededChance(3)
    first, others_ = np.arange(5), 5 * np.arange(5)
    for held in (first, others_, np.zeros(5, dtype=np.int64)):
        numbers = draw_below(chance, 5, 100)  # those that begin with 1
        codes = [
            over.device_planes.message(point, number)
            for point, number in zip(np.repeat(held, 20).tolist(), numbers.tolist(), strict=True)
        ]
        tally = Tally(np.bincount(codes, minlength=over.messages), 100)
        assert int(count_pointing_at(over, tally, first)[0].sum()) == 100


def share(runs, ends):
    return float(np.mean(np.concatenate([run.holds(ends(run)) for run in runs])))


def test_intervals_cover_as_they_say(crowd):
    """19,600 intervals of at least 95 % each, those of a collection nearly independent: deviation
    0.2 %, false alarm below 1e-5. At once: 400 collections of at least 95 %, fewer than 360 with a
    probability below 1e-4.
    """
    assert 0.942 < share(crowd, lambda run: run.found.individual) < 0.985
    assert sum(bool(run.holds(run.found.simultaneous).all()) for run in crowd) >= 360
    assert crowd[0].found.simultaneous.lower.max() > 0


def test_intervals_of_one_value_are_not_those_of_all(crowd):
    """Planted: the intervals for each value taken for all at once."""
    assert sum(bool(run.holds(run.found.individual).all()) for run in crowd) < 200


def test_intervals_that_forget_other_people_are_found(crowd):
    """Planted: the noise of fakes alone, as if no other person's plane held a value."""
    alone = 1.96 * math.sqrt(150 / 7 * (6 / 7))
    near = np.concatenate([np.abs(run.errors) <= alone for run in crowd])
    assert near.mean() < 0.9
