"""A device's own limits, and the promise that it derives by itself."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from msgspec.structs import replace

from helpers import contracts
from mixtally.accounting.divergence import clear_shaped
from mixtally.accounting.divergence.in_clear import usual_ratio
from mixtally.device import client
from mixtally.device.client import shaped as module
from mixtally.device.client.limits import COVERS, PROTOCOLS
from mixtally.device.contract.plan import count_honest
from mixtally.device.contract.shape import gaussian_weights, laplace_weights
from mixtally.errors import RefusedError
from mixtally.model.contract import write_contract
from mixtally.model.guarantee import count_arriving
from mixtally.model.question import Question, make_attributes_question

ANY = client.Limits(epsilon=20.0, delta=0.1, hops=1)
FALLS = [(1.0, 25), (1.0, 3), (0.1, 40), (4.0, 9), (20.0, 2), (0.37, 100)]
TABLES = [
    *((laplace_weights(usual_ratio(epsilon, 1), shift), epsilon) for epsilon, shift in FALLS),
    *((gaussian_weights(*shape), 1.0) for shape in ((36, 36), (1, 3), (40, 4))),
]
FEW = [TABLES[1], TABLES[3], TABLES[4], *TABLES[-2:]]


def shaped_plan(*, epsilon=1.0, shift=27, **changes):
    part = contracts.shaped(9, ratio=usual_ratio(epsilon, 1), shift=shift)
    return contracts.plan_of(Question(name="q", bins=9), [part], epsilon=epsilon, **changes)


def read(plan):
    return client.parse_contract(write_contract(contracts.contract_of(plan)))


def reason(plan, limits):
    with pytest.raises(RefusedError) as refusal:
        client.check_plan(read(plan).plan, limits)
    return refusal.value.reason


@pytest.mark.parametrize(("weights", "epsilon"), TABLES)
def test_the_delta_is_the_one_that_is_certified(weights, epsilon):
    bounds = clear_shaped.delta(weights, epsilon)
    true, of = module.delta(weights, epsilon)
    assert bounds.lower <= true / of <= bounds.upper


@pytest.mark.parametrize(("weights", "epsilon"), FEW)
def test_the_delta_is_the_sum_over_all_pairs(weights, epsilon):
    """Every pair by itself, in fractions."""
    table = [0, *weights, 0]
    grow = Fraction(module.exp_below(epsilon), 1 << 128)
    pairs = product(range(1, len(table)), repeat=2)
    total = sum(max(0, table[s - 1] * table[t] - grow * table[s] * table[t - 1]) for s, t in pairs)
    true, of = module.delta(weights, epsilon)
    assert math.isclose(true / of, float(total / (1 << 128)), rel_tol=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 2.5, 20.0])
def test_the_factor_is_rounded_down_and_by_little(epsilon):
    with localcontext(prec=80):
        true = Fraction(Decimal(epsilon).exp()) * 2**128
    assert 0 <= true - module.exp_below(epsilon) < true / 2**100


PARTS = [
    contracts.shaped(9), contracts.gaussian(9), contracts.paired(), contracts.paired_gaussian(),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_a_true_promise_is_taken_and_a_false_one_refused(part):
    asked = Question(name="q", bins=part.bins)
    plan = contracts.proved(replace(shaped_plan(), question=asked, parts=(part,)))
    assert client.check_plan(read(plan).plan, ANY).upper == plan.certificate.upper
    stated = plan.certificate
    lower = replace(stated, lower=0.0, upper=stated.upper * (1.0 - 1e-6))
    assert reason(replace(plan, certificate=lower), ANY) == "promise-false"


@pytest.mark.parametrize("changes", [{"collections": 2}])
def test_what_it_cannot_derive_is_left_to_who_signs(changes):
    plan = shaped_plan(**changes)
    none = replace(plan.certificate, upper=1e-12)
    assert client.check_plan(read(replace(plan, certificate=none)).plan, ANY)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"epsilon": 0.99}, "above-own-limit"),
        ({"delta": 0.0999}, "above-own-limit"),
        ({"local_epsilon": 100.0}, "above-own-limit"),
        ({"hops": 3}, "too-few-hops"),
        ({"protocols": PROTOCOLS - {"clear-shaped"}}, "protocol-not-allowed"),
        ({"covers": COVERS - {"every mix"}}, "cover-not-allowed"),
    ],
)
def test_each_limit_refuses(limits, why):
    plan = shaped_plan()
    assert client.check_plan(read(plan).plan, ANY)
    assert reason(plan, ANY._replace(**limits)) == why


def test_every_part_is_held_against_the_limits():
    two = [contracts.shaped(2), contracts.flipped(3, blanks=5)]
    plan = contracts.plan_of(make_attributes_question("q", (2, 3)), two)
    assert client.check_plan(read(plan).plan, ANY)
    for protocol in ("clear-shaped", "flip-blank"):
        limits = ANY._replace(protocols=PROTOCOLS - {protocol})
        assert reason(plan, limits) == "protocol-not-allowed"


def test_a_cover_that_people_bring_is_told_from_one_of_mixes():
    plan = contracts.plan_of(Question(name="q", bins=9), [contracts.uniform(9)])
    assert client.check_plan(read(plan).plan, ANY)
    assert reason(plan, ANY._replace(covers=frozenset({"every mix"}))) == "cover-not-allowed"


@pytest.mark.parametrize("share", [0.7, 0.5, 1.0, 1e-5, 2.5e-7, 1 / 3, 0.999])
@pytest.mark.parametrize("crowd", [2, 3, 90, 99, 12_345_678, 10_000_000_000])
def test_honest_people_are_counted_as_the_records_count_them(crowd, share):
    assert count_honest(crowd, share) == count_arriving(crowd, share)


def test_a_local_epsilon_within_the_limit_is_taken():
    part = contracts.flipped(9, blanks=500)
    plan = contracts.plan_of(Question(name="q", bins=9), [part], local_epsilon=4.5)
    assert client.check_plan(read(plan).plan, ANY._replace(local_epsilon=4.5))
    assert reason(plan, ANY._replace(local_epsilon=4.4)) == "above-own-limit"
