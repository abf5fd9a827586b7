"""Messages of positions are counted, and bad ones refused, alike by every kernel."""

import numpy as np
import pytest

from helpers import kernels
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.protocol.tally import fold

LAYOUTS = [
    Layout(Form.POSITIONS, bins, cap=cap)
    for bins, cap in [(2, 1), (5, 3), (21, 2), (100, 7), (1000, 20), (300, 299), (70_000, 3)]
]


@pytest.fixture(params=kernels.BOTH, autouse=True)
def kernel(request, monkeypatch):
    kernels.use(request.param, monkeypatch)


def drawn(layout, count, seed=0):
    """Messages that name up to the cap, and the bins they name."""
    chance = SeededChance(seed)
    sizes = chance.words(count) % np.uint64(layout.cap + 1)
    held = [sorted({int(w) % layout.bins for w in chance.words(int(size))}) for size in sizes]
    messages = np.repeat(np.arange(count), [len(one) for one in held])
    named = np.array([bin_ for one in held for bin_ in one], dtype=np.int64)
    return layout.write_positions(messages, named, count), named


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("count", [0, 1, 500])
def test_positions_are_counted(monkeypatch, layout, count):
    rows, named = drawn(layout, count)
    monkeypatch.setattr(fold, "_SPAN_BYTES", 2000)
    for same in (rows, np.asfortranarray(rows)):
        counts = fold.tally_messages(layout, same).counts
        assert np.array_equal(counts, np.bincount(named, minlength=layout.bins))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_one_bad_message_of_positions_is_refused(layout):
    """One bit turned over, or bytes drawn: refused exactly where its fault is known."""
    (rows, _), chance = drawn(layout, 120), SeededChance(7)
    told = set()
    for row, word in zip(rows, chance.words(len(rows)).tolist(), strict=True):
        spoiled = row.copy()
        spoiled[word % len(row)] ^= 1 << (word >> 40) % 8
        if word >> 62 == 0:
            spoiled[:] = chance.words(len(row)).view(np.uint8)[: len(row)]
        bad = any(wrong.any() for wrong in layout.faults(spoiled[None]).values())
        told.add(bad)
        if bad:
            with pytest.raises(MessageError, match="message 1"):
                fold.tally_messages(layout, np.array([row, spoiled]))
        else:
            assert fold.tally_messages(layout, spoiled[None]).messages == 1
    assert True in told
    with pytest.raises(MessageError, match="shape"):
        fold.tally_messages(layout, rows[:, :-1])
