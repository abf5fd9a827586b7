"""Statements of the founding documents that enumeration decides: verdicts and other computations.

The other computations use rational numbers and treat every outcome separately.
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from helpers.exact_distributions import bags, delta, sums
from literature import maximal, reproduce, small, sufficient_claims
from literature.finding import claim, rounds_to
from literature.tests.enumerated import everything, only

HALF = Fraction(math.exp(0.5))


VERDICTS = [
    ("000", "(2.4)", "", "reproduces"),
    ("000", "section 1.2, claim 2", "", "reproduces"),
    ("000", "(3.4)", "", "reproduces"),
    ("000", "below (3.4)", "of an outlier", "reproduces"),
    ("000", "below (3.4)", "of other contents", "false"),
    ("001", "(3.2)", "", "reproduces"),
    ("001", "lemma 4.1", "", "reproduces"),
    ("001", "lemma 4.2", "", "reproduces"),
    ("001", "lemma 4.3", "", "reproduces"),
    ("003", "section 2", "", "reproduces"),
    ("003", "section 3", "1,000 ones", "computed"),
    ("003", "section 3", "ten ones", "computed"),
    ("003", "(5.5)", "grows", "reproduces"),
    ("003", "(5.5)", "is a product", "false"),
    ("003", "(5.9)", "", "reproduces"),
    ("003", "(5.10)", "", "reproduces"),
    ("004", "(4.5)-(4.7)", "", "reproduces"),
    ("004", "(4.8)", "", "reproduces"),
    ("004", "below (2.4), (4.3)", "", "false"),
    ("004", "lemma 4.1", "falls", "reproduces"),
    ("004", "lemma 4.1", "s = n", "false"),
    ("004", "(4.20), (4.46)", "every t", "false"),
    ("004", "(4.20), (4.46)", "t <= 1", "reproduces"),
    ("004", "(4.47)", "t <= 1", "reproduces"),
    ("004", "(4.36)", "", "computed"),
    ("004", "lemma 4.3", "promise", "reproduces"),
    ("004", "lemma 4.3", "1/2", "false"),
    ("004", "corollary 4.3", "", "reproduces"),
    ("004", "corollary 4.4", "", "reproduces"),
    ("004", "corollary 4.5", "sqrt(npq)", "reproduces"),
    ("004", "corollary 4.5", "as printed", "reproduces"),
    ("004", "proof of 4.5", "", "false"),
    ("004", "lemma 7.1, (7.3)", "", "reproduces"),
    ("004", "(7.4)", "", "reproduces"),
    ("004", "section 7.2", "falls with s", "reproduces"),
    ("004", "section 7.2", "grows with m", "reproduces"),
    ("004", "(8.2), (8.3)", "", "reproduces"),
    ("004", "(8.4), (8.5)", "", "false"),
    ("004", "(8.6)", "", "reproduces"),
]


@pytest.mark.parametrize(("document", "place", "what", "word"), VERDICTS)
def test_the_verdict(document, place, what, word):
    assert only(everything(), document, place, what).word == word


def test_a_claim_decided_by_a_numpy_truth_is_as_false():
    assert claim("004", "x", "y", np.bool_(False), 1.0).word == "false"


def test_every_statement_is_told_by_its_document():
    for name in ("001", "003"):
        words = {(f.document, f.place) for f in reproduce(name).findings}
        assert ("001", "(3.2)") in words
        assert (("003", "(5.10)") in words) is (name == "003")
    assert {f.document for f in reproduce("001").findings} == {"001"}


# 000


def test_the_distributions_of_histograms_are_counted_out():
    held, q = (0, 2, 3), Fraction(1, 5)
    true, pmf = bags(held, 2, q), small.bag_distribution(held, 2, 0.2)
    assert pmf.keys() == {bag for bag, chance in true.items() if chance}
    assert all(pmf[bag] == pytest.approx(float(chance)) for bag, chance in true.items())


def test_one_distribution_of_the_ratio_for_every_crowd():
    """Claim 2 in rational numbers: the ratio's distribution itself, equal exactly."""
    bits, users, q = 2, 4, Fraction(3, 10)
    distributions = []
    for crowd in range(1 << bits):
        alike = bags((crowd,) * users, bits, q)
        outlier = bags((crowd,) * (users - 1) + (crowd ^ 3,), bits, q)
        pmf = {}
        for bag, chance in outlier.items():
            ratio = chance / alike[bag]
            pmf[ratio] = pmf.get(ratio, 0) + chance
        distributions.append(pmf)
    assert all(pmf == distributions[0] for pmf in distributions)
    said = sufficient_claims._ratios(2, bits, users, 0.3)
    assert len(said) == len(distributions[0])
    for ratio, chance in distributions[0].items():
        assert said[round(math.log(ratio), 9) + 0.0] == pytest.approx(float(chance))


def test_what_numbers_of_set_bits_do_not_tell():
    q = Fraction(1, 5)
    first, second = (bags((v, 0, 0, 0), 2, q) for v in (1, 2))
    true = delta(first, second, HALF)
    one = only(everything(), "000", "below (3.4)", "of other contents")
    assert one.computed == pytest.approx(float(true), rel=1e-12)
    assert rounds_to(one.bounds, "0.2915")


# 001 and 003


def test_lemmas_hold_in_hundreds_of_cases():
    for wrong, cases in (maximal.one_more_bit(), maximal.largest_ratio()):
        assert wrong == 0
        assert cases > 700


def test_the_step_of_all_ones_is_the_steepest_exactly():
    n, q = 7, Fraction(1, 4)
    distributions = [sums(m, n - m, q) for m in range(n + 1)]
    top = [b / a for a, b in pairwise(distributions[n])]
    for pmf in distributions[:-1]:
        steps = [b / a for a, b in pairwise(pmf)]
        assert all(step < best for step, best in zip(steps, top, strict=True))


def test_repeats_grow_but_not_term_by_term():
    """(5.5): the growth exactly, ties at the two ends; the equality by the nearest product."""
    k, users, q, m, s = 2, 4, Fraction(1, 5), 2, 4
    often = [sums(k * ones, k * (users - ones), q) for ones in range(users + 1)]
    for before, here, after in zip(often, often[1:], often[2:], strict=False):
        gaps = [b * b - a * c for a, b, c in zip(before, here, after, strict=True)]
        assert gaps[0] == gaps[-1] == 0
        assert all(gap > 0 for gap in gaps[1:-1])
    once = [sums(ones, users - ones, q) for ones in (m, m + 1)]
    true = often[m][s] / often[m + 1][s]
    said = [once[0][i] * once[0][s - i] / (once[1][i] * once[1][s - i]) for i in range(users + 1)]
    nearest = min(said, key=lambda value: abs(math.log(value / true)))
    assert only(everything(), "003", "(5.5)", "is a product").computed == pytest.approx(
        float(nearest / true), rel=1e-9
    )
    assert nearest != true


def test_anonymity_and_delta_do_not_go_together():
    """Above one with a delta of .0117, below one with 2.7e-11; both by their closed forms."""
    q = 0.009
    assert only(everything(), "003", "section 3", "1,000 ones").computed == pytest.approx(
        min((1 - q**999) / (1 - q), (1 - (1 - q) ** 999) / q), rel=1e-12
    )
    rest = -math.expm1(999_999 * math.log1p(-(0.2**10)))
    one = only(everything(), "003", "section 3", "ten ones")
    assert one.computed == pytest.approx(rest / 0.8**10, rel=1e-9)
    assert "2.71e-11" in one.note
