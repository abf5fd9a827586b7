"""The device's room and the stranger's program refuse alike, far beyond the vectors."""

import json
import random
import re
from functools import cache

import pytest

from helpers import contracts
from helpers.sampled import exhaustive
from mixtally.device import client
from mixtally.device.contract import contract, fields, question
from mixtally.errors import RefusedError
from mixtally.model.contract import FakeRecord, OwnFakes, write_contract
from mixtally.model.question import make_attributes_question
from spec import stranger
from spec.altered import altered, places
from spec.stranger_contract import contract_of
from spec.stranger_forms import RefusalError

SEEDS = range(40)
VALUES = (
    *(None, True, 0, 1, 2, -1, 7, 0.5, 1e300, 10**400, "", "a", "7", "säule 1", "\ud800", "=1"),
    *([], [0], [1, 0], [True], [0, 1, 0], ["=0", "=3"], [0, 0], ["säule 0", "säule 0"], {}),
)
PREFIXES = (None, None, None, [[]], [], [[1]], [[1], [1]], [[9]], [[0]], [[True]], [[1] * 9])


def ours(act):
    try:
        return act()
    except RefusedError as error:
        return error.reason


def theirs(act):
    try:
        return act()
    except RefusalError as error:
        return str(error)


def verdicts(data):
    """Whether the device and the stranger take a contract."""
    pair = ours(lambda: not client.parse_contract(data)), theirs(lambda: not contract_of(data))
    return tuple(one is False for one in pair)


@cache
def drawn(seed):
    """A contract, and the chance that drew it."""
    chance = random.Random(seed)
    return json.loads(write_contract(contracts.random_contract(chance))), chance.getstate()


def differing(seed, some):
    """Alterations of one contract about which they do not agree."""
    (plain, state), chance, found = drawn(seed), random.Random(), []
    chance.setstate(state)
    for path in chance.choices([path for path in places(plain) if path], k=some):
        data = json.dumps(altered(plain, path, chance)).encode()
        if len(set(verdicts(data))) == 2:
            found.append((path, verdicts(data), data))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_contracts_are_taken(seed):
    assert differing(seed, 30) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(60, 120), *exhaustive([range(120, 200), range(200, 300)])], ids=str
)
def test_the_same_are_taken_of_many_more(seeds):
    assert [one for seed in seeds for one in differing(seed, 200)] == []


def test_both_refuse_a_record_that_is_sent_again_beside_fakes():
    """Which chance hardly finds, in the second part of two."""
    own = OwnFakes(FakeRecord.BLANK, 1, 0)
    plan = contracts.plan_of(
        make_attributes_question("q", (3, 3)), [contracts.flipped(3, own=own)] * 2
    )
    plain = json.loads(write_contract(contracts.contract_of(plan)))
    assert verdicts(json.dumps(plain).encode()) == (True, True)
    plain["plan"]["parts"][1]["repeats"] = 2
    assert verdicts(json.dumps(plain).encode()) == (False, False)
    plain["plan"]["parts"][1]["own"] = None
    assert verdicts(json.dumps(plain).encode()) == (True, True)


@pytest.mark.parametrize(
    ("file", "name", "planted"),
    [
        (fields, "MOST_PLAIN", 1 << 70),
        (contract, "_check_network", lambda *_: None),
        (question, "CONTROL_CHARACTERS", re.compile("a^")),
    ],
    ids=["spelling", "network", "characters"],
)
def test_a_check_left_out_is_found(monkeypatch, file, name, planted):
    """In contracts that are written with all checks."""
    assert all(map(drawn, SEEDS))
    monkeypatch.setattr(file, name, planted)
    assert any(differing(seed, 90) for seed in SEEDS)


def pair_of(seed):
    """What both say to a value, prefixes and words of no particular contract."""
    chance = random.Random(seed)
    made = contracts.random_contract(chance)
    data, good = write_contract(made), contracts.random_value(chance, made.plan)
    value = chance.choice([good, chance.choice([*VALUES, chance.randrange(9), "abc"])])
    known = contracts.random_prefixes(chance, made.plan)
    prefixes = chance.choice([known, chance.choice(PREFIXES)])
    more = {"prefixes": prefixes, "closing": chance.random() < 0.1}
    used = []

    def words(count):
        used.append(chance.randbytes(8 * count))
        return used[-1]

    sent = ours(lambda: client.messages(client.parse_contract(data).plan, value, words, **more))
    tape = stranger.Tape(b"".join(used).hex())
    found = theirs(lambda: stranger.send(contract_of(data), value, *more.values(), tape))
    if isinstance(sent, list):
        sent = [[message.hex() for message in part] for part in sent]
    return sent, found


def test_the_same_values_are_taken_for_the_same_reasons():
    pairs = [pair_of(seed) for seed in range(900)]
    assert [(seed, pair) for seed, pair in enumerate(pairs) if pair[0] != pair[1]] == []
    reasons = {pair[0] for pair in pairs if isinstance(pair[0], str)}
    assert len(reasons) >= 15
    assert sum(isinstance(pair[0], list) for pair in pairs) >= 100
