"""Noise and certificate meet: they come from two paths, and neither may ask more than the other.

The noise is searched for the mechanism that a request leads to, the certificate is read from the
integers of the finished plan. What was searched for one target must be certified just below it.
"""

import math
from dataclasses import replace

import pytest
from msgspec.structs import replace as altered

from mixtally.errors import PlanError
from mixtally.planner import Planner, build
from mixtally.privacy import certify
from mixtally.privacy.accountant import Record
from mixtally.privacy.composition import compose
from mixtally.privacy.composition.pld import CLOSE
from mixtally.records.mechanism import InClear, Parameter, ShapedFakes
from mixtally.records.question import Kind, Question, with_attributes
from planner.requests import BIT, request, surveyed

BITS = Question(name="q", bins=5, kind=Kind.BITS)
SETS = Question(name="q", bins=30, kind=Kind.SET, max_set=2)
FULL = Question(name="q", bins=5, kind=Kind.SET, max_set=5)
SHARED = Question(name="q", bins=4, kind=Kind.SET, max_set=3)
THREES = Question(name="q", bins=30, kind=Kind.SET, max_set=3)
TRIP = with_attributes("trip", (4, 9))
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
    "mixes": replace(PLAIN, mix_fakes=True, mixes=3, protocol="clear-shaped"),
    "hashed": request(10**6, protocol="clear-uniform", honest_share=0.8),
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
    "alone": request(7, users=20_000, epsilon=2.0, messages_per_user=1.0, protocol="flip-blank"),
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
    "clear collections": replace(PLAIN, collections=3, mix_fakes=True, messages_per_user=2.0,
                                 protocol="clear-uniform"),
}  # fmt: skip
LONG = {"repeats", "attributes", "attributes in clear", "sets in a crowd"}
each = pytest.mark.parametrize(
    "asked",
    [
        pytest.param(wish, id=name, marks=[pytest.mark.seconds] if name in LONG else [])
        for name, wish in WISHES.items()
    ],
)


def meets(option):
    """Whether the certificate lies between 0.9 and 1 of its target, as near as fakes are whole."""
    target = option.guarantee.delta
    if not option.certificate.upper <= target:
        return False
    return option.certificate.upper >= 0.9 * target or not _kept_with_less(option)


def _kept_with_less(option):
    """Whether one fake fewer that surely arrives, or a shift by one less, keeps the promise."""
    sure, target = option.mechanism.surely(option.plan.honest_share), option.guarantee
    if not isinstance(sure, InClear):
        return True
    if isinstance(sure.fakes, ShapedFakes):
        less = sure.having(Parameter.SHIFT, sure.fakes.shift - 1)
    else:
        less = sure.having(Parameter.FAKES, sure.fakes.count - 1)
    return certify.certify(less, target.epsilon).upper <= target.delta


@each
def test_what_is_certified_is_what_the_noise_was_searched_for(asked):
    options = surveyed(asked)
    assert options
    for option in options:
        assert meets(option), (option.name, option.certificate.upper)
        assert option.certificate.epsilon == option.guarantee.epsilon


@each
def test_the_plans_together_have_the_certificate_of_the_offer(asked):
    for option in surveyed(asked):
        charges = [(plan, asked.collections) for plan in option.plans]
        together = len(option.plans) * asked.collections
        promised = asked.guarantee
        again = (
            compose.delta_of(charges, promised.epsilon, CLOSE, aim=promised.delta)
            if together > 1
            else certify.certify(
                option.mechanism, promised.epsilon, asked.sure_fraction, aim=promised.delta
            )
        )
        assert again.upper == option.certificate.upper


@pytest.fixture
def misprice(monkeypatch):
    """Changes the mechanism that a certificate asks about; what the search asks about stays."""

    def plant(change):
        class Other:
            @staticmethod
            def of(mechanism, *rest):
                return Record.of(change(mechanism), *rest)

        for module in (build, certify, compose):
            monkeypatch.setattr(module, "Record", Other)

    return plant


def crowd(times, more=0):
    return lambda m: altered(m, crowd=math.floor(m.crowd * times) + more)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sets", lambda m: altered(m, max_set=1)),
        ("larger sets", lambda m: altered(m, max_set=2)),
        ("sets in a crowd", lambda m: altered(m, max_set=1)),
        ("bits", crowd(1.5)),
        ("bits", crowd(0.5)),
        ("bits", lambda m: altered(m, bins=m.bins - 1)),
        ("bit", crowd(1.5)),
        ("crowd", crowd(3)),
        ("no fakes", crowd(1.5)),
        ("repeats", lambda m: altered(m, repeats=1)),
        ("repeats", crowd(1, 500)),
        ("one", lambda m: m.having(Parameter.FAKES, m.fakes.count + 20)),
        ("uniform", lambda m: altered(m, bins=m.bins - 1)),
        ("mixes", lambda m: m.having(Parameter.SHIFT, m.fakes.shift + 1)),
    ],
)
def test_a_certificate_that_asks_for_something_else_is_noticed(misprice, name, change):
    asked = WISHES[name]
    assert all(map(meets, surveyed(asked)))
    misprice(change)
    try:
        options, _ = Planner().survey(asked)
    except PlanError:  # no plan states more than its guarantee
        return
    assert not all(map(meets, options))
