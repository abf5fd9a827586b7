"""Given the same words, the device's room and the reference in numpy give the same bytes.

Two programs that share nothing but the contract's bytes: one in integers of the standard library,
one in arrays. Contracts, values, prefixes and words are drawn anew for every seed.
"""

import random

import numpy as np
import pytest

from helpers import contracts
from helpers.sampled import exhaustive
from mixtally.device import client
from mixtally.device.client import draw
from mixtally.model.contract import fingerprint_of, write_contract
from reference.answer import answer
from reference.person import person_messages

QUICK, ALL = range(150), range(150, 10_000)


class Stream:
    """Words for both: as bytes, and as an array. Now and then one at a border of what is drawn."""

    def __init__(self, seed):
        self.chance, self.used = random.Random(seed), []

    def __call__(self, count):
        words = [self.chance.getrandbits(64) for _ in range(count)]
        if self.chance.random() < 0.2:
            words = [2**64 - 1] * count if count == 1 else words
        self.used += words
        return b"".join(word.to_bytes(8, "little") for word in words)

    def words(self, count):
        return np.frombuffer(self(count), dtype="<u8").astype(np.uint64)


def both(seed):
    """What the room and the reference send, and the words that each used."""
    chance = random.Random(seed)
    contract = contracts.random_contract(chance)
    plan = contract.plan
    value = contracts.random_value(chance, plan)
    prefixes = contracts.random_prefixes(chance, plan)
    closing = plan.prefixes is not None and chance.random() < 0.3
    ours, theirs = Stream(seed), Stream(seed)
    read = client.parse_contract(write_contract(contract)).plan
    sent = client.messages(read, value, ours, prefixes=prefixes, closing=closing)

    def bins(source):
        return answer(plan, value, prefixes, closing=closing, chance=source)

    wanted = person_messages(plan, bins, theirs)
    return (sent, ours.used), (wanted, theirs.used)


@pytest.mark.parametrize("seed", QUICK)
def test_the_bytes_are_those_of_the_reference(seed):
    ours, theirs = both(seed)
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [ALL[::5], *exhaustive(ALL[i::5] for i in range(1, 5))], ids=str)
def test_ten_thousand_contracts(seeds):
    for seed in seeds:
        ours, theirs = both(seed)
        assert ours == theirs, seed


def differing():
    """How many of the quick seeds give other bytes."""
    return sum(ours[0] != theirs[0] for ours, theirs in map(both, QUICK))


def upwards(several, words):
    """Planted: from the first place up."""
    for place in range(1, len(several)):
        other = words.uniform(place + 1)
        several[place], several[other] = several[other], several[place]


def never_again(part, bins, words):
    """Planted: a message past its cap is cut, not drawn again."""
    if part.threshold is None:
        return draw.write_message(part.layout, bins)
    flips = {place for place, word in enumerate(words.take(part.bins)) if word < part.threshold}
    ones = sorted(flips.symmetric_difference(bins))
    return draw.write_message(part.layout, ones[: part.layout.cap])


def heads(parts, words):
    """Planted: the coin's other side."""
    return [
        part.own.whole + (words.take(1)[0] >= part.own.coin) if part.own else 0 for part in parts
    ]


def biased(words, bound):
    """Planted: no word is drawn again."""
    return words.take(1)[0] % bound


@pytest.mark.parametrize(
    ("where", "name", "planted"),
    [
        (client.messages.__globals__, "shuffle", upwards),
        (vars(draw), "draw_message", never_again),
        (client.messages.__globals__, "draw_fake_counts", heads),
        (vars(draw), "RandomWords", None),
    ],
    ids=["order", "cap", "coin", "redraw"],
)
def test_a_planted_difference_is_found(monkeypatch, where, name, planted):
    if planted is None:
        monkeypatch.setattr(draw.RandomWords, "uniform", biased)
    else:
        monkeypatch.setitem(where, name, planted)
    assert differing() >= 3


def test_the_reference_reads_what_the_room_reads():
    for seed in QUICK:
        data = write_contract(contracts.random_contract(random.Random(seed)))
        assert (
            client.parse_contract(data).fingerprint
            == client.fingerprint_of(data)
            == fingerprint_of(data)
        )
