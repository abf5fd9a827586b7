"""A device names planes: the vectors of another program, a direction a message, nothing biased."""

from collections import Counter

import pytest

from helpers import contracts
from helpers.planes_golden import golden
from mixtally.device import client
from mixtally.device.client import draw, encode
from mixtally.device.client.draw import RandomWords, draw_fake, draw_message
from mixtally.device.contract.part import ContractPart, Layout, Own, Recipe
from mixtally.device.contract.planes import Planes
from mixtally.model.contract import write_contract
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import Question

OPEN = Question(name="q", bins=419**3, hashed=Hashing(function=HMAC_SHA256, seed="0f" * 16))


def part_of(over):
    """One value among the device's own uniform fake."""
    layout = Layout("index", over.messages, None)
    return ContractPart(
        over.points, 1, None, Own(True, 1, 0), Recipe("none"), layout, 1, over
    )  # fmt: skip


NOTHING = RandomWords(lambda _: b"")


def giving(*words):
    """A source of these words and no others."""
    left = list(words)

    def source(count):
        taken = [left.pop(0) for _ in range(count)]
        return b"".join(word.to_bytes(8, "little") for word in taken)

    source.left = left
    return source


@pytest.mark.parametrize(("inputs", "value"), golden("planes-vector"))
def test_a_device_sends_what_another_program_says(inputs, value):
    over, number = Planes(inputs["p"], inputs["t"]), int(inputs["j"])
    point = sum(digit * over.prime**place for place, digit in enumerate(value["digits"]))
    if inputs["word"]:
        found = encode._hash_point(b"mixtally golden seed", over.points, inputs["word"])
        assert found == point
    sent = draw._draw_plane(part_of(over).layout, over, point, RandomWords(giving(number)))
    assert sent == int(value["message"]).to_bytes(value["bytes"], "little")


def test_every_message_of_a_device_has_a_direction_of_its_own():
    """Two words, one for each: the same value is named by two planes."""
    over = Planes(5, 2)
    words = RandomWords(giving(1, 4))
    sent = [draw_message(part_of(over), (7,), words) for _ in range(2)]
    assert [one[0] for one in sent] == [
        over.message(over.point(7, 25), number) for number in (1, 4)
    ]


def test_a_word_past_the_last_multiple_is_drawn_again():
    """Of a direction, and of a fake: no remainder is likelier than another."""
    over = Planes(5, 2)
    for bound, made in (
        (over.directions, lambda words: draw_message(part_of(over), (7,), words)),
        (over.messages, lambda words: draw_fake(part_of(over), words)),
    ):
        limit = (1 << 64) // bound * bound
        source = giving(limit, 2)
        found = made(RandomWords(source))
        assert source.left == []
        assert found == made(RandomWords(giving(2)))


def test_a_fake_is_any_number_with_the_same_chance():
    """Every word below the number of planes is a fake of its own."""
    over = Planes(3, 2)
    seen = Counter(draw_fake(part_of(over), RandomWords(giving(word)))[0] for word in range(24))
    assert seen == dict.fromkeys(range(over.messages), 2)


def test_a_record_and_a_fake_are_of_one_length():
    over = Planes(419, 7)
    record = draw_message(part_of(over), (5,), RandomWords(giving(0)))
    made = draw_fake(part_of(over), RandomWords(giving(0)))
    assert len(record) == len(made) == 8


@pytest.mark.parametrize("text", ["grüße", "gru\u0308ße"])
def test_an_open_question_takes_any_text_in_one_spelling(text):
    plan = contracts.plan_of(OPEN, [contracts.over_planes(OPEN.bins, 419, whole=1, coin=0)])
    read = client.parse_contract(write_contract(contracts.contract_of(plan))).plan
    (bins,) = encode.encode_value(read, text, NOTHING)
    assert bins == encode.encode_value(read, "grüße", NOTHING)[0]
    assert 0 <= bins[0] < OPEN.bins
    (sent,) = client.messages(read, text, giving(0, *[3] * 20))
    numbers = sorted(int.from_bytes(one, "little") for one in sent)
    over = Planes(419, 3)
    assert numbers == sorted([over.message(bins[0], 3), 3])


def test_one_direction_for_all_messages_is_found(monkeypatch):
    """Planted: a device remembers the direction it drew first."""
    over, kept = Planes(5, 2), []

    def lazy(layout, planes, point, words):
        kept.append(words.uniform(planes.directions)) if not kept else None
        return draw.write_message(layout, (planes.message(point, kept[0]),))

    monkeypatch.setattr(draw, "_draw_plane", lazy)
    words = RandomWords(giving(1, 4))
    sent = [draw_message(part_of(over), (7,), words)[0] for _ in range(2)]
    assert sent != [over.message(over.point(7, 25), number) for number in (1, 4)]
