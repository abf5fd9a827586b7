"""A device that sends loads neither arrays nor records, and stays small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.devices import NOW, World

ROOT = Path(__file__).parents[3]
HEAVY = {"numpy", "msgspec", "scipy", "rich", "typer"}
MOST_KILOBYTES = 35 * 1024
BUNDLE_BYTES = 145  # one sealed message, with the length of its padded bundle

PROGRAM = """
import os, sys
from pathlib import Path
from mixtally.device.client import Limits
from mixtally.device.client.net import (
    Diary, Pins, PostResult, deliver, open_round, prepare, verify_contract
)

folder, now = Path(sys.argv[1]), int(sys.argv[2])
note = (folder / "contract.note").read_bytes()
agreed = verify_contract(note, Pins(sys.argv[3]), Limits(epsilon=1.0, delta=0.1))
given = open_round(agreed, (folder / "sheet.note").read_bytes(), now)
with Diary(folder / "diary.db") as diary:
    words = lambda count: os.urandom(8 * count)
    entry = prepare(diary, given, "yes", words, now, at_once=True)
    entry = deliver(diary, entry, now, ask=lambda address, path, body: PostResult(201))
own = Path("/proc/self/status")  # what getrusage says is the parent's where that was larger
peak = own.read_text().partition("VmHWM:")[2].split()[0] if own.exists() else 0
print(entry.state.value, entry.size, peak)
print(*sys.modules)
"""


def run(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT / "src",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_a_device_that_took_part_is_small_and_loaded_little(tmp_path):
    world = World()
    (tmp_path / "contract.note").write_bytes(world.note)
    (tmp_path / "sheet.note").write_bytes(world.sheet())
    peaks = []
    for _ in range(2):  # the first may compile what it imports, which takes room
        said, modules = run(PROGRAM, tmp_path, NOW, world.fingerprint)
        state, size, kilobytes = said.split()
        assert (state, int(size)) == ("taken", BUNDLE_BYTES)
        peaks.append(int(kilobytes))
        (tmp_path / "diary.db").unlink()
    assert min(peaks) < MOST_KILOBYTES
    loaded = set(modules.split())
    assert not loaded & HEAVY
    ours = {name.split(".")[1] for name in loaded if name.startswith("mixtally.")}
    assert ours == {"device", "errors"}


@pytest.mark.parametrize(
    "line", ["import mixtally.model.layout", "import mixtally.primitives.chance"]
)
def test_a_planted_import_is_found(line):
    (modules,) = run(f"import mixtally.device.client.net\n{line}\nimport sys\nprint(*sys.modules)")
    assert set(modules.split()) & HEAVY
