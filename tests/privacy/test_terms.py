"""What a contract's plan cost, message by message, and what they may not state."""

import math

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from helpers.contracts import flipped, plan_of, proved, shaped, uniform
from helpers.least import threshold
from mixtally.errors import PlanError
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.terms import (
    PrivacyTerms,
    capped_cost,
    counted,
    delta_of,
    local_epsilon_of,
    verify,
)
from mixtally.records.contract import FakeRecord, OwnFakes
from mixtally.records.question import Kind, Question, with_attributes

BINS, CAP, Q, PEOPLE = 9, 4, 0.1, 50
ONE = Question(name="q", bins=BINS)
SETS = Question(name="q", bins=BINS, kind=Kind.SET, max_set=3)
BLANK = OwnFakes(FakeRecord.BLANK, 2, 1 << 62)
UNIFORM = OwnFakes(FakeRecord.UNIFORM, 2, 1 << 62)
ACCOUNTANT = Accountant()


def passes(ones):
    """P(Bin(ones, 1 - q) + Bin(bins - ones, q) > cap)."""
    kept = stats.binom(ones, 1 - Q).pmf(np.arange(ones + 1))
    return float(kept @ stats.binom(BINS - ones, Q).sf(CAP - np.arange(ones + 1)))


def capped(**given):
    return flipped(BINS, q=Q, cap=CAP, **given)


def terms_of(part, question=ONE, **changes):
    return PrivacyTerms.of(plan_of(question, [part], users=PEOPLE, **changes))


@pytest.mark.parametrize(
    ("part", "question", "counts", "messages"),
    [
        (capped(blanks=30), ONE, False, passes(1) + 30 * passes(0)),
        (capped(most_set=3, blanks=30), SETS, False, passes(3) + 30 * passes(0)),
        (capped(own=BLANK), ONE, False, passes(1) + 3 * PEOPLE * passes(0)),
        (capped(own=UNIFORM), ONE, False, passes(1) * (1 + 3 * PEOPLE)),
        (capped(), ONE, True, passes(1) * (1 + PEOPLE)),
        (capped(own=BLANK), ONE, True, passes(1) * (1 + PEOPLE) + 3 * PEOPLE * passes(0)),
        (flipped(BINS, q=Q, blanks=30), ONE, False, 0.0),
        (shaped(BINS), ONE, False, 0.0),
    ],
)
def test_every_message_of_the_proof_may_pass_its_cap(part, question, counts, messages):
    for collections in (1,) if part.own is UNIFORM else (1, 2):  # which has a price for one alone
        for epsilon in (0.01, 2.0):
            terms = terms_of(
                part, question, count_flips=counts, collections=collections, epsilon=epsilon
            )
            true = collections * (1 + math.exp(epsilon)) * messages
            assert capped_cost(terms) == pytest.approx(min(1.0, true), rel=1e-6)
            assert capped_cost(terms) >= min(1.0, true) * (1 - 1e-12)


def test_every_part_is_counted_in_every_collection():
    question = with_attributes("q", (3, 3, 5))
    parts = [shaped(3), shaped(3), shaped(5)]
    groups = counted(PrivacyTerms.of(plan_of(question, parts, collections=4)))
    assert groups.total() == 12
    different = [uniform(3, whole=9), uniform(3, whole=9), uniform(5, whole=9)]
    groups = counted(PrivacyTerms.of(plan_of(question, different, collections=4)))
    assert sorted(groups.values()) == [4, 8]


def test_people_whose_flips_hide_may_hold_any_bin():
    part = flipped(BINS, q=Q)
    terms = terms_of(part, count_flips=True)
    whole = ACCOUNTANT.delta(Record.of(part.mechanism(fakes=0, crowd=PEOPLE)), 1.0).bounds
    assert delta_of(terms, ACCOUNTANT) == pytest.approx(whole, rel=1e-8)


def test_what_is_left_grows_by_the_cap_and_by_collections():
    for part, question, largest in ((capped(blanks=30), ONE, 1),
                                    (capped(most_set=3, blanks=30), SETS, 3)):  # fmt: skip
        alone = part.local_epsilon - math.log1p(-passes(largest))
        for collections in (1, 5):
            stated = local_epsilon_of(terms_of(part, question, collections=collections))
            assert stated == pytest.approx(collections * alone, rel=1e-8)
            assert stated >= collections * alone * (1 - 1e-12)


def test_in_clear_nothing_is_left():
    assert local_epsilon_of(terms_of(shaped(BINS))) is None


def honest():
    """Plan whose bounds lie apart, as they do where people toss coins."""
    own = OwnFakes(FakeRecord.BLANK, 0, 1 << 63)
    part = flipped(BINS, q=threshold(400, 1.0, 1e-3) / 2**64, own=own)
    return proved(plan_of(ONE, [part], users=1000), ACCOUNTANT)


def test_bounds_and_what_is_left_are_those_that_are_proved():
    plan = honest()
    assert verify(plan, ACCOUNTANT) == plan.certificate
    lower, upper = plan.certificate.lower, plan.certificate.upper
    between = replace(plan.certificate, upper=(lower + upper) / 2)
    with pytest.raises(PlanError, match="was altered"):
        verify(replace(plan, certificate=between), ACCOUNTANT)
    false = replace(plan.certificate, lower=0.0, upper=lower * 0.99)
    with pytest.raises(PlanError, match="its promise is false"):
        verify(replace(plan, certificate=false), ACCOUNTANT)
    for factor in (0.99, 1.01):
        off = replace(plan, local_epsilon=plan.local_epsilon * factor)
        with pytest.raises(PlanError, match="a local epsilon of"):
            verify(off, ACCOUNTANT)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_behind_one_mix_or_several_it_is_said_whom_to_trust(hops):
    people = proved(plan_of(ONE, [uniform(BINS, whole=30)], hops=hops), ACCOUNTANT)
    mixes = proved(plan_of(ONE, [shaped(BINS)], hops=hops), ACCOUNTANT)
    said, trusts = people.certificate.assumption, mixes.certificate.assumption
    assert "at least 1,000 honest people" in said
    assert ("the first honest one forward all they got" in said) == (hops > 1)
    assert trusts.startswith(
        "holds if the mix is" if hops == 1 else f"holds if any one of the {hops} mixes is"
    )
