"""One honest hop against everybody else: where a plan keeps its promise, and where it breaks.

A sound plan or device is accused by chance at most ``ERROR`` a run of all its games and tests.
"""

from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.contracts import flipped, paired, plan_of, proved, shaped, uniform
from helpers.least import shape, threshold
from helpers.sampled import among
from mixtally.accounting.accountant import Accountant
from mixtally.lab.attacks import Verdict, outsiders, randomizer
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.outcome import NoiseSource
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.target import NOBODY, HidingPeople, target_of_plan
from mixtally.model.contract import BlanksRecipe, FakeRecord, LaplaceShape, OwnFakes
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question
from mixtally.model.shape import PairedLaplaceShape
from mixtally.protocol.mixing import draw_recipe_messages, draw_shaped_fakes
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

ERROR = 1e-5
DELTA, PEOPLE, BINS = 1e-3, 1000, 10
ACCOUNTANT = Accountant()
ONE = Question(name="q", bins=BINS)
YES_NO = Question(name="y", bins=2)
BITS = Question(name="b", bins=3, kind=Kind.BITS)
SETS = Question(name="s", bins=12, kind=Kind.SET, max_set=3)
WHOLE = OwnFakes(FakeRecord.BLANK, 1, 0)
COIN = OwnFakes(FakeRecord.BLANK, 0, 1 << 63)
UNIFORM = OwnFakes(FakeRecord.UNIFORM, 0, 1 << 63)
LATER = "only a later hop is honest"


def least_q(fakes, delta=DELTA):
    return threshold(fakes, 1.0, 0.9 * delta) / 2**64


def positions(**given):
    return flipped(BINS, form=Form.POSITIONS, cap=BINS, **given)


BY_MIXES = {
    "shaped": lambda: plan(ONE, [shaped(BINS, **shape(1.0, DELTA))]),
    "paired": lambda: plan(YES_NO, [paired(shift=5)]),
    "blanks": lambda: plan(ONE, [positions(q=least_q(PEOPLE) * 1.01, blanks=PEOPLE)]),
    "single bits": lambda: plan(BITS, [flipped(1, most_set=None, q=0.2, blanks=500)] * 3),
    "sets, twice": lambda: plan(SETS, [flipped(12, most_set=3, q=0.25, blanks=1000)],
                                collections=2),
}  # fmt: skip
BY_PEOPLE = {
    "uniform": lambda: plan(ONE, [uniform(BINS, whole=0, coin=1 << 63)]),
    "blanks": lambda: plan(ONE, [flipped(BINS, q=least_q(PEOPLE) * 1.01, own=WHOLE)]),
    "blanks by coins": lambda: plan(ONE, [positions(q=least_q(PEOPLE // 2) * 1.2, own=COIN)]),
    "blanks and flips": lambda: plan(
        ONE, [flipped(BINS, q=least_q(PEOPLE), own=WHOLE)], count_flips=True
    ),
    "flips": lambda: plan(ONE, [flipped(BINS, q=0.2)]),
    "uniform, flipped": lambda: plan(ONE, [flipped(BINS, q=0.1, own=UNIFORM)]),
    "free bits": lambda: plan(BITS, [flipped(3, most_set=None, q=0.2)]),
}


def plan(question, parts, **changes):
    return plan_of(question, parts, users=PEOPLE, hops=2, delta=0.01, **changes)


@cache
def target(made):
    return target_of_plan(proved(made(), ACCOUNTANT), accountant=ACCOUNTANT)


def attacked(made, lab, runs=150, **parts):
    return outsiders.n_minus_1(target(made), lab(runs, error=ERROR, drawn=20_000, **parts))


def audited(made, lab, **device):
    (found,) = randomizer.run(target(made), lab(error=ERROR, device=Device(**device)))
    return found


@pytest.mark.parametrize("name", among(BY_MIXES, ["blanks"]))
def test_what_every_mix_covers_is_kept_behind_any_hop(name, lab):
    outcomes = attacked(BY_MIXES[name], lab)
    assert {one.verdict for one in outcomes} == {Verdict.CONSISTENT}
    assert {one.case for one in outcomes} == {"only one of 2 hops is honest"}
    promised = target(BY_MIXES[name]).delta
    assert max(one.numbers["delta_seen"] for one in outcomes) <= promised
    assert sum(one.numbers["false_alarm_rate"] for one in outcomes) <= ERROR * (1 + 1e-9)
    assert audited(BY_MIXES[name], lab).verdict is Verdict.CONSISTENT


@pytest.mark.parametrize("name", among(BY_PEOPLE, ["flips"]))
def test_what_people_cover_is_kept_behind_the_first_hop_alone(name, lab):
    outcomes = attacked(BY_PEOPLE[name], lab)
    later = [one for one in outcomes if one.case.startswith(LATER)]
    assert {one.verdict for one in later} == {Verdict.VIOLATED}
    assert {one.verdict for one in outcomes if one not in later} == {Verdict.CONSISTENT}
    assert sum(one.numbers["false_alarm_rate"] for one in outcomes) <= ERROR * (1 + 1e-9)
    assert audited(BY_PEOPLE[name], lab).verdict is Verdict.CONSISTENT


@pytest.mark.parametrize(
    ("part", "sure", "behind"),
    [
        (uniform(BINS), (450, 0), (450, 0)),
        (flipped(BINS, q=0.2), (450, 450), (450, 449)),
        (flipped(BINS, q=0.2, blanks=9), NOBODY, (0, 0)),
    ],
    ids=["fakes of people", "flips of people", "every mix"],
)
def test_those_who_hide_are_those_whom_the_promise_counts_on(part, sure, behind):
    """Of 900 people who come for certain half are honest, and one of these is attacked."""
    crowd = {"users": 1000, "minimum_crowd": 900, "honest_share": 0.5, "hops": 3}
    made = target_of_plan(plan_of(ONE, [part], **crowd), unverified=True, accountant=ACCOUNTANT)
    assert (made.certain, made.expected) == (sure, HidingPeople(1000, 1000))
    ((who, times),) = made.senders_among(made.certain).items()
    assert (who.honest, who.people, times) == (*behind, 1)


def test_every_run_tosses_the_coins_of_honest_people():
    tossed = []

    def draw(people, chance):
        tossed.append((people.tolist(), chance))
        return people - 440

    own = OwnFakes(FakeRecord.BLANK, 2, 1 << 62)
    assert Senders(flipped(BINS, own=own), 0, 450).draw_fake_numbers(3, draw).tolist() == [910] * 3
    assert tossed == [([450] * 3, 0.25)]


def test_in_clear_hardly_anything_is_left_behind_a_dishonest_hop(lab):
    """Only half of the people have a fake, which hits one of the two bins once in ten times."""
    outcomes = attacked(BY_PEOPLE["uniform"], lab, runs=1000)
    later = [one for one in outcomes if one.case.startswith(LATER)]
    assert min(one.numbers["delta_seen"] for one in later) > 0.85


@pytest.mark.seconds
def test_the_game_proves_nearly_what_the_exact_distribution_allows(lab):
    """Of blanks by a mix: a game that proves little would find no bug."""
    made = target(BY_MIXES["blanks"])
    (one,) = [
        found
        for found in outsiders.n_minus_1(made, lab(150, drawn=10**6))
        if found.noise is NoiseSource.DISTRIBUTION
    ]
    assert 0.7 < one.attacked <= one.promised
    assert one.best == pytest.approx(one.attacked, abs=0.15)


def half(recipe, layout, chance):
    """A hop that draws half of its recipe."""
    if isinstance(recipe, BlanksRecipe):
        return draw_recipe_messages(replace(recipe, count=recipe.count // 2), layout, chance)
    return draw_recipe_messages(LaplaceShape(recipe.ratio, recipe.shift // 2), layout, chance)


def softer(recipe, layout, chance):
    """A hop whose noise has another shape, or whose blanks are flipped half as often."""
    if isinstance(recipe, BlanksRecipe):
        return draw_recipe_messages(
            replace(recipe, threshold=recipe.threshold // 2), layout, chance
        )
    return draw_recipe_messages(
        LaplaceShape(recipe.ratio - recipe.ratio // 10, recipe.shift), layout, chance
    )


@pytest.mark.parametrize("bug", [half, softer])
@pytest.mark.parametrize("name", among(BY_MIXES, ["shaped", "blanks"]))
def test_a_hop_that_draws_other_fakes_is_noticed(name, bug, lab):
    assert audited(BY_MIXES[name], lab, added=bug).verdict is Verdict.VIOLATED


def independent_bins(recipe, layout, chance):
    return draw_shaped_fakes(recipe.weights, layout, chance)


def a_fake_too_many(recipe, layout, chance):
    rows = draw_recipe_messages(recipe, layout, chance)
    return np.concatenate([rows, rows[:1]])


def steeper(recipe, layout, chance):
    other = PairedLaplaceShape(recipe.ratio - recipe.ratio // 10, recipe.shift)
    return draw_recipe_messages(other, layout, chance)


@pytest.mark.parametrize("bug", [independent_bins, a_fake_too_many, steeper])
def test_a_hop_that_draws_other_paired_fakes_is_noticed(bug, lab):
    assert audited(BY_MIXES["paired"], lab, added=bug).verdict is Verdict.VIOLATED


def test_a_hop_that_draws_nothing_breaks_the_promise_in_the_game_itself(lab):
    def nothing(_recipe, layout, _chance):
        return layout.blank_rows(0)

    outcomes = attacked(BY_MIXES["blanks"], lab, device=Device(added=nothing))
    by_code = [one for one in outcomes if one.noise is NoiseSource.CODE]
    assert {one.verdict for one in by_code} == {Verdict.VIOLATED}


def test_shaped_fakes_that_end_early_break_the_promise_in_the_game_itself(lab):
    def short(recipe, layout, chance):
        return draw_recipe_messages(LaplaceShape(recipe.ratio, 2), layout, chance)

    outcomes = attacked(BY_MIXES["shaped"], lab, runs=20_000, device=Device(added=short))
    assert {one.verdict for one in outcomes} == {Verdict.VIOLATED}


def one_coin(part, contributors, chance):
    number = contributors * draw_part_fakes(part, 1, chance)[1]
    return draw_part_fakes(replace(part, own=replace(part.own, whole=1, coin=0)), number, chance)


def no_fakes(part, _contributors, _chance):
    return part.layout.blank_rows(0), 0


@pytest.mark.parametrize("bug", [one_coin, no_fakes])
def test_devices_that_draw_other_fakes_are_noticed(bug, lab):
    assert audited(BY_PEOPLE["blanks by coins"], lab, fakes=bug).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("name", BY_PEOPLE)
@pytest.mark.parametrize("times", [0.5, 2])
def test_devices_that_send_more_or_fewer_reports_are_noticed(name, times, lab):
    def again(part, records, chance):
        rows = randomize_records(part, records, chance)
        return np.concatenate([rows, rows])[: round(len(rows) * times)]

    flags = audited(BY_PEOPLE[name], lab, reports=again).numbers["flags"]
    assert any(flag["test"].startswith("report that is missing or too many") for flag in flags)


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["flips", "free bits", "blanks by coins"])
def test_devices_that_send_in_clear_are_noticed(name, lab):
    right = Device().reports  # with what it remembers

    def in_clear(part, records, chance):
        return right(replace(part, threshold=1 << 24), records, chance)

    found = audited(BY_PEOPLE[name], lab, reports=in_clear)
    assert found.verdict is Verdict.VIOLATED
    assert np.isfinite(found.attacked)
