"""The wheel is installed by pip and works: on every Python it names, oldest and newest packages.

Each case is an environment of its own, whose packages pip fetches from its index; where no index
is reached, and for a Python that is not on this machine, it is skipped and says why.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from client.net.test_bare_net import BUNDLE_BYTES, PROGRAM
from helpers.devices import NOW, World
from helpers.sampled import exhaustive
from mixtally.model.ledger import LEDGER_VERSION
from mixtally.version import VERSION

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
EXTRAS = ("lab", "data", "plot", "baselines", "places", "rigorous", "serve", "fast")
"""All that users may want, but for `engine`: Spark alone is larger than all of them."""
TOO_OLD = ("cryptography==47", "msgspec==0.20", "python-flint==0.6", "rich==14.2", "typer==0.15")
"""No ML-KEM; errors that are no ValueErrors; no `workprec`; empty lines beside what is printed; no
help beside the click of today."""
NO_INDEX = re.compile(
    "Failed to establish a new connection|Connect(ion)?Timeout|ReadTimeout|Connection(Reset|Error)"
    "|Connection aborted|RemoteDisconnected|IncompleteRead|ProxyError|50[0-9] Server Error"
)
LOADED = """
import sys
from importlib import import_module
from importlib.util import find_spec
from importlib.metadata import packages_distributions
for name, owners in packages_distributions().items():
    owners = {one.lower().replace("_", "-") for one in owners}
    if name[0] != "_" and find_spec(name) and owners & {*sys.argv[1:]}:
        import_module(name)
        print(*owners)
"""

SUITES = """
from mixtally.device.wire.suite import SUITES
for suite in SUITES.values():
    print(suite.number, type(suite.key(suite.configuration(bytes([7] * suite.private_bytes)))))
"""
BALLS = """
import json
from pathlib import Path
from mixtally.accounting.verification import derive_parts
(part,) = derive_parts(json.loads(Path("plan.json").read_text()))
print(part)
"""

pytestmark = pytest.mark.slow


class Environment(NamedTuple):
    """An environment that pip filled."""

    folder: Path

    def run(self, *arguments, where=None):
        return subprocess.run(
            [self.folder / "bin" / "python", "-I", *map(str, arguments)],
            cwd=where or self.folder,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def install(self, *arguments):
        done = self.run("-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "--no-compile", "--only-binary", ":all:", *arguments)  # fmt: skip
        if done.returncode and NO_INDEX.search(done.stderr):
            pytest.skip("pip reaches no index of packages from here")
        assert done.returncode == 0, done.stderr


def python_of(minor):
    """A Python of this version: the one that runs, on the path, or laid out by pyenv; or None."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [sys.executable, shutil.which(f"python{minor}"), *kept.glob(f"{minor}.*/bin/python")]
    for place in filter(None, places):
        program = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([place, "-c", program], capture_output=True, text=True, check=False)
        if done.stdout.strip() == minor:
            return place
    return None


def direct():
    """What the wheel requires by itself, for all extras that users may want."""
    lines = [line for name in EXTRAS for line in PROJECT["optional-dependencies"][name]]
    found = [Requirement(line) for line in [*PROJECT["dependencies"], *lines]]
    return [one for one in found if one.name != PROJECT["name"]]


def oldest():
    """Lines of pip by which every direct requirement has the oldest version it may have."""
    least = {one.name: next(part.version for part in one.specifier if part.operator == ">=")
             for one in direct()}  # fmt: skip
    return [f"{name}=={number}\n" for name, number in least.items()]


@pytest.fixture
def environment(tmp_path, wheel):
    """Makes an environment of a Python with the wheel, its extras and lines that restrict pip."""

    def make(minor, extras, restricted=()):
        place = python_of(minor)
        if place is None:
            pytest.skip(f"no Python {minor} on this machine")
        made = Environment(tmp_path / "environment")
        subprocess.run([place, "-m", "venv", made.folder], check=True, capture_output=True)
        lines = tmp_path / "restricted.txt"
        lines.write_text("".join(restricted))
        made.install("--constraint", lines, f"{wheel}[{','.join(extras)}]")
        return made

    return make


def faults(made, where, more=()):
    """What does not work there: packages, the command line, a device, a simulation, ``more``."""
    where.mkdir(exist_ok=True)
    world = World()
    (where / "contract.note").write_bytes(world.note)
    (where / "sheet.note").write_bytes(world.sheet())
    (where / "damaged.json").write_text(json.dumps({"version": LEDGER_VERSION}))
    survey = ("simulate", "survey.csv", "--column", "fruit", "--labels", "fruits.txt",
              "--epsilon", "1", "--delta", "1e-6", "--json")  # fmt: skip
    steps = {
        "version": ("-c", "import mixtally.version; print(mixtally.version.VERSION)"),
        "packages": ("-m", "pip", "check", "--disable-pip-version-check"),
        "help": ("-m", "mixtally", "--help"),
        "panels": ("-m", "mixtally", "simulate", "--help"),
        "device": ("-c", PROGRAM, where, NOW, world.fingerprint),
        "suites": ("-c", SUITES),
        "example": ("-m", "mixtally", "example", "survey.csv"),
        "simulate": ("-m", "mixtally", *survey),
        **dict(more),
    }
    done = {name: made.run(*step, where=where) for name, step in steps.items()}
    said = {name: one.stderr[-500:] or "nothing" for name, one in done.items()}
    wrong = {name: said[name] for name, one in done.items() if one.returncode}
    if done["simulate"].stderr:
        wrong["manners"] = repr(said["simulate"])
    held = {
        "version": lambda said: said.strip() == VERSION,
        "help": lambda said: "simulate" in said,
        "device": lambda said: said.startswith(f"taken {BUNDLE_BYTES} "),
        "panels": lambda said: "--epsilon" in said,
        "simulate": counts_people,
    }
    refused = made.run("-m", "mixtally", "budget", "show", "damaged.json", where=where)
    if (refused.returncode, refused.stderr.count("\n")) != (2, 1):
        wrong["refusal"] = refused.stderr[-500:]
    return wrong | {
        name: done[name].stdout[-500:]
        for name, holds in held.items()
        if name not in wrong and not holds(done[name].stdout)
    }


def counts_people(said):
    """The counts of the 8 fruits add up to about the 2,000 people of the survey.

    All 8 are within 37.5, six of their standard errors, but for a chance of 2e-8: the false alarm.
    """
    (told,) = json.loads(said)["releases"]
    assert 6 * told["standard_error"] < 37.5
    found = [one["estimate"] for one in told["estimates"]]
    return len(found) == 8 and abs(sum(found) - 2000) < 8 * 37.5


@pytest.mark.parametrize("minor", [PYTHONS[-1], *exhaustive(PYTHONS[:-1])])
def test_it_works_with_the_newest_packages(minor, environment, tmp_path):
    assert faults(environment(minor, ("lab", "data")), tmp_path / "work") == {}


def test_it_works_with_the_oldest_packages_it_takes(environment, tmp_path):
    """On the oldest Python, for which they have wheels; every package of an extra is loaded.

    Its twins are packages a version older than the bounds, which do not work, and are seen.
    """
    made = environment(PYTHONS[0], EXTRAS, oldest())
    names = {one.name.lower() for one in direct()}
    done = made.run("-c", LOADED, *names)
    assert (done.returncode, done.stderr) == (0, "")
    assert {*done.stdout.split()} == names
    plan = ("plan", "--bins", "8", "--users", "2000", "--epsilon", "1", "--delta", "1e-6",
            "--out", "plan.json")  # fmt: skip
    more = {"plan": ("-m", "mixtally", *plan), "balls": ("-c", BALLS)}
    assert faults(made, tmp_path / "work", more) == {}
    made.install("--no-deps", *TOO_OLD)
    seen = {*faults(made, tmp_path / "older", more)}
    assert {"packages", "suites", "refusal", "panels", "balls", "manners"} <= seen
