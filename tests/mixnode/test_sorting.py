"""Copies are found and messages ordered, however many fit into memory."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixtally.ground.chance import SecureChance
from mixtally.mixnode.closing.sorting import Sorter
from mixtally.node.copies import digests, not_copies
from mixtally.simulation.seeded import SeededChance


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"])))
def test_copies_are_found(some):
    kept = not_copies(digests(iter(some)))
    seen, wanted = set(), []
    for one in some:
        wanted.append(one not in seen)
        seen.add(one)
    assert kept.tolist() == wanted


@given(st.integers(0, 400), st.sampled_from([1, 7]), st.sampled_from([0, 500, 1 << 20]))
def test_sorting(tmp_path_factory, count, size, most):
    chance = SeededChance(count)
    rows = np.concatenate([chance.words(5 * count + 5)]).view(np.uint8)
    keys = [rows[32 * i : 32 * i + 32].tobytes() for i in range(count)]
    messages = [bytes([i % 251]) * size for i in range(count)]
    sorter = Sorter(tmp_path_factory.mktemp("sort"), size, SecureChance(), most)
    for start in range(0, count, 50):
        sorter.add(b"".join(keys[start : start + 50]), b"".join(messages[start : start + 50]))
    wanted = [message for _, message in sorted(zip(keys, messages, strict=True))]
    assert b"".join(sorter.ordered()) == b"".join(wanted)
