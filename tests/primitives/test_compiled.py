"""Compiled kernels are chosen where they save time, and missed by nobody who has none."""

import subprocess
import sys

import pytest

from mixtally.primitives import compiled

SMALL = """
import sys
import numpy as np
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.bit_slicing import coin_words
from mixtally.model.layout import Form, Layout
from mixtally.protocol.tally.fold import tally_messages
tally_messages(Layout(Form.BITS, 64), coin_words(SecureChance(), 1 << 62, 1000).view(np.uint8)
               .reshape(-1, 8))
sys.exit("numba" in sys.modules)
"""


@pytest.fixture
def unloaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "mixtally.primitives.jitted", raising=False)


def test_small_work_loads_nothing():
    assert subprocess.run([sys.executable, "-c", SMALL], check=False).returncode == 0


def test_what_saves_too_little_is_not_loaded(unloaded):
    assert compiled.load_kernels(compiled.LOADING_SECONDS * 0.99) is None
    assert "mixtally.primitives.jitted" not in sys.modules


def test_without_numba_there_are_none(unloaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled.load_kernels(float("inf")) is None


def test_once_loaded_they_are_used_for_small_work():
    pytest.importorskip("numba", reason="numba is missing: .[fast]")
    loaded = compiled.load_kernels(float("inf"))
    assert loaded is not None
    assert compiled.load_kernels(0.0) is loaded
