"""What a person is told before they agree, of every kind of cover."""

import pytest

from helpers import contracts
from helpers.devices import ASKED, World
from mixtally.device.client.net import describe_consent

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
