"""A round under a contract as it is shown: what came, counts beside the truth, or a refusal."""

import json

import numpy as np
import pytest

from helpers.contracts import contract_of, proved, shaped, plan_of, uniform
from mixtally.data.population import Population
from mixtally.records.question import Question
from mixtally.report.page import page
from mixtally.simulation.conduct import Conduct
from mixtally.simulation.contract import play_contract
from mixtally.simulation.contract_document import document
from mixtally.simulation.lab import Provenance
from mixtally.simulation.seeded import SeededChance

BINS, PEOPLE = 8, 600
PARTS = {"shaped": shaped(BINS, shift=20), "uniform": uniform(BINS, whole=1, coin=0)}
EDGES = tuple(float(i) for i in range(BINS + 1))


def shown(name, **given):
    question = Question(name="fruit", bins=BINS)
    plan = proved(plan_of(question, [PARTS[name]], users=PEOPLE, edges=EDGES))
    codes = np.arange(PEOPLE) % (BINS - 1)
    people = Population(question, codes, values=codes + 0.5)
    about = Provenance(title="Fruit", source="made up", seed=1)
    played = play_contract(contract_of(plan), people, SeededChance(1), **given)
    return played, document(played, about, "ab" * 32, top=3)


@pytest.mark.parametrize("name", PARTS)
def test_counts_stand_beside_the_truth(name):
    played, made = shown(name)
    facts = made.facts()
    rows = facts["estimates"]
    assert [row["truth"] for row in rows] == played.truth.counts.tolist()
    assert facts["received"]["contributors"] == PEOPLE
    assert facts["covered"] == np.mean([r["lower"] <= r["truth"] <= r["upper"] for r in rows])
    assert facts["numbers"][0]["truth"] == pytest.approx(played.truth.figures["numbers"][0])
    assert set(made.tables()) == {"estimates.csv", "numbers.csv"}
    json.dumps(facts, allow_nan=False)


@pytest.mark.parametrize("name", PARTS)
def test_the_page_says_what_came_and_what_is_not_promised(name):
    played, made = shown(name)
    text = page(made)
    assert f"{played.received.parts[0].received:,}" in text
    assert "Counts are right only if every hop is honest" in text
    assert ("leaves out others" in text) == (name == "uniform")
    assert played.contract.plan.certificate.assumption in text


def test_a_round_that_is_refused_says_why_and_shows_no_counts():
    played, made = shown("shaped", dishonest={1})
    facts = made.facts()
    assert played.refusal == facts["refusal"]
    assert "estimates" not in facts
    assert made.tables() == {}
    assert "Nothing is released. messages of people in part 1" in page(made)


def test_what_dishonest_hops_told_is_counted():
    conduct = Conduct(leaves_out=0.0, draws=True)
    played, made = shown("shaped", dishonest={2}, conduct=conduct)
    assert made.facts()["told_messages"] == [played.received.parts[0].declared[1]]
