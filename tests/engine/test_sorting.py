"""Copies are found and messages ordered, however many fit into memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import DataError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.sorting import Sorter
from mixtally.server.node.copies import first_occurrences, hash_each
from mixtally.server.node.disk import is_full


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"])))
def test_copies_are_found(some):
    kept = first_occurrences(hash_each(iter(some)))
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
    assert b"".join(sorter.iterate_sorted()) == b"".join(wanted)


def test_a_full_disk_while_what_does_not_fit_is_spilled(tmp_path, monkeypatch):
    sorter = Sorter(tmp_path, 1, SecureChance(), most=0)

    class Full:
        def write(self, _):
            raise OSError(28, "No space left on device")

    class Plain:
        def update(self, data):
            return data

    monkeypatch.setattr(sorter, "_file", lambda _: (Full(), Plain()))
    with pytest.raises(DataError, match="nothing was sent") as raised:
        sorter.add(bytes(64), b"ab")
    assert is_full(raised.value)
