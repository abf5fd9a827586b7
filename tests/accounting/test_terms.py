"""What a contract's plan cost, message by message, and what they may not state."""

import math

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from helpers.contracts import flipped, plan_of, proved, shaped, uniform
from helpers.least import threshold
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.plans.terms import (
    PrivacyTerms,
    assumption,
    cap_cost,
    count_honest_parts,
    delta_of,
    local_epsilon_of,
    verify,
)
from mixtally.errors import PlanError
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question

BINS, CAP, Q, PEOPLE = 9, 4, 0.1, 50
ONE = Question(name="q", bins=BINS)
SETS = Question(name="q", bins=BINS, kind=Kind.SET, max_set=3)
BLANK = OwnFakes(FakeRecord.BLANK, 2, 1 << 62)
UNIFORM = OwnFakes(FakeRecord.UNIFORM, 2, 1 << 62)
ACCOUNTANT = Accountant()
LOGIT = math.log(0.6 / 0.4)


def passes(ones):
    """P(Bin(ones, 1 - q) + Bin(bins - ones, q) > cap)."""
    kept = stats.binom(ones, 1 - Q).pmf(np.arange(ones + 1))
    return float(kept @ stats.binom(BINS - ones, Q).sf(CAP - np.arange(ones + 1)))


def capped(**given):
    return flipped(BINS, q=Q, cap=CAP, **given)


def again(part):
    """The record sent three times."""
    return replace(part, repeats=3)


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
        (again(capped()), ONE, True, 3 * passes(1) * (1 + PEOPLE)),
        (again(capped()), ONE, False, 3 * passes(1)),
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
            assert cap_cost(terms) == pytest.approx(min(1.0, true), rel=1e-6)
            assert cap_cost(terms) >= min(1.0, true) * (1 - 1e-12)


def test_every_part_is_counted_in_every_collection():
    question = make_attributes_question("q", (3, 3, 5))
    parts = [shaped(3), shaped(3), shaped(5)]
    groups = count_honest_parts(PrivacyTerms.of(plan_of(question, parts, collections=4)))
    assert groups.total() == 12
    different = [uniform(3, whole=9), uniform(3, whole=9), uniform(5, whole=9)]
    groups = count_honest_parts(PrivacyTerms.of(plan_of(question, different, collections=4)))
    assert sorted(groups.values()) == [4, 8]


def test_people_whose_flips_hide_may_hold_any_bin():
    part = flipped(BINS, q=Q)
    terms = terms_of(part, count_flips=True)
    whole = ACCOUNTANT.delta(Record.of(part.mechanism(fakes=0, crowd=PEOPLE)), 1.0).bounds
    assert delta_of(terms, ACCOUNTANT) == pytest.approx(whole, rel=1e-8)


def test_what_is_left_grows_by_the_cap_and_by_collections():
    for part, question, largest in ((capped(blanks=30), ONE, 1), (again(capped()), ONE, 1),
                                    (capped(most_set=3, blanks=30), SETS, 3)):  # fmt: skip
        each = 2 * largest * math.log((1 - Q) / Q)
        alone = part.repeats * (each - math.log1p(-passes(largest)))
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
    for factor in (0.99, 1.0 - 1e-8, 1.01):  # less may not be stated, not even by little
        off = replace(plan, local_epsilon=plan.local_epsilon * factor)
        with pytest.raises(PlanError, match="a local epsilon of"):
            verify(off, ACCOUNTANT)


ARRIVE = ", and whose messages arrive whatever number of fakes they drew"
LOUD = flipped(BINS, q=0.3, most_set=1)
FIRST = (
    "; this is so if the first mix is honest, or if all mixes before the first honest one forward "
    "everything they received"
)


@pytest.mark.parametrize("hops", [1, 2, 5])
@pytest.mark.parametrize(
    ("part", "flips", "drawn"),
    [
        (uniform(BINS, whole=30, coin=0), False, "draw their fakes as the protocol says"),
        (
            uniform(BINS, whole=30, coin=1),
            False,
            "draw their fakes as the protocol says" + ARRIVE,
        ),
        (flipped(BINS, q=0.2), True, "flip their bits as the protocol says"),
        (
            flipped(BINS, q=0.2, own=BLANK),
            True,
            "draw their fakes and flip their bits as the protocol says" + ARRIVE,
        ),
    ],
)
def test_behind_one_mix_or_several_it_is_said_whom_to_trust(part, flips, drawn, hops):
    said = assumption(terms_of(part, count_flips=flips, hops=hops))
    first = "the mix is honest and" if hops == 1 else "the first honest mix"
    assert said == (
        f"holds if {first} receives the messages of at least {PEOPLE} honest people, who {drawn}"
        + FIRST * (hops > 1)
    )


@pytest.mark.parametrize("part", [shaped(BINS), flipped(BINS, blanks=30)])
def test_where_every_mix_brings_the_cover_any_one_is_trusted(part):
    said = [assumption(terms_of(part, hops=hops)) for hops in (1, 2, 5)]
    trusted = ["the mix is", "any one of the 2 mixes is", "any one of the 5 mixes is"]
    assert said == [f"holds if {one} honest, whatever everybody else does" for one in trusted]


@pytest.mark.parametrize("repeats", [1, 3])
def test_what_a_report_hides_by_itself_rests_on_nobody(repeats):
    """No fakes and no counted flips: the divergence of the report alone, and what is left too."""
    part = replace(LOUD, repeats=repeats)
    terms = terms_of(part, count_flips=False, epsilon=repeats * 1.6)
    assert assumption(terms).startswith("holds whatever everybody else does: each report hides")
    assert local_epsilon_of(terms) == pytest.approx(repeats * 2 * math.log(7 / 3), rel=1e-8)
    true = 0.7**2 - math.exp(1.6) * 0.3**2
    bounds = delta_of(terms, ACCOUNTANT)
    if repeats == 1:
        assert bounds == pytest.approx((true, true), rel=1e-8)
    assert delta_of(terms_of(part, count_flips=True, epsilon=repeats * 1.6), ACCOUNTANT)[1] <= (
        bounds.upper
    )


def test_what_traced_messages_keep_costs_nothing_and_what_they_do_not_does():
    """Two bits that hide themselves: beyond 2 ln(p/q) nothing is told, below it something."""
    q = 0.4
    part = flipped(1, q=q, most_set=None)
    for share, told in ((1.001, 0.0), (0.9, (1 - q) ** 2 - math.exp(1.8 * LOGIT) * q**2)):
        promised = Guarantee(epsilon=2.0 * LOGIT * share, delta=0.1)
        terms = PrivacyTerms((part, part), promised, 1, 2, count_flips=False, hops=1)
        bounds = delta_of(terms, Accountant())
        assert told * (1 - 1e-9) <= bounds.upper <= told * 1.02
