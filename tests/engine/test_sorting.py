"""Copies are found and messages ordered, however many fit into memory."""

import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import DataError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.copies import Copies
from mixtally.server.engine.sorting import Sorter
from mixtally.server.node.disk import is_full
from mixtally.server.node.wrapping import secret_bytes


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"])), st.sampled_from([0, 60, 1 << 20]))
def test_copies_are_found(tmp_path_factory, some, most):
    place = tmp_path_factory.mktemp("copies")
    found = Copies(iter(some), place, SecureChance(), most)
    assert found.first.tolist() == [one not in some[:i] for i, one in enumerate(some)]
    for _ in range(2):  # as often as one likes
        pairs = {int(one): int(of) for many, first in found.pairs()
                 for one, of in zip(many, first, strict=True)}  # fmt: skip
        assert pairs == {i: some.index(one) for i, one in enumerate(some) if one in some[:i]}
    assert not list(place.iterdir())


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

        def seek(self, *_):
            return 0

    monkeypatch.setattr(sorter, "_file", lambda _: Full())
    with pytest.raises(DataError, match="nothing was sent") as raised:
        sorter.add(bytes(64), b"ab")
    assert is_full(raised.value)


def test_spilled_rows_cannot_be_read(tmp_path, monkeypatch):
    """What names a bundle beside a message lies on the disk encrypted, and never twice alike."""
    written, held = io.BytesIO(), secret_bytes(SecureChance(), 32)
    rows = [held + b"bundle 17 " * 4] * 6
    sorter = Sorter(tmp_path, 40, SecureChance(), most=0)
    monkeypatch.setattr(sorter, "_file", lambda number: sorter._files.setdefault(number, written))
    for row in rows:
        sorter.add(row[:32], row[32:52], row[52:])
    data = written.getvalue()
    assert len(data) == 6 * 72
    assert len({data[i : i + 8] for i in range(0, len(data), 8)}) == 6 * 9
    assert b"".join(sorter.iterate_sorted()) == rows[0][32:] * 6


def test_memory_for_copies_hardly_grows(tmp_path):
    """A byte an envelope and the ranges of such small files, where it was 79 bytes."""

    def peak(count):
        tracemalloc.start()
        found = Copies((i.to_bytes(8) for i in range(count)), tmp_path, SecureChance(), 1 << 16)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.first.all()
        return used

    assert peak(100_000) - peak(30_000) < 6 * 70_000


def test_every_search_has_digests_of_its_own(tmp_path, monkeypatch):
    digests, usual = [], Sorter.add

    def add(self, keys, *columns):
        digests.append(keys)
        usual(self, keys, *columns)

    monkeypatch.setattr(Sorter, "add", add)
    for _ in range(3):
        Copies(iter([b"one"]), tmp_path, SecureChance())
    assert len(set(digests)) == 3
