"""Fakes per bin that others published: their numbers, and delta against enumeration."""

import math
from fractions import Fraction
from itertools import product

import pytest

from mixtally.accounting.divergence import clear_shaped, clear_uniform
from mixtally.errors import AccountingError, ParameterError
from mixtally.lab.formulas import exact_fakes_per_bin, fakes_per_bin
from mixtally.lab.formulas.audit import Case, audit_formula
from mixtally.lab.formulas.catalogue import formula_named

DELTA = 1e-6


def seen(name, epsilon=1.0, **given):
    (found,) = audit_formula(formula_named(name), Case(epsilon, DELTA, **given)).observer_audits
    return found


def known_numbers():
    users = 10**6
    return [
        (fakes_per_bin.luo_wang_yi(1.0, DELTA, users), 32 * 14.508657738524219),
        (fakes_per_bin.balcer_cheu_bit(0.5, DELTA, users), 200 * 14.508657738524219),
        (fakes_per_bin.balcer_cheu(1.0, 2 * DELTA, users), 200 * 14.508657738524219),
        (fakes_per_bin.poisson(math.log(2.0), 1e-5), 64 * 13.815510557964274 + 4),
        (fakes_per_bin.negative_binomial(5 * math.log(2.0) / 5, math.exp(-3.0)), 12 / (2**0.2 - 1)),
        (fakes_per_bin.geometric(2 * math.log(3.0), DELTA), 1 / 3),
    ]


def test_the_published_numbers():
    for found, written in known_numbers():
        assert found == pytest.approx(written, rel=1e-12)


def binomial_law(users, fakes):
    p = Fraction(fakes) / users
    return [math.comb(users, k) * p**k * (1 - p) ** (users - k) for k in range(users + 1)]


def poisson_law(fakes):
    return [math.exp(k * math.log(fakes) - fakes - math.lgamma(k + 1.0)) for k in range(400)]


def shares_law(shape, decay):
    p = Fraction(decay)
    chances = [(1 - p) ** shape]
    for k in range(1, 400):
        chances.append(chances[-1] * p * (k + shape - 1) / k)
    return chances


def two_sided_law(mode, left, right):
    left, right = Fraction(left), Fraction(right)
    below = [left ** (mode - k) for k in range(mode)]
    kappa = sum(below) + 1 / (1 - right)
    return [each / kappa for each in below + [right**k for k in range(400)]]


def of_bit(law, epsilon):
    """The larger of both directions of the sum, term by term."""
    one, zero = [0, *law], [*law, 0]
    grow = Fraction(math.exp(epsilon))
    pairs = [(one, zero), (zero, one)]
    return max(sum(max(a - grow * b, 0) for a, b in zip(*pair, strict=True)) for pair in pairs)


def of_two_bins(law, epsilon, kept=1):
    """All counts of the two bins, weighed with a record in the one and in the other."""
    grow, kept, size = Fraction(math.exp(epsilon)), Fraction(kept), len(law) + 1
    zero = [*law, 0]
    one = [(1 - kept) * zero[k] + kept * ([0, *law][k]) for k in range(size)]
    cells = product(range(size), repeat=2)
    return sum(max(one[s] * zero[t] - grow * zero[s] * one[t], 0) for s, t in cells)


BITS = [
    (exact_fakes_per_bin.binomial(9, 2.25), binomial_law(9, Fraction(9, 4)), 0.7),
    (exact_fakes_per_bin.binomial(30, 15.0), binomial_law(30, 15), 0.1),
    (exact_fakes_per_bin.poisson(6.5), poisson_law(6.5), 0.4),
    (exact_fakes_per_bin.negative_binomial(3.0, 0.75), shares_law(3, 0.75), 0.2),
    (exact_fakes_per_bin.negative_binomial(1.0, 0.5), shares_law(1, 0.5), 0.3),
]


@pytest.mark.parametrize(("found", "law", "epsilon"), BITS)
def test_a_bit_among_fakes_is_its_enumeration(found, law, epsilon):
    true = float(of_bit(law, epsilon))
    ends = exact_fakes_per_bin.bit_delta(found, epsilon)
    assert ends.lower <= true * (1 + 1e-12)
    assert true * (1 - 1e-12) <= ends.upper <= true * (1 + 1e-8) + 1e-12


BINS = [
    (exact_fakes_per_bin.binomial(9, 2.25), binomial_law(9, Fraction(9, 4)), 0.7, 1.0),
    (exact_fakes_per_bin.binomial(24, 12.0), binomial_law(24, 12), 0.2, 1.0),
    (exact_fakes_per_bin.two_sided(4, 0.5, 0.25), two_sided_law(4, 0.5, 0.25)[:40], 0.6, 1.0),
    (exact_fakes_per_bin.two_sided(0, 0.0, 0.25), two_sided_law(0, 0.0, 0.25)[:40], 0.6, 0.5),
    (exact_fakes_per_bin.two_sided(3, 0.25, 0.5), two_sided_law(3, 0.25, 0.5)[:60], 0.3, 0.75),
]


@pytest.mark.parametrize(("found", "law", "epsilon", "kept"), BINS)
def test_two_bins_with_fakes_are_their_enumeration(found, law, epsilon, kept):
    true = float(of_two_bins(law, epsilon, kept))
    ends = exact_fakes_per_bin.one_hot_delta(found, epsilon, kept)
    assert ends.lower <= true * (1 + 1e-12)
    assert true * (1 - 1e-12) <= ends.upper <= true * (1 + 1e-8) + 1e-11


@pytest.mark.parametrize("bug", ["one bin alone", "kept for certain", "a fake fewer"])
def test_a_planted_bug_leaves_the_enumeration(bug):
    found, law, epsilon, kept = BINS[-1]
    true = float(of_two_bins(law, epsilon, kept))
    if bug == "one bin alone":
        ends = exact_fakes_per_bin.bit_delta(found, epsilon)
    elif bug == "kept for certain":
        ends = exact_fakes_per_bin.one_hot_delta(found, epsilon)
    else:
        ends = exact_fakes_per_bin.one_hot_delta(
            exact_fakes_per_bin.two_sided(2, 0.25, 0.5), epsilon, kept
        )
    assert not ends.lower <= true * (1 + 1e-12) <= ends.upper * (1 + 1e-9)


def test_many_users_are_poisson():
    few, many = exact_fakes_per_bin.poisson(40.0), exact_fakes_per_bin.binomial(10**9, 40.0)
    assert exact_fakes_per_bin.bit_delta(many, 0.5).upper == pytest.approx(
        exact_fakes_per_bin.bit_delta(few, 0.5).upper, rel=1e-6
    )


def test_what_a_law_cuts_off_is_little_and_bounded():
    for found in (exact_fakes_per_bin.poisson(1e4), exact_fakes_per_bin.binomial(10**6, 5e5)):
        assert 0.0 <= found.cut < 1e-29
        assert found.pmf.sum() == pytest.approx(1.0, abs=1e-12)
    assert exact_fakes_per_bin.poisson(1e4).spread() == pytest.approx(100.0, rel=1e-9)
    assert exact_fakes_per_bin.binomial(10**6, 5e5).spread() == pytest.approx(500.0, rel=1e-9)


def test_luo_wang_yi_hold_with_eleven_times_the_fakes():
    """Bins that share their fakes need nearly as many as bins that have their own."""
    found = seen("luo-wang-yi", users=10**6)
    assert (found.verdict, found.noise_factor) == ("holds", pytest.approx(10.9, abs=0.05))
    assert found.error_factor == pytest.approx(math.sqrt(found.noise_factor), rel=1e-3)
    shared = math.ceil(found.least_noise * 10**4)
    assert clear_uniform.delta(shared, 10**4, 1.0).upper == pytest.approx(DELTA, rel=0.01)


def test_luo_wang_yi_fall_short_of_large_epsilons():
    assert seen("luo-wang-yi", 5.5, users=10**6).verdict == "holds"
    assert seen("luo-wang-yi", 6.0, users=10**6).verdict == "false"


def test_balcer_cheu_hold_with_seventy_times_the_coins():
    found, one = seen("balcer-cheu", users=10**6), seen("balcer-cheu-bit", users=10**6)
    assert (found.verdict, one.verdict) == ("holds", "holds")
    assert found.noise_factor == pytest.approx(71, abs=0.5)
    assert one.noise_factor == pytest.approx(21.3, abs=0.05)
    assert found.least_noise == pytest.approx(
        seen("luo-wang-yi", users=10**6).least_noise, rel=1e-4
    )


def test_counting_holds_with_too_many_fakes():
    assert seen("poisson").noise_factor == pytest.approx(19.0, abs=0.05)
    assert seen("negative-binomial", 0.5).noise_factor == pytest.approx(4.79, abs=0.005)
    assert seen("poisson").least_noise == pytest.approx(
        seen("balcer-cheu-bit", users=10**9).least_noise, 1e-4
    )


@pytest.mark.parametrize(
    ("name", "epsilon", "users", "step"),
    [
        ("luo-wang-yi", 1.0, 10**5, 0.9999),
        ("balcer-cheu", 2.0, 10**5, 0.9999),
        ("poisson", 2.0, None, 0.9999),
        ("negative-binomial", 0.5, None, 0.9999),
        ("sageo", 1.0, None, 24 / 25),
    ],
)
def test_the_least_noise_keeps_the_promise(name, epsilon, users, step):
    """And what is a little less does not."""
    least, noise = seen(name, epsilon, users=users).least_noise, noise_of(name)
    counts = [noise.counts(epsilon, users or 0, amount) for amount in (least, least * step)]
    kept, missed = (noise.delta(found, epsilon) for found in counts)
    assert kept.upper <= DELTA < missed.lower


def noise_of(name):
    return exact_fakes_per_bin.NOISES[formula_named(name).protocol]


def test_a_negative_binomial_law_that_has_no_order_is_not_judged():
    shares = noise_of("negative-binomial")
    assert shares.counts(1.0, 0, 0.5) is None
    assert shares.counts(1.0, 0, 20.0) is not None


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
def test_two_sided_fakes_are_kept_to_by_a_bin_and_twice_too_much_for_two(epsilon):
    """A bin lacks F(0) of the promise's eps/2, at most delta/2; two bins lack F(0) of its eps."""
    mode = int(fakes_per_bin.two_sided(epsilon, DELTA))
    law = exact_fakes_per_bin.two_sided(mode, *fakes_per_bin.sides(epsilon, 1.0))
    none = float(law.pmf[0])
    assert none <= DELTA / 2 < float(two_sided_law(mode - 1, *fakes_per_bin.sides(epsilon, 1.0))[0])
    # Nearly all ratios are e^epsilon, so the rounding of nearly all points counts.
    for ends in (
        exact_fakes_per_bin.bit_delta(law, epsilon / 2),
        exact_fakes_per_bin.one_hot_delta(law, epsilon),
    ):
        assert none <= ends.upper <= none * (1.0 + 2e-4)


def test_two_sided_fakes_are_the_shaped_fakes_of_mixes():
    mode = 5
    law = two_sided_law(mode, 0.5, 0.5)
    weights = [int(2**64 * chance) for chance in law[:64]]
    weights[mode] += 2**64 - sum(weights)
    ends = exact_fakes_per_bin.one_hot_delta(exact_fakes_per_bin.two_sided(mode, 0.5, 0.5), 0.9)
    assert clear_shaped.delta(tuple(weights), 0.9).upper == pytest.approx(ends.upper, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_sampled_answers_have_no_delta_at_their_epsilon_and_one_below(epsilon):
    fakes = fakes_per_bin.geometric(epsilon, DELTA)
    noise = noise_of("s1geo")
    law = noise.counts(epsilon, 0, fakes)
    assert noise.delta(law, epsilon).upper < 1e-10
    kept = fakes_per_bin.sample(epsilon)
    assert exact_fakes_per_bin.one_hot_delta(law, 0.99 * epsilon, kept).lower > 1e-5
    fewer = noise.counts(epsilon, 0, 0.99 * fakes)
    assert noise.delta(fewer, epsilon).lower > 1e-5


@pytest.mark.parametrize(("prime", "buckets"), [(7, 3), (11, 4), (13, 5), (13, 13)])
def test_hashes_meet_as_often_as_counted(prime, buckets):
    """All (u, v), u not 0: how often two values have one hash."""
    met = sum(
        ((u * 2 + v) % prime) % buckets == ((u * 5 + v) % prime) % buckets
        for u in range(1, prime)
        for v in range(prime)
    )
    kappa = Fraction(met, prime * (prime - 1))
    users, fakes = 100, 9.0
    variance = users * kappa * (1 - kappa) + Fraction(fakes) * (1 - Fraction(fakes) / users)
    written = math.sqrt(variance) / float(1 - kappa)
    assert fakes_per_bin.hashed_error(users, fakes, buckets, prime) == pytest.approx(
        written, rel=1e-12
    )


@pytest.mark.parametrize(
    ("name", "epsilon", "users", "subject"),
    [
        ("luo-wang-yi", 1.0, 464, "users"),
        ("balcer-cheu", 1.0, 6080, "users"),
        ("balcer-cheu", 2.1, 10**6, "epsilon"),
        ("balcer-cheu-bit", 1.0, 1450, "users"),
        ("balcer-cheu-bit", 1.01, 10**6, "epsilon"),
        ("negative-binomial", 1.01, None, "epsilon"),
    ],
)
def test_theorems_refuse_what_lies_before_them(name, epsilon, users, subject):
    with pytest.raises(ParameterError, match=f"^{subject}: expected at (least|most)"):
        audit_formula(formula_named(name), Case(epsilon, DELTA, users=users))


def test_chances_that_are_no_numbers_promise_nothing():
    found = exact_fakes_per_bin.poisson(5.0)
    broken = found._replace(pmf=found.pmf * math.nan)
    with pytest.raises(AccountingError, match="divergence: expected a number"):
        exact_fakes_per_bin.bit_delta(broken, 1.0)
