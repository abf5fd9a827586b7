"""Sampled slots derived again: known fractions, every pair in fractions, and the first proof."""

from fractions import Fraction

import pytest
from msgspec.structs import replace

from accounting.test_sampled_slots import EXACT, LEAST, enumerated
from helpers import contracts as c
from mixtally.accounting.plans import terms
from mixtally.accounting.verification import derive_parts, uniform, verify_certificate
from mixtally.accounting.verification.balls import arb, exact_ball, working_precision
from mixtally.accounting.verification.stream import streams
from mixtally.errors import PlanError
from mixtally.model.question import Kind, Question, make_attributes_question
from verification.written import plain

FREE = Question(name="q", bins=5, kind=Kind.BITS)
TRAITS = make_attributes_question("q", (3, 2, 4))
CHOSEN = Question(name="q", bins=20, kind=Kind.SET, max_set=4)
PLANS = {
    "bits": c.plan_of(FREE, [c.sampled(10, 5, whole=1, coin=0, full=True)]),
    "bits, coins": c.plan_of(FREE, [c.sampled(10, 5, coin=1 << 61, full=True)]),
    "bits of mixes": c.plan_of(FREE, [c.sampled(10, 5, full=True, drawn=120)]),
    "attributes of mixes": c.plan_of(TRAITS, [c.sampled(9, 3, full=True, drawn=60)]),
    "attributes, coins": c.plan_of(TRAITS, [c.sampled(9, 3, coin=1 << 61, full=True)]),
    "set": c.plan_of(CHOSEN, [c.sampled(20, 4, whole=1, coin=0)]),
    "set, coins": c.plan_of(CHOSEN, [c.sampled(20, 4, coin=1 << 62)]),
    "set, coins and one": c.plan_of(CHOSEN, [c.sampled(20, 4, whole=1, coin=1 << 60)]),
    "set of mixes": c.plan_of(CHOSEN, [c.sampled(20, 4, drawn=600)]),
    "two of a set": c.plan_of(CHOSEN, [c.sampled(20, 4, 2, whole=1, coin=0)]),
    "two of a set, coins": c.plan_of(CHOSEN, [c.sampled(20, 4, 2, coin=1 << 63)]),
}


@pytest.mark.parametrize(("cells", "size", "fakes", "grow", "true"), EXACT)
def test_known_fractions(cells, size, fakes, grow, true):
    with working_precision():
        lower, upper = uniform.one_bin_delta(
            fakes, Fraction(cells, size), exact_ball(grow), 60.0
        ).to_floats()
    assert lower <= true <= upper <= lower * (1 + 1e-12)


@pytest.mark.parametrize("case", LEAST[:2])
def test_known_fakes(case):
    cells, size, epsilon, _, least, at, below, _ = case
    for fakes, known in ((least, at), (least - 1, below)):
        with working_precision():
            found = uniform.one_bin_delta(fakes, Fraction(cells, size), arb(epsilon).exp(), 60.0)
        lower, upper = found.to_floats()
        assert lower == pytest.approx(known, rel=1e-11)
        assert upper == pytest.approx(known, rel=1e-11)


@pytest.mark.parametrize(("cells", "size", "fakes"), [(4, 2, 4), (5, 2, 3), (6, 3, 3), (7, 3, 4)])
def test_disjoint_records_in_fractions(cells, size, fakes):
    apart = tuple(range(size)), tuple(range(size, 2 * size))
    for grow in (Fraction(3, 2), Fraction(3)):
        true = enumerated(*apart, cells, fakes, grow)
        with working_precision():
            lower, upper = uniform.one_bin_delta(
                fakes, Fraction(cells, size), exact_ball(grow), 60.0
            ).to_floats()
        assert lower <= true <= upper


@pytest.mark.parametrize("name", PLANS)
def test_both_proofs_agree(name):
    proved = terms.certify_terms(terms.PrivacyTerms.of(PLANS[name]))
    assert proved.upper < 0.1
    plan = plain(replace(PLANS[name], certificate=proved))
    (part,) = derive_parts(plan)
    assert part.protocol == "clear-uniform"
    assert proved.upper <= part.upper * 1.01
    assert part.least <= proved.upper
    if name.startswith("two"):
        assert part.lower is None
        assert "as if the observer knew which slots were drawn" in part.proved
        assert proved.lower < proved.upper
    else:
        assert proved.lower <= part.upper
        assert part.lower <= proved.upper
        # Averages over coins are brackets, in both proofs.
        assert part.lower == pytest.approx(proved.upper, rel=2e-3)
        assert proved.lower == pytest.approx(proved.upper, rel=2e-3)
    assert verify_certificate(plan).whole


@pytest.mark.parametrize("name", ["attributes of mixes", "set, coins"])
def test_a_smaller_delta_is_refused(name):
    proved = terms.certify_terms(terms.PrivacyTerms.of(PLANS[name]))
    less = replace(proved, lower=0.0, upper=proved.upper * 0.97)
    with pytest.raises(PlanError, match="delta of at least"):
        verify_certificate(plain(replace(PLANS[name], certificate=less)))
    with pytest.raises(PlanError, match="certificate"):
        terms.verify(replace(PLANS[name], certificate=less))


@pytest.mark.parametrize(
    "changes",
    [{"slots": 4}, {"slots": 5}, {"replaced": 5}, {"planes": {"prime": 7, "digits": 4}},
     {"most_set": 13}],
)  # fmt: skip
def test_other_parts_are_no_plan(changes):
    plan = plain(PLANS["set"])
    plan["parts"][0].update(changes)
    with pytest.raises(PlanError, match="fields of version"):
        streams(plan)
