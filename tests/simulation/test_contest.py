"""A vote played twice: the numbers of the side notes, intervals that hold, plans that fit."""

import math

import numpy as np
import pytest

from mixtally.app.options import build_options
from mixtally.app.outcome import Run
from mixtally.app.simulate import SimulateOptions, simulate
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.formulas import voting as published
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.winner import contest
from mixtally.lab.simulation.winner.contest import ballots_for
from mixtally.model.estimates import Tally
from mixtally.model.question import Kind, Question
from mixtally.protocol.estimate.conclude.counts import EXACT_ONES
from mixtally.protocol.estimate.debias import estimate_counts
from reference.coverage import draw_counts

VOTES = np.array([51_150, 28_400, 13_300, 7_150])
THREE = Question(name="x", bins=3)


def voted(crowd, *, keep=None, epsilon=None, delta=1e-6, seed=1, level=0.95, **trusted):
    """The study of a vote."""
    given = {"winner": True, "keep_probability": keep, "epsilon": epsilon, "delta": delta}
    run = Run(lab=Lab(SeededChance(seed)), source="Made up.", seed=seed, level=level)
    return simulate(build_options(SimulateOptions, {**given, **trusted}), crowd, run).study()


def held(crowd, **asked):
    return voted(crowd, **asked).contest


@pytest.fixture(scope="module")
def example():
    return held(contest.example_electorate(), keep=contest.EXAMPLE_KEEP)


def test_the_example_is_that_of_the_side_notes(example):
    """002 section 5: n = 100,000, p = 0.63: 2.9 and 1.15 %; at once over four 1.47 %."""
    assert (example.plan.users, VOTES[0]) == (100_000, 51_150)
    assert f"{math.exp(example.local.certificate.epsilon):.3f}" == "2.899"
    assert f"{100 * example.radius(example.local):.3f}" == "1.151"
    assert example.radius(example.local) == pytest.approx(published.radius(100_000, 0.63))
    assert example.radius(example.local, at_once=True) == pytest.approx(
        published.radius_at_once(100_000, 0.63, 4)
    )


def test_the_exact_intervals_of_the_example_are_the_normal_ones_to_whole_votes(example):
    found = example.local.estimate
    assert found.individual.method == "exact test inversion"
    radius = example.radius(example.local) * example.plan.users
    assert np.abs(found.counts - radius - found.individual.lower).max() < 3
    assert np.abs(found.counts + radius - found.individual.upper).max() < 3


def test_real_ballots_give_unbiased_shares(example):
    """False alarm below 10^-5: eight estimates within five standard errors; the seed is fixed."""
    for count in example.counts().values():
        off = np.abs(count.estimate.counts - VOTES)
        assert (off < 5 * count.estimate.standard_error).all()
        assert count.leaders == [0]
        assert count.chances[0] > 0.9999
        assert count.may_win.tolist() == [True, False, False, False]


def test_both_versions_keep_the_same_epsilon_and_mixes_cost_far_less(example):
    local, shuffle = example.local, example.shuffle
    assert local.certificate.epsilon == shuffle.certificate.epsilon
    assert (local.certificate.upper, shuffle.certificate.upper <= 1e-6) == (0.0, True)
    assert local.messages == 100_000
    assert shuffle.estimate.standard_error < local.estimate.standard_error / 50


@pytest.mark.parametrize(
    ("wished", "protocol"),
    [
        ({"mix_fakes": True}, "clear-shaped"),
        ({}, "clear-uniform"),
        ({"protocol": "flip-blank"}, "flip-blank"),
        ({"local_epsilon": 4.0}, "kary-response"),
    ],
)
def test_the_budget_decides_the_shuffle_version(wished, protocol):
    crowd = Population(Question(name="x", bins=3), np.repeat(np.arange(3), [900, 700, 400]))
    found = held(crowd, epsilon=1.0, **wished)
    assert found.plan.protocol == protocol
    assert found.shuffle.chances.sum() == pytest.approx(1.0)


def test_a_seed_repeats_a_vote():
    crowd = Population(Question(name="x", bins=2), np.repeat([0, 1], [700, 500]))
    first, again, other = (held(crowd, epsilon=1.0, seed=seed) for seed in (1, 1, 2))
    assert first.local.estimate.counts.tolist() == again.local.estimate.counts.tolist()
    assert first.local.estimate.counts.tolist() != other.local.estimate.counts.tolist()


def covered(planned, sent, runs=400):
    """Share of exact and of normal intervals that hold the truth: 8,000 voters, three options.

    Ballots are made under ``sent`` and counted under ``planned``.
    """
    truth, users = np.array([4300, 2500, 1200]), 8000
    exact = normal = 0
    for counts in draw_counts(sent, truth, users, runs, SeededChance(7)):
        tally = Tally(counts, users)
        found = estimate_counts(planned, tally, users, exact_ones=EXACT_ONES)
        assert found.individual.method == "exact test inversion"
        exact += int(((found.individual.lower <= truth) & (truth <= found.individual.upper)).sum())
        radius = users * published.radius(users, 1 - planned.flip_probability)
        normal += int((np.abs(found.counts - truth) <= radius).sum())
    return exact / (3 * runs), normal / (3 * runs)


@pytest.mark.seconds
def test_both_intervals_hold_the_truth_as_often_as_they_say():
    """False alarm below 10^-4: 1,200 intervals at 95 %, a standard error of 0.63 %, bounds at four
    of them, and the seed is fixed.
    """
    ballots = ballots_for(THREE, epsilon=None, keep=0.63).flips
    exact, normal = covered(ballots, ballots)
    assert 0.925 < exact < 0.976
    assert 0.925 < normal < 0.976


@pytest.mark.seconds
def test_devices_that_keep_marks_less_often_than_planned_are_found():
    """The twin: p = 0.62 sent, 0.63 counted on."""
    planned, sent = (ballots_for(THREE, epsilon=None, keep=p).flips for p in (0.63, 0.62))
    exact, normal = covered(planned, sent)
    assert exact < 0.925
    assert normal < 0.925


def test_neither_epsilon_nor_keep_is_refused():
    with pytest.raises(ParameterError, match="--winner: expected --epsilon or --keep-probability"):
        ballots_for(THREE, epsilon=None, keep=None)


def test_too_many_options_are_refused():
    with pytest.raises(ParameterError, match="options: expected at most 200"):
        ballots_for(Question(name="x", bins=201), epsilon=1.0, keep=None)


def test_records_of_several_values_are_no_ballots():
    several = Question(name="x", bins=3, kind=Kind.BITS)
    with pytest.raises(ParameterError, match="expected one choice per ballot"):
        ballots_for(several, epsilon=1.0, keep=None)


def test_a_level_is_refused_before_anything_is_played(watch):
    watch(contest, "play_parts", 0)
    crowd = Population(Question(name="x", bins=2), np.repeat([0, 1], [700, 500]))
    with pytest.raises(ParameterError, match="confidence level"):
        held(crowd, epsilon=1.0, level=1.0)


def test_a_crowd_too_small_for_any_plan_is_refused():
    crowd = Population(Question(name="x", bins=2), np.repeat([0, 1], [3, 2]))
    with pytest.raises(InfeasibleError):
        held(crowd, epsilon=0.1)


def test_votes_are_those_of_the_release():
    crowd = Population(Question(name="x", bins=2), np.repeat([0, 1], [700, 500]))
    study = voted(crowd, epsilon=1.0)
    assert study.contest.shuffle.estimate is study.main_result.estimate
    assert study.contest.shuffle.certificate == study.main_result.certificate
    assert study.without_truth().contest is study.contest  # it has nothing of the truth
