"""Side notes 002: the election with its two printed numbers, and the third it should print."""

import math

import pytest

from mixtally.accounting.budget import local
from mixtally.errors import ParameterError
from mixtally.lab.formulas import voting
from published.printed import as_printed


def reproduces():
    return (
        as_printed(math.exp(local.epsilon_of(0.63)), "2.899")
        and as_printed(100 * voting.radius(100_000, 0.63), "1.151")
        and as_printed(100 * voting.radius_at_once(100_000, 0.63, 10), "1.65")
    )


def test_every_printed_number_is_reproduced():
    assert reproduces()


def test_the_flip_probability_is_the_inverse_of_epsilon():
    for epsilon in (0.1, 1.0, 5.0):
        keep = 1.0 - voting.flip_probability(epsilon, 0.5)
        assert local.epsilon_of(keep) == pytest.approx(epsilon, rel=1e-12)


def test_for_one_candidate_at_once_is_alone():
    assert voting.radius_at_once(1000, 0.7, 1, 0.9) == voting.radius(1000, 0.7, 0.9)


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda: local.epsilon_of(0.5), "keep probability"),
        (lambda: local.epsilon_of(1.0), "keep probability"),
        (lambda: voting.radius(0, 0.6), "users"),
        (lambda: voting.radius(10, 0.6, 1.0), "level"),
        (lambda: voting.radius_at_once(10, 0.6, 0), "candidates"),
    ],
)
def test_outside_its_range_a_formula_is_refused(call, subject):
    with pytest.raises(ParameterError, match=rf"^{subject}: expected .*, got .*\. "):
        call()
