"""The device's room and the stranger's program refuse alike, far beyond the vectors."""

import importlib.util
import json
import random
from pathlib import Path

import pytest

from helpers import contracts
from mixtally import client
from mixtally.errors import RefusedError
from mixtally.records.contract import write_contract
from spec import stranger
from spec.stranger_contract import contract_of
from spec.stranger_forms import RefusalError

SEEDS = range(40)
VALUES = (
    *(None, True, 0, 1, 2, -1, 7, 0.5, 1e300, 10**400, "", "a", "7", "säule 1", "\ud800", "=1"),
    *([], [0], [1, 0], [True], [0, 1, 0], ["=0", "=3"], [0, 0], ["säule 0", "säule 0"], {}),
)
PREFIXES = (None, None, None, [[]], [], [[1]], [[1], [1]], [[9]], [[0]], [[True]], [[1] * 9])


def neighbour():
    """The alterations of the device's own tests."""
    path = Path(__file__).parents[1] / "client/test_same_refusals.py"
    spec = importlib.util.spec_from_file_location("same_refusals", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ALTER = neighbour()


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


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_contracts_are_taken(seed):
    chance = random.Random(seed)
    plain = json.loads(write_contract(contracts.random_contract(chance)))
    for path in chance.choices([path for path in ALTER.places(plain) if path], k=30):
        data = json.dumps(ALTER.altered(plain, path, chance)).encode()
        pair = [ours(lambda: not client.read(data)), theirs(lambda: not contract_of(data))]  # noqa: B023
        assert (pair[0] is False) == (pair[1] is False), (path, pair)


def pair_of(seed):
    """What both say to a value, prefixes and words of no particular contract."""
    chance = random.Random(seed)
    contract = contracts.random_contract(chance)
    data, good = write_contract(contract), contracts.random_value(chance, contract.terms)
    value = chance.choice([good, chance.choice([*VALUES, chance.randrange(9), "abc"])])
    known = contracts.random_prefixes(chance, contract.terms)
    prefixes = chance.choice([known, chance.choice(PREFIXES)])
    more = {"prefixes": prefixes, "closing": chance.random() < 0.1}
    used = []

    def words(count):
        used.append(chance.randbytes(8 * count))
        return used[-1]

    sent = ours(lambda: client.messages(client.read(data), value, words, **more))
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
