"""What is told of a crowd's memoized answers, row by row, from counts written by hand."""

import math

import numpy as np
import pytest

from mixtally.accounting.divergence.memoized import eps_inf, eps_reports
from mixtally.lab.attacks.learned_facts import compute_learned_facts, played_points
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Provenance
from mixtally.lab.simulation.memoized.counts import MemoizedFindings, TrueAnswers
from mixtally.lab.simulation.memoized.crowd import measure_recoveries, memoize_crowd
from mixtally.lab.simulation.memoized.losses import compute_losses
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.memoized_plan import hashed_question, make_memoized_plan
from mixtally.model.question import Question
from mixtally.protocol.encode.bloom import build_design
from mixtally.protocol.estimate.conclude import conclude_memoized
from mixtally.protocol.estimate.memoized import estimate_memoized
from mixtally.protocol.estimate.words import estimate_words
from mixtally.protocol.randomize.memoized import new_key

LABELS = ("a", "b", "c")
PEOPLE = 3000
CROWD = Population(
    Question(name="x", bins=3, labels=LABELS), np.repeat([0, 1, 2], [2000, 900, 100])
)
ONE_HOT = make_memoized_plan(CROWD.question, 0.5, 0.5, 0.75)
HASHED = make_memoized_plan(hashed_question("x", 16, 2), 0.5, 0.5, 0.75, 2)


def shown(plan, held):
    """The expected ones of each bit when ``held`` people truly set it."""
    return np.round(np.asarray(held) * plan.mechanism.gain + PEOPLE * plan.mechanism.offset).astype(
        np.int64
    )


def facts_of(result):
    truth = TrueAnswers(dict(zip(LABELS, CROWD.truth.tolist(), strict=True)), {})
    about = Provenance(title="x")
    found = MemoizedFindings(provenance=about, result=result, spent={}, learned={}, truth=truth)
    return found.facts


def told(held, reports=3):
    ones = np.tile(shown(ONE_HOT, held), (1, reports, 1))
    found = conclude_memoized(ONE_HOT, ones, np.array([PEOPLE]), LABELS)
    return facts_of(found)


def test_a_row_has_its_own_truth_and_both_intervals():
    facts = told([2000, 900, 100])
    ones = np.tile(shown(ONE_HOT, [2000, 900, 100]), (3, 1))
    wanted = estimate_memoized(ONE_HOT.mechanism, ones, PEOPLE, level=0.95)
    for i, row in enumerate(facts["estimates"]):
        assert (row["label"], row["truth"]) == (LABELS[i], [2000, 900, 100][i])
        assert (row["lower"], row["upper"]) == (
            wanted.individual.lower[i],
            wanted.individual.upper[i],
        )
        assert row["lower_simultaneous"] == wanted.simultaneous.lower[i]
        assert row["upper_simultaneous"] == wanted.simultaneous.upper[i]
    assert facts["covered"] == 1.0


@pytest.mark.parametrize(("held", "covered"), [([100, 900, 2000], 1 / 3), ([2000, 0, 1000], 1 / 3)])
def test_an_interval_on_either_side_of_the_truth_does_not_hold_it(held, covered):
    assert told(held)["covered"] == pytest.approx(covered)


def test_errors_fall_to_a_floor_that_no_report_removes():
    facts = told([2000, 900, 100])
    errors = [facts[f"bit_error_{name}"] for name in ("one_report", "all_reports", "floor")]
    assert errors == [ONE_HOT.mechanism.standard_error(PEOPLE, t) for t in (1, 3, math.inf)]
    assert errors[0] > errors[1] > errors[2] > 0.0


def test_words_are_counted_from_the_mean_of_all_reports():
    sizes = np.array([1500, 1500])
    draw = SeededChance(4).words(2 * 3 * 16).reshape(2, 3, 16)
    ones = 900 + (draw % 200).astype(np.int64)  # reports differ
    words = ("a", "b")
    known = build_design(HASHED, words)
    facts = facts_of(conclude_memoized(HASHED, ones, sizes, words, known))
    wanted = estimate_words(HASHED.mechanism, ones.mean(axis=1), sizes, known, 3, level=0.95)
    assert [row["estimate"] for row in facts["estimates"]] == wanted.counts.tolist()
    assert facts["unlisted"] == wanted.unlisted[0]
    assert facts["unlisted_truth"] == 100


def test_the_losses_are_those_of_all_bits_that_a_value_sets():
    for plan, hashes in ((ONE_HOT, 1), (HASHED, 2)):
        facts = compute_losses(plan, 5, None)
        assert plan.mechanism.hashes == hashes
        assert facts["eps_inf"] == eps_inf(plan.mechanism)
        assert facts["eps_T"] == eps_reports(plan.mechanism, 5)
    assert compute_losses(HASHED, 5, None)["eps_T"] == 2 * compute_losses(ONE_HOT, 5, None)["eps_T"]


def test_the_truth_is_never_learned_beyond_half_of_f():
    chance = SeededChance(2)
    crowd = Population(CROWD.question, np.arange(300) % 3)
    values = [LABELS[code] for code in crowd.codes]
    kept = memoize_crowd(ONE_HOT, values, crowd.codes, new_key(chance), chance)
    points = played_points(2)
    measured = dict(zip(points, measure_recoveries(kept, points, chance), strict=True))
    facts = compute_learned_facts(ONE_HOT.mechanism, 2, measured, chance)
    assert facts["recovery"]["true_bit_wrong_at_least"] == 0.25
    assert facts["by_reports"][-1]["true_bit_wrong"] == pytest.approx(0.25, abs=1e-3)
