"""What a person is told before they agree, of every kind of cover."""

import random
import re
from decimal import Decimal
from math import exp

import pytest

from helpers import contracts
from helpers.devices import ASKED, NOW, World
from mixtally.device.client.net import describe_consent
from mixtally.device.client.net.consent import _at_most
from mixtally.device.client.net.entries import DiaryCharge
from mixtally.report.numbers import at_most

ALONE = [contracts.flipped(4, q=0.3)]
OWN = [contracts.uniform(4, whole=1)]
MIXES = [contracts.shaped(4, shift=28)]


@pytest.mark.parametrize(
    ("parts", "changes", "said"),
    [
        (MIXES, {}, "if any one of the 2 mixes is honest, whatever everybody else does"),
        (MIXES, {"hops": 1}, "if the mix is honest, whatever everybody else does"),
        (OWN, {}, "if the first mix is honest, or mixes before the first honest one drop nothing,"),
        (OWN, {"hops": 1}, "if the mix is honest, and enough of the at least 1,000 people who"),
        (ALONE, {"hops": 1}, "if the mix is honest, and enough of the at least 1,000 people who"),
        (ALONE, {"count_flips": False}, "whatever everybody else does: your own flips protect you"),
    ],
    ids=["mixes", "one mix", "people", "people behind one mix", "flips of others", "alone"],
)
def test_it_is_said_on_whom_the_promise_rests(parts, changes, said):
    agreed = World(contracts.plan_of(ASKED, parts, collections=2, **changes)).trusted()
    assert [line for line in describe_consent(agreed) if line.startswith(f"it holds {said}")]


def test_messages_that_are_sent_again_are_among_the_bytes():
    once, again = (
        World(contracts.plan_of(ASKED, [contracts.flipped(4, repeats=times)])).trusted()
        for times in (1, 3)
    )
    sizes = [
        next(line for line in describe_consent(one) if line.startswith("sent:"))
        for one in (once, again)
    ]
    assert [int(line.split()[2]) for line in sizes] == [145, 3 * 145]


@pytest.mark.parametrize("epsilon", [1.0, 1.2345642, 2.3456784])
def test_no_number_of_the_promise_is_rounded_down(epsilon):
    """The total is the exact sum of the decimal forms, as in the page."""
    delta, local = 0.0123456432, 2.3456781
    changes = {"epsilon": epsilon, "delta": delta, "local_epsilon": local}
    agreed = World(contracts.plan_of(ASKED, ALONE, **changes)).trusted()
    other = DiaryCharge("before", "f" * 64, "0" * 64, 0.1, 1.0000001e-6, 1, NOW)
    said = "\n".join(describe_consent(agreed, spent=[other]))
    number = r"(\d[\d.e-]*\d|\d)"

    def shown(words):
        return [Decimal(one) for one in re.search(words.replace("N", number), said).groups()]

    exact = [Decimal(repr(one)) for one in (epsilon, delta)]
    total = [exact[0] + Decimal("0.1"), exact[1] + Decimal("0.0000010000001")]
    for words, least in (
        ("promise: epsilon N and delta N for", exact),
        ("at most N times as likely", [Decimal(exp(epsilon))]),
        ("protect you with epsilon N", [Decimal(repr(local))]),
        ("cost: epsilon N, delta N; in total", exact),
        ("in this diary, N and N", total),
    ):
        for one, true in zip(shown(words), least, strict=True):
            assert true <= one <= true * Decimal("1.001")


@pytest.mark.parametrize(
    ("rounds", "said"), [(1, "its one round: any outcome"), (2, "all 2 rounds together: any")]
)
def test_it_is_said_how_many_rounds_the_promise_covers(rounds, said):
    agreed = World(contracts.plan_of(ASKED, MIXES, collections=rounds)).trusted()
    (line,) = [one for one in describe_consent(agreed) if one.startswith("promise:")]
    assert f" for {said}" in line


def test_a_device_rounds_a_number_as_reports_do():
    """A device cannot import reports, and they cannot import its code."""
    chance = random.Random(1)
    for _ in range(1000):
        value, digits = 10 ** chance.uniform(-16, 1.4), chance.randint(3, 6)
        assert _at_most(value, digits=digits) == at_most(value, digits)
