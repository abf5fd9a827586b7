"""A round under a contract as it is shown: what came, counts beside the truth, or a refusal."""

import json
from html import unescape

import numpy as np
import pytest

from helpers.contracts import plan_of, proved, shaped, uniform
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import ContractReference, Lab, Provenance
from mixtally.lab.simulation.play import ALL_HONEST, DishonestHops, HopConduct
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.study_document import document
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.grid import Grid
from mixtally.report.page import page
from mixtally.report.words import assumption_text

BINS, PEOPLE = 8, 600
PARTS = {"shaped": shaped(BINS, shift=20), "uniform": uniform(BINS, whole=1, coin=0)}
GRID = Grid(low=0.0, high=float(BINS), points=BINS)


def shown(name, hops=ALL_HONEST):
    question = GRID.make_question("fruit")
    plan = proved(plan_of(question, [PARTS[name]], users=PEOPLE, grid=GRID))
    codes = np.arange(PEOPLE) % (BINS - 1)
    people = Population(question, codes, values=codes + 0.5)
    people = round_crowd(people, plan, SeededChance(1))
    signed = ContractReference("home-page", 7, "ab" * 32)
    about = Provenance(title="Fruit", source="made up", seed=1, signed=signed)
    played = simulate_release(plan, people, Lab(SeededChance(1)), hops=hops)
    return Study(provenance=about, releases=(played,), truth=truth_of(people, played.conclusion))


def facts_of(study):
    """Of the document, and of its one release."""
    told = document(study, 3).facts()
    json.dumps(told, allow_nan=False)
    (release,) = told["releases"]
    return told, release


@pytest.mark.parametrize("name", PARTS)
def test_counts_stand_beside_the_truth(name):
    study = shown(name)
    told, facts = facts_of(study)
    rows = facts["estimates"]
    assert (told["contract"], told["serial"], told["fingerprint"]) == ("home-page", 7, "ab" * 32)
    assert facts["fingerprint"] == study.main_result.plan.fingerprint
    assert [row["truth"] for row in rows] == study.truth.counts.tolist()
    assert facts["received"]["contributors"] == PEOPLE
    assert facts["covered"] == np.mean([r["lower"] <= r["truth"] <= r["upper"] for r in rows])
    assert facts["numbers"][0]["truth"] == pytest.approx(study.truth.figures["numbers"][0])
    assert set(document(study, 3).tables()) == {"estimates.csv", "numbers.csv"}


@pytest.mark.parametrize("name", PARTS)
def test_the_page_says_what_came_and_what_is_not_promised(name):
    study = shown(name)
    text = page(document(study, 3))
    assert ("Messages received" in text) == (name == "shaped")  # of people nobody declares anything
    assert f"contract {'ab' * 32}" in text
    assert "Counts are right only if every mix is honest" in text
    assert ("leaves out other people's messages" in unescape(text)) == (name == "uniform")
    assert assumption_text(study.main_result.plan.certificate.assumption) in text


@pytest.mark.parametrize("name", PARTS)
def test_a_round_that_is_refused_says_why_and_shows_no_counts(name):
    study = shown(name, DishonestHops({1}))
    made, (_, facts) = document(study, 3), facts_of(study)
    assert facts["refusal"] == study.releases[0].refusal
    assert "estimates" not in facts
    assert made.tables() == {}
    for text in (page(made), page(document(study.without_truth(), 3))):
        assert "Nothing is released. messages of people in part 1" in text
        assert "Messages received" in text
        assert "Error among other models" not in text


def test_what_dishonest_hops_told_is_counted_for_whoever_played_them():
    study = shown("shaped", DishonestHops({2}, HopConduct(leaves_out=0.0, draws=True)))
    _, facts = facts_of(study)
    assert facts["told_messages"] == [facts["received"]["parts"][0]["declared"][1]]
    assert "told_messages" not in facts_of(study.without_truth())[1]
