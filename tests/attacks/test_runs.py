"""How often attacks run, with which share of the error, and which are refused."""

import pytest

from attacks.test_attacks import target_of
from mixtally.attacks import PLAN_ATTACKS, run_attacks
from mixtally.attacks.device import unplayed
from mixtally.attacks.game import quick_runs
from mixtally.errors import ParameterError


@pytest.mark.seconds
def test_a_lab_that_cannot_play_a_collection_says_so(sound, lab):
    with pytest.raises(ParameterError, match="play one"):
        run_attacks(target_of(sound["clear-uniform"]), lab(play=unplayed), "collection")


def test_attacks_that_do_not_fit_are_refused(sound, lab):
    for name in ("linking", "nope"):
        with pytest.raises(ParameterError, match="tell-apart"):
            run_attacks(target_of(sound["flip-blank"]), lab(), name)


@pytest.mark.seconds
def test_errors_are_shared_by_all_attacks(sound, lab):
    alone = run_attacks(target_of(sound["clear-shaped"]), lab(runs=300), "randomizer")[0]
    every = run_attacks(target_of(sound["clear-shaped"]), lab(runs=300))[-1]
    assert every.promised == pytest.approx(alone.promised / len(PLAN_ATTACKS))


@pytest.mark.seconds
def test_the_same_seed_gives_the_same_outcome(sound, lab):
    target = target_of(sound["flip-blank"])
    a, b = (run_attacks(target, lab(runs=300), "tell-apart")[0].facts() for _ in range(2))
    assert a == b


def test_costly_games_are_played_less():
    assert 100 <= quick_runs(1e15) <= quick_runs(1e9) < quick_runs(1e6) <= quick_runs(0.0)
