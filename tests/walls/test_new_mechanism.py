"""A new mechanism has a price by two files and a line: its record and its divergence.

A toy is added to a copy of the package by them; the commands that price know it then. To be planned
and played it must be a part of a plan, which devices and mixes read as well: ARCHITECTURE.md counts
those files.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "mixtally"
RECORD = '''"""Toy: a value in clear among fakes that are sent in pairs of uniformly random bins."""

import msgspec

from mixtally.records.mechanism.in_clear import InClear
from mixtally.records.mechanism.base import Noise, Parameter, Shuffled
from mixtally.records.mechanism.fakes import FakeSource, UniformFakes
from mixtally.records.guarantee import arriving
from mixtally.records.layout import Form, Layout


class Toy(Shuffled, frozen=True, kw_only=True, tag="toy"):
    """``pairs`` of uniform fakes."""

    NAMES = ("toy",)

    pairs: int

    name = property(lambda self: "toy")
    layout = property(lambda self: Layout(Form.INDEX, self.bins))
    most_set = property(lambda self: 1)
    flip_threshold = property(lambda self: None)
    local_epsilon = property(lambda self: float("inf"))
    fakes_promised = property(lambda self: 2 * self.pairs)
    fake_source = property(lambda self: FakeSource.USERS)
    uniform_fakes = property(lambda self: True)
    gain = property(lambda self: 1.0)

    def facts(self):
        return {"pairs": self.pairs}

    def with_honest(self, honest_share):
        return msgspec.structs.replace(self, pairs=arriving(self.pairs, honest_share))

    def having(self, parameter, value):
        return msgspec.structs.replace(self, pairs=-(-value // 2))

    def offset(self, messages):
        return self.true_fakes

    def variance(self, messages):
        return self.true_fakes * (1.0 - 1.0 / self.bins)

    def noise(self, messages, count):
        return Noise(0, ((2 * self.pairs, 1.0 / self.bins),))
'''
DIVERGENCE = '''"""Toy: pairs of uniform fakes hide as uniform fakes do."""

from mixtally.privacy.divergence import (
    Bound, ObservedMessage, ParameterRules, ProvedDelta, clear_uniform,
)
from mixtally.records.mechanism import Parameter
from mixtally.records.mechanism.toy import Toy

PROTOCOLS = {
    "toy": ParameterRules(
        frozenset({"fakes", "bins"}), frozenset({"users"}), (("fakes", Parameter.FAKES),)
    )
}


def counts_people(name, given):
    return False


def record_fields(name, asked):
    return ObservedMessage(Toy(bins=asked.given.bins, pairs=asked.fakes // 2)), 1, ""


def delta(message, epsilon, memo, *, lower_alone=False):
    toy = message.mechanism
    ends = clear_uniform.delta(2 * toy.pairs, toy.bins, epsilon)
    return ProvedDelta(ends, clear_uniform.SOURCE, "the pairs come from honest parties")


def upper(message, epsilons, bound, memo):
    return [delta(message, epsilon, memo).bounds.upper for epsilon in epsilons]


def taken(message, bound):
    return Bound.EXACT


def apart(message):
    return message, 1


def knows_repeats(message):
    return False


def lower_of(message, epsilon, rounds):
    return 0.0


def start(message, parameter, goal):
    return round(goal.cover * message.mechanism.bins)
'''
LAST, IN = "    InClear: in_clear,", "    bit_flips,\n    in_clear,"


@pytest.fixture(scope="module")
def toyed(tmp_path_factory):
    """A copy of the package with the toy, and how to call its commands."""
    root = tmp_path_factory.mktemp("toy")
    shutil.copytree(PACKAGE, root / "mixtally", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "mixtally/records/mechanism/toy.py").write_text(RECORD)
    (root / "mixtally/privacy/divergence/toy.py").write_text(DIVERGENCE)
    registry = root / "mixtally/privacy/divergence/registry.py"
    text = registry.read_text()
    assert text.count(LAST) == 1
    registry.write_text(
        text.replace(LAST, f"{LAST}\n    toy.Toy: toy,").replace(IN, f"{IN}\n    toy,")
    )

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", "from mixtally.cli.main import run; run()", *arguments],
            cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def call(*arguments):
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    call.run = run
    return call


PROMISE = ("--epsilon", "1", "--delta", "1e-6")


def test_it_has_a_delta_and_a_least_number_of_fakes(toyed):
    found = toyed("check", "noise", "--protocol", "toy", "--bins", "10", *PROMISE, "--json")
    given = ("--bins", "10", "--fakes", str(found["fakes"]), "--epsilon", "1", "--json")
    assert toyed("check", "delta", "--protocol", "toy", *given)["delta"] == found["delta"] <= 1e-6
    usual = toyed("check", "delta", "--protocol", "clear-uniform", *given)
    assert usual["delta"] == found["delta"]


def test_it_is_named_among_the_protocols(toyed):
    done = toyed.run("check", "delta", "--protocol", "toys", "--bins", "10", "--epsilon", "1")
    assert done.returncode != 0
    assert "toy" in done.stderr.replace("toys", "")
