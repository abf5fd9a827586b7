"""Attacks stay under certificates, and break what is broken.

An attack on a sound collection fails its test with a chance of at most 1e-4.
"""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from attacks.conftest import upper
from attacks.mechanisms import SOUND, target
from helpers import contracts
from helpers.named import clear_uniform, flip_blank, single_bit
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import vectors
from mixtally.accounting.parameters import Parameters
from mixtally.errors import ParameterError, PlanError
from mixtally.lab.attacks import PLAN_ATTACKS, Verdict, run_attacks
from mixtally.lab.attacks.claim import build_target
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.remaining_epsilon import remaining_epsilon
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.target import HidingPeople, target_of_plan
from mixtally.lab.formulas import notes
from mixtally.model.guarantee import Guarantee
from mixtally.model.mechanism import NoFakes, Parameter
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.mixing import draw_recipe_messages
from mixtally.protocol.tally import fold

RUNS = 1200


def target_of(mechanism, users=500):
    """The protocol at what its exact distribution says at epsilon 1."""
    users = getattr(mechanism, "crowd", 0) or users
    delta = max(1e-15, Accountant().certificate(Record.of(mechanism), 1.0).upper)
    return target(mechanism, users, delta=delta, verified=True)


def every(names, fast):
    """Fast ones for every day, the rest for the slow tests."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.seconds
@pytest.mark.parametrize("name", every(SOUND, ("flip-blank", "clear-shaped")))
def test_no_attack_exceeds_its_certificate(name, sound, lab):
    outcomes = run_attacks(target_of(sound[name]), lab(runs=300))
    assert {one.attack for one in outcomes} == set(PLAN_ATTACKS) - {"selection"}  # no coins
    for one in outcomes:
        assert one.verdict is not Verdict.VIOLATED, one
        assert one.margin is None or one.margin >= -1e-9
        assert (one.promised is None) == (one.verdict is Verdict.MEASURED)


def test_the_attack_comes_close_to_a_tight_promise(lab):
    """Sharp where the distribution is: one coin among no fakes. Standard errors make 0.9 sure."""
    mechanism = flip_blank(bins=5, fakes=0, threshold=threshold_of(0.25))
    tight = target(mechanism, 10, mechanism.local_epsilon, 1e-15)
    found = run_attacks(tight, lab(runs=40_000), "n-1")[0]
    assert 0.9 * tight.epsilon < found.attacked <= tight.epsilon


@pytest.mark.seconds
@pytest.mark.parametrize("users", [10**5])
def test_the_noise_of_5_16_tells_users_apart(users, lab):
    """Source: notes 004 (5.16), refuted: delta is 0.40 at (1, 1e-6) claimed."""
    q = notes.flip(1.0, 1e-6, users)
    false = build_target("flip", Parameters(users=users, bins=10, flip=q), 1.0, 1e-6)
    found = run_attacks(false, lab(runs=400), "tell-apart")[0]
    assert found.verdict is Verdict.VIOLATED
    assert found.attacked > 1.2
    enough = build_target("flip", Parameters(users=users, bins=10, flip=0.021), 1.0, 1e-6)
    assert run_attacks(enough, lab(runs=400), "tell-apart")[0].verdict is Verdict.CONSISTENT


def unflipped(part, people, chance):
    """A device that forgets to flip its blanks."""
    return part.layout.blank_rows(people), people


def one_bin(part, people, chance):
    """Fakes that all fall into the same bin."""
    return part.layout.rows(np.full(people, part.bins - 1, dtype=np.int64)), people


def as_it_is(part, records, chance):
    """A device that forgets to flip its records."""
    return records if records.ndim == 2 else part.layout.rows(records)


def constant(recipe, layout, chance):
    """A mix that adds the mean everywhere."""
    return layout.rows(np.repeat(np.arange(layout.bins), recipe.shift))


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("flip-blank", Device(fakes=unflipped)),
        ("flip-blank, sets", Device(fakes=unflipped)),
        ("flip-uniform", Device(fakes=unflipped)),
        ("clear-uniform", Device(fakes=one_bin)),
        ("clear-shaped", Device(added=constant)),
        ("flip", Device(reports=as_it_is)),
    ],
)
def test_a_device_that_draws_no_noise_breaks_the_promise(name, device, sound, lab):
    attack = "tell-apart" if name == "flip" else "n-1"
    found = run_attacks(target_of(sound[name]), lab(runs=RUNS, device=device), attack)[0]
    assert found.verdict is Verdict.VIOLATED
    again = run_attacks(target_of(sound[name]), lab(runs=RUNS), attack)[0]
    assert again.verdict is Verdict.CONSISTENT


@pytest.mark.seconds
def test_colluding_mixes_leave_one_mix_fakes(sound, lab):
    """And a single mix that draws nothing is found out when the others talk, not before."""
    claimed = target_of(sound["clear-shaped, two mixes"])
    calls = []

    def every_second(recipe, layout, chance):
        calls.append(1)
        draw = constant if len(calls) % 2 else draw_recipe_messages
        return draw(recipe, layout, chance)

    reported = run_attacks(claimed, lab(runs=RUNS), "tell-apart")[0]
    among, alone = (
        run_attacks(claimed, lab(runs=RUNS, device=Device(added=draw)), name)[0]
        for draw, name in ((every_second, "tell-apart"), (constant, "n-1"))
    )
    assert reported.verdict is among.verdict is Verdict.CONSISTENT
    assert alone.verdict is Verdict.VIOLATED


@pytest.mark.seconds
def test_collusion_beyond_the_honest_share_costs_what_the_distribution_says(sound, lab):
    mechanism = sound["flip-blank"]
    half, _ = run_attacks(target_of(mechanism), lab(runs=RUNS), "collusion")
    fewer, delta = mechanism.with_parameter(Parameter.FAKES, 1000), target_of(mechanism).delta
    assert half.promised > 1.0
    assert upper(fewer, half.promised) <= delta < upper(fewer, 0.999 * half.promised)


@pytest.mark.seconds
def test_a_bit_among_fakes_alone_keeps_what_a_blank_in_their_crowd_does(sound, lab):
    """No other person is counted on: with half a crowd more than the promise would be proved."""
    bare = structs.replace(sound["single-bit"], fakes=NoFakes())
    assert left_among(bare, HidingPeople(0, 0), 0.01) == bare.local_epsilon
    few = single_bit(fakes=3, threshold=threshold_of(0.2), crowd=bare.crowd)
    promised = left_among(few, HidingPeople(3, 0), 0.01)
    assert vectors.homogeneous_delta(4, 1, few.threshold, promised).upper <= 0.01
    assert vectors.homogeneous_delta(4, 1, few.threshold, 0.99 * promised).upper > 0.01
    claimed = target(few, 1000, 5.0, 0.01)
    *_, by_code, by_distribution = run_attacks(claimed, lab(runs=RUNS, drawn=200_000), "n-1")
    assert by_code.promised == by_distribution.promised == promised
    assert 0.8 * promised < by_distribution.attacked <= promised


def left_among(mechanism, people, delta):
    return remaining_epsilon(target(mechanism).senders_among(people), delta, Accountant())


def test_fakes_alone_are_worth_nothing_of_the_crowd():
    """A crowd that the promise counts on is gone once its flips are told."""
    more, few = (
        flip_blank(bins=9, fakes=fakes, threshold=threshold_of(0.05), crowd=crowd)
        for fakes, crowd in ((500, 900), (400, 90))
    )
    told = left_among(more, HidingPeople(400, 0), 1e-3)
    assert told == left_among(structs.replace(few, crowd=0), HidingPeople(400, 0), 1e-3)
    assert left_among(more, HidingPeople(400, 90), 1e-3) == left_among(
        few, HidingPeople(400, 90), 1e-3
    )
    assert left_among(more, HidingPeople(500, 900), 1e-3) < told


def test_what_coins_leave_is_averaged_over_them():
    """More than for as many as are expected, less than for a tenth fewer of them."""
    coins = contracts.uniform(9, coin=1 << 63)
    by_coins = remaining_epsilon({Senders(coins, 0, 1000): 1}, 1e-3, Accountant())
    least, most = (
        left_among(clear_uniform(bins=9, fakes=fakes), HidingPeople(fakes, 0), 1e-3)
        for fakes in (500, 450)
    )
    assert least < by_coins < most


def test_a_huge_collection_is_played_by_its_distribution_or_refused(lab):
    huge = build_target(
        "clear-uniform",
        Parameters(users=10**9, bins=10**6, fakes=10**8),
        1.0,
        1e-6,
    )
    for attack in ("tell-apart", "difference"):
        for one in run_attacks(huge, lab(drawn=5000), attack):
            assert one.verdict is Verdict.CONSISTENT
            assert one.runs == 5000
        with pytest.raises(ParameterError, match="--drawn"):
            run_attacks(huge, lab(), attack)


@pytest.mark.seconds
def test_a_changed_answer_is_promised_two_collections(sound, lab):
    """Of a plan that is made for several it is promised no more than these."""
    made = target_of(sound["clear-uniform"])
    changed, absent = run_attacks(made, lab(runs=RUNS), "difference")
    twice = remaining_epsilon(
        made.senders_among(made.certain, collections=2), 2.0 * made.delta, Accountant()
    )
    assert 1.0 < changed.promised == min(2.0, twice) <= 2.0
    assert absent.promised == 1.0
    several, _ = run_attacks(replace(made, collections=3), lab(runs=RUNS), "difference")
    assert several.promised == 1.0
    weak = build_target("clear-uniform", Parameters(users=500, bins=20, fakes=5), 1.0, 1e-6)
    for one in run_attacks(weak, lab(runs=RUNS), "difference"):
        assert one.verdict is Verdict.VIOLATED


def test_averaging_finds_the_truth_and_a_kept_report_hides_it(lab):
    """Guesses from 4,000 runs; the bounds are ten standard errors wide."""
    q = 0.3
    made = flip_blank(bins=5, fakes=0, threshold=threshold_of(q), crowd=1000)
    (found,) = run_attacks(target(made, delta=0.01), lab(runs=4000), "averaging")
    fresh, kept = found.charts[1].curves
    once = q * q + q * (1 - q)  # both bits wrong, or a tie, which is guessed right half the time
    assert fresh.points[0][1] == pytest.approx(once, abs=0.08)
    assert fresh.points[-1][1] < 0.01
    assert {y for _, y in kept.points} == {fresh.points[0][1]}
    assert found.verdict is Verdict.CONSISTENT


@pytest.mark.parametrize("name", SOUND)
def test_a_lie_moves_a_bin_by_no_more_than_the_bound(name, sound, lab):
    (found,) = run_attacks(target_of(sound[name]), lab(), "poisoning")
    assert found.verdict is Verdict.CONSISTENT
    assert found.attacked == pytest.approx(found.promised, rel=1e-9)
    assert found.numbers["refused"] >= 2


def test_a_collector_that_checks_nothing_is_poisoned(sound, lab, monkeypatch):
    """The twin: a tally that counts every byte takes ever longer messages for many."""
    from mixtally.lab.attacks import poisoning

    def careless(layout, rows):
        flat = (
            rows.reshape(-1, layout.message_bytes)
            if rows.size % layout.message_bytes == 0
            else rows
        )
        return fold.tally_messages(layout, flat & np.uint8(0x0F))

    monkeypatch.setattr(poisoning, "tally_messages", careless)
    mechanism = flip_blank(bins=4, fakes=100, threshold=threshold_of(0.1))
    (found,) = run_attacks(target_of(mechanism), lab(), "poisoning")
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.seconds
def test_plans_of_every_kind_are_attacked(lab):
    """Whatever the planner returns within two messages a user, and for a mix's fakes."""
    question, guarantee = Question(name="color", bins=6), Guarantee(epsilon=1.0, delta=1e-6)
    for extra in ({}, {"mix_fakes": True}, {"protocol": "flip-blank"}):
        request = PlanRequest(question=question, guarantee=guarantee, users=400, **extra)
        plan = choose(request).plan
        made = target_of_plan(plan)
        assert made.verified
        assert (made.epsilon, made.delta) == (1.0, plan.certificate.upper)
        assert run_attacks(made, lab(runs=200), "tell-apart")[0].verdict is Verdict.CONSISTENT


@pytest.mark.seconds
def test_a_false_plan_is_refused_and_can_be_attacked_all_the_same(plan, lab):
    (part,) = plan.parts
    own = structs.replace(
        part.own, whole=0, coin=part.own.coin // 20 + (part.own.whole << 64) // 20
    )
    false = structs.replace(plan, parts=(structs.replace(part, own=own),))
    with pytest.raises(PlanError, match="--unverified"):
        target_of_plan(false)
    made = target_of_plan(false, unverified=True)
    assert not made.verified
    assert made.exact.lower > plan.certificate.upper
    assert run_attacks(made, lab(runs=4000), "n-1")[0].verdict is Verdict.VIOLATED


def test_records_that_no_game_repeats_are_refused():
    """Without the check a game would send them once, among the fakes of all repeats."""
    for mechanism in (
        clear_uniform(bins=5, fakes=9, repeats=2),
        flip_blank(bins=5, fakes=9, threshold=1 << 60, repeats=2),
        single_bit(fakes=9, threshold=1 << 60, crowd=9, repeats=2),
    ):
        with pytest.raises(PlanError, match="flips alone that are sent several times"):
            target(mechanism)
