"""The least noise: what is searched for a candidate is what its plan is certified for, no less.

The noise is searched for the mechanism that a request leads to, the certificate is read from the
integers of the finished plan. What was searched for one target must be certified just below it, and
with a hair less noise the promise is missed.
"""

from dataclasses import replace

import pytest
from msgspec.structs import replace as altered

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.honest_part import HonestPart
from mixtally.accounting.plans.terms import PrivacyTerms, delta_of, verify
from mixtally.model.contract import (
    BlanksRecipe,
    OwnFakes,
    Shape,
    UniformRecipe,
    read_plan,
    write_plan,
)
from mixtally.model.mechanism import Parameter
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import Planner
from planning.requests import BIT, OPEN, proved, request, surveyed

BITS = Question(name="q", bins=5, kind=Kind.BITS)
SETS = Question(name="q", bins=30, kind=Kind.SET, max_set=2)
FULL = Question(name="q", bins=5, kind=Kind.SET, max_set=5)
SHARED = Question(name="q", bins=4, kind=Kind.SET, max_set=3)
THREES = Question(name="q", bins=30, kind=Kind.SET, max_set=3)
TRIP = make_attributes_question("trip", (4, 9))
PLAIN = request(40, users=20_000, messages_per_user=1.05)
WISHES = {
    "one": PLAIN,
    "large epsilon": replace(PLAIN, guarantee=altered(PLAIN.guarantee, epsilon=6.0)),
    "honest": replace(PLAIN, honest_share=0.7, minimum_crowd=15_000),
    "crowd": replace(PLAIN, count_crowd=True, protocol="flip-blank"),
    "honest crowd": replace(
        PLAIN, count_crowd=True, honest_share=0.6, minimum_crowd=18_000, protocol="flip-blank"
    ),
    "no fakes": replace(PLAIN, protocol="flip", honest_share=0.9),
    "uniform": replace(PLAIN, protocol="flip-uniform"),
    "uniform crowd": replace(PLAIN, protocol="flip-uniform", count_crowd=True),
    "mixes": replace(PLAIN, hops=3, minimum_crowd=10_000, protocol="clear-shaped"),
    "planes": request(10**6, protocol="clear-uniform", honest_share=0.8),
    "open": request(question=OPEN, users=20_000, honest_share=0.8),
    "planes of mixes": request(question=OPEN, users=20_000, hops=2),
    "sets": request(question=SETS, users=20_000),
    "larger sets": request(question=THREES, users=20_000, honest_share=0.9),
    "sets of all bins": request(question=FULL, users=20_000),
    "sets that share bins": request(
        question=SHARED, users=10**5, protocol="flip-blank", count_crowd=True, minimum_crowd=90_000
    ),
    "sets in a crowd": request(
        question=SETS, users=10**5, epsilon=2.0, protocol="flip", minimum_crowd=90_000
    ),
    "attributes": request(
        question=TRIP, users=20_000, protocol="flip-blank", messages_per_user=4.0
    ),
    "attributes in clear": request(
        question=TRIP, users=20_000, protocol="clear-uniform", messages_per_user=3.0
    ),
    "alone": request(7, users=20_000, epsilon=2.0, messages_per_user=1.0, protocol="flip"),
    "bit": request(question=BIT, users=5000, honest_share=0.8, protocol="single-bit"),
    "bit in clear": request(
        question=BIT, users=5000, honest_share=0.8, protocol="clear-uniform"
    ),
    "split bits": request(
        question=BITS, users=5000, epsilon=2.0, messages_per_user=5.0, protocol="single-bit"
    ),
    "bits": request(question=BITS, users=5000, epsilon=2.0, protocol="flip", messages_per_user=1.0),
    "honest bits": request(
        question=BITS, users=5000, epsilon=2.0, protocol="flip", messages_per_user=1.0,
        honest_share=0.7,
    ),
    "repeats": request(
        question=BITS, users=5000, epsilon=2.0, protocol="flip", messages_per_user=2.0
    ),
    "collections": replace(PLAIN, collections=3, protocol="flip-blank"),
    "clear collections": replace(PLAIN, collections=3, messages_per_user=2.0,
                                 protocol="clear-uniform"),
    "blanks": replace(PLAIN, hops=3, mix_messages=15_000, protocol="flip-blank"),
    "blanks of sets": request(question=THREES, users=20_000, hops=2, protocol="flip-blank"),
    "blanks of bits": request(question=BITS, users=20_000, hops=2, protocol="single-bit"),
    "blanks of attributes": request(question=TRIP, users=20_000, hops=2, protocol="flip-blank"),
    "shaped attributes": request(question=TRIP, users=20_000, hops=2, protocol="clear-shaped"),
}  # fmt: skip
LONG = {
    "one", "repeats", "attributes", "attributes in clear", "sets in a crowd", "sets of all bins",
    "sets that share bins", "larger sets", "uniform", "uniform crowd", "crowd", "honest crowd",
}  # fmt: skip
each = pytest.mark.parametrize(
    "asked",
    [
        pytest.param(wish, id=name, marks=[pytest.mark.seconds] if name in LONG else [])
        for name, wish in WISHES.items()
    ],
)
_ACCOUNTANT = Accountant()


def meets(candidate, plan):
    """Whether a plan is certified just below its target, with about the noise of its candidate."""
    if plan is None or not plan.certificate.upper <= plan.guarantee.delta:
        return False
    if not 0.95 <= plan.standard_error / candidate.standard_error <= 1.05:
        return False
    slack = 0.97 if len(plan.parts) * plan.collections == 1 else 0.89
    return plan.certificate.upper >= slack * plan.guarantee.delta or misses(less(plan))


def misses(plan):
    """Whether the integers of a plan do not keep its promise."""
    return delta_of(PrivacyTerms.of(plan), _ACCOUNTANT).upper > plan.guarantee.delta


def less(plan, share=0.99):
    """The plan with a hundredth less of what is sought."""
    return altered(plan, parts=tuple(_less(part, share) for part in plan.parts))


def _less(part, share):
    if part.threshold is not None:
        threshold = round(part.threshold * share)
        if isinstance(part.recipe, BlanksRecipe):
            recipe = BlanksRecipe(part.recipe.count, threshold)
            return altered(part, threshold=threshold, recipe=recipe)
        return altered(part, threshold=threshold)
    if isinstance(part.recipe, Shape):
        return altered(part, recipe=altered(part.recipe, shift=part.recipe.shift - 1))
    if isinstance(part.recipe, UniformRecipe):
        return altered(part, recipe=UniformRecipe(round(part.recipe.count * share)))
    units = round((part.own.whole + part.own.coin / 2**64) * share * 2**64)
    return altered(part, own=OwnFakes(part.own.record, *divmod(units, 1 << 64)))


@each
def test_what_is_certified_is_what_the_noise_was_searched_for(asked):
    found, plans = surveyed(asked), proved(asked)
    assert found
    assert len(plans) == len(found)
    for candidate, plan in zip(found, plans, strict=True):
        assert meets(candidate, plan), (plan.name, plan.certificate.upper)
        assert plan.certificate.epsilon == plan.guarantee.epsilon


@each
def test_a_hair_less_noise_misses_the_promise(asked):
    for plan in proved(asked):
        assert misses(less(plan)), plan.name


@each
def test_whoever_reads_a_plan_proves_what_it_states(asked):
    for plan in proved(asked):
        assert verify(read_plan(write_plan(plan), "plan")).upper == plan.certificate.upper


@pytest.fixture
def misprice(monkeypatch):
    """Changes the mechanism that a certificate asks about; what the search asks about stays."""
    honest = HonestPart.mechanism

    def plant(change):
        monkeypatch.setattr(HonestPart, "mechanism", lambda *given: change(honest(*given)))

    return plant


def smaller_sets(most):
    """A change to sets of at most ``most``, all of whose members are sent."""

    def change(m):
        whole = {} if getattr(m, "slots", None) is None else {"slots": None, "full": False}
        return altered(m, max_set=most, **whole)

    return change


def crowd(times, more=0):
    return lambda m: altered(m, crowd=int(m.crowd * times) + more)


def cells(made):
    """Planes of three quarters of the prime."""
    fewer = altered(made.planes, prime=made.planes.prime * 3 // 4)
    return altered(made, bins=2, planes=fewer)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sets", smaller_sets(1)),
        ("larger sets", smaller_sets(2)),
        ("sets in a crowd", smaller_sets(1)),
        ("bits", crowd(1.5)),
        ("bits", crowd(0.5)),
        ("bits", lambda m: altered(m, bins=m.bins - 1)),
        ("bit", crowd(1.5)),
        ("crowd", crowd(3)),
        ("no fakes", crowd(1.5)),
        ("repeats", lambda m: altered(m, repeats=1)),
        ("repeats", crowd(1, 500)),
        ("one", lambda m: m.with_parameter(Parameter.FAKES, m.fakes.count * 9 // 8)),
        ("uniform", lambda m: altered(m, bins=m.bins - 20)),
        ("mixes", lambda m: m.with_parameter(Parameter.SHIFT, m.fakes.shape.shift + 1)),
        ("open", cells),
        ("planes of mixes", cells),
        ("planes of mixes", lambda m: m.with_parameter(Parameter.FAKES, 3 * m.fakes.count)),
        ("blanks", lambda m: m.with_parameter(Parameter.FAKES, 3 * m.fakes.count)),
    ],
)
def test_a_certificate_that_asks_for_something_else_is_noticed(misprice, name, change):
    asked = WISHES[name]
    assert all(map(meets, surveyed(asked), proved(asked)))
    misprice(change)
    planner = Planner()
    found = [(candidate, planner.plan(candidate)) for candidate in planner.candidates(asked).found]
    assert not all(meets(*pair) for pair in found)
