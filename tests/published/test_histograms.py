"""Sufficient DP 000 (2.4), (3.1), (3.4), against distributions in rational numbers."""

from fractions import Fraction

import pytest

from helpers.exact_distributions import bags, flipped
from mixtally.errors import ParameterError
from mixtally.lab.formulas import sufficient

CASES = [(1, 5, Fraction(1, 10)), (2, 4, Fraction(3, 10)), (3, 2, Fraction(2, 5))]


def distributions(bits, users, q, crowd):
    rest = (crowd,) * (users - 1)
    return bags((*rest, (1 << bits) - 1), bits, q), bags((*rest, 0), bits, q)


def reproduces():
    far = 0.0
    for bits, users, q in CASES:
        for crowd in range(1 << bits):
            above, below = distributions(bits, users, q, crowd)
            for bag, chance in above.items():
                said = sufficient.homogeneous_ratio(bag, crowd, bits, float(q))
                far = max(far, abs(said / float(chance / below[bag]) - 1.0))
                if crowd == 0:
                    counts = [0] * (bits + 1)
                    for vector, count in enumerate(bag):
                        counts[bin(vector).count("1")] += count
                    short = sufficient.ratio_by_set_bits(counts, float(q))
                    far = max(far, abs(short / said - 1.0))
    return far < 1e-12


def test_the_ratio_is_that_of_the_two_distributions_whatever_the_others_hold():
    """Also where no first vector came, where the document's (2.2) divides by zero."""
    assert reproduces()


@pytest.mark.parametrize("held", range(4))
def test_a_vector_is_turned_bit_by_bit(held):
    q = Fraction(1, 5)
    chances = [sufficient.transition_probability(held, seen, 2, 0.2) for seen in range(4)]
    assert chances == pytest.approx([float(flipped(held, seen, 2, q)) for seen in range(4)])
    assert sum(chances) == pytest.approx(1.0)


@pytest.mark.parametrize("flip", [0.0, 0.5, float("nan")])
def test_a_flip_that_is_none_is_refused(flip):
    with pytest.raises(ParameterError, match=r"^flip probability: "):
        sufficient.transition_probability(0, 1, 1, flip)
    with pytest.raises(ParameterError, match=r"^flip probability: "):
        sufficient.ratio_by_set_bits((1, 2), flip)
