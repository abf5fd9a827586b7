"""The whole network on loopback: real processes, disks and sockets, a few devices, two rounds."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.seconds
def test_two_rounds_of_a_few_devices_through_three_mixes(tmp_path):
    """False alarm: 2 in a billion, that of the intervals, and of the errors' size less."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "network.py", "--out", tmp_path / "out",
         "--people", "40", "--window", "3000", "--hurry", "--seed", "1"],
        capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("all 105 true counts lie in their simultaneous intervals") == 2
    assert "40 bundles acknowledged, 0 not" in done.stdout
    for role in ("mix-1", "mix-2", "mix-3", "collector"):
        place = tmp_path / "out" / role
        assert not list((place / "keys").iterdir())
        assert not list((place / "rounds").iterdir())
