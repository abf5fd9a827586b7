"""The game against a matrix: a sound claim holds, a false one is violated."""

import pytest

import mixtally
from helpers.randomizers import thirds
from mixtally.errors import ParameterError

SEEDED = {"users": 30, "seed": 3, "drawn": 40_000}


def test_a_sound_claim_is_consistent_and_a_false_one_is_violated():
    true = mixtally.delta(thirds(), users=30, epsilon=0.3)
    sound = mixtally.attack(thirds(), epsilon=0.3, delta=true.upper, **SEEDED)
    false = mixtally.attack(thirds(), epsilon=0.3, delta=0.3 * true.lower, **SEEDED)
    assert sound.violations == []
    assert false.violations == ["tell-apart"]
    assert sound.certificate.upper == true.upper
    assert "all others hold" in sound.outcomes[0].case
    assert 0.2 < sound.outcomes[0].attacked <= 0.3  # the crowd attains the bound


def test_a_message_of_one_value_decides():
    rows = [["9/10", "1/10", "0"], ["9/10", "0", "1/10"]]
    false = mixtally.attack(rows, epsilon=5, delta=0.05, **SEEDED)
    sound = mixtally.attack(rows, epsilon=5, delta=0.11, **SEEDED)
    assert (len(false.violations), len(sound.violations)) == (1, 0)


def test_fakes_hide():
    claim = {"epsilon": 0.3, "delta": 0.01, **SEEDED}
    assert mixtally.attack(thirds(), **claim).violations
    hidden = mixtally.attack(thirds(), fakes=2_000, fake_row="uniform", **claim)
    assert hidden.violations == []


@pytest.mark.parametrize(
    "given", [{"epsilon": 1}, {"delta": 1e-6}, {"epsilon": 1, "delta": 1e-6, "protocol": "flip"}]
)
def test_a_claim_is_complete(given):
    with pytest.raises(ParameterError, match="a matrix with the claim"):
        mixtally.attack(thirds(), users=30, **given)
