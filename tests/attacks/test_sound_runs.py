"""Sound collections are called broken no more often than is said; runs, and shares of the error."""

from dataclasses import replace

import pytest

from attacks.conftest import ERROR, upper
from attacks.mechanisms import SMALL, game
from attacks.test_attacks import every, target_of
from helpers.named import clear_uniform
from mixtally.errors import ParameterError
from mixtally.lab.attacks import PLAN_ATTACKS, Verdict, run_attacks
from mixtally.lab.attacks.device import refuse_to_play
from mixtally.lab.attacks.epsilon_proof import prove
from mixtally.lab.attacks.game import quick_runs
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.target import HidingPeople
from mixtally.lab.attacks.worlds import Worlds
from mixtally.lab.simulation.seeded import SeededChance

ATTACKS = ("tell-apart", "difference", "n-1", "collusion")


def alarms_in(target, lab, seeds):
    """(seed, attack) of every promise that is called broken; two attacks in every run, by turns."""
    return [
        (seed, one.title)
        for seed in seeds
        for attack in ATTACKS[seed % 2 :: 2]
        for one in run_attacks(target, lab(runs=100, drawn=500, seed=seed), attack)
        if one.verdict is Verdict.VIOLATED
    ]


@pytest.mark.seconds
@pytest.mark.parametrize(
    "name", every(SMALL, ("flip-blank", "clear-uniform", "clear-shaped, two mixes"))
)
def test_no_sound_protocol_is_broken_in_four_runs(name, lab):
    """Eight attacks a mechanism at 1e-4 each; an alarm in every third would be seen in 0.96.

    In truth far fewer: an alarm needs both bounds of two intervals and a promise that is tight.
    """
    assert alarms_in(target_of(SMALL[name], users=60), lab, range(4)) == []


@pytest.mark.slow
def test_a_false_promise_would_be_broken_in_four_runs(lab):
    """The twin: two fakes are said to hide a person as well as 250 do."""
    false = replace(target_of(SMALL["flip-blank"], users=60), certain=HidingPeople(2, 0))
    assert alarms_in(false, lab, range(4))


def alarms_on(mechanism, delta_share, repeats=200, error=0.2):
    """How often (0.3, its exact delta times a share) is called broken among fakes alone."""
    delta = upper(mechanism, 0.3) * delta_share
    played = game(mechanism, 0, mechanism.fakes_promised, 0.3)
    draw = Binomials(SeededChance(11))
    worlds = (Worlds(*played.draw_from_distribution(2000, draw)) for _ in range(repeats))
    return sum(prove(one, delta, error).epsilon > 0.3 for one in worlds)


@pytest.mark.seconds
def test_a_tight_promise_is_called_broken_no_more_often_than_stated():
    """At most 0.2 of 200: above 65 has a chance below 1e-4. The twin promises too much."""
    mechanism = clear_uniform(bins=5, fakes=10)
    assert alarms_on(mechanism, 1.0) <= 65
    assert alarms_on(mechanism, 0.4) > 65


@pytest.mark.seconds
def test_the_distribution_proves_more_than_the_code_and_never_too_much(sound, lab):
    """A false alarm has a chance of 1e-4 a name."""
    for name in ("flip-blank", "single-bit"):
        code, pmf = run_attacks(target_of(sound[name]), lab(runs=400, drawn=50_000), "tell-apart")
        assert (str(code.noise), str(pmf.noise)) == ("code", "distribution")
        assert code.attacked <= pmf.attacked <= 1.0
    (shaped,) = run_attacks(target_of(sound["clear-shaped"]), lab(runs=10**5, drawn=10**5), "n-1")
    assert str(shaped.noise) == "code"


@pytest.mark.slow
def test_sound_protocols_hold_at_high_power(sound, lab):
    """Many more runs of the distribution; a false alarm has a chance of 1e-4 an attack."""
    for mechanism in sound.values():
        for attack in ("tell-apart", "n-1", "collusion"):
            made = lab(runs=200, drawn=20_000, seed=7)
            for one in run_attacks(target_of(mechanism), made, attack):
                assert one.verdict is not Verdict.VIOLATED, one


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["clear-uniform", "clear-shaped"])
def test_the_shares_of_all_attacks_add_up_to_the_whole_error(name, sound, lab):
    """Every outcome says what it may err with: a whole error where half is due would be seen."""
    found = run_attacks(target_of(sound[name]), lab(runs=200, drawn=1000))
    fitting = set(PLAN_ATTACKS) - {"selection"}  # no coins
    for attack in fitting:
        shares = [one.numbers.get("false_alarm_rate", 0.0) for one in found if one.attack == attack]
        assert sum(shares) <= ERROR / len(fitting) * (1.0 + 1e-9), attack
        assert all(shares) or attack == "poisoning"  # which leaves nothing to chance


@pytest.mark.seconds
def test_a_lab_that_cannot_play_a_collection_says_so(sound, lab):
    with pytest.raises(ParameterError, match="play one"):
        run_attacks(target_of(sound["clear-uniform"]), lab(play=refuse_to_play), "collection")


def test_attacks_that_do_not_fit_are_refused(sound, lab):
    for name in ("linking", "nope"):
        with pytest.raises(ParameterError, match="tell-apart"):
            run_attacks(target_of(sound["flip-blank"]), lab(), name)


@pytest.mark.seconds
def test_the_same_seed_gives_the_same_outcome(sound, lab):
    target = target_of(sound["flip-blank"])
    a, b = (run_attacks(target, lab(runs=300), "tell-apart")[0].facts() for _ in range(2))
    assert a == b


def test_costly_games_are_played_less():
    assert 100 <= quick_runs(1e15) <= quick_runs(1e9) < quick_runs(1e6) <= quick_runs(0.0)
