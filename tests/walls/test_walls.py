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
    ("Imports go down only", "primitives/bits.py", "import mixtally.model.plan"),
    ("A mix is blind", "protocol/mixing.py", "import mixtally.model.question"),
    ("Intake has no key", "server/mix/intake_processes.py", "import mixtally.server.node.keys"),
    ("A client is light", "primitives/flips.py", "import scipy.special"),
    ("A device's packages", "device/client/draw.py", "import numpy"),
    ("A device reads", "device/client/draw.py", "import cryptography"),
    ("What travels", "device/wire/bundle.py", "import numpy"),
    ("No files, sockets", "device/wire/problem.py", "import http"),
    ("One source of chance", "device/wire/envelope.py", "import secrets"),
    (
        "What is proved twice",
        "accounting/verification/derive.py",
        "import mixtally.accounting.plans.overflow",
    ),
]
"""One through each contract; the others need seconds."""
OTHER_WAYS = [
    ("Imports go down only", "protocol/tally/fold.py", "import mixtally.protocol.estimate.debias"),
    (
        "Imports go down only",
        "protocol/randomize/parts.py",
        "import mixtally.lab.simulation.seeded",
    ),
    ("Imports go down only", "lab/simulation/run.py", "import mixtally.lab.attacks"),
    (
        "Imports go down only",
        "lab/memoization/memoized_device.py",
        "import mixtally.lab.simulation.seeded",
    ),
    (
        "Imports go down only",
        "protocol/estimate/conclude/counts.py",
        "import mixtally.lab.simulation.truth",
    ),
    ("Imports go down only", "report/document.py", "import mixtally.lab.simulation.truth"),
    ("Imports go down only", "lab/data/rows.py", "import mixtally.server.node.calls"),
    ("Imports go down only", "lab/data/rows.py", "import mixtally.report.numbers"),
    ("Imports go down only", "protocol/tally/fold.py", "import mixtally.device.wire.bundle"),
    ("Imports go down only", "protocol/encode/bits.py", "import mixtally.device.client.draw"),
    ("Imports go down only", "planning/choose.py", "import mixtally.lab.formulas.audit"),
    ("Imports go down only", "lab/simulation/run.py", "import mixtally.api.planning"),
    ("Imports go down only", "api/rounds.py", "import mixtally.cli.output"),
    ("A mix is blind", "protocol/mixing.py", "import mixtally.model.mechanism.in_clear"),
    ("A mix is blind", "server/mix/mix.py", "import mixtally.model.contract"),
    ("A mix is blind", "server/mix/closing/close.py", "import mixtally.model.question"),
    ("A mix is blind", "server/node/note_reader.py", "import mixtally.accounting.plan"),
    ("A mix is blind", "server/node/notes.py", "import mixtally.device.contract.question"),
    ("Imports go down only", "server/node/node.py", "import mixtally.server.mix.core"),
    ("Imports go down only", "server/mix/mix.py", "import mixtally.device.client"),
    ("Imports go down only", "server/collector/collector.py", "import mixtally.server.mix.core"),
    (
        "Imports go down only",
        "server/collector/counting.py",
        "import mixtally.lab.simulation.contract",
    ),
    ("A mix is blind", "server/node/node.py", "import mixtally.server.collector.charges"),
    ("Intake has no key", "server/mix/intake.py", "import mixtally.server.node.folder"),
    ("Intake has no key", "server/mix/web.py", "import mixtally.server.mix.closing.close"),
    ("Intake has no key", "server/node/running.py", "import mixtally.server.node.service"),
    ("Intake has no key", "cli/mix.py", "import mixtally.cli.mix_role"),
    (
        "A client is light",
        "protocol/encode/categorical.py",
        "import mixtally.accounting.plans.terms",
    ),
    (
        "A client is light",
        "lab/memoization/memoized_device.py",
        "import mixtally.protocol.estimate.debias",
    ),
    ("A device's packages", "device/contract/contract.py", "import mixtally.model.layout"),
    ("A device's packages", "device/client/limits.py", "import mixtally.primitives.fixed_point"),
    ("A device's packages", "device/client/encode.py", "import msgspec"),
    ("A device's packages", "device/client/net/diary.py", "import msgspec"),
    ("A device's packages", "device/client/net/seal.py", "import mixtally.primitives.chance"),
    ("A device reads", "device/contract/spelling.py", "import cryptography"),
    ("A device reads", "device/client/limits.py", "import mixtally.device.client.net.trust"),
    ("A device reads", "device/contract/fields.py", "import cryptography"),
    ("What travels", "device/wire/manifest.py", "import msgspec"),
    ("What travels", "device/wire/sheet.py", "import mixtally.model.roles"),
    ("Imports go down only", "device/wire/consistency.py", "import mixtally.server.node.calls"),
    ("Imports go down only", "device/wire/note.py", "import mixtally.protocol.mixing"),
    ("No files, sockets", "device/wire/round.py", "import time"),
    ("One source of chance", "lab/simulation/play.py", "import random"),
    ("One source of chance", "primitives/bit_slicing.py", "import secrets"),
    ("What is proved twice", "accounting/verification/stream.py", "import mixtally.model.contract"),
    (
        "What is proved twice",
        "accounting/verification/coins.py",
        "import mixtally.primitives.tails",
    ),
    ("What is proved twice", "accounting/verification/blank.py", "import numpy"),
    (
        "Imports go down only",
        "accounting/verification/compare.py",
        "import mixtally.planning.choose",
    ),
    ("No files, sockets", "report/page.py", "import pathlib"),
    ("No files, sockets", "protocol/estimate/noise.py", "import time"),
    ("No files, sockets", "primitives/draw.py", "import threading"),
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
    *("cli/", "server/", "device/client/", "lab/attacks/", "lab/formulas/", "lab/data/"),
    *("primitives/files.py", "primitives/lock.py"),
)
"""Packages and modules that open files."""


def test_only_one_file_draws_and_no_other_room_opens_files():
    allowed = {"primitives/chance.py": "os.urandom", "lab/simulation/counts_only.py": "np.random"}
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


def lines_of_code(function):
    """Lines after the first, without those of the docstring: numpydoc is long for what it says."""
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    docstring = first.end_lineno - first.lineno + 1 if documented else 0
    return function.end_lineno - function.lineno - docstring


def docstring_lines(tree):
    """The lines of all docstrings in a file."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return sum(
        node.body[0].end_lineno - node.body[0].lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node) is not None
    )


def needs_scrolling(files):
    """Files and functions that are too long without docstrings, and the median when it is."""
    lengths = []
    for file in files:
        text = file.read_text()
        tree = ast.parse(text)
        lengths.append(len(text.splitlines()) - docstring_lines(tree))
        if lengths[-1] > MOST_LINES:
            yield file
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and lines_of_code(node) >= MOST_FUNCTION:
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
