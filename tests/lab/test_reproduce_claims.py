"""Statements of the founding documents that enumeration decides: verdicts, numbers by another way.

The numbers by another way are rational numbers, every outcome by itself, or fifty digits.
"""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest

from exact import bags, delta, sums
from mixtally.lab.reproduce import (
    maximal,
    notes_bits,
    notes_tails,
    repeats_claims,
    reproduce,
    small,
    sufficient_claims,
)
from mixtally.lab.reproduce.finding import claim, rounds_to
from mixtally.privacy.published import bit_sums, histograms, repeats

HALF = Fraction(math.exp(0.5))


def quiet(*_):
    """No progress."""


@pytest.fixture(scope="module")
def found():
    """All findings by enumeration."""
    parts = (
        sufficient_claims.by_enumeration, repeats_claims.anonymity, repeats_claims.growth,
        repeats_claims.choices, notes_bits.ratios, notes_bits.symmetries, notes_bits.zeros,
        notes_bits.recurrences, notes_tails.bounds, notes_tails.one_more_bit,
    )  # fmt: skip
    return [one for part in parts for one in part()] + maximal.findings(quiet)


def only(findings, document, place, what=""):
    """The one finding there whose text contains ``what``."""
    (one,) = [f for f in findings if (f.document, f.place) == (document, place) and what in f.what]
    return one


VERDICTS = [
    ("000", "(2.4)", "", "reproduces"),
    ("000", "section 1.2, claim 2", "", "reproduces"),
    ("000", "(3.4)", "", "reproduces"),
    ("000", "below (3.4)", "outlier or not", "reproduces"),
    ("000", "below (3.4)", "any other contents", "false"),
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
def test_the_verdict(found, document, place, what, word):
    assert only(found, document, place, what).word == word


def test_a_claim_decided_by_a_numpy_truth_is_as_false():
    assert claim("004", "x", "y", np.bool_(False), 1.0).word == "false"


def test_every_statement_is_told_by_its_document():
    for name in ("001", "003"):
        words = {(f.document, f.place) for f in reproduce(name).findings}
        assert ("001", "(3.2)") in words
        assert (("003", "(5.10)") in words) is (name == "003")
    assert {f.document for f in reproduce("001").findings} == {"001"}


# 000


def test_the_laws_of_histograms_are_counted_out():
    held, q = (0, 2, 3), Fraction(1, 5)
    true, law = bags(held, 2, q), small.bag_law(held, 2, 0.2)
    assert law.keys() == {bag for bag, chance in true.items() if chance}
    assert all(law[bag] == pytest.approx(float(chance)) for bag, chance in true.items())


def test_one_law_of_the_ratio_for_every_crowd():
    """Claim 2 in rational numbers: the ratio's law itself, equal exactly."""
    bits, users, q = 2, 4, Fraction(3, 10)
    laws = []
    for crowd in range(1 << bits):
        alike = bags((crowd,) * users, bits, q)
        outlier = bags((crowd,) * (users - 1) + (crowd ^ 3,), bits, q)
        law = {}
        for bag, chance in outlier.items():
            ratio = chance / alike[bag]
            law[ratio] = law.get(ratio, 0) + chance
        laws.append(law)
    assert all(law == laws[0] for law in laws)
    said = sufficient_claims._ratios(2, bits, users, 0.3)
    assert len(said) == len(laws[0])
    for ratio, chance in laws[0].items():
        assert said[round(math.log(ratio), 9) + 0.0] == pytest.approx(float(chance))


def test_what_numbers_of_set_bits_do_not_tell(found):
    q = Fraction(1, 5)
    first, second = (bags((v, 0, 0, 0), 2, q) for v in (1, 2))
    true = delta(first, second, HALF)
    one = only(found, "000", "below (3.4)", "any other contents")
    assert one.computed == pytest.approx(float(true), rel=1e-12)
    assert rounds_to(one.ends, "0.2915")


@pytest.mark.parametrize("place", ["(2.4)", "(3.4)"])
def test_a_planted_ratio_turns_the_verdict(monkeypatch, place):
    honest = histograms.homogeneous_ratio, histograms.ratio_by_set_bits
    monkeypatch.setattr(histograms, "homogeneous_ratio", lambda *a: honest[0](*a) * (1 + 1e-8))
    monkeypatch.setattr(histograms, "ratio_by_set_bits", lambda *a: honest[1](*a) * (1 + 1e-8))
    assert only(sufficient_claims.by_enumeration(), "000", place).word == "false"


def test_outliers_that_are_not_alike_have_other_laws(monkeypatch):
    """Opposite among zeros, one bit apart among all others: claim 2 would not be so."""

    def near(crowd, bits, users, flip):
        other = crowd ^ (1 if crowd else (1 << bits) - 1)
        rest = [crowd] * (users - 1)
        laws = [small.bag_law([*rest, last], bits, flip) for last in (crowd, other)]
        return laws[0], laws[1]

    monkeypatch.setattr(sufficient_claims, "_outlier", near)
    assert only(sufficient_claims._same_law(), "000", "section 1.2, claim 2").word == "false"


# 001 and 003


def test_lemmas_without_their_conditions_are_seen_to_fail(monkeypatch):
    monkeypatch.setattr(maximal, "_falling", lambda *_: True)
    wrong, cases = maximal.leaning_weights()
    assert 0 < wrong < cases
    assert maximal.one_more_bit()[0] == maximal.largest_ratio()[0] == 0
    assert min(maximal.one_more_bit()[1], maximal.largest_ratio()[1]) > 700


def test_the_step_of_all_ones_is_the_steepest_exactly():
    n, q = 7, Fraction(1, 4)
    laws = [sums(m, n - m, q) for m in range(n + 1)]
    top = [b / a for a, b in pairwise(laws[n])]
    for law in laws[:-1]:
        steps = [b / a for a, b in pairwise(law)]
        assert all(step < best for step, best in zip(steps, top, strict=True))


def test_repeats_grow_but_not_term_by_term(found):
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
    assert only(found, "003", "(5.5)", "is a product").computed == pytest.approx(
        float(nearest / true), rel=1e-9
    )
    assert nearest != true


def test_anonymity_and_delta_do_not_go_together(found):
    """Above one with a delta of .0117, below one with 2.7e-11; both by their closed forms."""
    q = 0.009
    assert only(found, "003", "section 3", "1,000 ones").computed == pytest.approx(
        min((1 - q**999) / (1 - q), (1 - (1 - q) ** 999) / q), rel=1e-12
    )
    rest = -math.expm1(999_999 * math.log1p(-(0.2**10)))
    one = only(found, "003", "section 3", "ten ones")
    assert one.computed == pytest.approx(rest / 0.8**10, rel=1e-9)
    assert "2.71e-11" in one.note


def test_a_planted_choice_turns_the_verdict(monkeypatch):
    honest = repeats.choices
    monkeypatch.setattr(repeats, "choices", lambda *given: honest(*given) * (1 + 1e-7))
    assert {one.word for one in repeats_claims.choices()} == {"false"}


# 004


def bit_ratio(n, m, q):
    """R(s) of n bits with m ones, exactly."""
    zero, one = sums(m, n - m + 1, q), sums(m + 1, n - m, q)
    return [a / b for a, b in zip(zero, one, strict=True)]


def test_symmetries_and_monotony_exactly():
    """Corollaries 4.3 and 4.4, lemma 4.1, (8.2), (8.3) and (8.6) in rational numbers."""
    for n, q in product((1, 2, 5), (Fraction(1, 20), Fraction(2, 5))):
        for m in range(n + 1):
            law, ratio = sums(m, n - m, q), bit_ratio(n, m, q)
            assert law[::-1] == sums(n - m, m, q)
            back = bit_ratio(n, n - m, q)
            assert all(ratio[s] * back[n + 1 - s] == 1 for s in range(n + 2))
            assert all(b < a for a, b in pairwise(ratio))
            assert (ratio[0], ratio[-1]) == ((1 - q) / q, q / (1 - q))
            for more in (0, 1):
                next_ratio, next_law = (
                    bit_ratio(n + 1, m + more, q),
                    sums(m + more, n + 1 - m - more, q),
                )
                assert all(ratio[s - 1] >= next_ratio[s] >= ratio[s] for s in range(1, n + 2))
                assert all(sum(next_law[: s + 1]) <= sum(law[: s + 1]) for s in range(n + 1))


def test_numbers_of_slips_exactly(found):
    ratio = bit_ratio(20, 6, Fraction(1, 5))
    assert only(found, "004", "lemma 4.1", "s = n").computed == pytest.approx(
        float(ratio[-1] / ratio[-2]), rel=1e-12
    )
    zero, one = sums(0, 100, Fraction(3, 10)), sums(1, 99, Fraction(3, 10))
    grow = Fraction(math.exp(0.3))
    sided = max(
        sum(a for a, b in zip(zero, one, strict=True) if a > grow * b),
        sum(b for a, b in zip(zero, one, strict=True) if b > grow * a),
    )
    either = max(
        sum(p for p, a, b in zip(law, zero, one, strict=True) if a > grow * b or b > grow * a)
        for law in (zero, one)
    )
    assert only(found, "004", "below (2.4), (4.3)").computed == pytest.approx(
        float(either / sided), rel=1e-9
    )
    assert 1 < either / sided < 1 + 1 / grow


def test_tails_of_private_bits(found):
    """(8.4), (8.5) in fifty digits: whatever limits are taken, the tails pass delta."""
    with mpmath.workdps(50):
        q, grow = mpmath.mpf("0.03"), mpmath.e
        zero = [mpmath.binomial(1000, s) * q**s * (1 - q) ** (1000 - s) for s in range(1001)]
        rest = [mpmath.binomial(999, s) * q**s * (1 - q) ** (999 - s) for s in range(1000)] + [0]
        one = [q * rest[s] + (1 - q) * (rest[s - 1] if s else 0) for s in range(1001)]
        private = max(
            mpmath.fsum(max(0, a - grow * b) for a, b in zip(zero, one, strict=True)),
            mpmath.fsum(max(0, b - grow * a) for a, b in zip(zero, one, strict=True)),
        )
        low = [s for s in range(1001) if zero[s] <= grow * one[s]]
        high = [s for s in range(1001) if one[s] <= grow * zero[s]]
        least = min(mpmath.fsum(zero[: s + 1]) for s in low[:3])
        least += min(mpmath.fsum(zero[s:]) for s in high[-3:])
    one = only(found, "004", "(8.4), (8.5)")
    assert one.computed == pytest.approx(float(least / private), rel=1e-9)
    assert one.computed > 38


def exact_tail(users, flips, above):
    """P(Bin(users, flips / users) > above), fifty digits."""
    with mpmath.workdps(50):
        q = mpmath.mpf(flips) / users
        point = (
            mpmath.binomial(users, above + 1) * q ** (above + 1) * (1 - q) ** (users - above - 1)
        )
        total = mpmath.mpf(0)
        for s in range(above + 1, above + 400):
            total += point
            point *= mpmath.mpf(users - s) / (s + 1) * q / (1 - q)
        return total


def test_the_tail_bound_is_broken(found):
    """(4.20) and (4.46) at n q = 20, t = 3: 1.1e-24 where 1.8e-26 is said to bound it."""
    one = only(found, "004", "(4.20), (4.46)", "every t")
    true, bound = exact_tail(10**6, 20, 80), 2 * mpmath.exp(-60)
    assert rounds_to((float(true),) * 2, "1.1e-24")
    assert rounds_to((float(bound),) * 2, "1.8e-26")
    assert one.computed == pytest.approx(float(true / bound), rel=1e-9)
    assert "1.1e-24" in one.note
    assert "1.8e-26" in one.note


def test_from_where_the_tail_bound_is_broken(found):
    """Just above the least t it is broken, at all sums nearer to the mean it is not."""
    least = only(found, "004", "(4.20), (4.46)", "least t").computed
    above = math.floor(20 * (1 + least + 1e-6))
    assert exact_tail(10**6, 20, above) > 2 * mpmath.exp(-((least + 1e-6) ** 2) * 20 / 3)
    for s in range(41, above + 1):  # below 41 the lower tail counts too, and t <= 1
        reach = (s - 20) / 20 if s < above + 1 else least
        assert exact_tail(10**6, 20, s - 1) <= 2 * mpmath.exp(-(min(reach, least) ** 2) * 20 / 3)


def test_the_promise_among_zeros_is_priced_exactly(found):
    """Lemma 4.3 above one half: 300 zeros at q = .937, both directions summed in fifty digits."""
    with mpmath.workdps(50):
        q, grow = mpmath.mpf(bit_sums.zeros(0.5, 1e-6, 300)), mpmath.exp(0.5)
        zero = [mpmath.binomial(300, s) * q**s * (1 - q) ** (300 - s) for s in range(301)]
        rest = [mpmath.binomial(299, s) * q**s * (1 - q) ** (299 - s) for s in range(300)] + [0]
        one = [q * rest[s] + (1 - q) * (rest[s - 1] if s else 0) for s in range(301)]
        true = max(
            mpmath.fsum(max(0, a - grow * b) for a, b in zip(zero, one, strict=True)),
            mpmath.fsum(max(0, b - grow * a) for a, b in zip(zero, one, strict=True)),
        )
    slip = only(found, "004", "lemma 4.3", "1/2")
    assert f"{float(true):.3g}" in slip.note
    assert true > 1e-3


PLANTED = [
    ("loss_ratio", notes_bits.ratios, "(4.8)"),
    ("next_chance", notes_bits.recurrences, "lemma 7.1, (7.3)"),
    ("next_step", notes_bits.recurrences, "(7.4)"),
]


@pytest.mark.parametrize(("name", "part", "place"), PLANTED)
def test_a_planted_formula_turns_the_verdict(monkeypatch, name, part, place):
    honest = getattr(bit_sums, name)
    monkeypatch.setattr(bit_sums, name, lambda *given: honest(*given) * (1 + 1e-7))
    assert only(part(), "004", place).word == "false"


def test_a_planted_cover_breaks_the_promise_among_zeros(monkeypatch):
    honest = bit_sums.zeros_cover
    monkeypatch.setattr(bit_sums, "zeros_cover", lambda *given: honest(*given) / 4)
    assert only(notes_bits.zeros(), "004", "lemma 4.3", "promise").word == "false"


def test_a_planted_tail_bound_is_broken_below_one(monkeypatch):
    """Divided by three the square bounds it; whole it would not."""
    monkeypatch.setattr(
        bit_sums, "tail_bound", lambda reach, flips: 2.0 * math.exp(-(reach**2) * flips)
    )
    words = {one.what: one.word for one in notes_tails.bounds() if "t <= 1" in one.what}
    assert set(words.values()) == {"false"}


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_right_deviations_need_their_margin(margin):
    """Corollary 4.5 is no matter of course: it fails where the two that are added are left out."""
    wrong, cases = notes_bits.right_deviations(lambda spread: math.sqrt(spread) + 1.0, margin)
    assert 0 < wrong < cases


def test_right_deviations_exactly():
    """The same in rational numbers, from the mean on."""
    n, q = 9, Fraction(1, 5)
    inverse = [[1 / ratio for ratio in bit_ratio(n, m, q)] for m in range(n + 1)]
    cases = 0
    for eighths in range(8 * n):
        distance = Fraction(eighths, 8)
        bound = math.floor(n * (1 - q) + distance + 2)
        if bound <= n + 1:
            for m, loss in enumerate(inverse):
                s = math.floor(n * q + m * (1 - 2 * q) + distance)
                assert loss[s] <= inverse[n][bound]
                cases += 1
    assert cases == 150


def test_the_mirrored_index_is_one_off(found):
    one = only(found, "004", "proof of 4.5")
    zeros, ones = (bit_ratio(2, m, Fraction(1, 5)) for m in (0, 2))
    assert all(zeros[i] * ones[3 - i] == 1 for i in range(4))
    assert any(zeros[i] * ones[2 - i] != 1 for i in range(3))
    assert one.computed > 0.5
