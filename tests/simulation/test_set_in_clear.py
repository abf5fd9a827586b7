"""Collections of sets in clear: played, drawn from counts, and concluded."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from helpers.contracts import shaped, uniform
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import counts_only, plan_choice
from mixtally.lab.simulation.counts_only import (
    Histogram,
    collect_counts,
    draw_part,
    histogram_of,
    sizes_of,
)
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.play import play_parts
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question
from mixtally.planning import PlanRequest, choose
from mixtally.primitives.draw import draw_below
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate.analysis import Analysis

ALARM, RUNS = 1e-4, 2000
PART = uniform(3, most_set=2, coin=SCALE // 2)
SHAPED = shaped(3, most_set=2, ratio=SCALE >> 6, shift=1)
SMALL = Population(
    Question(name="q", bins=3, kind=Kind.SET, max_set=2),
    np.array([[0b011], [0b000], [0b100], [0b110], [0b100]], dtype=np.uint8),
)
ASKED = Question(name="likes", bins=12, kind=Kind.SET, max_set=3)
GUARANTEE = Guarantee(epsilon=1.0, delta=1e-6)
WISH = PlanRequest(question=ASKED, guarantee=GUARANTEE, users=5000)


def crowd():
    chance = SeededChance(3)
    sizes, first = draw_below(chance, 4, 5000), draw_below(chance, 12, 5000) // 2
    places = (np.arange(12) - first[:, None]) % 12
    bits = (places < sizes[:, None]).astype(np.uint8)
    return Population(ASKED, pack_vectors(bits.tobytes(), 12))


def outcome(received, tally):
    return received.received, *tally.counts.tolist()


def p_value(seed=1, part=PART, hops=1):
    """That whole tallies and drawn ones have one distribution, by their tables of outcomes."""
    chance, held, sizes = SeededChance(seed), SMALL.truth, sizes_of(SMALL)
    whole, drawn = Counter(), Counter()
    for _ in range(RUNS):
        played = play_parts([part], hops, [SMALL.records], chance)
        whole[outcome(played.received.parts[0], played.tallies[0])] += 1
        drawn[outcome(*draw_part(part, held, SMALL.users, hops, chance, sizes))] += 1
    often = [one for one in {*whole, *drawn} if whole[one] + drawn[one] >= 10]
    table = np.array([[seen[one] for one in often] for seen in (whole, drawn)])
    rest = RUNS - table.sum(axis=1, keepdims=True)
    table = np.hstack([table, rest])
    return chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


@pytest.mark.parametrize(("part", "hops"), [(PART, 1), (SHAPED, 1), (SHAPED, 2)])
def test_drawn_tallies_are_those_of_messages(part, hops):
    """False alarm: 10^-4 each."""
    assert p_value(part=part, hops=hops) > ALARM


def test_the_twin_whose_mixes_draw_for_bins_alone_is_caught(plant):
    """Pads without fakes of their own: three numbers, and nothing for two pads."""

    def bare(honest, weights, bins, chance, *, paired):
        return np.append(honest(weights, bins - 2, chance, paired=paired), [0, 0])

    plant(counts_only, "draw_fake_counts", bare)
    assert p_value(part=SHAPED) < ALARM


def test_the_twin_whose_pads_are_turned_around_is_caught(plant):
    plant(counts_only, "_count_pads", lambda honest, *given: honest(*given)[::-1])
    assert p_value() < ALARM


def test_counts_alone_do_not_say_how_large_sets_are():
    with pytest.raises(ParameterError, match="the number of sets of each size"):
        draw_part(PART, SMALL.truth, SMALL.users, 1, SeededChance(1))
    other = Histogram(ASKED, 5000, crowd().truth)
    plan = choose(WISH).plan
    with pytest.raises(ParameterError, match="flip-blank"):
        collect_counts(plan, other, Lab(SeededChance(1)))


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize(
    ("more", "protocol"),
    [({}, "clear-uniform"), ({"mix_fakes": True}, "clear-shaped"), ({"hops": 2}, "clear-shaped")],
)
def test_a_release_has_the_counts_and_the_sizes(more, protocol, drawn):
    """False alarm: below 10^-7, six standard errors of 16 numbers; six of them."""
    people, lab, plan = crowd(), Lab(SeededChance(4)), choose(replace(WISH, **more)).plan
    assert plan.protocol == protocol
    assert plan.parts[0].pads == 3
    given = (
        collect_counts(plan, histogram_of(people), lab)
        if drawn
        else simulate_release(plan, people, lab)
    )
    found, truth = given.result, truth_of(people, given.result)
    error = found.estimate.standard_error
    assert found.estimate.counts.shape == (12,)
    assert (abs(found.estimate.counts - people.truth) < 6 * error).all()
    (sizes,) = found.figures
    for row, true in zip(sizes.rows, truth.figures["sizes"], strict=True):
        assert abs(row.estimate - true) < 6 * row.standard_error
    assert found.received.parts[0].received == found.messages
    assert truth.figures["sizes"][0] == pytest.approx(people.sizes.mean())


def test_pairs_need_a_message_that_holds_the_set():
    plan, why = plan_choice.choose_plan(WISH, pairs=True)
    assert plan.protocol.startswith("flip")
    assert "so that pairs can be counted" in why
    clear = choose(WISH).plan
    with pytest.raises(ParameterError, match="records of several bits that are sent whole"):
        simulate_release(clear, crowd(), Lab(SeededChance(1)), Analysis(level=0.95, pairs=True))
