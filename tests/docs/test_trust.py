"""Who must be trusted, protocol by protocol: the table of explanation/trust.md, computed again."""

import itertools
import re
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import PrivacyTerms, delta_of
from mixtally.cli.app import app
from mixtally.cli.plan_files import read_plan
from mixtally.device.contract import planes as bare
from mixtally.lab.attacks import poisoning
from mixtally.lab.attacks.outcome import AttackLab, Verdict
from mixtally.lab.attacks.target import target_of_plan
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.planes import directions
from mixtally.primitives.draw import draw_permutation
from mixtally.primitives.wide import digits_in_base
from mixtally.protocol.estimate.conclude import conclude

PAGE = (Path(__file__).parents[2] / "docs" / "explanation/trust.md").read_text()
WISH = "plan --epsilon 1 --delta 1e-6 --users 1e5"
OPTIONS = {
    "`clear-shaped`": "--bins 100 --mix-fakes",
    "`clear-uniform`": "--bins 100",
    "`clear-uniform`, sets of at most 3": "--bins 100 --max-set 3",
    "`clear-uniform` over planes, 100,000 values": "--bins 1e5",
    "`clear-uniform` over planes, 100,000 values, sets of at most 3": "--bins 1e5 --max-set 3 "
    "--protocol clear-uniform",
    "`clear-uniform` over planes, any text": "--open",
    "`clear-uniform` over planes, any text, `--mix-fakes`": "--open --mix-fakes",
    "`kary-response`, no fakes": "--bins 100 --messages-per-user 1",
    "`kary-response` with fakes, 1,000 bins, 1.1 messages": "--bins 1000 --messages-per-user 1.1",
    "`kary-response`, sets of at most 3, no fakes": "--bins 100 --max-set 3 --messages-per-user 3",
    "`kary-response` over planes, any text, no fakes": "--open --messages-per-user 1",
    "`flip-blank`": "--bins 100 --protocol flip-blank",
    "`flip-blank`, `--mix-fakes`": "--bins 100 --protocol flip-blank --mix-fakes",
    "`flip-uniform`, 1,000 bins, 1.3 messages": "--bins 1000 --protocol flip-uniform "
    "--messages-per-user 1.3",
    "`flip`": "--bins 100 --protocol flip --count-crowd",
    "`single-bit`": "--bits 1 --protocol single-bit",
}
ROWS = re.findall(
    r"^\| (`[a-z-]+`.*?) \| (people|every mix) \| (none|[\d.]+) \| (.*) \|$", PAGE, re.MULTILINE
)
EVERY_ROW = pytest.mark.parametrize("row", ROWS, ids=[row[0].replace("`", "") for row in ROWS])
ACCOUNTANT = Accountant()


@pytest.fixture(scope="module")
def plan_of(tmp_path_factory):
    @cache
    def planned(options):
        path = tmp_path_factory.mktemp("plan") / "plan.json"
        done = CliRunner().invoke(app, shlex.split(f"{WISH} {options} --out {path}"))
        assert done.exit_code == 0, done.output
        return read_plan(path)

    return planned


def as_stated(number, stated):
    _, _, decimals = stated.partition(".")
    return number == pytest.approx(float(stated), abs=0.5001 * 10.0 ** -len(decimals))


def moved_by(plan):
    """The most that one lie moves a count, by every kind of lie through the production tally."""
    lab = AttackLab(SeededChance(1), 1e-3)
    (outcome,) = poisoning.run(target_of_plan(plan, accountant=ACCOUNTANT), lab)
    assert outcome.verdict is Verdict.CONSISTENT
    return outcome.attacked


def counts_moved(plan):
    """How many counts one message may raise at will."""
    part = plan.parts[0]
    if part.planes is not None:
        return part.planes.digits
    return 1 if part.threshold is None else part.layout.cap or part.layout.bins


def test_the_table_has_all_plans():
    assert [row[0] for row in ROWS] == list(OPTIONS)


@pytest.mark.seconds
@EVERY_ROW
def test_the_row_of_the_plan(row, plan_of):
    name, cover, local, moves = row
    plan = plan_of(OPTIONS[name])
    assert name.split("`")[1] == plan.parts[0].protocol
    assert str(plan.cover) == cover
    assert (plan.parts[0].planes is not None) == ("over planes" in name)
    if local == "none":
        assert plan.local_epsilon is None
    else:
        assert as_stated(plan.local_epsilon, local)
    many, by = re.match(r"(one|the|\d+) .*?by ([\d.]+)", moves).groups()
    assert as_stated(moved_by(plan), by)
    assert counts_moved(plan) == (int(many) if many.isdecimal() else 1)
    if "sets" in name:
        assert f"all 3 messages of a bad sender move one bin by {plan.parts[0].most_set}" in moves


@pytest.mark.seconds
@EVERY_ROW
def test_what_a_dishonest_mix_leaves_of_delta(row, plan_of):
    """Where people bring the cover: half of them, and a tenth."""
    plan = plan_of(OPTIONS[row[0]])
    terms = PrivacyTerms.of(plan)
    if str(plan.cover) == "every mix":
        assert terms.people == 0  # nobody's messages are counted on
        return
    half, tenth = (
        delta_of(replace(terms, people=terms.people // left), ACCOUNTANT).upper for left in (2, 10)
    )
    assert half == pytest.approx(2.2e-4, rel=0.04)
    assert tenth == pytest.approx(0.05, rel=0.12)


def test_one_message_raises_any_values_that_are_as_many_as_digits():
    """Every three points of Z_5^3 lie in a plane, by trying all messages; not every four do."""
    planes = bare.Planes(5, 3)
    vectors = directions(np.arange(planes.directions), 5, 3)
    products = vectors.T @ digits_in_base(np.arange(planes.points), 5, 3) % 5
    chance = SeededChance(1)
    some = [draw_permutation(chance, planes.points)[:4] for _ in range(200)]
    meet = [[(products[:, one[:k]] == products[:, one[:1]]).all(axis=1).any() for k in (3, 4)]
            for one in some]  # fmt: skip
    assert np.all(meet, axis=0).tolist() == [True, False]
    pointed = [
        (products[number] == cell).mean()
        for number, cell in itertools.product(range(planes.directions), range(5))
    ]
    assert pointed == [pytest.approx(1 / 5)] * planes.messages


@pytest.mark.seconds
def test_a_lie_moves_a_sum_by_the_range_and_a_message_too_many_by_half(plan_of):
    plan = plan_of("--number 0,100 --mix-fakes")
    fakes, people = plan.parts[0].recipe.shift, plan.users
    counts = np.full(plan.question.bins, fakes, dtype=np.int64)
    counts[0] += people - 1

    def total(*at):
        lied = counts.copy()
        np.add.at(lied, list(at), 1)
        found = conclude(plan, [Tally(lied, int(lied.sum()))], people=people)
        (figure,) = found.figures
        return {row.label: row.estimate for row in figure.rows}["sum"]

    assert total(-1) - total(0) == pytest.approx(100.0)
    assert total(0, -1) - total(0) == pytest.approx(50.0)
    assert total(0, 0) - total(0) == pytest.approx(-50.0)


def test_a_number_that_is_off_is_noticed(plan_of):
    assert not as_stated(1.0407, "1.05")
    assert not as_stated(plan_of("--bins 100 --messages-per-user 1").local_epsilon, "7.82")
