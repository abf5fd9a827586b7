"""What an observer learns by the number of reports, and the page that shows it."""

from itertools import pairwise

import numpy as np
import pytest

from mixtally.accounting.divergence.memoized import loss
from mixtally.lab.attacks.learned_facts import compute_learned_facts, drop_measured, played_points
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Provenance
from mixtally.lab.simulation.memoized import crowd as crowd_module
from mixtally.lab.simulation.memoized.counts import MemoizedFindings, TrueAnswers
from mixtally.lab.simulation.memoized.crowd import measure_recoveries, memoize_crowd, play_reports
from mixtally.lab.simulation.memoized.document import document
from mixtally.lab.simulation.memoized.losses import compute_losses
from mixtally.lab.simulation.memoized.sentences import describe_linking, describe_losses
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.memoized_plan import hashed_question, make_memoized_plan
from mixtally.model.question import Question
from mixtally.protocol.encode.bloom import build_design
from mixtally.protocol.estimate.conclude import conclude_memoized
from mixtally.protocol.randomize.memoized import new_key
from mixtally.report.page import page
from mixtally.report.texts import files
from report.reader import self_contained

LABELS = ("apple", "<b>pear&", "plum", "a label that is far too long for the picture")
QUESTION = Question(name="<fruit>", bins=4, labels=LABELS)
PLAN = make_memoized_plan(QUESTION, 0.5, 0.5, 0.75)


def found_of(reports=5, plan=None, people=4000, seed=1):
    """A small crowd played and told, without the command line."""
    plan = PLAN if plan is None else plan
    crowd, chance = Population(QUESTION, np.arange(people) % 4), SeededChance(seed)
    values = [LABELS[code] for code in crowd.codes]
    kept = memoize_crowd(plan, values, crowd.codes, new_key(chance), chance)
    ones = play_reports(kept, reports, chance)
    points = played_points(reports)
    bits = build_design(plan, LABELS) if plan.mechanism.hashed else None
    measured = dict(zip(points, measure_recoveries(kept, points, chance), strict=True))
    seen = compute_learned_facts(plan.mechanism, reports, measured, chance)
    spent = {"column": "<fruit>", "memory_file": None, "memories": 0}
    return MemoizedFindings(
        provenance=Provenance(title="<fruit>, from memoized answers", source="A <small> crowd"),
        result=conclude_memoized(plan, ones, kept.sizes, LABELS, bits),
        spent={**spent, **compute_losses(plan, reports, None)},
        learned=drop_measured(seen),
        truth=TrueAnswers(dict(zip(LABELS, crowd.truth.tolist(), strict=True)), seen),
    )


@pytest.fixture(scope="module")
def found():
    return found_of()


@pytest.fixture(scope="module")
def facts(found):
    return found.facts


def test_the_story_of_the_side_notes(facts):
    """Drawn once: flat. Fresh: falls to the truth. Memory: falls to f/2 and stays there."""
    rows = facts["by_reports"]
    once, fresh, true, kept = (
        [row[name] for row in rows]
        for name in ("drawn_once_wrong", "fresh_wrong", "true_bit_wrong", "kept_bit_wrong")
    )
    assert len(set(once)) == 1
    assert once[0] == fresh[0] == pytest.approx(true[0], abs=1e-12)
    for falling in (fresh, true, kept):
        assert all(a >= b - 1e-12 for a, b in pairwise(falling))
    assert fresh[-1] < 0.001
    assert true[-1] == pytest.approx(0.25, abs=1e-6)
    assert kept[-1] < 1e-6
    assert all(f <= t + 1e-12 for f, t in zip(fresh, true, strict=True))


def test_losses_by_reports_are_the_accountants_and_stay_below_their_limit(facts):
    for row in facts["by_reports"]:
        most = loss(PLAN.mechanism, row["reports"])
        assert row["eps_T"] == most.eps_T <= most.eps_inf
        assert row["eps_fresh"] == row["reports"] * most.eps_1
    assert 5 in [row["reports"] for row in facts["by_reports"]]


def far_off(rows):
    """Whether any measured share is beyond 6 deviations of an even count, from 1,000 bits or more.

    Balanced over ones and zeros the deviation is at most 0.5 / sqrt(1000) = 0.016; six of them at
    six places: a false alarm in a hundred million.
    """
    return any(
        abs(row[f"{bit}_measured"] - row[bit]) > 0.095
        for row in rows
        if row["true_bit_wrong_measured"] is not None
        for bit in ("true_bit_wrong", "kept_bit_wrong")
    )


def test_what_is_played_is_what_is_computed(facts):
    measured = [row["reports"] for row in facts["by_reports"] if row["true_bit_wrong_measured"]]
    assert measured == [1, 2, 3, 5]
    assert not far_off(facts["by_reports"])


def test_the_twin_that_memoizes_nothing_is_caught(plant):
    """A permanent response drawn anew for every report tells more than the exact line says."""

    def forgetful(honest, mechanism, kept, chance):
        return honest(mechanism, np.zeros_like(kept), chance)

    plant(crowd_module, "draw_reports", forgetful)
    assert far_off(found_of().facts["by_reports"])


def test_linking_grows_with_bits_and_is_never_surer_than_played(facts):
    wide = found_of(
        plan=make_memoized_plan(hashed_question("<fruit>", 128, 2), 0.5, 0.5, 0.75, 4)
    ).facts
    few, many = facts["linking"], wide["linking"]
    assert 0.0 <= few["recognized_at_least"] <= few["recognized"] < many["recognized"] <= 1.0
    assert many["recognized"] > 0.1
    assert "cohorts" in describe_linking(wide)
    assert "cohorts" not in describe_linking(facts)
    narrow = found_of(
        plan=make_memoized_plan(hashed_question("<fruit>", 8, 5), 0.5, 0.5, 0.75)
    ).facts
    assert narrow["linking"] is None
    assert "too few bits" in describe_linking(narrow)


def test_permanent_responses_shown_as_they_are_are_told_without_a_warning():
    told = found_of(plan=make_memoized_plan(QUESTION, 0.5, 0.0, 1.0), reports=12).facts
    assert all(row["kept_bit_wrong"] == 0.0 for row in told["by_reports"])
    assert told["linking"]["reports_at_each_place"] == 10


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"reports": 1, "people": 8},
        {"reports": 1200},
        {"plan": make_memoized_plan(hashed_question("<fruit>", 16, 2), 0.5, 0.5, 0.75, 2)},
    ],
    ids=["usual", "tiny", "many reports", "hashed"],
)
def test_the_page_is_one_safe_file_that_tells_everything(made):
    told = found_of(**made)
    reader = self_contained(page(document(told, 20)))
    text = " ".join(reader.texts)
    for part in (
        "<fruit>, from memoized answers", "A <small> crowd", "<b>pear&", "What averaging tells",
        "however many", "delta = 0", "drawn once, repeated",
        "fresh noise every time", "from one person", told.facts["fingerprint"],
    ):  # fmt: skip
        assert part in text
    assert reader.tags.count("figure") == 3


def test_the_csv_is_ranked_and_whole(found):
    lines = files(document(found, 20))["estimates.csv"].splitlines()
    assert len(lines) == 6
    assert "holds raw counts" in lines[0]
    assert lines[1].startswith("label,estimate,standard_error,lower,upper")


def test_no_loss_is_rounded_down():
    facts = {"eps_1": 0.1, "eps_T": 0.2, "eps_inf": 1.0, "reports": 2, "memories": 1}
    facts |= {"memory_file": None, "epsilon": 1.2345642, "delta": 1.2345642e-6, "delta_lower": 0.0}
    line = describe_losses(facts)[-1]
    assert line.startswith("at epsilon 1.23457 after 2 reports: delta <= 1.23457e-06, ")
