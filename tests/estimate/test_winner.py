"""The winner's chance is the exact one where it can be enumerated, and calibrated where not."""

from itertools import product
from math import comb, exp, factorial, sqrt

import numpy as np
import pytest

from helpers.named import clear_shaped, clear_uniform, flip_blank, flip_uniform
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Estimate, Intervals, Tally
from mixtally.model.mechanism import BitFlips, BlankFakes, InClear, ShapedFakes, UniformFakes
from mixtally.model.shape import ratio_of
from mixtally.primitives.draw import draw_below
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.noise import NoiseCache
from mixtally.protocol.estimate.winner import may_have_won, winner_chances
from reference.coverage import draw_counts

PEOPLE = 9


def binomial(n, q):
    return [comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]


def likelihood(mechanism, messages, seen, z):
    """P[tallied = seen | z votes], from the definition."""
    match mechanism:
        case BitFlips(fakes=BlankFakes()):
            q = mechanism.flip_probability
            return np.convolve(binomial(z, 1 - q), binomial(messages - z, q))[seen]
        case BitFlips(fakes=UniformFakes()):  # a Poisson number of fakes hold the bin
            mean = mechanism.fakes_promised / mechanism.bins
            blank = flip_blank(
                bins=mechanism.bins, fakes=mechanism.fakes_promised, threshold=mechanism.threshold
            )
            return sum(
                exp(-mean) * mean**k / factorial(k) * likelihood(blank, messages, seen, z + k)
                for k in range(messages - z + 1)
            )
        case InClear(fakes=UniformFakes()):
            mean, k = mechanism.fakes_promised / mechanism.bins, seen - z
            return exp(-mean) * mean**k / factorial(k) if k >= 0 else 0.0
        case InClear(fakes=ShapedFakes()):
            k = seen - z
            return (
                mechanism.fakes.shape.weights[k] / 2**64
                if 0 <= k < len(mechanism.fakes.shape.weights)
                else 0.0
            )


def enumerated(mechanism, tally):
    """The chances by going through all numbers of votes, ties shared evenly."""
    laws = [
        [likelihood(mechanism, tally.messages, s, z) for z in range(PEOPLE + 1)]
        for s in tally.counts.tolist()
    ]
    chances = np.zeros(len(laws))
    for votes in product(range(PEOPLE + 1), repeat=len(laws)):
        weight = np.prod([law[z] for law, z in zip(laws, votes, strict=True)])
        best = np.flatnonzero(np.array(votes) == max(votes))
        chances[best] += weight / len(best)
    return chances / chances.sum()


SMALL = [
    (flip_blank(bins=3, fakes=0, threshold=threshold_of(0.37)), [4, 5, 3], 9),
    (flip_blank(bins=4, fakes=6, threshold=threshold_of(0.1)), [4, 4, 6, 1], 15),
    (flip_blank(bins=3, fakes=0, threshold=threshold_of(0.001)), [5, 4, 0], 9),
    (flip_uniform(bins=3, fakes=60, threshold=threshold_of(0.05)), [25, 26, 22], 69),
    (clear_uniform(bins=3, fakes=6), [5, 6, 4], 15),
    (clear_uniform(bins=2, fakes=4), [7, 6], 13),
    (clear_shaped(bins=3, ratio=ratio_of(0.5), shift=3), [6, 7, 5], 18),
]
IDS = [f"{p.name} {p.bins}" for p, *_ in SMALL]


@pytest.mark.parametrize(("mechanism", "counts", "messages"), SMALL, ids=IDS)
def test_chances_are_those_of_the_enumeration(mechanism, counts, messages):
    tally = Tally(np.array(counts), messages)
    found = winner_chances(mechanism, tally, PEOPLE)
    assert found == pytest.approx(enumerated(mechanism, tally), abs=1e-11)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize(("mechanism", "counts", "messages"), SMALL[:4], ids=IDS[:4])
def test_blank_ballots_win_nothing_and_others_are_compared_without_them(
    mechanism, counts, messages, blank
):
    tally = Tally(np.array(counts), messages)
    found = winner_chances(mechanism, tally, PEOPLE, blank)
    others = enumerated(mechanism, Tally(np.delete(counts, blank), messages))
    assert found[blank] == 0.0
    assert np.delete(found, blank) == pytest.approx(others, abs=1e-11)


def test_large_votes_follow_the_normal_law():
    """Two options, noise in the thousands: the chance is Phi(difference / (sqrt(2) error))."""
    from statistics import NormalDist

    n = 10_000_000
    mechanism = flip_blank(bins=2, fakes=0, threshold=threshold_of(0.37))
    error = sqrt(mechanism.variance(n))
    for gap in (0.0, 0.3, 1.0, 3.0):
        votes = np.array([n / 2 + gap * error, n / 2])
        counts = np.round(votes * mechanism.gain + mechanism.offset(n)).astype(np.int64)
        found = winner_chances(mechanism, Tally(counts, n), n)
        assert found[0] == pytest.approx(NormalDist().cdf(gap / sqrt(2)), abs=2e-4)


def test_equal_tallies_share_the_chance_and_far_ones_have_none():
    mechanism = clear_uniform(bins=40, fakes=4000)
    counts = np.full(40, 200)
    counts[3] = 120
    found = winner_chances(mechanism, Tally(counts, int(counts.sum())), 4000)
    others = np.delete(found, 3)
    assert others == pytest.approx(np.full(39, others[0]))
    assert found[3] < 1e-6
    assert found.sum() == pytest.approx(1.0)


def test_a_tally_that_no_votes_explain_is_refused():
    mechanism = flip_blank(bins=2, fakes=0, threshold=threshold_of(0.01))
    with pytest.raises(MessageError, match="counts that some votes explain"):
        winner_chances(mechanism, Tally(np.array([0, 0]), 100_000), 50)


def simplex(chance, people, options):
    """A result drawn uniformly from all that sum to ``people``."""
    order = np.argsort(chance.words(people + options - 1))[: options - 1]
    bars = np.concatenate([[-1], np.sort(order), [people + options - 1]])
    return np.diff(bars) - 1


def played(mechanism, people, chance):
    truth = simplex(chance, people, mechanism.bins)
    messages = people + mechanism.fakes_promised
    if mechanism.name == "clear-uniform":
        noise = np.bincount(
            draw_below(chance, mechanism.bins, mechanism.fakes_promised), minlength=mechanism.bins
        )
        return truth, Tally(truth + noise, messages)
    return truth, Tally(draw_counts(mechanism, truth, messages, 1, chance)[0], messages)


def miscalibration(mechanism, people, runs):
    """The largest of five deviations, in standard errors, of wins from the chances that were said.

    Results are drawn uniformly from those that sum to the people, not as the formula assumes, and
    the chances that were said are sorted into five bands.
    """
    chance, said, won = SeededChance(11), [], []
    for _ in range(runs):
        truth, tally = played(mechanism, people, chance)
        said.append(winner_chances(mechanism, tally, people))
        best = truth == truth.max()
        won.append(best / best.sum())
    c, w = np.concatenate(said), np.concatenate(won)
    off = []
    for low in np.arange(0.0, 1.0, 0.2):
        inside = (c >= low) & (c < low + 0.2)
        spread = sqrt((c[inside] * (1 - c[inside])).sum())
        off.append(abs((w[inside] - c[inside]).sum()) / spread)
    return max(off)


CROWDS = {
    "local": flip_blank(bins=4, fakes=0, threshold=threshold_of(0.3)),
    "blank fakes": flip_blank(bins=3, fakes=120, threshold=threshold_of(0.15)),
    "uniform fakes": clear_uniform(bins=2, fakes=120),
    "shaped fakes": clear_shaped(bins=3, ratio=ratio_of(0.2), shift=50),
}


@pytest.mark.seconds
@pytest.mark.parametrize("name", CROWDS)
def test_said_chances_come_true_as_often(name):
    """False alarm below 10^-4 for all four: 20 deviations of at most one standard error (a chance
    shared by options that exclude each other varies less) beyond 4.75 have a chance of 4e-5; the
    seed is fixed. Truths that sum to the people, not independent ones as assumed, cost below a
    third of a standard error here.
    """
    assert miscalibration(CROWDS[name], 60, 800) < 4.75


def test_touching_intervals_rule_nobody_out_and_parted_ones_do():
    def ends(low, high):
        return Intervals(np.array(low), np.array(high), 0.95, "exact")

    together, alone = ends([40, 10, 9], [60, 40, 39]), ends([45, 20, 20], [55, 30, 30])
    found = Estimate(np.array([50.0, 25.0, 24.0]), 5.0, individual=alone, simultaneous=together)
    assert may_have_won(found).tolist() == [True, True, False]
    assert may_have_won(found, 0).tolist() == [False, True, True]
    assert may_have_won(found, 2).tolist() == [True, True, False]


def test_the_winner_is_among_those_not_ruled_out():
    """At 95 %: 2,000 collections miss at most 100 on average; 150 have a chance below 10^-6.

    The hardest result: all tied but one, which leads by a vote. The twin rules out by the
    intervals of each option narrowed to its estimate, and misses most of the time.
    """
    mechanism, chance = flip_blank(bins=3, fakes=0, threshold=threshold_of(0.3)), SeededChance(5)
    truth = np.array([21, 20, 19])
    missed = ruled = bold = 0
    noises = NoiseCache()
    for counts in draw_counts(mechanism, truth, 60, 2000, chance):
        found = estimate_counts(mechanism, Tally(counts, 60), 60, noises=noises)
        able = may_have_won(found)
        missed += not able[0]
        ruled += int((~able).sum())
        bold += int(found.counts.argmax()) != 0
    assert missed <= 150
    assert ruled > 0
    assert bold > 150
