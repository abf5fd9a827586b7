"""Messages that name planes of Z_p^t: kappa by counting, and delta by every outcome, in fractions.

Small families are enumerated message by message: which integers came, and how often each. The
upper bound is that of fakes alone for a small p, else that of p bins; the lower one is that of
directions in which three values part.
"""

import math
from fractions import Fraction
from itertools import combinations, product
from math import factorial, prod

import pytest
from scipy.stats import binom

from helpers.planes_golden import golden
from helpers.sampled import covering
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.divergence import clear_uniform, in_clear, planes
from mixtally.device.contract.planes import Planes, digits_for, is_prime
from mixtally.model import planes as records
from mixtally.model.mechanism import InClear, Parameter, UniformFakes
from oracle import Collection, worst

GROWS = (Fraction(6, 5), Fraction(2), Fraction(27, 10))
"""e^epsilon."""


def held(family, value):
    """Every message of a record of ``value``, one for each direction."""
    return [family.message(value, number) for number in range(family.directions)]


def outcomes(family, codes):
    """The row of one message, each of ``codes`` as likely."""
    codes = list(codes)
    return [Fraction(codes.count(one), len(codes)) for one in range(family.messages)]


def deltas(first, second, hiding, grow):
    """Both directions of a person's two rows among what hides them."""
    of = Collection([first, second], fakes=hiding)
    return tuple(worst(of, [grow], pairs=[way])[0] for way in ((0, 1), (1, 0)))


def ends(family, fakes, grow):
    """The lower and the upper end as the accountant has them, for any of the family's values."""
    epsilon = math.log(grow)
    over = records.Planes(family.prime, family.digits)
    sent = InClear(bins=over.points, fakes=UniformFakes(fakes), planes=over)
    found = Accountant().delta(Record.of(sent), epsilon)
    small = family.prime <= planes.MOST_PRIME
    assert found.source == (
        in_clear.OVER_FEW_PLANES_SOURCE if small else in_clear.OVER_PLANES_SOURCE
    )
    return planes.lower(fakes, over, epsilon), found.bounds.upper


@pytest.mark.parametrize(("prime", "digits"), [(2, 2), (2, 5), (3, 2), (3, 4), (5, 3), (11, 2)])
def test_any_two_values_meet_in_as_many_directions(prime, digits):
    """kappa for every pair, by counting; and it is what the estimator takes."""
    family = Planes(prime, digits)
    every = [held(family, value) for value in range(min(family.points, 125))]
    meeting = {sum(map(int.__eq__, one, other)) for one, other in combinations(every, 2)}
    assert meeting == {(prime ** (digits - 1) - 1) // (prime - 1)}
    kappa = Fraction(meeting.pop(), family.directions)
    assert kappa == Fraction(prime ** (digits - 1) - 1, prime**digits - 1)
    assert records.Planes(prime, digits).collision_probability == float(kappa)


def test_without_the_blocks_of_leading_zeros_some_values_never_meet():
    """Planted: every direction begins with 1. Values that differ in their first digit alone part
    in each of them, all others meet too often, so that no kappa is right for all.
    """
    family = Planes(3, 2)
    every = [held(family, value)[: 3**1] for value in range(9)]
    meeting = {sum(map(int.__eq__, one, other)) for one, other in combinations(every, 2)}
    assert meeting == {0, 1}


@pytest.mark.parametrize(("prime", "digits"), [(2, 2), (2, 3), (3, 2), (5, 2), (2, 6)])
def test_a_family_is_every_plane_once(prime, digits):
    """Directions are those whose first digit other than 0 is 1; every message holds a p-th."""
    family = Planes(prime, digits)
    vectors = [tuple(family.direction(number)) for number in range(family.directions)]
    leading = [next(digit for digit in vector if digit) for vector in vectors]
    assert len(set(vectors)) == family.directions
    assert set(leading) == {1}
    assert {len(vector) for vector in vectors} == {digits}
    points = [0] * family.messages
    for value in range(family.points):
        for code in held(family, value):
            points[code] += 1
    assert set(points) == {family.points // prime}


CASES = [
    (2, 2, 1), (2, 2, 2), (2, 2, 3), (2, 3, 1), (2, 3, 2), (3, 2, 1), (3, 2, 2), (3, 2, 3),
    (3, 3, 1), (5, 2, 1),
]  # fmt: skip


@pytest.mark.parametrize(("prime", "digits", "fakes"), CASES)
def test_the_divergence_lies_between_its_ends(prime, digits, fakes):
    """Both directions of every kind of pair: alone, and beside one person of any third value, for
    which the lower end is proved, or of the same, which only helps.
    """
    family = Planes(prime, digits)
    fake = outcomes(family, range(family.messages))
    u, v = 0, family.points - 1
    first, second = (outcomes(family, held(family, value)) for value in (u, v))
    small = family.points <= 9 and fakes < 3
    thirds = range(family.points) if small else (1,)
    for grow in GROWS:
        lower, upper = ends(family, fakes, grow)
        for crowd in [[], *([outcomes(family, held(family, third))] for third in thirds)]:
            forth, back = deltas(first, second, [*crowd, *[fake] * fakes], grow)
            assert max(forth, back) <= upper
            if not crowd:  # nobody but fakes hides the person: it is attained
                assert max(forth, back) >= upper * (1 - 1e-3)
            if crowd not in ([first], [second]):
                assert min(forth, back) >= lower


def by_kinds(records_, prime, kappa, grow):
    """Return delta_kappa by the sum over A, B and C, in fractions."""
    both, alone = kappa / prime, (1 - kappa) / prime
    found = Fraction(0)
    for c in range(records_ + 1):
        for a in range(records_ - c + 1):
            for b in range(records_ - c - a + 1):
                rest = records_ - a - b - c
                more = a + c - grow * (b + c)
                if more > 0:
                    ways = factorial(records_) // prod(map(factorial, (a, b, c, rest)))
                    chance = alone ** (a + b) * both**c * (1 - 2 * alone - both) ** rest
                    found += ways * chance * more
    return found * prime / records_


SOME = [
    (prime, digits, fakes, grow)
    for prime, digits in ((2, 2), (2, 4), (3, 2), (3, 3), (5, 2))
    for fakes in (1, 4, 12)
    for grow in (Fraction(21, 20), *GROWS, Fraction(8))
]


@pytest.mark.parametrize(
    ("prime", "digits", "fakes", "grow"),
    covering(SOME, lambda _prime, _digits, fakes, _grow: fakes < 12),
)
def test_small_primes_have_the_sum_over_three_kinds_of_messages(prime, digits, fakes, grow):
    over = records.Planes(prime, digits)
    kappa = Fraction(prime ** (digits - 1) - 1, prime**digits - 1)
    true = by_kinds(fakes + 1, prime, kappa, grow)
    found = planes.upper(fakes, over, math.log(grow))
    assert float(true) <= found <= float(true) * (1 + 1e-3) + 1e-15
    # The twin: taken to meet in one direction more than they do, they are promised too much.
    more = by_kinds(fakes + 1, prime, kappa + Fraction(1, over.messages // prime), grow)
    assert more < true or true == 0


def test_fakes_by_coins_are_averaged():
    people, coin, epsilon, over = 300, 0.4, 1.0, records.Planes(3, 2)
    weight = binom.pmf(range(people + 1), people, coin)
    each = [planes.upper(k + 20, over, epsilon) for k in range(people + 1)]
    average = float(weight @ each)
    assert average * (1 - 1e-3) <= planes.upper(20, over, epsilon, people, coin) <= average * 1.002
    sent = InClear(bins=9, fakes=UniformFakes(20), planes=over)
    found = in_clear.near_upper(sent, 20, epsilon, people, coin)
    assert found == planes.upper(20, over, epsilon, people, coin)


@pytest.mark.parametrize(
    ("prime", "digits", "fakes", "times"),
    [
        (2, 3, 80, 195.3),
        (3, 2, 123, 12.3),
        (3, 3, 123, 26.2),
        (13, 3, 550, 1.9),
        (199, 3, 8484, 1.04),
    ],
)
def test_values_that_meet_count_much_for_few_planes(prime, digits, fakes, times):
    """The figures of docs/explanation/accounting.md: with the fewest fakes at (1, 1e-6)."""
    of_bins = [clear_uniform.delta(many, prime, 1.0).upper for many in (fakes - 1, fakes)]
    assert of_bins[0] > 1e-6 >= of_bins[1]
    upper = planes.upper(fakes, records.Planes(prime, digits), 1.0)
    assert of_bins[1] / upper == pytest.approx(times, rel=5e-3)


def test_composed_rounds_are_below_those_of_so_many_bins():
    over, fakes, epsilon = records.Planes(3, 2), 200, 1.0
    sent = InClear(bins=9, fakes=UniformFakes(fakes), planes=over)
    bins = InClear(bins=3, fakes=UniformFakes(fakes))
    few, many = (Accountant().upper(Record.of(one), epsilon, 4) for one in (sent, bins))
    one = planes.upper(fakes, over, epsilon)
    assert one <= few < many


@pytest.mark.parametrize(("first", "second"), list(combinations(range(4), 2)))
def test_every_pair_of_values_has_the_same_divergence(first, second):
    family = Planes(2, 2)
    fake = outcomes(family, range(family.messages))
    own = [outcomes(family, held(family, value)) for value in (first, second)]
    assert set(deltas(*own, [fake] * 2, Fraction(2))) == set(
        deltas(
            outcomes(family, held(family, 0)), outcomes(family, held(family, 3)), [fake] * 2,
            Fraction(2),
        )
    )  # fmt: skip


def test_the_lower_end_says_something():
    """Where three values part in enough directions it is above zero, and near the upper end of
    large families.
    """
    assert ends(Planes(5, 2), 1, Fraction(2))[0] > 0.1
    low, high = ends(Planes(1009, 3), 43_034, math.e)
    assert 0.95 * high < low < high


def test_a_lower_end_of_all_directions_is_no_lower_end(monkeypatch):
    """Planted: three values are taken to part in every direction. That is above the truth."""
    family = Planes(3, 2)
    fake = outcomes(family, range(family.messages))
    u, v, third = (outcomes(family, held(family, value)) for value in (0, 8, 1))
    truth = min(deltas(u, v, [third, *[fake] * 3], Fraction(2)))
    monkeypatch.setattr(records.Planes, "collision_probability", property(lambda _: 0.0))
    assert ends(family, 3, Fraction(2))[0] > truth


def biased(family, weights):
    """The messages of a record whose direction is drawn with these integer weights."""
    return {
        value: [code for code, many in zip(held(family, value), weights, strict=True)
                for _ in range(many)]
        for value in (0, family.points - 1)
    }  # fmt: skip


PLANTED = {
    "cells from a part": lambda family: (
        biased(family, [1] * family.directions),
        [code for code in range(family.messages) if code % family.prime < family.prime - 1],
    ),
    "modulo bias in a direction": lambda family: (
        biased(family, [3, *[1] * (family.directions - 1)]),
        range(family.messages),
    ),
    "fakes below a power of two": lambda family: (
        biased(family, [1] * family.directions),
        range(1 << (family.messages.bit_length() - 1)),
    ),
    "directions that hang on the value": lambda family: (
        {value: held(family, value)[:1] for value in (0, family.points - 1)},
        range(family.messages),
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_draws_of_another_law_break_the_bound(name):
    """Planted: fakes, or directions, are drawn by another law than the accountant's."""
    family, fakes = Planes(3, 2), 3
    codes, drawn = PLANTED[name](family)
    own = [outcomes(family, codes[value]) for value in (0, family.points - 1)]
    above = [
        max(deltas(*own, [outcomes(family, drawn)] * fakes, grow)) > ends(family, fakes, grow)[1]
        for grow in GROWS
    ]
    assert any(above)


def listed(inputs):
    """The distributions of two values under listed functions, and that of a fake."""
    bins, count = inputs["b"], len(inputs["hu"])
    family = Planes(bins, 2)._replace(prime=bins)

    def law(codes):
        named = list(codes)
        return [Fraction(named.count(one), len(named)) for one in range(bins * count)]

    assert family.prime == bins
    of = [law([j * bins + c for j, c in enumerate(inputs[name])]) for name in ("hu", "hv")]
    return (*of, law(range(bins * count)))


@pytest.mark.parametrize(("inputs", "value"), golden("planes-exact"))
def test_the_enumeration_is_that_of_others(inputs, value):
    """Fractions that were enumerated by another program: the divergence, and that of p bins."""
    grow, fakes = Fraction(inputs["e_eps"]), inputs["m"]
    if inputs["family"] == "planes":
        family = Planes(inputs["p"], inputs["t"])
        own = [outcomes(family, held(family, one)) for one in (0, family.points - 1)]
        fake, prime = outcomes(family, range(family.messages)), inputs["p"]
        kappa = Fraction(inputs["kappa"])
        assert records.Planes(inputs["p"], inputs["t"]).collision_probability == float(kappa)
    else:
        *own, fake = listed(inputs)
        prime = inputs["b"]
    assert deltas(*own, [fake] * fakes, grow) == (Fraction(value["delta"]),) * 2
    if inputs["family"] == "planes":
        assert by_kinds(fakes + 1, prime, kappa, grow) == Fraction(value["delta"])
    bound = clear_uniform.delta(fakes, prime, math.log(grow))
    assert bound.lower <= Fraction(value["bound"]) <= bound.upper
    assert bound.upper == pytest.approx(float(Fraction(value["bound"])), rel=2e-9)


@pytest.mark.parametrize(("inputs", "value"), golden("planes-large"))
def test_large_numbers_are_those_of_forty_digits(inputs, value):
    epsilon, fakes, prime = float(inputs["eps"]), inputs["m"], inputs["b"]
    truth = float(value["delta_no_collision"])
    found = clear_uniform.delta(fakes, prime, epsilon)
    assert found.lower <= truth <= found.upper <= truth * (1 + 1e-8)
    for digits in (2, 3):
        exact = float(value[f"delta_planes_t{digits}"])
        upper = planes.upper(fakes, records.Planes(prime, digits), epsilon)
        assert exact * (1 - 1e-12) <= upper <= exact * (1 + 1e-3)
        lower = planes.lower(fakes, records.Planes(prime, digits), epsilon)
        assert 0.0 <= lower <= float(value[f"delta_planes_t{digits}"]) <= found.upper


@pytest.mark.parametrize(("inputs", "value"), golden("planes-least-fakes"))
def test_the_least_fakes_are_found_again(inputs, value):
    """Of bins, and of planes of large primes; of small ones fewer do, at most a few hundredths."""
    epsilon, delta, prime = float(inputs["eps"]), float(inputs["delta"]), inputs["b"]
    least = value["least_fakes"]
    assert clear_uniform.delta(least, prime, epsilon).upper <= delta
    assert clear_uniform.delta(least - 1, prime, epsilon).lower > delta
    accountant = Accountant()
    for over in (records.Planes(prime, 2), records.Planes(prime, 3)):
        asked = Record.of(InClear(bins=over.points, fakes=UniformFakes(0), planes=over))
        found = calibrate(accountant, asked, Parameter.FAKES, epsilon, delta)
        few = found.message.mechanism.fakes_promised
        assert few == least if prime > planes.MOST_PRIME else 0.89 * least < few < least


@pytest.mark.parametrize("number", range(2, 60))
def test_primes_are_those_of_the_sieve(number):
    assert is_prime(number) == all(number % one for one in range(2, number))


@pytest.mark.parametrize(("prime", "values"), list(product((2, 3, 7), (2, 4, 5, 9, 10, 49, 50))))
def test_the_digits_are_the_fewest_that_tell_all_values(prime, values):
    digits = digits_for(prime, values)
    assert prime**digits >= values
    assert digits == 2 or prime ** (digits - 1) < values
