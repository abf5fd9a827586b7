"""The device's room takes and refuses the same contracts as the records do.

Every contract is altered in one place at a time; both must say yes, or both no.
"""

import json
import random
import re

import pytest

from helpers import contracts
from mixtally import client
from mixtally.contract import contract, question, reading
from mixtally.errors import InputError
from mixtally.records.contract import FakeRecord, OwnFakes, read_contract, write_contract
from mixtally.records.question import with_attributes

SEEDS = range(60)
ODD = (
    *(None, True, False, 0, -1, 1, 2, 0.5, 1.0, 1e-16, 1e400, 17, 65, 1 << 53, (1 << 53) + 1),
    *(
        "",
        "0",
        "1",
        "-5",
        str(1 << 53),
        str(1 << 63),
        str(1 << 64),
        "one",
        "set",
        "a\x07",
        "\ud800",
    ),
    *([], {}, [1], ["a"], {"type": "none"}, "positions", "index", "bits", "uniform", "people"),
)
"""Put in the place of anything."""


def places(value, path=()):
    """Every place in plain data."""
    yield path
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[name], (*path, name))


def altered(plain, path, chance):
    """A copy with something else at ``path``."""
    copy = json.loads(json.dumps(plain))
    holder = copy
    for name in path[:-1]:
        holder = holder[name]
    last, old = path[-1], holder[path[-1]]
    kind = chance.randrange(6)
    if kind == 0:
        del holder[last]
    elif kind == 1 and isinstance(holder, dict):
        holder["more"] = 1
    elif kind == 2 and isinstance(old, int | float) and not isinstance(old, bool):
        holder[last] = chance.choice([old + 1, old - 1, -old, old * 2, str(old), float(old)])
    elif kind == 3 and isinstance(old, str):
        holder[last] = chance.choice([old + "x", old[1:], old.upper(), str(len(old)), old + "0"])
    elif kind == 4 and isinstance(old, list):
        holder[last] = chance.choice([old[1:], old + old[:1], old[::-1], [old]])
    else:
        holder[last] = chance.choice(ODD)
    return copy


def verdicts(data):
    """Whether the records and the room take ``data``."""
    taken = []
    for read in (lambda: read_contract(data, "contract"), lambda: client.read(data)):
        try:
            read()
            taken.append(True)
        except InputError:
            taken.append(False)
    return tuple(taken)


def differing(seed, some):
    """Alterations of one contract about which they do not agree."""
    chance = random.Random(seed)
    plain = json.loads(write_contract(contracts.random_contract(chance)))
    every = [path for path in places(plain) if path]
    found = []
    for path in chance.sample(every, min(some, len(every))):
        data = json.dumps(altered(plain, path, chance)).encode()
        if len(set(verdicts(data))) == 2:
            found.append((path, verdicts(data), data))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_both_take_or_refuse(seed):
    assert differing(seed, 30) == []


def test_both_refuse_one_bare_part_of_two():
    """Which chance hardly finds: a part without fakes beside one that has them."""
    own = OwnFakes(FakeRecord.BLANK, 1, 0)
    terms = contracts.terms_of(with_attributes("q", (3, 3)), [contracts.flipped(3, own=own)] * 2)
    plain = json.loads(write_contract(contracts.contract_of(terms)))
    assert verdicts(json.dumps(plain).encode()) == (True, True)
    plain["terms"]["parts"][1]["own"] = None
    assert verdicts(json.dumps(plain).encode()) == (False, False)


@pytest.mark.slow
def test_both_take_or_refuse_many_more():
    assert [(seed, differing(seed, 200)) for seed in range(60, 300) if differing(seed, 200)] == []


@pytest.mark.parametrize(
    ("room", "name", "planted"),
    [
        (reading, "MOST_PLAIN", 1 << 70),
        (contract, "_check_network", lambda *_: None),
        (question, "_CONTROL", re.compile("a^")),
    ],
    ids=["spelling", "network", "characters"],
)
def test_a_check_left_out_is_found(monkeypatch, room, name, planted):
    monkeypatch.setattr(room, name, planted)
    assert any(differing(seed, 100) for seed in SEEDS)
