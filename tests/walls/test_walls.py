"""The walls hold, and every planted way through one is found."""

import ast
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "mixtally"


def lint(root):
    """Exit status and output of the import contracts, run on the tree under ``root``."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "src" / "mixtally", ignore=shutil.ignore_patterns("files"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_hold():
    status, output = lint(ROOT)
    assert status == 0, output


WAYS = [
    ("Imports go down only", "ground/bits.py", "import mixtally.records.plan"),
    ("A mix is blind", "mixing/shuffle.py", "import mixtally.records.question"),
    ("Intake has no key", "mixnode/beside.py", "import mixtally.node.keys"),
    ("A client is light", "ground/flips.py", "import scipy.special"),
    ("A device's room", "client/draw.py", "import numpy"),
    ("A device reads", "client/draw.py", "import cryptography"),
    ("What travels", "wire/bundle.py", "import numpy"),
    ("No files, sockets", "wire/problem.py", "import http"),
    ("One door to chance", "wire/envelope.py", "import secrets"),
    ("What is proved twice", "rigorous/derive.py", "import mixtally.privacy.overflow"),
]
"""One through each contract; the others need seconds."""
OTHER_WAYS = [
    ("Imports go down only", "tally/fold.py", "import mixtally.estimate.debias"),
    ("Imports go down only", "randomize/parts.py", "import mixtally.simulation.seeded"),
    ("Imports go down only", "simulation/run.py", "import mixtally.attacks"),
    ("Imports go down only", "memory/device.py", "import mixtally.simulation.seeded"),
    ("Imports go down only", "estimate/conclude/counts.py", "import mixtally.simulation.truth"),
    ("Imports go down only", "report/document.py", "import mixtally.simulation.truth"),
    ("Imports go down only", "planner/choose.py", "import mixtally.literature.audit"),
    ("Imports go down only", "simulation/run.py", "import mixtally.door.planning"),
    ("Imports go down only", "door/lab.py", "import mixtally.cli.output"),
    ("A mix is blind", "mixing/shaped.py", "import mixtally.records.mechanism.in_clear"),
    ("A mix is blind", "mixnode/mix.py", "import mixtally.records.contract"),
    ("A mix is blind", "mixnode/closing/close.py", "import mixtally.records.question"),
    ("A mix is blind", "node/reading.py", "import mixtally.privacy.plan"),
    ("A mix is blind", "node/notes.py", "import mixtally.contract.question"),
    ("Imports go down only", "node/node.py", "import mixtally.mixnode.core"),
    ("Imports go down only", "mixnode/mix.py", "import mixtally.client"),
    ("Imports go down only", "collector/collector.py", "import mixtally.mixnode.core"),
    ("Imports go down only", "collector/counting.py", "import mixtally.simulation.contract"),
    ("A mix is blind", "node/node.py", "import mixtally.collector.charges"),
    ("Intake has no key", "mixnode/intake.py", "import mixtally.node.folder"),
    ("Intake has no key", "mixnode/web.py", "import mixtally.mixnode.closing.close"),
    ("Intake has no key", "node/running.py", "import mixtally.node.service"),
    ("Intake has no key", "cli/mix.py", "import mixtally.cli.mix_role"),
    ("A client is light", "encode/categorical.py", "import mixtally.privacy.terms"),
    ("A client is light", "memory/device.py", "import mixtally.estimate.debias"),
    ("A device's room", "contract/contract.py", "import mixtally.records.layout"),
    ("A device's room", "client/limits.py", "import mixtally.ground.fixed"),
    ("A device's room", "client/encode.py", "import msgspec"),
    ("A device's room", "client/net/diary.py", "import msgspec"),
    ("A device's room", "client/net/seal.py", "import mixtally.ground.chance"),
    ("A device reads", "contract/spelling.py", "import cryptography"),
    ("A device reads", "client/limits.py", "import mixtally.client.net.trust"),
    ("A device reads", "contract/reading.py", "import cryptography"),
    ("What travels", "wire/manifest.py", "import msgspec"),
    ("What travels", "wire/sheet.py", "import mixtally.records.roles"),
    ("Imports go down only", "wire/fit.py", "import mixtally.node.calls"),
    ("Imports go down only", "wire/note.py", "import mixtally.mixing.shuffle"),
    ("No files, sockets", "wire/round.py", "import time"),
    ("One door to chance", "simulation/play.py", "import random"),
    ("One door to chance", "ground/slicing.py", "import secrets"),
    ("What is proved twice", "rigorous/stream.py", "import mixtally.records.contract"),
    ("What is proved twice", "rigorous/coins.py", "import mixtally.ground.tails"),
    ("What is proved twice", "rigorous/blank.py", "import numpy"),
    ("Imports go down only", "rigorous/compare.py", "import mixtally.planner.choose"),
    ("No files, sockets", "report/page.py", "import pathlib"),
    ("No files, sockets", "estimate/noise.py", "import time"),
    ("No files, sockets", "ground/draw.py", "import threading"),
]


@pytest.mark.parametrize(
    ("contract", "place", "line"),
    [*WAYS, *(pytest.param(*way, marks=pytest.mark.seconds) for way in OTHER_WAYS)],
)
def test_a_planted_way_through_is_found(copy, contract, place, line):
    file = copy / "src" / "mixtally" / place
    file.write_text(file.read_text() + f"\n{line}\n")
    status, output = lint(copy)
    assert status == 1
    assert any(row.startswith(contract) and "BROKEN" in row for row in output.splitlines())


def forbidden_uses(tree):
    """Uses of randomness or files that no import shows: os.urandom, numpy.random, open()."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("urandom", "random", "getrandom"):
            yield f"{ast.unparse(node)} in line {node.lineno}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "open":
            yield f"open() in line {node.lineno}"


FILES = (
    *("cli/", "attacks/", "literature/", "client/", "data/", "store/"),
    *("node/", "mixnode/", "collector/", "engine/"),
)
"""Rooms that open files."""


def test_only_one_file_draws_and_no_other_room_opens_files():
    allowed = {"ground/chance.py": "os.urandom", "simulation/counts_only.py": "np.random"}
    for file in PACKAGE.rglob("*.py"):
        name = file.relative_to(PACKAGE).as_posix()
        if name.startswith(FILES):
            continue
        found = list(forbidden_uses(ast.parse(file.read_text())))
        assert all(name in allowed and use.startswith(allowed[name]) for use in found), (
            name,
            found,
        )


@pytest.mark.parametrize("line", ["x = np.random.rand()", "os.urandom(3)", "open('f')"])
def test_a_planted_use_is_found(line):
    assert list(forbidden_uses(ast.parse(line)))


MOST_LINES, MOST_FUNCTION, MOST_MEDIAN = 400, 90, 140


def needs_scrolling(files):
    """Files and functions that are too long, and the median of all files when it is."""
    lengths = []
    for file in files:
        text = file.read_text()
        lengths.append(len(text.splitlines()))
        if lengths[-1] > MOST_LINES:
            yield file
        for node in ast.walk(ast.parse(text)):
            lines = (node.end_lineno or 0) - node.lineno if isinstance(node, ast.stmt) else 0
            if isinstance(node, ast.FunctionDef) and lines >= MOST_FUNCTION:
                yield file, node.name
    if statistics.median(lengths) > MOST_MEDIAN:
        yield statistics.median(lengths)


@pytest.mark.parametrize("place", [PACKAGE, ROOT / "tests"], ids=["package", "tests"])
def test_no_file_needs_scrolling(place):
    assert list(needs_scrolling(place.rglob("*.py"))) == []


@pytest.mark.parametrize(
    "text", ["x = 1\n" * 401, "def f():\n" + "    x = 1\n" * 91, "x = 1\n" * 141]
)
def test_a_planted_long_one_is_found(tmp_path, text):
    (tmp_path / "long.py").write_text(text)
    assert list(needs_scrolling(tmp_path.rglob("*.py")))
