"""A bundle opens, hop by hop, to what the room of devices draws; all bundles have one length."""

import random
import time
from collections import Counter

import pytest
from msgspec.structs import replace

from helpers import contracts
from helpers.devices import LABELS, NOW, OPEN, Words, World, by_people
from mixtally.device import client
from mixtally.device.client.draw import RandomWords as Drawn
from mixtally.device.client.net import seal
from mixtally.device.client.net.seal import draw_due_time, seal_answer
from mixtally.device.wire.envelope import Opener
from mixtally.device.wire.sheet import sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.errors import RefusedError
from mixtally.model.contract import Cover


@pytest.mark.parametrize("seed", range(25))
def test_any_contract_opens_to_the_messages_that_the_words_give(seed):
    chance = random.Random(seed)
    plan = contracts.random_plan(chance)
    if plan.parts[0].threshold is None and plan.cover is Cover.MIXES:
        plan = replace(plan, collections=2)  # else a device derives what is a placeholder here
    value = contracts.random_value(chance, plan)
    prefixes = contracts.random_prefixes(chance, plan)
    world = World(plan, suite=chance.choice([1, 1, 2]))
    given = world.round(prefixes=None if prefixes is None else tuple(map(tuple, prefixes)))
    contract = world.trusted(limits=client.Limits(20.0, 0.1, None, 1)).contract
    made = seal_answer(given, value, Words(seed), NOW)
    wanted = client.messages(contract.plan, value, Words(seed), prefixes=prefixes)
    changes = {} if prefixes is None else {"prefixes": tuple(map(tuple, prefixes))}
    assert world.opened(made.bundle, **changes) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_the_length_is_the_same_for_all_answers_given_the_coins(seed):
    given = World(by_people()).round()
    made = [seal_answer(given, value, Words(seed), NOW) for value in LABELS]
    assert len({(len(one.bundle), one.due, len(one.tags)) for one in made}) == 1
    assert len({one.bundle for one in made}) == len(LABELS)


def test_the_length_says_nothing_of_a_coin():
    world = World(by_people())
    given = world.round()
    made = [seal_answer(given, "yes", Words(seed), NOW) for seed in range(20)]
    assert {len(world.opened(one.bundle)[0]) for one in made} == {2, 3}
    assert len({(len(one.bundle), len(one.tags)) for one in made}) == 1


@pytest.mark.parametrize("suite", SUITES)
def test_padding_stands_last_and_holds_zeros(suite):
    """Hop 1 finds zeros, as many as an envelope before hop 2 has bytes."""
    world = World(by_people(), suite=suite)
    given, (size, inside, *_) = world.round(), world.contract.envelope_bytes[0]
    opener = Opener(SUITES[suite], world.private[0], sheet_hash(world.sheet()), 1)
    for seed in range(6):
        bundle = seal_answer(given, "yes", Words(seed), NOW).bundle
        assert len(bundle) == 3 * size
        opened = [opener.open(bundle[i : i + size], 0) for i in range(0, 3 * size, size)]
        padded = len(world.opened(bundle)[0]) == 2
        assert [one == bytes(inside) for one in opened] == [False, False, padded]


def test_lengths_that_show_the_coin_are_noticed(monkeypatch):
    """Twin of the two above: a device that sends no padding."""
    monkeypatch.setattr(
        seal,
        "seal_part",
        lambda sealer, place, _, several, __: [sealer.seal(one, place) for one in several],
    )
    given = World(by_people()).round()
    assert len({len(seal_answer(given, "yes", Words(seed), NOW).bundle) for seed in range(20)}) == 2


def test_a_value_without_an_answer_is_refused():
    with pytest.raises(RefusedError) as refusal:
        seal_answer(World().round(), "maybe", Words(1), NOW)
    assert refusal.value.reason == "value-outside-labels"


def test_it_opens_in_no_other_round():
    world = World()
    made = seal_answer(world.round(), "yes", Words(1), NOW)
    assert world.opened(made.bundle) != [[None]]
    assert world.opened(made.bundle, number=2) == [[None]]


def test_at_once_is_now():
    assert seal_answer(World().round(), "yes", Words(1), NOW, at_once=True).due == NOW


def test_the_moment_is_uniform_in_what_is_left():
    """Chi-square of ten cells; false alarm 1e-6 if words were drawn anew, none with these."""
    words = Drawn(Words(5))
    moments = [draw_due_time(words, NOW, NOW + 20) - NOW for _ in range(5000)]
    assert set(moments) == set(range(20))
    cells = Counter(one // 2 for one in moments)
    assert sum((cells[i] - 500) ** 2 / 500 for i in range(10)) < 45.0


@pytest.mark.parametrize("left", [1, 2, OPEN])
def test_the_moment_is_in_the_window(left):
    assert all(
        NOW <= draw_due_time(Drawn(Words(i)), NOW, NOW + left) < NOW + left for i in range(50)
    )


@pytest.mark.seconds
def test_sealing_costs_little_more_than_the_library_s_seals():
    """The least CPU seconds of each in 400 short runs: other programs make most of them longer."""
    world = World()
    given, suite = world.round(), world.suite.create_suite()
    keys = [world.suite.key(key) for key in given.sheet.keys]

    def bare():
        message = b"\x00"
        for key in keys:
            message = suite.encrypt(message, key, bytes(56))

    def seconds(call):
        began = time.process_time()
        for _ in range(5):
            call()
        return time.process_time() - began

    pairs = [
        (seconds(bare), seconds(lambda: seal_answer(given, "yes", Words(1), NOW)))
        for _ in range(400)
    ]
    alone, whole = map(min, zip(*pairs, strict=True))
    assert alone / whole >= 0.8
