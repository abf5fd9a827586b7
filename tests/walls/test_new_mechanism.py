"""A new mechanism has a price by two files and two lines: its record and its divergence.

A toy with a crowd and without fakes is added to a copy of the package by them, the lines by their
syntax trees; the command line and Python know it then. To be planned and played it must be a part
of a plan, which devices and mixes read as well: ARCHITECTURE.md counts those files.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "mixtally"
RECORD = '''"""Toy: a value in clear, and a message to every bin with the chance of a coin."""

import math
from collections.abc import Mapping
from typing import ClassVar

from mixtally.errors import in_range
from mixtally.primitives.fixed_point import SCALE
from mixtally.model.guarantee import check_users
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import parameters
from mixtally.model.mechanism.base import Noise, Shuffled
from mixtally.model.mechanism.parameters import (
    Parameter,
    ParameterRules,
    ParameterSpec,
    parse_rules,
)

LEAST = 1 << 24
COIN = Parameter("coin", LEAST, SCALE - LEAST, SCALE, "coin")


class Toy(Shuffled, frozen=True, kw_only=True, tag="toy"):
    """The chance ``coin`` times 2^64, and the crowd that tosses it."""

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        parameters.BINS,
        ParameterSpec(
            "coin", "Chance of a toy message", float, LEAST / SCALE, 1 - LEAST / SCALE, "Q",
            sought=COIN,
        ),
    )
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {
        "toy": parse_rules("users bins coin", sought="coin")
    }

    coin: int
    crowd: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_users(self.crowd)
        in_range("coin", self.coin, LEAST, SCALE - LEAST, "it is a chance times 2^64")

    layout = property(lambda self: Layout(Form.INDEX, self.bins))
    local_epsilon = property(lambda self: math.inf)
    gain = property(lambda self: 1.0)

    def offset(self, messages: int) -> float:
        return self.crowd * self.coin / SCALE

    def variance(self, messages: int) -> float:
        return self.offset(messages) * (1.0 - self.coin / SCALE)

    def noise(self, messages: int, count: int) -> Noise:
        return Noise(0, ((self.crowd, self.coin / SCALE),))
'''
DIVERGENCE = '''"""Toy: of two bins in which people differ one has one more than its coins."""

import math
from fractions import Fraction

from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.accounting.divergence import ObservedMessage, ProvedDelta
from mixtally.accounting.divergence.one_message import (
    choose_bound,
    directional_upper,
    handles_repeats,
    observed_unit,
)
from mixtally.accounting.numerics.bracket import bracket
from mixtally.model.mechanism.toy import Toy

MECHANISM = Toy


def counts_people(name, given):
    return True


def record_fields(name, asked):
    coin = SCALE // 2 if asked.given.coin is None else round(asked.given.coin * SCALE)
    return ObservedMessage(Toy(bins=asked.given.bins, coin=coin, crowd=asked.crowd)), 1, ""


def delta(message, epsilon, memo, *, lower_only=False):
    """P(B + 1, B') > e^eps P(B, B' + 1), where B and B' are the coins of two bins."""
    toy = message.mechanism
    first, last = tails.window(toy.crowd, toy.coin / SCALE)
    chances = [0.0, *tails.pmf(toy.crowd, toy.coin / SCALE, first, last), 0.0]
    total = sum(
        max(0.0, chances[a - 1] * chances[b] - math.exp(epsilon) * chances[a] * chances[b - 1])
        for a in range(1, len(chances))
        for b in range(1, len(chances))
    )
    bounds = bracket(total, cut=1e-15, rounding=1e-9)
    return ProvedDelta(bounds, "a toy", f"{toy.crowd:,} honest people toss their coins")


def upper(message, epsilons, bound, memo):
    return [delta(message, epsilon, memo).bounds.upper for epsilon in epsilons]


def lower_of(message, epsilon, rounds):
    return 0.0


def start(message, parameter, goal):
    return round(min(0.5, goal.cover / message.mechanism.crowd) * SCALE)
'''


def listed(source, module, name):
    """The source of a registry with ``name`` among what it imports from ``module`` and lists."""
    tree = ast.parse(source)
    tree.body.insert(1, ast.ImportFrom(module, [ast.alias(name)], 0))
    (files,) = (one.value for one in ast.walk(tree) if isinstance(one, ast.AnnAssign)
                and isinstance(one.value, ast.Tuple))  # fmt: skip
    files.elts.append(ast.Name(name))
    return ast.unparse(tree)


@pytest.fixture(scope="module")
def toyed(tmp_path_factory):
    """A copy of the package with the toy, and how to call its commands and its functions."""
    root = tmp_path_factory.mktemp("toy")
    shutil.copytree(PACKAGE, root / "mixtally", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "mixtally/model/mechanism/toy.py").write_text(RECORD)
    (root / "mixtally/accounting/divergence/toy.py").write_text(DIVERGENCE)
    registry = root / "mixtally/accounting/divergence/registry.py"
    registry.write_text(listed(registry.read_text(), "mixtally.accounting.divergence", "toy"))
    kinds = root / "mixtally/model/mechanism/__init__.py"
    kinds.write_text(listed(kinds.read_text(), "mixtally.model.mechanism.toy", "Toy"))

    def python(program, *arguments):
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def run(*arguments):
        return python("from mixtally.cli.main import run; run()", *arguments)

    def call(*arguments):
        done = run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    call.run, call.python = run, python
    return call


GIVEN = ("--protocol", "toy", "--users", "1000", "--bins", "10", "--epsilon", "1")


def test_commands_find_its_parameter_and_price_it(toyed):
    found = toyed("check", "noise", *GIVEN, "--delta", "1e-4")
    coin = found["coin"]
    assert found["found"] == {"coin": coin}
    assert found["coin_threshold"] / 2**64 == coin
    assert found["fakes"] is None
    assert found["users_counted"] == 1000
    assert found["standard_error"] == pytest.approx((1000 * coin * (1 - coin)) ** 0.5)
    given = (*GIVEN, "--coin", repr(coin))
    assert toyed("check", "delta", *given)["delta"] == pytest.approx(found["delta"], rel=1e-6)
    assert found["delta"] <= 1e-4
    for command in ("noise", "delta"):
        told = toyed.run("check", command, *(GIVEN if command == "noise" else given),
                         *(("--delta", "1e-4") if command == "noise" else ()))  # fmt: skip
        assert told.returncode == 0, told.stderr
        assert ("coin 0." in told.stdout) == (command == "noise")


def test_python_finds_its_parameter_and_prices_it(toyed):
    program = """
import mixtally, mixtally.errors
given = {"users": 1000, "bins": 10, "epsilon": 1}
found = mixtally.calibrate("toy", delta=1e-4, **given)
priced = mixtally.delta("toy", coin=found.found["coin"], **given)
assert [*found.found] == ["coin"] and found.standard_error > 1
assert abs(priced.upper / found.certificate.upper - 1) < 1e-6, (priced, found)
assert "coin" in str(__import__("inspect").signature(mixtally.delta))
try:
    mixtally.delta("toy", coin=1.5, **given)
except mixtally.errors.ParameterError as error:
    print(error)
"""
    done = toyed.python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("coin: expected a number in [2^-40, 1")


def test_help_and_refusals_name_it(toyed):
    assert "--coin Q" in toyed.run("check", "delta", "--help-all").stdout
    told = toyed.run("check", "delta", "--help").stdout
    assert "toy --users, --bins, --coin" in " ".join(told.split())
    done = toyed.run("check", "delta", "--protocol", "toys", "--bins", "10", "--epsilon", "1")
    assert done.returncode == 2
    assert "toy" in done.stderr.replace("toys", "")
    done = toyed.run("check", "delta", *GIVEN)
    assert "toy: expected --users, --bins and --coin, got --users and --bins" in done.stderr
    assert "flip: expected" in toyed.run(
        "check", "delta", *GIVEN, "--coin", "0.1", "--flip", "0.1", "--protocol", "flip"
    ).stderr  # fmt: skip


def test_what_attacks_do_not_know_is_no_claim(toyed):
    done = toyed.run("check", "attack", *GIVEN, "--delta", "1e-4")
    assert done.returncode == 2
    assert "protocol: expected one of flip-blank" in done.stderr


def test_the_planner_says_that_it_has_no_plans(toyed):
    done = toyed.run("plan", "--protocol", "toy", "--users", "1000", "--bins", "10",
                     "--epsilon", "1", "--delta", "1e-4")  # fmt: skip
    assert done.returncode == 2
    assert "it has a price and no plans" in done.stdout + done.stderr
