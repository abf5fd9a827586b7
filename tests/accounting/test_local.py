"""Ballots that hide themselves: the divergence, its smallest noise, and what a guess is worth."""

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from msgspec.structs import replace

from helpers import contracts as c
from helpers.named import flip_blank
from mixtally.accounting.budget import local
from mixtally.accounting.plans.terms import PrivacyTerms, local_epsilon_of
from mixtally.errors import ParameterError
from mixtally.model.guarantee import Guarantee, Observer
from mixtally.model.matrix import make_matrix
from mixtally.primitives.fixed_point import SCALE, threshold_of


def ballots(threshold, options=3):
    return flip_blank(bins=options, fakes=0, threshold=threshold)


def distributions(options, q):
    """P[ballot | vote] for every ballot, one dictionary a vote, from the definition."""
    return [
        {
            seen: math.prod(1 - q if bit == (i == vote) else q for i, bit in enumerate(seen))
            for seen in product((0, 1), repeat=options)
        }
        for vote in range(options)
    ]


def test_the_numbers_of_the_side_notes():
    """002 section 5: p = 0.63 gives e^epsilon of about 2.9, and 25 % deniability."""
    found = local.certificate(ballots(local.threshold_for_keep(0.63), 4))
    assert math.exp(found.epsilon) == pytest.approx((0.63 / 0.37) ** 2, rel=1e-9)
    assert f"{math.exp(found.epsilon):.3f}" == "2.899"
    assert (found.lower, found.upper, found.observer) == (0.0, 0.0, Observer.LINKED)
    assert found.assumption.startswith("none")
    assert 0.25 < local.least_guess_error(found, 2) < 0.257
    assert found.epsilon >= local.epsilon_of(0.63)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, math.log(3), 5.0, 20.0])
def test_the_least_noise_keeps_epsilon_without_any_delta(epsilon):
    threshold = local.least_threshold(epsilon)
    found = local.certificate(ballots(threshold), epsilon)
    assert (found.epsilon, found.upper) == (epsilon, 0.0)
    assert 2 * math.log((SCALE - threshold) / threshold) == pytest.approx(epsilon, rel=1e-10)


def test_a_little_less_noise_is_refused():
    threshold = local.least_threshold(1.0)
    with pytest.raises(ParameterError, match="epsilon: expected at least"):
        local.certificate(ballots(threshold - (threshold >> 30)), 1.0)


@pytest.mark.parametrize("options", [2, 3, 5])
@pytest.mark.parametrize("keep", [0.55, 0.63, 0.9])
def test_no_ballot_tells_more_than_epsilon_and_one_tells_all_of_it(options, keep):
    found = local.certificate(ballots(local.threshold_for_keep(keep), options))
    every = distributions(options, 1 - keep)
    worst = max(one[y] / other[y] for one in every for other in every for y in one)
    assert worst == pytest.approx(math.exp(found.epsilon), rel=1e-9)


@pytest.mark.parametrize("options", [2, 3, 5])
def test_the_best_guess_at_the_worst_ballot_is_wrong_as_often_as_said(options):
    found = local.certificate(ballots(local.threshold_for_keep(0.63), options))
    every = distributions(options, 0.37)
    surest = max(pmf[y] / sum(other[y] for other in every) for pmf in every for y in pmf)
    assert 1 - surest == pytest.approx(local.least_guess_error(found, options), rel=1e-9)


@pytest.mark.parametrize("options", [2, 3])
def test_how_ballots_speak_is_their_distribution(options):
    q = 0.37
    truth, *_, lie = distributions(options, q)
    shares = [0.0, 0.0, 0.0]
    for seen, chance in truth.items():
        ratio = chance / lie[seen]
        shares[0 if ratio > 1.01 else 2 if ratio < 0.99 else 1] += chance
    assert local.ballot_evidence(ballots(threshold_of(q))) == pytest.approx(shares)
    assert sum(shares) == pytest.approx(1.0)


@pytest.mark.parametrize("options", [2, 4])
def test_a_guess_under_delta_is_bounded_and_the_bound_is_reached(options):
    """Shows the vote with probability delta, otherwise answers with randomized response."""
    epsilon, delta = 1.0, 0.01
    grow = math.exp(epsilon)
    found = local.certificate(ballots(local.least_threshold(epsilon), options), epsilon)
    leaky = type(found)(
        epsilon=epsilon, lower=0.0, upper=delta, observer=found.observer, status=found.status,
        source="", assumption="",
    )  # fmt: skip
    right = delta + (1 - delta) * grow / (grow + options - 1)
    assert local.least_guess_error(leaky, options) == pytest.approx(1 - right)
    assert local.least_guess_error(found, options) > 1 - right  # the twin that forgets delta


@pytest.mark.parametrize("keep", [0.5, 0.4, 1.0, 0.0, -1.0, float("nan"), 0.5001, 0.99999])
def test_marks_that_are_kept_too_seldom_or_too_often_are_refused(keep):
    with pytest.raises(ParameterError, match="keep probability: expected a number in"):
        local.threshold_for_keep(keep)


@pytest.mark.parametrize("epsilon", [0.0, 21.0, float("nan")])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon: expected"):
        local.least_threshold(epsilon)


def exact_log(ratio):
    """ln(ratio) to 50 digits."""
    context = Context(prec=50)
    return Fraction(context.divide(Decimal(ratio.numerator), ratio.denominator).ln(context))


def stated(part, copies, collections):
    """The local epsilon of a plan with so many equal parts."""
    promised = Guarantee(epsilon=1.0, delta=0.1)
    terms = PrivacyTerms((part,) * copies, promised, collections, 2, count_flips=True, hops=1)
    return local_epsilon_of(terms)


def local_epsilons(draw):
    """Pairs of a stated local epsilon and the true one."""
    copies, collections = draw.choice((1, 3, 40)), draw.choice((1, 3, 365))
    threshold = draw.choice(
        (draw.randrange(1 << 24, 1 << 63), (1 << 63) - (1 << draw.randint(1, 62)))
    )
    flipped = replace(c.flipped(9, most_set=2), threshold=threshold)
    loss = 4 * exact_log(Fraction(SCALE - threshold, threshold))
    yield stated(flipped, copies, collections), loss * copies * collections
    gone = draw.choice((draw.randrange(1, SCALE), SCALE - (1 << draw.randint(0, 62))))
    replaced = replace(c.replaced(5, most_set=3), replaced=gone)
    loss = 3 * exact_log(1 + Fraction(SCALE - gone, gone) * 8)
    yield stated(replaced, copies, collections), loss * copies * collections
    least = draw.randint(1, 10**6)
    most = least + draw.choice((1, draw.randint(1, 10**6)))
    rows = [[f"{one}/{2 * most}", f"{2 * most - one}/{2 * most}"] for one in (least, most)]
    ratios = Fraction(most, least), Fraction(2 * most - least, most)
    yield make_matrix(rows).local_epsilon, max(map(exact_log, ratios))


def test_no_local_epsilon_is_rounded_down():
    """More than half of them were, by some units in the last place; of a matrix by 1e-11."""
    draw = Random(5)
    for _ in range(200):
        for found, true in local_epsilons(draw):
            assert true <= Fraction(found) <= true * (1 + Fraction(1, 10**14))
