"""Several collections, several mixes, small crowds, hashed values: each against its own check."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers import least
from mixtally.errors import ParameterError
from mixtally.ground.fixed import SCALE
from mixtally.mixing.shaped import shaped_fakes
from mixtally.planner import choose, forecast, users_for
from mixtally.planner.noise import capped
from mixtally.privacy.certify import certify, verify
from mixtally.records.hashing import HMAC_SHA256, Hashing
from mixtally.records.mechanism import Parameter
from mixtally.simulation.seeded import SeededChance
from mixtally.tally.fold import tally_messages
from planner.requests import BIT, SEED, composed_twice, divergence, losses, named, request, surveyed

TWICE = request(20, users=50_000, collections=2, mix_fakes=True)
FIVE = replace(TWICE, collections=5, protocol="clear-uniform", mix_fakes=False)
composed = pytest.mark.slow
"""Marks what waits for compositions to be calibrated, several seconds a request."""
NAMES = ["clear-shaped", "clear-uniform", "flip-blank"]


@composed
@pytest.mark.parametrize("name", NAMES)
def test_two_collections_tell_what_the_sum_over_all_outcomes_says(name):
    found = named(TWICE, name)
    atoms = losses(found.mechanism)
    truth = composed_twice(atoms, atoms, 1.0)
    assert truth <= found.certificate.upper * (1 + 1e-6)
    assert found.certificate.upper <= 1.01 * truth
    assert found.certificate.upper <= 1e-6
    assert found.facts()["collections"] == 2


@composed
def test_two_collections_need_more_fakes_than_one_and_fewer_than_half_the_epsilon():
    together = named(TWICE, "clear-uniform").mechanism.fakes.count
    assert least.uniform_fakes(20, 1.0, 1e-6) < together < least.uniform_fakes(20, 0.5, 5e-7)


@composed
def test_five_collections_keep_the_guarantee_by_a_librarys_composition():
    """dp-accounting rounds the curve of the outcomes by itself, upwards; ours is rougher."""
    from dp_accounting.pld import pld_pmf

    (found,) = surveyed(FIVE)
    step, last = 2.0**-9, 1400
    grid = np.arange(last + 1) * step
    above = divergence(losses(found.mechanism), grid)
    below = -np.expm1(-grid[:0:-1]) + np.exp(-grid[:0:-1]) * above[:0:-1]
    peer = pld_pmf.create_pmf_pessimistic_connect_dots(
        step, np.arange(-last, last + 1), np.concatenate([below, above])
    )
    theirs = peer.self_compose(5, 0).get_delta_for_epsilon(1.0)
    assert theirs * (1 - 3e-3) <= found.certificate.upper <= theirs * 1.01
    assert theirs <= 1e-6 * (1 + 3e-3)


@composed
def test_the_plan_of_many_collections_promises_its_share_and_is_true():
    for option in surveyed(TWICE):
        plan = option.plan
        assert verify(plan) == option.mechanism
        assert 0.5 * (1 - 1e-6) < plan.guarantee.epsilon < 1.0
        alone = divergence(losses(option.mechanism), np.array([plan.guarantee.epsilon]))[0]
        assert alone <= plan.guarantee.delta * (1 + 1e-6)


@composed
def test_a_local_cap_is_for_all_collections_as_the_guarantee_is():
    asked = request(20, users=50_000, collections=2, local_epsilon=2.0)
    (option,) = surveyed(asked)
    assert 2 * option.mechanism.local_epsilon <= 2.0


@pytest.mark.parametrize("touched", [1, 2, 6])
@pytest.mark.parametrize("collections", [1, 2, 12, 1000])
def test_every_collection_has_its_share_of_the_local_cap(touched, collections):
    """The flips that differ between two answers, over all collections, tell the cap and no more."""
    cap = 0.5 * collections**0.5
    asked = request(20, collections=collections, local_epsilon=cap)
    q = capped(asked, touched) / SCALE
    told = collections * touched * math.log1p((1.0 - 2.0 * q) / q)
    assert cap * (1 - 1e-9) < told <= cap * (1 + 1e-12)


@pytest.mark.parametrize("collections", [1, 3])
def test_a_plan_keeps_the_local_cap_over_all_collections(collections):
    asked = request(20, users=10**5, epsilon=3.0, messages_per_user=1.0, local_epsilon=0.5)
    best = choose(replace(asked, collections=collections)).best
    told = 2 * collections * math.log(SCALE / best.mechanism.threshold - 1.0)
    assert 0.5 * (1 - 1e-9) < told <= 0.5 * (1 + 1e-12)
    assert best.facts()["local_epsilon"] == pytest.approx(told)


@pytest.mark.parametrize("mixes", [1, 2, 5])
def test_the_variances_of_mixes_add_and_the_promise_is_that_of_one(mixes):
    one = choose(request(20, mix_fakes=True)).best
    many = choose(request(20, mix_fakes=True, mixes=mixes)).best
    assert many.standard_error == pytest.approx(one.standard_error * math.sqrt(mixes))
    assert many.certificate.upper == one.certificate.upper
    assert many.mechanism.fakes_promised == mixes * one.mechanism.fakes_promised
    assert ("at least one of the mixes that add" in many.certificate.assumption) == (mixes > 1)


@pytest.mark.parametrize("mixes", [1, 3])
def test_fakes_of_all_mixes_err_as_forecast(mixes):
    """False alarm about 1e-6: 40,000 bins have a share's deviation of 0.11 % and whole counts may
    move it by 1.5 %; their mean square has a deviation of about 1 %.
    """
    bins, chance = 40_000, SeededChance(3)
    option = choose(request(bins, users=10**7, mix_fakes=True, mixes=mixes)).best
    mechanism, layout = option.mechanism, option.mechanism.layout
    drawn = [shaped_fakes(mechanism.fakes.weights, layout, chance) for _ in range(mixes)]
    tally = tally_messages(layout, np.concatenate(drawn))
    errors = mechanism.unbiased(tally.counts, tally.messages)
    assert np.mean(errors) == pytest.approx(0.0, abs=5 * option.standard_error / math.sqrt(bins))
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(option.standard_error, rel=0.03)
    expected = forecast(option, 0.95)
    assert 0.93 <= np.mean(np.abs(errors) <= expected.half_width) <= 0.98


@pytest.mark.parametrize("name", ["clear-uniform", "flip-blank"])
@pytest.mark.parametrize(
    ("users", "crowd", "honest"), [(10**6, 400_000, 1.0), (99_991, 33_333, 0.7), (1000, 999, 0.9)]
)
def test_the_fakes_of_the_minimum_crowd_alone_keep_the_promise(name, users, crowd, honest):
    asked = request(
        7, users=users, minimum_crowd=crowd, honest_share=honest, protocol=name,
        messages_per_user=4.0,
    )  # fmt: skip
    (option,) = surveyed(asked)
    promised = option.mechanism.fakes.count
    fewer = option.mechanism.having(Parameter.FAKES, math.floor(honest * promised * crowd / users))
    assert certify(fewer, 1.0).upper <= 1e-6 * (1 + 1e-4)
    assert divergence(losses(fewer), np.array([1.0]))[0] <= 1e-6 * (1 + 1e-4)
    counted = option.facts()["fakes_counted"]
    assert counted in (fewer.fakes.count, fewer.fakes.count - 1)
    far_fewer = option.mechanism.having(Parameter.FAKES, fewer.fakes.count * 9 // 10)
    assert certify(far_fewer, 1.0).upper > 1e-6


def test_a_single_bit_counts_on_no_more_than_the_minimum_crowd():
    asked = request(question=BIT, users=10_000, minimum_crowd=2500, messages_per_user=2.0)
    option = named(asked, "single-bit")
    facts = option.facts()
    assert (facts["crowd_counted"], facts["fakes_counted"]) == (2500, 2500)
    assert facts["minimum_crowd"] == 2500


def test_people_flips_are_counted_on_no_more_than_the_minimum_crowd():
    asked = request(users=10**5, minimum_crowd=60_000, count_crowd=True, messages_per_user=1.0)
    assert choose(asked).facts()["crowd_counted"] == 60_000


@pytest.mark.parametrize(
    ("users", "honest"), [(10**6, 1.0), (123_457, 1.0), (10**6, 0.61), (9999, 1.0)]
)
def test_a_thousandth_more_bins_are_not_covered(users, honest):
    asked = request(10**6, users=users, honest_share=honest, protocol="clear-uniform")
    bins = named(asked, "clear-uniform, hashed").plan.question.bins
    assert math.floor(honest * users) < least.uniform_fakes(math.ceil(1.001 * bins), 1.0, 1e-6)


@pytest.mark.parametrize(
    ("users", "honest"),
    [
        (10**6, 1.0),
        (123_457, 1.0),
        (10**6, 0.61),
        (9999, 1.0),
    ],
)  # fmt: skip
def test_hashing_makes_the_most_bins_that_the_fakes_cover(users, honest):
    asked = request(10**6, users=users, honest_share=honest, protocol="clear-uniform")
    option = named(asked, "clear-uniform, hashed")
    bins, hashed = option.plan.question.bins, option.plan.question.hashed
    assert hashed == Hashing(function=HMAC_SHA256, seed=SEED, values=10**6)
    assert option.mechanism.fakes.count <= users
    assert math.floor(honest * users) < least.uniform_fakes(bins + 1, 1.0, 1e-6)
    assert math.floor(honest * option.mechanism.fakes.count) >= least.uniform_fakes(bins, 1.0, 1e-6)


def test_collisions_err_as_a_random_hash_does():
    """All others hold one value; 200,000 hashes throw it into one of 50 bins, here or not.

    False alarm below 1e-6: the standard deviation of the share is 0.7 % of it, five times less
    than allowed.
    """
    asked = request(10**6, users=2150, protocol="clear-uniform", epsilon=1.0)
    option = named(asked, "clear-uniform, hashed")
    bins = option.plan.question.bins
    runs = 200_000
    words = np.array([SeededChance(7).words(runs)], dtype=np.uint64).reshape(-1)
    here = (words % np.uint64(bins)) == 0
    added = np.where(here, 2150.0, 0.0)
    assert np.std(added) == pytest.approx(option.collisions, rel=0.03)
    assert option.standard_error == pytest.approx(math.hypot(option.noise, option.collisions))


def test_values_are_not_hashed_where_they_need_not_or_must_not():
    for asked in (
        request(99_999),
        request(10**6, hash_seed=None),
        request(10**6, mix_fakes=True),
        request(10**6, local_epsilon=4.0),
        request(10**6, messages_per_user=50.0),
    ):
        assert not [option for option in surveyed(asked) if option.plan.question.hashed]


@pytest.mark.seconds
@pytest.mark.parametrize("share", [0.3, 0.01, 1e-4, 1e-6])
@pytest.mark.parametrize("bins", [2, 1000])
def test_the_least_crowd_reaches_the_share_and_three_percent_fewer_do_not(bins, share):
    found = users_for(request(bins, users=2), share)
    users = found.best.plan.users
    assert found.best.standard_error <= share * users
    fewer = request(bins, users=math.floor(users * 0.97))
    options = surveyed(fewer)
    assert not options or options[0].standard_error > share * fewer.users


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_share_is_refused(share):
    with pytest.raises(ParameterError, match="target share"):
        users_for(request(users=2), share)


def test_the_least_crowd_does_not_drop_the_minimum_crowd():
    with pytest.raises(ParameterError, match="minimum crowd"):
        users_for(request(10, users=1000, minimum_crowd=500), 0.01)


def test_next_to_no_honest_fakes_are_a_misfit():
    assert not surveyed(request(honest_share=1e-12, protocol="clear-uniform"))
    for fraction in (5e-324, 1e-16, 1e-13):
        with pytest.raises(ParameterError, match="honest share"):
            request(honest_share=fraction, protocol="clear-uniform")
