"""A message of positions is good exactly when it is what an honest device writes of its bins."""

from itertools import chain

import numpy as np
import pytest

from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout


def good(layout, row):
    """Read bit by bit and written again."""
    count = int.from_bytes(row[: layout.count_bytes], "little")
    if count > layout.cap:
        return False
    whole, width = int.from_bytes(row[layout.count_bytes :], "little"), layout.position_bits
    named = [whole >> width * slot & (1 << width) - 1 for slot in range(count)]
    if any(bin_ >= layout.bins for bin_ in named) or sorted(set(named)) != named:
        return False
    return whole == sum(bin_ << width * slot for slot, bin_ in enumerate(named))


def spoiled(layout, count):
    """Good messages, some with one bit turned over, some with several bytes drawn."""
    chance = SeededChance(layout.bins)
    sizes = chance.words(count) % np.uint64(layout.cap + 1)
    held = [sorted({int(w) % layout.bins for w in chance.words(int(size))}) for size in sizes]
    messages = np.repeat(np.arange(count), [len(one) for one in held])
    rows = layout.write_positions(messages, np.array([*chain(*held)], dtype=np.int64), count)
    for row, word in zip(rows, chance.words(count).tolist(), strict=True):
        bit = word % (8 * len(row))
        if word >> 60 < 12:
            row[bit // 8] ^= 1 << bit % 8
        if word >> 60 == 13:
            row[:] = chance.words(len(row)).view(np.uint8)[: len(row)]
    return rows


@pytest.mark.parametrize(
    ("bins", "cap"), [(2, 1), (5, 3), (21, 2), (100, 7), (1000, 20), (300, 299), (1 << 26, 3)]
)
def test_what_is_bad_is_what_is_not_written_so(bins, cap):
    layout = Layout(Form.POSITIONS, bins, cap=cap)
    rows = spoiled(layout, 600)
    faults = np.array(list(layout.faults(rows).values()))
    wanted = [good(layout, bytes(row)) for row in rows]
    assert (~faults.any(axis=0)).tolist() == wanted
    assert faults.sum(axis=0).max() == 1
    assert 0 < sum(wanted) < len(rows)
