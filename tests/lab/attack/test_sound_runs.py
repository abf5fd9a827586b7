"""Sound collections are called broken no more often than is said, in a hundred runs of each."""

import pytest

from lab.attack.test_attacks import NAMES, target_of
from mixtally.lab.attack import Verdict, assault
from mixtally.lab.attack.games import game_of
from mixtally.lab.attack.trial import Worlds, prove
from mixtally.lab.seeded import SeededChance
from mixtally.privacy import price
from mixtally.protocols.clear_uniform import ClearUniform

QUICK = ("tell-apart", "n-1", "difference", "collusion")


def broken_in(name, sound, lab, seeds, runs, drawn):
    """(seed, attack) of every promise that is called broken."""
    target = target_of(sound[name])
    return [
        (seed, one.title)
        for seed in seeds
        for attack in QUICK
        for one in assault(target, lab(runs=runs, drawn=drawn, seed=seed), attack)
        if one.verdict is Verdict.BROKEN
    ]


@pytest.mark.parametrize("name", ["flip-blank", "clear-uniform", "clear-shaped, two mixes"])
def test_no_sound_protocol_is_broken_in_two_runs(name, sound, lab):
    """Eight attacks at 1e-4 each."""
    assert broken_in(name, sound, lab, range(2), 100, 2000) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_sound_protocol_is_broken_in_a_hundred_runs(name, sound, lab):
    """Four hundred attacks a protocol: by chance at most one in 25 of these tests fails.

    In truth far fewer: an alarm needs both ends of two intervals and a promise that is tight.
    """
    assert broken_in(name, sound, lab, range(100), 100, 2000) == []


def alarms_on(protocol, delta_share, repeats=200, error=0.2):
    """How often (0.3, its exact delta times a share) is called broken among fakes alone."""
    delta = price.upper(protocol, 0.3) * delta_share
    game = game_of(protocol, 0, protocol.fakes, 0.3)
    chance = SeededChance(11)
    worlds = (Worlds(*game.drawn(2000, chance)) for _ in range(repeats))
    return sum(prove(one, delta, error).epsilon > 0.3 for one in worlds)


def test_a_tight_promise_is_called_broken_no_more_often_than_stated():
    """At most 0.2 of 200: above 65 has a chance below 1e-4. The twin promises too much."""
    protocol = ClearUniform(bins=5, fakes=10)
    assert alarms_on(protocol, 1.0) <= 65
    assert alarms_on(protocol, 0.4) > 65


def test_the_law_proves_more_than_the_code_and_never_too_much(sound, lab):
    """A false alarm has a chance of 1e-4 a name."""
    for name in ("flip-blank", "single-bit"):
        code, law = assault(target_of(sound[name]), lab(runs=400, drawn=50_000), "tell-apart")
        assert (str(code.noise), str(law.noise)) == ("code", "law")
        assert code.attacked <= law.attacked <= 1.0
    (shaped,) = assault(target_of(sound["clear-shaped"]), lab(runs=10**5, drawn=10**5), "n-1")
    assert str(shaped.noise) == "code"


@pytest.mark.slow
def test_sound_protocols_hold_at_high_power(sound, lab):
    """As many runs as a person waits for; a false alarm has a chance of 1e-4 a protocol."""
    for protocol in sound.values():
        for attack in ("tell-apart", "n-1", "collusion"):
            for one in assault(target_of(protocol), lab(runs=3000, seed=7), attack):
                assert one.verdict is not Verdict.BROKEN, one
