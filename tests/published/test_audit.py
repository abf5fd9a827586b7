"""Verdicts: which promise holds, for whom, and by what factor. Numbers computed twice elsewhere."""

import dataclasses
import math

import pytest

from helpers.sampled import each, rows
from mixtally.accounting.divergence import clear_uniform, flip_blank, vectors
from mixtally.errors import ParameterError
from mixtally.lab.formulas import exact_delta, notes, shuffle_bounds, sufficient
from mixtally.lab.formulas.audit import Case, audit_formula
from mixtally.lab.formulas.catalogue import (
    ABSENT,
    FAKES,
    FLIP,
    FORMULAS,
    MODE,
    PER_BIN,
    formula_named,
)
from mixtally.lab.formulas.exact_delta import EXACT_DELTAS, FormulaSetting
from mixtally.lab.formulas.exact_fakes_per_bin import NOISES
from mixtally.primitives.fixed_point import threshold_of

DELTA = 1e-6


def verdict(name, epsilon=1.0, delta=DELTA, **given):
    return audit_formula(formula_named(name), Case(epsilon, delta, **given))


def test_clear_uniform_holds_with_five_times_the_fakes():
    found = verdict("notes-5.10", bins=100)
    (seen,) = found.observer_audits
    assert (found.noise, seen.least_noise) == (21_356, 4261)
    assert (found.word, seen.observer) == ("holds", "messages")
    assert seen.noise_factor == pytest.approx(21_356 / 4261, rel=1e-12)
    assert seen.error_factor == pytest.approx(math.sqrt(21_356 / 4261), rel=1e-12)
    assert seen.exact == clear_uniform.delta(21_356, 100, 1.0)
    assert seen.privacy_factor is None


@pytest.mark.parametrize(
    ("epsilon", "delta", "asked", "cover"),
    [
        (1.0, 1e-6, 213.6, 42.65),
        (1.0, 1e-9, 310.6, 72.1),
        (0.5, 1e-6, 760, 136),
        (2.0, 1e-6, 78.6, 18.1),
        (0.1, 1e-6, 18273, 2640),
    ],
)
def test_flip_blank_holds_with_four_to_seven_times_the_flips(epsilon, delta, asked, cover):
    found = verdict("notes-5.26", epsilon, delta, fakes=10**7)
    (seen,) = found.observer_audits
    assert found.word == "holds"
    assert found.noise * 10**7 == pytest.approx(asked, rel=1e-3)
    assert seen.least_noise * 10**7 == pytest.approx(cover, rel=2e-3)
    assert seen.noise_factor == pytest.approx(asked / cover, rel=3e-3)
    assert 3.4 <= seen.noise_factor <= 7.0


def test_single_bits_hold_with_more_than_three_times_the_flips():
    found = verdict("notes-4.48", users=10**6)
    (seen,) = found.observer_audits
    assert found.word == "holds"
    assert (10**6 * found.noise, 10**6 * seen.least_noise) == pytest.approx((115, 34.1), rel=3e-3)
    assert seen.error_factor == pytest.approx(1.84, abs=0.005)


@pytest.mark.parametrize(
    ("users", "true"), rows([(10**4, 0.0046), (10**5, 0.403), (10**6, 0.910)], 2)
)
def test_flips_without_fakes_are_no_privacy_at_all(users, true):
    found = verdict("notes-5.16", users=users)
    seen = found.by_observer("messages")
    assert (found.word, seen.verdict) == ("false", "false")
    assert seen.exact.lower * 0.99 <= true <= seen.exact.upper * 1.01
    assert seen.privacy_factor == seen.exact.lower / DELTA
    assert seen.noise_factor is None
    sums = found.by_observer("sums")
    assert sums.verdict == "holds"
    assert 4.5 <= sums.noise_factor <= 8.1


def test_flips_with_enough_fakes_hold():
    assert verdict("notes-5.16", users=10**5, fakes=10**5).word == "holds"


@pytest.mark.parametrize(
    ("epsilon", "safe", "unsafe"), [(0.5, 9500, 11_000), (1.0, 3000, 3700), (2.0, 1200, 1600)]
)
def test_where_flips_without_fakes_become_unsafe(epsilon, safe, unsafe):
    def seen(users):
        at = FormulaSetting(epsilon=epsilon, users=users)
        return EXACT_DELTAS["flip"]["messages"](at, notes.flip(epsilon, DELTA, users))

    assert seen(safe).lower <= DELTA < seen(unsafe).lower


@pytest.mark.parametrize(
    ("epsilon", "users", "true"),
    [(math.log(2.0), 1000, 0.0125), (1.0, 10**6, 0.063), (2.0, 10**6, 0.80)],
)
def test_three_sigmas_of_one_bit_are_not_a_delta(epsilon, users, true):
    found = verdict("repeats-4.45", epsilon, users=users)
    assert found.word == "false"
    assert found.observer_audits[0].exact.lower == pytest.approx(true, rel=6e-3)


def test_what_the_example_of_one_bit_really_needs():
    at = FormulaSetting(epsilon=math.log(2.0), users=1000)
    price = EXACT_DELTAS["single bit"]["messages"]
    assert price(at, 0.0476).upper <= DELTA < price(at, 0.0475).lower


def test_repeating_by_its_own_formula_is_false():
    assert verdict("repeats-5.24", users=10**5, repeats=5).word == "false"


@pytest.mark.parametrize(
    ("epsilon", "users"),
    [(math.log(2.0), n) for n in (1000, 3000, 10_000)] + [(2.0, n) for n in (1000, 3000, 5000)],
)
def test_the_tables_of_three_sigmas_are_off_by_hundreds(epsilon, users):
    found = verdict("sufficient-3.12", epsilon, users=users, bits=5)
    assert found.word == "false"
    assert 3.9e-4 <= found.observer_audits[0].exact.lower <= 1.05e-3


def test_three_sigmas_fail_worst_in_the_direction_not_looked_at():
    found = verdict("sufficient-3.12", 1.0, users=10**6, bits=5)
    assert found.word == "false"
    assert found.observer_audits[0].exact.lower == pytest.approx(0.0176, rel=3e-3)


def test_three_sigmas_of_forty_bits_are_off_by_hundreds():
    flip = sufficient.three_sigma(2.0, DELTA, 10**7, 40)
    ends = vectors.homogeneous_delta(10**7, 40, threshold_of(flip), 2.0)
    assert ends.lower == pytest.approx(6.1e-4, rel=5e-3)


@pytest.mark.parametrize("users", each([10**3, 10**5, 10**6], 2))
def test_one_set_bit_does_not_cost_what_two_free_bits_cost(users):
    found = verdict("sufficient-5", 2.0, users=users)
    truth_of = found.by_observer("messages").exact
    assert found.word == "false"
    assert truth_of.lower <= 0.615
    assert truth_of.upper >= 0.53


def test_local_formulas_hold_exactly():
    for found in (
        verdict("sufficient-4.2", math.log(2.0), bits=5),
        verdict("sufficient-4.2", 2.0, bits=40),
        verdict("voting", 1.0644),
    ):
        assert found.word == "holds"
        assert found.observer_audits[0].observer == "local"
        assert 1.0 <= found.observer_audits[0].noise_factor < 1.02


def test_the_distribution_of_one_vector_is_its_enumeration():
    bits, flip, epsilon = 6, 0.3, 0.7
    q = threshold_of(flip) / 2**64
    true = sum(
        math.comb(bits, t)
        * max(
            0.0,
            (1 - q) ** t * q ** (bits - t) - math.exp(epsilon) * q**t * (1 - q) ** (bits - t),
        )
        for t in range(bits + 1)
    )
    ends = EXACT_DELTAS["vectors, no mix"]["local"](
        FormulaSetting(epsilon=epsilon, bits=bits), flip
    )
    assert ends.lower <= true <= ends.upper
    assert ends.upper == pytest.approx(true, rel=1e-8)


def test_the_published_flip_probability_is_eleven_times_too_much():
    (seen,) = verdict("cheu-zhilyaev", fakes=10**6).observer_audits
    assert seen.verdict == "holds"
    assert seen.noise_factor == pytest.approx(11, abs=0.1)
    assert seen.error_factor == pytest.approx(3.3, abs=0.05)


@pytest.mark.parametrize("ask", [shuffle_bounds.clones, shuffle_bounds.blanket])
def test_amplification_bounds_hold_with_several_times_the_flips(ask):
    users = 10**6
    at, price = FormulaSetting(epsilon=1.0, users=users), EXACT_DELTAS["flip"]["messages"]
    asked = ask(1.0, DELTA, users)
    assert price(at, asked).upper <= DELTA
    assert price(at, 6.46e-3).upper <= DELTA < price(at, 6.43e-3).upper
    assert 2.0 < asked / 6.45e-3 < 6.0


def test_above_one_half_all_bits_exchanged_tell_the_same():
    for asked in (0.6, 0.9):
        at = FormulaSetting(epsilon=1.0, fakes=100)
        seen = EXACT_DELTAS["flip-blank"]["messages"](at, asked)
        assert seen == flip_blank.delta(100, threshold_of(1.0 - asked), 1.0)


@pytest.mark.parametrize("bug", ["half the fakes", "twice the flips", "promise"])
def test_a_planted_bug_turns_a_verdict(monkeypatch, bug):
    """With a wrong distribution behind it the audit must not say the same."""
    honest = verdict("notes-5.26", fakes=10**6).observer_audits[0]
    price = exact_delta.EXACT_DELTAS["flip-blank"]["messages"]

    def planted(at, flip):
        if bug == "half the fakes":
            return price(FormulaSetting(at.epsilon, fakes=at.fakes // 2), flip)
        if bug == "twice the flips":
            return price(at, 2 * flip)
        return price(FormulaSetting(at.epsilon / 2, fakes=at.fakes), flip)

    monkeypatch.setitem(exact_delta.EXACT_DELTAS, "flip-blank", {"messages": planted})
    found = verdict("notes-5.26", fakes=10**6).observer_audits[0]
    assert found.noise_factor != pytest.approx(honest.noise_factor, rel=0.05)


def test_a_promise_between_the_ends_is_undecided():
    at = FormulaSetting(epsilon=1.0, users=10**4)
    ends = EXACT_DELTAS["flip"]["messages"](at, notes.flip(1.0, DELTA, 10**4))
    assert ends.lower < ends.upper
    for delta, word in ((ends.lower * 0.99, "false"), (ends.upper * 1.01, "holds")):
        assert verdict_of(delta, ends) == word
    assert verdict_of((ends.lower + ends.upper) / 2, ends) == "undecided"


def verdict_of(delta, ends):
    """The word for a formula whose noise always leaves ``ends``."""
    fixed = dataclasses.replace(formula_named("notes-5.26"), protocol="fixed")
    exact_delta.EXACT_DELTAS["fixed"] = {"messages": lambda _at, _flip: ends}
    try:
        return audit_formula(fixed, Case(1.0, delta, fakes=10**6)).word
    finally:
        del exact_delta.EXACT_DELTAS["fixed"]


def test_every_formula_has_a_distribution_and_a_name_of_its_own():
    assert len({one.name for one in FORMULAS}) == len(FORMULAS)
    for one in FORMULAS:
        assert one.protocol in EXACT_DELTAS
        assert one.computes in {FLIP, FAKES, PER_BIN, ABSENT, MODE}
        assert (one.protocol in NOISES) == (one.computes not in {FLIP, FAKES})
        assert set(one.needs) <= {"users", "fakes", "bins", "bits", "repeats"}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("notes-5.10", {}),
        ("notes-5.10", {"bins": 10, "bits": 3}),
        ("notes-5.16", {"fakes": 10}),
        ("notes-5.26", {"fakes": 10**6, "bins": 10}),
        ("repeats-5.24", {"users": 1000}),
        ("voting", {"bins": 4}),
    ],
)
def test_too_few_and_too_many_parameters_are_refused(name, given):
    with pytest.raises(ParameterError, match=rf"^{name}: expected .*, got .*\. (Add|Leave) "):
        verdict(name, **given)


def test_a_formula_that_asks_more_than_all_flips_is_refused():
    with pytest.raises(ParameterError, match=r"^notes-5\.26: expected .* below 1, got 2\.136\. "):
        verdict("notes-5.26", fakes=100)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, DELTA), (21.0, DELTA), (1.0, 0.5)])
def test_promises_outside_the_range_of_the_exact_distributions_are_refused(epsilon, delta):
    with pytest.raises(ParameterError, match=r"^(epsilon|delta): expected"):
        verdict("notes-5.10", epsilon, delta, bins=10)


def test_an_unknown_formula_is_refused():
    with pytest.raises(ParameterError, match=r"^formula: expected one of notes-4\.48"):
        formula_named("notes-9.99")
