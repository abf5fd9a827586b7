"""The device's room loads nothing but the standard library."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "msgspec", "scipy", "cryptography", "dataclasses", "inspect", "fractions"}


def loaded(program):
    """The modules of a fresh interpreter after ``program``."""
    shown = f"{program}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", shown],
        cwd=ROOT / "src",
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_the_room_loads_neither_arrays_nor_records():
    modules = loaded("import mixtally.device.client")
    assert "mixtally.device.client.messages" in modules
    assert not modules & HEAVY
    ours = {name for name in modules if name.startswith("mixtally")}
    rooms = ("mixtally.device.client", "mixtally.device.contract")
    others = {name for name in ours if not name.startswith(rooms)}
    assert others == {"mixtally", "mixtally.device", "mixtally.errors"}
    assert not any(name.startswith("mixtally.device.client.net") for name in modules)


@pytest.mark.parametrize("line", ["import mixtally.model.layout", "import fractions"])
def test_a_planted_import_is_found(line):
    assert loaded(f"import mixtally.device.client\n{line}") & HEAVY
