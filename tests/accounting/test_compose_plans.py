"""Plans of several parts, coins and caps, charged together: against enumeration of small ones."""

import math
from random import Random

import pytest
from msgspec.structs import replace

from accounting.random_contracts import BY_MIXES, BY_PEOPLE, EPSILONS
from accounting.random_contracts import part as random_part
from helpers.contracts import flipped, placeholder, plan_of, proved, shaped, uniform
from helpers.exact_plans import true_sum as delta
from helpers.sampled import among
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget import compose
from mixtally.accounting.budget.ledger import charge, remaining_budget
from mixtally.accounting.divergence.in_clear import usual_ratio
from mixtally.accounting.plans.terms import PrivacyTerms
from mixtally.errors import InfeasibleError
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.guarantee import Guarantee
from mixtally.model.ledger import new_ledger
from mixtally.model.question import Kind, Question, make_attributes_question

SEED, QUICK, MANY = 11, 12, 400
DIGITS = 1e-13
"""What the enumeration may be wrong by."""
COINS = OwnFakes(FakeRecord.BLANK, 0, 1 << 62)


def random_plan(draw):
    """One or two parts of a bit or of two bins each."""
    kinds = [kind for kind in draw.choice((BY_MIXES, BY_PEOPLE)) if "bit" not in kind]
    parts = []
    while len(parts) < draw.choice((1, 1, 2)):
        part = random_part(draw, draw.choice(kinds), small=True)
        parts += [part] * (part.most_set == 1 and part.repeats == 1)
    question = (
        Question(name="q", bins=2) if len(parts) == 1 else make_attributes_question("q", (2, 2))
    )
    return plan_of(
        question,
        parts,
        epsilon=draw.choice(EPSILONS),
        users=draw.randint(2, 3),
        count_flips=False,
        hops=draw.randint(1, 5),
    )


def charges(seed, count):
    """Two collections under one plan or two, at an epsilon."""
    draw = Random(seed)
    for _ in range(count):
        first, second = random_plan(draw), random_plan(draw)
        together = [(first, 1), (second, 1)] if draw.random() < 0.6 else [(first, 2)]
        if sum(len(plan.parts) * times for plan, times in together) <= 3:
            yield together, draw.choice(EPSILONS)


def below_the_truth(seed, count):
    """Charges whose bounds do not hold the truth, with the bounds and it."""
    accountant = Accountant()
    for together, epsilon in charges(seed, count):
        found = compose.delta_of(together, epsilon, accountant)
        true = delta(*(PrivacyTerms.of(*one) for one in together), epsilon=epsilon)
        if not found.lower * (1 - 1e-8) - DIGITS <= true <= found.upper * (1 + DIGITS) + DIGITS:
            yield together, epsilon, found, true


def test_no_sum_is_below_the_truth():
    assert list(below_the_truth(SEED, QUICK)) == []


@pytest.mark.slow
def test_nor_is_any_of_many():
    assert list(below_the_truth(SEED + 1, MANY)) == []


def planned(question, parts, **changes):
    """A plan of these parts that promises hardly more than is proved of it."""
    made = plan_of(question, parts, **changes)
    promised = Guarantee(epsilon=made.guarantee.epsilon, delta=proved(made).certificate.upper)
    return proved(replace(made, guarantee=promised, certificate=placeholder(promised)))


TWO, THREE = make_attributes_question("q", (12, 13)), Question(name="q", bins=3, kind=Kind.BITS)
FLAT = usual_ratio(0.2, 1)
PLANS = {
    "bits among zeros": (THREE, [flipped(1, most_set=None, q=0.2, blanks=900)] * 3),
    "coins": (TWO, [uniform(12, whole=2), uniform(13, whole=2, coin=1 << 62)]),
    "coins and caps": (TWO, [flipped(bins, own=COINS, cap=11) for bins in (12, 13)]),
    "shaped": (TWO, [shaped(bins, ratio=FLAT, shift=150) for bins in (12, 13)]),
    "one part": (Question(name="q", bins=9), [flipped(9, q=0.1, blanks=500, cap=8)]),
}
SOME = ["bits among zeros", "shaped", "one part"]


def case(name, collections):
    question, parts = PLANS[name]
    return planned(question, parts, epsilon=0.5 + 0.3 * collections, collections=collections)


@pytest.mark.parametrize("name", among(PLANS, SOME))
def test_one_collection_is_what_its_plan_states(name):
    plan = case(name, 1)
    assert compose.delta_of([(plan, 1)], plan.guarantee.epsilon) == plan.certificate
    budget = new_ledger(plan.guarantee)
    assert remaining_budget(budget, plan).times >= 1
    charge(budget, plan)


@pytest.mark.parametrize("collections", [2, 4])
@pytest.mark.parametrize("name", among(PLANS, SOME))
def test_its_own_plan_refuses_no_series(name, collections):
    plan = case(name, collections)
    whole = compose.delta_of([(plan, collections)], plan.guarantee.epsilon)
    assert whole.upper == plan.certificate.upper <= plan.guarantee.delta
    for budget in (plan.guarantee, replace(plan.guarantee, delta=1.5 * plan.guarantee.delta)):
        charge(new_ledger(budget), plan, collections)
    fewer = [compose.delta_of([(plan, n)], plan.guarantee.epsilon).upper for n in (1, collections)]
    assert fewer == sorted(fewer)


def test_edges_of_different_plans_add_up_exactly():
    plans = [
        planned(TWO, [shaped(12), shaped(13)], epsilon=2.0),
        planned(Question(name="q", bins=4), [shaped(4)], epsilon=1.0),
    ]
    both = compose.delta_of([(one, 1) for one in plans], 3.0).upper
    assert both <= sum(one.certificate.upper for one in plans) * (1 + 1e-6)


@pytest.fixture(scope="module")
def capped():
    """Flips whose caps cost more than they hide from some epsilon on."""
    return plan_of(Question(name="q", bins=12), [flipped(12, q=0.1, blanks=400, cap=10)])


def test_what_caps_cost_rises_with_epsilon(capped):
    upper = compose.upper_curve([(capped, 2)])
    assert upper.cap_cost(2.0) == pytest.approx(
        upper.cap_cost(1.0) * (1 + math.exp(2.0)) / (1 + math.e), rel=1e-9
    )
    assert upper(1.5) < 1e-4 < upper(18.0)


@pytest.mark.parametrize("target", [1e-3, 3e-5, 1e-5, 2e-6])
def test_the_least_epsilon_is_found_where_the_curve_rises_again(capped, target):
    charged, accountant = [(capped, 2)], Accountant()
    found = compose.epsilon_of(charged, target, accountant)
    upper = compose.upper_curve(charged, accountant, target)
    assert upper(found.epsilon) == found.upper <= target < upper(20.0)
    assert all(upper(found.epsilon * share) > target for share in (0.1, 0.5, 0.9, 1 - 3e-6))


def test_no_epsilon_is_found_where_caps_cost_too_much(capped):
    least = compose.upper_curve([(capped, 2)]).cap_cost(0.01)
    with pytest.raises(InfeasibleError, match="allow a larger delta"):
        compose.epsilon_of([(capped, 2)], 0.9 * least)


@pytest.mark.parametrize("window", [(1.0, 19.0), (3.0, 3.01), (0.02, 0.0201), (15.0, 15.001)])
def test_a_narrow_window_between_flips_and_caps_is_found(window):
    """What falls below the target at its start, and what rises above it at its end."""
    start, end = window
    upper = compose.ComposedDelta(
        lambda epsilon: 0.9 if epsilon < start else 4e-7,
        lambda epsilon: 1e-9 if epsilon < end else 0.1,
    )
    below, above = compose._bracket_epsilon(upper, 1e-6, (0.01, 0.9))
    assert below[0] < start <= above[0] < end
