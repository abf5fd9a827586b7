"""Coins and replacements follow their integers to the last digit, and reach every message.

Words are scripted: one just below a threshold and one at the threshold, and the last word that a
uniform draw accepts. So no test here has a false alarm.
"""

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.contracts import builtins_of, over_planes, replaced, uniform
from helpers.scripted_chance import Scripted
from mixtally.device.client.draw import RandomWords, draw_fake_counts, draw_record
from mixtally.device.contract.part import read_part
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.randomize import draw_part_fakes, parts, randomize_records

ODD = (1 << 62) + 1
"""A threshold whose lowest digit counts: floating point and tables of fewer digits lose it."""
REPLACED = {
    "bins": replaced(5, share=0.5),
    "sets": replaced(5, share=0.5, most_set=3),
    "planes": over_planes(50, 7, whole=0, coin=0, share=0.5),
    "sets over planes": over_planes(50, 7, whole=0, coin=0, share=0.5, most_set=2),
}


def last_word(bound):
    """The last word that a uniform draw below ``bound`` accepts: it becomes bound - 1."""
    return SCALE // bound * bound - 1


def words(*script):
    """The words of a device, one after the other, then zeros."""
    left = list(script)

    def source(count):
        taken = [left.pop(0) if left else 0 for _ in range(count)]
        return b"".join(word.to_bytes(8, "little") for word in taken)

    return RandomWords(source)


@pytest.mark.parametrize("coin", [1, ODD, SCALE - 1])
@pytest.mark.parametrize(("off", "more"), [(-1, 1), (0, 0)])
def test_a_coin_is_compared_with_all_its_digits(coin, off, more):
    part = uniform(5, whole=1, coin=coin)
    bare = read_part(builtins_of(part), "part")
    assert draw_fake_counts([bare], words(coin + off)) == [1 + more]
    script = Scripted(coin + off, *[0] * (1 + more))
    assert draw_part_fakes(part, 1, script)[1] == 1 + more


@pytest.mark.parametrize(("off", "gone"), [(-1, True), (0, False)])
def test_a_replacement_is_compared_with_all_its_digits(off, gone):
    part = replace(replaced(5), replaced=ODD)
    bare = read_part(builtins_of(part), "part")
    wanted = 4 if gone else 2
    (sent,) = draw_record(bare, [2], words(ODD + off, last_word(5)))
    assert part.layout.codes(np.frombuffer(sent, dtype=np.uint8)[None]).tolist() == [wanted]
    script = Scripted(ODD + off, *[last_word(5)] * gone)
    assert part.layout.codes(randomize_records(part, np.array([2]), script)).tolist() == [wanted]


@pytest.mark.parametrize("name", REPLACED)
def test_a_replaced_message_may_be_the_last_one(name):
    """Every message of a record is replaced by the last of the layout: a pad, or a plane."""
    part = REPLACED[name]
    many, last = part.record_messages, part.layout.bins - 1
    bare = read_part(builtins_of(part), "part")
    sent = draw_record(bare, [2], words(*[0, last_word(last + 1)] * many))
    assert [int.from_bytes(one, "little") for one in sent] == [last] * many
    codes = np.arange(many, dtype=np.int64)
    script = Scripted(*[0] * many, *[last_word(last + 1)] * many)
    assert parts._replace_randomly(part, codes, script).tolist() == [last] * many
