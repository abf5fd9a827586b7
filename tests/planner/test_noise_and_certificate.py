"""Noise and certificate meet: they come from two paths, and neither may ask more than the other.

The noise is searched by the law that a wish leads to, the certificate is read from the integers of
the finished plan. What was searched for one target must be certified just below it.
"""

from dataclasses import replace

import pytest
from msgspec.structs import replace as altered

from mixtally.errors import PlanError
from mixtally.planner.choose import survey
from mixtally.privacy import price
from mixtally.privacy.composition import compose
from mixtally.privacy.composition.pld import CLOSE
from mixtally.records.mechanism import ShapedFakes
from mixtally.records.mechanism.named import clear_shaped
from mixtally.records.question import Kind, Question, with_attributes
from planner.wishes import BIT, wish

BITS = Question(name="q", bins=5, kind=Kind.BITS)
SETS = Question(name="q", bins=30, kind=Kind.SET, max_set=2)
THREES = Question(name="q", bins=30, kind=Kind.SET, max_set=3)
TRIP = with_attributes("trip", (4, 9))
PLAIN = wish(40, users=20_000, messages_per_user=1.05)
WISHES = {
    "one": PLAIN,
    "large epsilon": replace(PLAIN, guarantee=altered(PLAIN.guarantee, epsilon=6.0)),
    "honest": replace(PLAIN, honest_fraction=0.7, minimum_crowd=15_000),
    "crowd": replace(PLAIN, count_crowd=True, protocol="flip-blank"),
    "honest crowd": replace(
        PLAIN, count_crowd=True, honest_fraction=0.6, minimum_crowd=18_000, protocol="flip-blank"
    ),
    "no fakes": replace(PLAIN, protocol="flip", honest_fraction=0.9),
    "uniform": replace(PLAIN, protocol="flip-uniform"),
    "uniform crowd": replace(PLAIN, protocol="flip-uniform", count_crowd=True),
    "mixes": replace(PLAIN, mix_fakes=True, mixes=3, protocol="clear-shaped"),
    "hashed": wish(10**6, protocol="clear-uniform", honest_fraction=0.8),
    "sets": wish(question=SETS, users=20_000),
    "larger sets": wish(question=THREES, users=20_000, honest_fraction=0.9),
    "sets in a crowd": wish(
        question=SETS, users=10**5, epsilon=2.0, protocol="flip", minimum_crowd=90_000
    ),
    "attributes": wish(question=TRIP, users=20_000, protocol="flip-blank", messages_per_user=4.0),
    "attributes in clear": wish(
        question=TRIP, users=20_000, protocol="clear-uniform", messages_per_user=3.0
    ),
    "alone": wish(7, users=20_000, epsilon=2.0, messages_per_user=1.0, protocol="flip-blank"),
    "bit": wish(question=BIT, users=5000, honest_fraction=0.8, protocol="single-bit"),
    "bit in clear": wish(question=BIT, users=5000, honest_fraction=0.8, protocol="clear-uniform"),
    "split bits": wish(
        question=BITS, users=5000, epsilon=2.0, messages_per_user=5.0, protocol="single-bit"
    ),
    "bits": wish(question=BITS, users=5000, epsilon=2.0, protocol="flip", messages_per_user=1.0),
    "honest bits": wish(
        question=BITS, users=5000, epsilon=2.0, protocol="flip", messages_per_user=1.0,
        honest_fraction=0.7,
    ),
    "repeats": wish(
        question=BITS, users=5000, epsilon=2.0, protocol="flip", messages_per_user=2.0
    ),
    "collections": replace(PLAIN, collections=3, protocol="flip-blank"),
    "clear collections": replace(PLAIN, collections=3, mix_fakes=True, messages_per_user=2.0,
                                 protocol="clear-uniform"),
}  # fmt: skip
each = pytest.mark.parametrize("asked", WISHES.values(), ids=WISHES)


def meets(offer):
    """Whether the certificate lies between 0.9 and 1 of its target, as near as fakes are whole."""
    target = offer.guarantee.delta
    if not offer.certificate.upper <= target:
        return False
    return offer.certificate.upper >= 0.9 * target or not _kept_with_less(offer)


def _kept_with_less(offer):
    """Whether one fake fewer that surely arrives, or a shift by one less, keeps the promise."""
    protocol, target = offer.protocol.surely(offer.plan.honest_fraction), offer.guarantee
    if protocol.name == "clear-uniform":
        less = replace(protocol, fakes=protocol.fakes - 1)
    elif isinstance(protocol.fakes, ShapedFakes):
        less = clear_shaped(
            bins=protocol.bins, ratio=protocol.ratio, shift=protocol.shift - 1, mixes=protocol.mixes
        )
    else:
        return True
    return price.certify(less, target.epsilon).upper <= target.delta


@each
def test_what_is_certified_is_what_the_noise_was_searched_for(asked):
    offers, _ = survey(asked)
    assert offers
    for offer in offers:
        assert meets(offer), (offer.name, offer.certificate.upper)
        assert offer.certificate.epsilon == offer.guarantee.epsilon


@each
def test_the_plans_together_have_the_certificate_of_the_offer(asked):
    for offer in survey(asked)[0]:
        charges = [(plan, asked.collections) for plan in offer.plans]
        together = len(offer.plans) * asked.collections > 1
        again = (
            compose.delta_of(charges, asked.guarantee.epsilon, CLOSE)
            if together
            else price.certify(offer.protocol, asked.guarantee.epsilon, asked.sure_fraction)
        )
        assert again.upper == offer.certificate.upper


@pytest.fixture
def misprice(monkeypatch):
    """Changes what a certificate asks of its law; what the search asks stays."""

    def plant(change):
        honest = price.law_of

        def changed(protocol):
            name, ask = honest(protocol)
            return name, change(ask)

        monkeypatch.setattr(price, "law_of", changed)
        forget()

    def forget():
        price.exact.cache_clear()
        survey.cache_clear()

    yield plant
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sets", lambda ask: replace(ask, max_set=None)),
        ("larger sets", lambda ask: replace(ask, max_set=2)),
        ("sets in a crowd", lambda ask: replace(ask, max_set=None)),
        ("bits", lambda ask: replace(ask, users=ask.users * 3 // 2)),
        ("bits", lambda ask: replace(ask, users=ask.users // 2)),
        ("bits", lambda ask: replace(ask, bits=ask.bits - 1)),
        ("bit", lambda ask: replace(ask, users=ask.users * 3 // 2)),
        ("crowd", lambda ask: replace(ask, users=ask.users * 3)),
        ("no fakes", lambda ask: replace(ask, users=ask.users * 3 // 2)),
        ("repeats", lambda ask: replace(ask, repeats=None)),
        ("repeats", lambda ask: replace(ask, users=ask.users + 500)),
        ("one", lambda ask: replace(ask, fakes=ask.fakes + 20)),
        ("uniform", lambda ask: replace(ask, bins=ask.bins - 1)),
        ("mixes", lambda ask: replace(ask, shift=ask.shift + 1)),
    ],
)
def test_a_certificate_that_asks_for_something_else_is_noticed(misprice, name, change):
    asked = WISHES[name]
    assert all(map(meets, survey(asked)[0]))
    misprice(change)
    try:
        offers, _ = survey(asked)
    except PlanError:  # no plan states more than its guarantee
        return
    assert not all(map(meets, offers))
