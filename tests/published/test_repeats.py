"""K-Randomization 003: its example, its claim about repeating, its ratio."""

import math
from fractions import Fraction
from itertools import product

import pytest
from scipy import stats

from helpers.exact_distributions import flipped, sums
from mixtally.errors import ParameterError
from mixtally.lab.formulas import repeats
from published.printed import as_printed

TWO = math.log(2.0)


def reproduces():
    q = repeats.single_bit(TWO, 0.5, 1000)
    third = repeats.deviation(1000, 1 / 3)
    return (
        as_printed(q, "0.009")
        and as_printed(q, "8.764e-3")
        and as_printed(third, "44.7")
        and as_printed(repeats.deviation(1000, q), "3.000")
        and as_printed(third / repeats.deviation(1000, q), "14.9")
    )


def test_every_printed_number_is_reproduced():
    assert reproduces()


@pytest.mark.parametrize(("epsilon", "users", "k"), [(TWO, 1000, 1), (1.0, 10**5, 5), (2.0, 7, 3)])
def test_the_noise_is_the_formula_written_out(epsilon, users, k):
    need = 9 / ((math.exp(epsilon / k) - 1) ** 2 * k * users)
    written = 0.5 * (1 - 1 / math.sqrt(1 + 4 * need))
    assert repeats.repeated_bit(epsilon, 0.5, users, k) == pytest.approx(written, rel=1e-9)


def test_the_intervals_of_the_example():
    q, third = repeats.single_bit(TWO, 0.5, 1000), 1 / 3
    for flip, low, high in ((q, "982.0", "1000"), (third, "621.9", "711.4")):
        reach = 3 * math.sqrt(1000 * flip * (1 - flip))
        assert 1000 * (1 - flip) - reach == pytest.approx(float(low), abs=0.5)
        assert 1000 * (1 - flip) + reach == pytest.approx(float(high), abs=0.5)


def test_ninety_nine_point_ninety_eight_percent_is_ninety_four():
    """How often the ratio stays within [1/2, 2] in a crowd of ones, at the printed q."""
    users = 1000
    inside = [i for i in range(users + 1) if 0.5 <= repeats.ratio(i, users, 0.009) <= 2.0]
    assert as_printed(100 * stats.binom.pmf(inside, users, 0.991).sum(), "94")


def test_the_ratio_is_that_of_the_two_distributions():
    users, q = 12, 0.2
    for seen in range(users + 1):
        one_zero = q * stats.binom.pmf(seen - 1, users - 1, 1 - q) + (1 - q) * stats.binom.pmf(
            seen, users - 1, 1 - q
        )
        true = one_zero / stats.binom.pmf(seen, users, 1 - q)
        assert repeats.ratio(seen, users, q) == pytest.approx(true, rel=1e-9)


def test_by_its_own_formula_repeating_makes_the_error_rise():
    errors = [
        repeats.deviation(10**5, repeats.repeated_bit(1.0, 0.5, 10**5, k), k) for k in (1, 2, 5, 10)
    ]
    assert errors == sorted(errors)
    assert errors[-1] > 1.1 * errors[0]


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda: repeats.single_bit(1.0, 0.5, 0), "users"),
        (lambda: repeats.repeated_bit(1.0, 0.5, 10, 0), "repeats"),
        (lambda: repeats.ratio(11, 10, 0.1), "users"),
        (lambda: repeats.deviation(10, 0.5), "flip probability"),
    ],
)
def test_outside_its_range_a_formula_is_refused(call, subject):
    with pytest.raises(ParameterError, match=rf"^{subject}: expected .*, got .*\. "):
        call()


def is_the_distribution_of_repeats():
    """(5.9) and (5.10) against numbers of choices and two distributions in rational numbers."""
    far = 0.0
    for k, users, q in ((1, 3, Fraction(1, 4)), (2, 4, Fraction(1, 10)), (3, 3, Fraction(2, 5))):
        full, changed = sums(k * users, 0, q), sums(k * (users - 1), k, q)
        for seen in range(k * users + 1):
            ratio = repeats.repeated_ratio(seen, users, float(q), k)
            far = max(far, abs(ratio / float(changed[seen] / full[seen]) - 1.0))
            for lies in range(k + 1):
                ways = math.comb(k * users - k, seen - lies) if lies <= seen else 0
                said = Fraction(repeats.choices(lies, seen, users, k)).limit_denominator(10**6)
                far = max(far, float(abs(said - Fraction(ways, math.comb(k * users, seen)))))
    return far < 1e-12


def test_the_ratio_of_repeats_is_that_of_the_two_distributions():
    assert is_the_distribution_of_repeats()
    assert repeats.repeated_ratio(7, 10, 0.2, 1) == pytest.approx(repeats.ratio(7, 10, 0.2))


def exact_anonymity(held, bits, q):
    """A_p from every way in which the others can be sent."""
    least = None
    for at, vector in enumerate(held):
        others = held[:at] + held[at + 1 :]
        for seen in range(1 << bits):
            among = sum(
                math.prod(flipped(v, s, bits, q) for v, s in zip(others, sent, strict=True))
                for sent in product(range(1 << bits), repeat=len(others))
                if seen in sent
            )
            found = among / flipped(vector, seen, bits, q)
            least = found if least is None else min(least, found)
    return float(least)


@pytest.mark.parametrize("held", [[0], [1, 1, 1], [0, 0, 3], [0, 1, 2, 3], [0, 0, 0, 1]], ids=str)
def test_anonymity_is_counted_out(held):
    numbers = {v: held.count(v) for v in held}
    true = exact_anonymity(held, 2, Fraction(3, 10))
    assert repeats.anonymity(numbers, 2, 0.3) == pytest.approx(true, rel=1e-12, abs=1e-15)


def test_nobody_covers_himself():
    assert repeats.anonymity({3: 1}, 2, 0.3) == 0.0
    assert repeats.seen_chance({3: 1}, 3, 2, 0.3) == pytest.approx(0.49)
