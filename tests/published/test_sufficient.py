"""Sufficient DP 000: its tables, its moments, its precision claims."""

import math

import pytest

from mixtally.errors import ParameterError
from mixtally.lab.formulas import sufficient
from published.printed import as_printed

TWO, SEVEN = math.log(2.0), 2.0
TABLE = [
    (TWO, 3000, 5, ".2109"),
    (TWO, 5000, 5, ".1963"),
    (TWO, 10_000, 5, ".1778"),
    (SEVEN, 1000, 5, ".1692"),
    (SEVEN, 3000, 5, ".1424"),
    (SEVEN, 5000, 5, ".1310"),
    (SEVEN, 10**7, 40, ".351"),
]


def reproduces():
    local = sufficient.local(TWO, 0.5, 5)
    return (
        as_printed(local, "0.465")
        and as_printed(sufficient.local(SEVEN, 0.5, 40), "0.4875")
        and as_printed(sufficient.deviation(1, local), "7.21")
        and all(
            as_printed(sufficient.three_sigma(e, 0.5, users, bits), printed)
            for e, users, bits, printed in TABLE
        )
    )


def test_every_printed_number_is_reproduced():
    assert reproduces()


def test_the_first_row_lies_between_the_two_forms_of_the_rule():
    """Printed .2446: (3.12) gives .24454 and (3.15) .24487, so it is right to one unit."""
    exact = sufficient.three_sigma(TWO, 0.5, 1000, 5)
    simple = sufficient.three_sigma_simplified(TWO, 0.5, 1000, 5)
    assert exact < 0.2446 < simple
    assert exact == pytest.approx(0.2446, abs=1e-4)


def test_the_third_row_belongs_to_ten_thousand_people():
    assert as_printed(sufficient.three_sigma(TWO, 0.5, 10_000, 5), ".1778")
    assert not as_printed(sufficient.three_sigma(TWO, 0.5, 5000, 5), ".1778")


def test_the_gain_is_elevenfold_and_not_twelvefold():
    local = sufficient.deviation(1, sufficient.local(TWO, 0.5, 5))
    rule = sufficient.deviation(1, sufficient.three_sigma(TWO, 0.5, 5000, 5))
    assert as_printed(rule, ".654")
    assert as_printed(local / rule, "11.0")


@pytest.mark.parametrize("q", [0.01, 0.2, 0.45])
@pytest.mark.parametrize("bits", [1, 3, 5])
def test_the_moments_are_those_of_the_distribution(q, bits):
    """Against the sum over the number of set bits of a zero vector and of the outlier."""
    users, r = 50, (1 - q) / q

    def moment(keep, power):
        return sum(
            math.comb(bits, t) * keep**t * (1 - keep) ** (bits - t) * r ** (power * (2 * t - bits))
            for t in range(bits + 1)
        )

    means = moment(q, 1), moment(1 - q, 1)
    spreads = moment(q, 2) - means[0] ** 2, moment(1 - q, 2) - means[1] ** 2
    value = sufficient.phi(q)
    assert sufficient.mean(value, users, bits) == pytest.approx(
        ((users - 1) * means[0] + means[1]) / users, rel=1e-9
    )
    assert sufficient.variance(value, users, bits) == pytest.approx(
        ((users - 1) * spreads[0] + spreads[1]) / users**2, rel=1e-9
    )
    assert value == pytest.approx(r + 1 / r - 1, rel=1e-12)
    assert sufficient.flip_from_phi(value) == pytest.approx(q, rel=1e-9)


def test_the_rule_meets_its_own_inequality_with_equality():
    q = sufficient.three_sigma(1.0, 0.5, 10**6, 5)
    value = sufficient.phi(q)
    reach = sufficient.mean(value, 10**6, 5) + 3 * math.sqrt(sufficient.variance(value, 10**6, 5))
    assert reach == pytest.approx(math.e, rel=1e-9)


def test_one_hot_records_are_given_the_noise_of_two_bits():
    assert sufficient.three_sigma_one_hot(2.0, 0.5, 1000) == sufficient.three_sigma(
        2.0, 0.5, 1000, 2
    )


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda: sufficient.local(1.0, 0.5, 0), "bits"),
        (lambda: sufficient.three_sigma(1.0, 0.5, 1, 5), "users"),
        (lambda: sufficient.three_sigma_simplified(0.01, 0.5, 2, 5), "users"),
        (lambda: sufficient.phi(0.5), "flip probability"),
    ],
)
def test_outside_its_range_a_formula_is_refused(call, subject):
    with pytest.raises(ParameterError, match=rf"^{subject}: expected .*, got .*\. "):
        call()
