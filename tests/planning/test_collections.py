"""Several collections, several mixes, small crowds, planes: each against its own check."""

import math
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as altered

from helpers import least
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, delta_of
from mixtally.device.contract.planes import (
    LARGEST_PRIME,
    MOST_MESSAGES,
    Planes,
    digits_for,
    is_prime,
)
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.grid import Grid
from mixtally.model.mechanism import BitFlips, NoFakes
from mixtally.model.planes import directions
from mixtally.model.question import MOST_BINS, Kind, Question
from mixtally.planning import choose, choose_users, forecast
from mixtally.planning.noise import least_flips_for_local_epsilon
from mixtally.primitives.draw import draw_below
from mixtally.primitives.fixed_point import MOST_THRESHOLD, SCALE
from mixtally.protocol.mixing import draw_shaped_fakes
from mixtally.protocol.randomize import randomize_records
from mixtally.protocol.tally.fold import tally_messages
from planning.requests import (
    BIT,
    OPEN,
    PAIR,
    composed_twice,
    divergence,
    losses,
    named,
    proved,
    request,
    surveyed,
)

TWICE = request(20, users=50_000, collections=2, mix_fakes=True)
FIVE = replace(TWICE, collections=5, protocol="clear-uniform", mix_fakes=False)
composed = pytest.mark.slow
"""Marks what waits for sums over all pairs of outcomes, several seconds each."""
NAMES = [("clear-shaped", "every mix"), ("clear-uniform", "people"), ("flip-blank", "people")]


@composed
@pytest.mark.parametrize(("name", "cover"), NAMES)
def test_two_collections_tell_what_the_sum_over_all_outcomes_says(name, cover):
    plan = named(TWICE, name, cover)
    atoms = losses(plan.parts[0], plan.honest_people)
    truth = composed_twice(atoms, atoms, 1.0)
    assert truth <= plan.certificate.upper * (1 + 1e-6)
    assert plan.certificate.upper <= 1.03 * truth
    assert plan.certificate.upper <= 1e-6
    assert plan.facts()["collections"] == 2


def test_two_collections_need_more_fakes_than_one_and_fewer_than_half_the_epsilon():
    together = named(TWICE, "clear-uniform").fakes_counted
    assert least.uniform_fakes(20, 1.0, 1e-6) < together < least.uniform_fakes(20, 0.5, 5e-7)


@composed
def test_five_collections_keep_the_guarantee_by_a_librarys_composition():
    """dp-accounting rounds the curve of the outcomes by itself, upwards; ours is rougher."""
    from dp_accounting.pld import pld_pmf

    (plan,) = proved(FIVE)
    step, last = 2.0**-9, 1400
    grid = np.arange(last + 1) * step
    above = divergence(losses(plan.parts[0], plan.honest_people), grid)
    below = -np.expm1(-grid[:0:-1]) + np.exp(-grid[:0:-1]) * above[:0:-1]
    peer = pld_pmf.create_pmf_pessimistic_connect_dots(
        step, np.arange(-last, last + 1), np.concatenate([below, above])
    )
    theirs = peer.self_compose(5, 0).get_delta_for_epsilon(1.0)
    assert theirs * (1 - 3e-3) <= plan.certificate.upper <= theirs * 1.03
    assert theirs <= 1e-6 * (1 + 3e-3)


def test_fewer_collections_under_a_plan_of_several_promise_more():
    accountant = Accountant()
    for plan in proved(TWICE):
        once = certify_terms(PrivacyTerms.of(plan, 1), accountant)
        assert once.upper < 0.51 * plan.certificate.upper
        if plan.name != "clear-uniform":  # whose coins take a sum of millions
            atoms = losses(plan.parts[0], plan.honest_people)
            assert divergence(atoms, np.array([1.0]))[0] <= once.upper * (1 + 1e-6)


def test_a_local_cap_is_for_all_collections_as_the_guarantee_is():
    asked = request(20, users=50_000, collections=2, local_epsilon=2.0)
    for plan in proved(asked):
        assert 1.98 < plan.local_epsilon <= 2.0
        assert plan.local_epsilon_of(1) == plan.local_epsilon / 2


@pytest.mark.parametrize("touched", [1, 2, 6])
@pytest.mark.parametrize("collections", [1, 2, 12, 1000])
def test_every_collection_has_its_share_of_the_local_cap(touched, collections):
    """The flips that differ between two answers, over all collections, tell the cap and no more."""
    cap = 0.5 * collections**0.5
    asked = request(20, collections=collections, local_epsilon=cap)
    bits = BitFlips(bins=touched, threshold=MOST_THRESHOLD, max_set=None, fakes=NoFakes(), crowd=9)
    q = least_flips_for_local_epsilon(asked, bits, 1) / SCALE
    told = collections * touched * math.log1p((1.0 - 2.0 * q) / q)
    assert cap * (1 - 1e-9) < told <= cap * (1 + 1e-12)
    assert least_flips_for_local_epsilon(
        asked, altered(bits, bins=1), touched
    ) == least_flips_for_local_epsilon(asked, bits, 1)


@pytest.mark.parametrize("collections", [1, 3])
def test_a_plan_keeps_the_local_cap_over_all_collections(collections):
    asked = request(20, users=10**5, epsilon=3.0, messages_per_user=1.0, local_epsilon=0.5)
    plan = choose(replace(asked, collections=collections)).plan
    told = 2 * collections * math.log(SCALE / plan.parts[0].threshold - 1.0)
    assert 0.5 * (1 - 1e-9) < told <= 0.5 * (1 + 1e-12)
    assert plan.local_epsilon == pytest.approx(told)


@pytest.mark.parametrize("mixes", [1, 3])
def test_fakes_of_all_mixes_err_as_forecast(mixes):
    """False alarm about 1e-6: 40,000 bins have a share's deviation of 0.11 % and whole counts may
    move it by 1.5 %; their mean square has a deviation of about 1 %.
    """
    bins, chance = 40_000, SeededChance(3)
    plan = choose(request(bins, users=10**7, hops=mixes)).plan
    (part,) = plan.parts
    made = part.mechanism(fakes=0, mixes=mixes)
    drawn = [draw_shaped_fakes(part.recipe.weights, part.layout, chance) for _ in range(mixes)]
    tally = tally_messages(part.layout, np.concatenate(drawn))
    errors = made.debias_counts(tally.counts, tally.messages)
    assert np.mean(errors) == pytest.approx(0.0, abs=5 * plan.standard_error / math.sqrt(bins))
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(plan.standard_error, rel=0.03)
    expected = forecast(plan, 0.95)
    assert 0.93 <= np.mean(np.abs(errors) <= expected.half_width) <= 0.98


@pytest.mark.parametrize(
    "name", [pytest.param("clear-uniform", marks=pytest.mark.seconds), "flip-blank"]
)
@pytest.mark.parametrize(
    ("users", "crowd", "honest"), [(10**6, 400_000, 1.0), (99_991, 33_333, 0.7), (1000, 999, 0.9)]
)
def test_the_fakes_of_the_minimum_crowd_alone_keep_the_promise(name, users, crowd, honest):
    asked = request(
        7, users=users, minimum_crowd=crowd, honest_share=honest, protocol=name,
        messages_per_user=4.0,
    )  # fmt: skip
    (plan,) = proved(asked)
    assert plan.honest_people == math.floor(round(honest * crowd, 6))
    atoms = losses(plan.parts[0], plan.honest_people)
    assert divergence(atoms, np.array([1.0]))[0] <= 1e-6 * (1 + 1e-6)
    fewer = altered(plan, minimum_crowd=crowd * 9 // 10)
    assert delta_of(PrivacyTerms.of(fewer), Accountant()).upper > 1e-6


def test_a_single_bit_counts_on_no_more_than_the_minimum_crowd():
    asked = request(question=BIT, users=10_000, minimum_crowd=2500, messages_per_user=2.0)
    facts = named(asked, "single-bit").facts()
    assert (facts["crowd_counted"], facts["fakes_counted"]) == (2500, 2500)
    assert facts["minimum_crowd"] == 2500


def test_people_flips_are_counted_on_no_more_than_the_minimum_crowd():
    asked = request(users=10**5, minimum_crowd=60_000, count_crowd=True, messages_per_user=1.0)
    assert choose(asked).facts()["crowd_counted"] == 60_000


@pytest.mark.parametrize("question", [None, OPEN], ids=["closed", "open"])
@pytest.mark.parametrize(
    ("users", "honest"), [(10**6, 1.0), (123_457, 1.0), (10**6, 0.61), (9999, 1.0)]
)
def test_planes_are_of_the_greatest_prime_that_the_fakes_cover(users, honest, question):
    """Within half a percent, which coins and what is left to the proof take, and the next prime."""
    asked = request(
        10**6, users=users, honest_share=honest, protocol="clear-uniform", question=question
    )
    plan = named(asked, "clear-uniform, over planes")
    (part,) = plan.parts
    prime = part.planes.prime
    assert plan.messages_per_user <= 2.0
    assert plan.fakes_counted >= least.uniform_fakes(prime, 1.0, 1e-6)
    more = math.ceil(1.005 * prime) + 3
    while not is_prime(more):
        more += 1
    assert math.floor(honest * users) < least.uniform_fakes(more, 1.0, 1e-6)


def test_planes_of_a_closed_list_have_the_fewest_digits_and_its_values():
    plan = named(request(10**6, protocol="clear-uniform"), "clear-uniform, over planes")
    (part,) = plan.parts
    assert plan.question.bins == part.bins == 10**6
    assert part.planes.digits == digits_for(part.planes.prime, 10**6) == 2


def test_planes_of_an_open_domain_have_the_most_points_of_at_most_eight_bytes():
    asked = request(users=10**5, question=OPEN)
    plan = choose(asked).plan
    (part,) = plan.parts
    assert plan.question == altered(OPEN, bins=part.planes.points)
    assert part.layout.message_bytes <= 8
    wider = Planes(part.planes.prime, part.planes.digits + 1)
    assert part.planes.messages <= MOST_MESSAGES < wider.messages


@pytest.mark.parametrize(("users", "most"), [(10**9, 9.25), (10**10, 9.25)])
def test_planes_of_large_crowds_err_no_more_than_those_of_small_ones(users, most):
    """All fakes of one a person are used: 42.7 messages a plane are then needed, whatever n is."""
    plan = choose(request(users=users, question=OPEN)).plan
    (part,) = plan.parts
    assert MOST_BINS < part.planes.prime < users / 42
    assert part.layout.message_bytes <= 8
    assert plan.standard_error <= most


def test_the_largest_prime_is_named_as_the_limit_of_the_error():
    found = choose(request(users=10**10, question=OPEN, messages_per_user=20.0))
    assert found.plan.parts[0].planes.prime == LARGEST_PRIME
    assert "the largest number that a message can name" in found.reason
    less = choose(request(users=10**9, question=OPEN))
    assert "the largest number" not in less.reason


@pytest.mark.parametrize("limit", [205.0, 250.0, 2000.0])
def test_planes_keep_a_budget_of_bytes(limit):
    """One slot more of a bundle would be too long."""
    asked = request(10**7, bytes_per_user=limit, messages_per_user=30.0, protocol="clear-uniform")
    plan = named(asked, "clear-uniform, over planes")
    assert plan.bytes_per_user <= limit
    assert plan.bytes_per_user * (1 + 1 / plan.parts[0].most) > limit
    assert plan.parts[0].planes.prime <= MOST_BINS


def test_numbers_that_are_cut_are_not_sent_over_planes():
    edges = tuple(float(edge) for edge in range(10**5 + 1))
    grid = Grid(low=0.0, high=1.0, points=10**5)
    for more in ({}, {"edges": edges}, {"grid": grid}):
        asked = request(10**5, users=10**5, protocol="clear-uniform", **more)
        assert bool(surveyed(asked)) == (not more)


def test_planes_err_as_their_plan_says():
    """All others hold one value; 500 collections count another, which nobody holds, without bias.

    The deviation of the spread is 3.2 % of it, that of the mean 4.5 %: both have five. False alarm
    below 1e-6.
    """
    asked = request(10**6, users=2150, protocol="clear-uniform")
    plan = named(asked, "clear-uniform, over planes")
    (part,) = plan.parts
    over, mechanism = part.planes, part.mechanism(fakes=plan.fakes)
    chance, found = SeededChance(7), []
    for _ in range(500):
        codes = draw_below(chance, over.messages, plan.fakes)
        rows = randomize_records(part, np.full(2150, 999_999), chance)
        every = np.concatenate([codes, part.layout.codes(rows)])
        numbers, cells = np.divmod(every, over.prime)
        first = directions(numbers, over.prime, over.digits)[0]
        found.append(mechanism.debias_counts(np.array((first == cells).sum()), len(every)))
    assert np.std(found) == pytest.approx(plan.standard_error, rel=0.16)
    assert abs(np.mean(found)) < 5 * plan.standard_error / math.sqrt(500)


@pytest.mark.parametrize(
    "asked",
    [
        request(1000),
        request(10**6, local_epsilon=4.0),
        request(10**6, users=50, protocol="flip-blank"),
        request(question=BIT),
        request(question=PAIR, users=10**4),
    ],
    ids=["few bins", "a local epsilon", "another protocol", "a bit", "attributes"],
)
def test_planes_are_not_chosen_where_they_need_not_or_must_not(asked):
    assert choose(asked).plan.parts[0].planes is None


@pytest.mark.parametrize("asked", [request(1000), request(10**6, messages_per_user=50.0)])
def test_fakes_that_cover_all_values_leave_no_planes_to_weigh(asked):
    """Planes would err more, and cost as much."""
    names = [candidate.name for candidate in surveyed(asked)]
    assert names[0] == "clear-uniform"
    assert "clear-uniform, over planes" not in names


@pytest.mark.seconds
@pytest.mark.parametrize("share", [0.3, 0.01, 1e-4, 1e-6])
@pytest.mark.parametrize("bins", [2, 1000])
def test_the_least_crowd_reaches_the_share_and_three_percent_fewer_do_not(bins, share):
    found = choose_users(request(bins, users=2), share)
    users = found.plan.users
    assert found.plan.error_of(found.count) <= share * users
    fewer = request(bins, users=math.floor(users * 0.97))
    try:
        best = choose(fewer)
    except InfeasibleError:
        return
    assert best.plan.error_of(best.count) > share * fewer.users


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_share_is_refused(share):
    with pytest.raises(ParameterError, match="target share"):
        choose_users(request(users=2), share)


def test_the_least_crowd_does_not_drop_the_minimum_crowd():
    with pytest.raises(ParameterError, match="minimum crowd"):
        choose_users(request(10, users=1000, minimum_crowd=500), 0.01)


def test_next_to_no_honest_fakes_are_a_misfit():
    assert not surveyed(request(honest_share=1e-12, protocol="clear-uniform"))
    for fraction in (5e-324, 1e-16, 1e-13):
        with pytest.raises(ParameterError, match="honest share"):
            request(honest_share=fraction, protocol="clear-uniform")


@pytest.mark.parametrize("bits", [5, 12])
def test_bits_that_are_sent_whole_several_times_are_priced_for_several_collections(bits):
    """The least budget sends them once: what is asked of it has fewer ways."""
    asked = request(question=Question(name="q", bins=bits, kind=Kind.BITS), users=10**4)
    found = choose(replace(asked, messages_per_user=bits - 1, collections=2)).plan
    assert found.collections == 2
    assert found.certificate.upper <= 1e-6
