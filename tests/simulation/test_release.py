"""A release is played only under a plan for these people whose promise holds."""

from dataclasses import replace as replaced

import numpy as np
import pytest
from msgspec.structs import replace

from mixtally.errors import ParameterError, PlanError
from mixtally.lab.simulation.demo import simulate_demo
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.study import Release
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.primitives.chance import SecureChance
from mixtally.protocol.estimate.analysis import Analysis


def test_a_release_holds_plan_protocol_messages_and_estimate(plan, crowd):
    found = simulate_release(
        plan, crowd, Lab(SeededChance(1)), Analysis(projection="simplex")
    ).result
    (part,) = plan.parts
    assert found.plan is plan
    assert 1000 * part.least <= found.messages <= 1000 * part.most
    assert found.messages == found.received.parts[0].received
    assert found.estimate.counts.shape == (5,)
    assert found.estimate.projected.sum() == pytest.approx(1000)


def test_a_crowd_below_the_minimum_is_refused_and_a_larger_one_is_not(plan, crowd):
    """What promises for a crowd holds for every larger one."""
    fewer = replaced(crowd, records=crowd.records[:999])
    with pytest.raises(PlanError, match=r"a plan for 999 users .* got one for 1,000 and more"):
        simulate_release(plan, fewer, Lab(SeededChance(1)))
    more = replaced(crowd, records=np.concatenate([crowd.records, crowd.records]))
    found = simulate_release(
        plan, more, Lab(SeededChance(1)), Analysis(projection="simplex")
    ).result
    assert found.received.contributors == 2000
    assert found.estimate.projected.sum() == pytest.approx(2000)


@pytest.mark.parametrize(
    "question",
    [
        Question(name="color", bins=6),
        Question(name="shade", bins=5),
        Question(name="color", bins=5, labels=tuple("abcde")),
    ],
    ids=["bins", "name", "labels"],
)
def test_a_plan_for_another_question_is_refused(plan, crowd, question):
    with pytest.raises(PlanError):
        simulate_release(plan, replaced(crowd, question=question), Lab(SeededChance(1)))


def test_a_false_promise_is_refused_before_anything_is_played(plan, crowd):
    (part,) = plan.parts
    fewer = replace(part, own=replace(part.own, whole=0, coin=1))
    with pytest.raises(PlanError, match="its promise is false"):
        simulate_release(replace(plan, parts=(fewer,)), crowd, Lab(None))


@pytest.mark.parametrize("wrong", [{"level": 0.0}, {"level": 1.0}, {"projection": "cube"}])
def test_a_wrong_level_or_projection_is_refused(plan, crowd, wrong):
    with pytest.raises(ParameterError):
        simulate_release(plan, crowd, Lab(SeededChance(1)), Analysis(**wrong))


def test_a_seed_repeats_its_words_and_another_has_its_own():
    first, again, other = (SeededChance(seed).words(1000) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert not np.intersect1d(first, other).size


def test_words_of_a_seed_are_never_dealt_twice():
    chance = SeededChance(1)
    assert not np.intersect1d(chance.words(1000), chance.words(1000)).size


def test_words_of_a_seed_are_the_same_on_every_machine():
    """A test vector: reports of experiments name their seed and must stay repeatable."""
    words = [hex(word) for word in SeededChance(7).words(3).tolist()]
    assert words == ["0x95348890c4a9fa22", "0xed28036ea171c187", "0xb97a4756fd3ef8ee"]


def test_the_demo_takes_any_source_of_chance():
    study = simulate_demo(Guarantee(epsilon=1.0, delta=1e-6), Lab(SecureChance()))
    assert study.provenance.seed is None
    assert len(study.releases) == 2
    assert study.truth.counts.sum() == 336_776


def test_the_demos_two_releases_draw_from_one_stream(monkeypatch):
    """A second source under the same seed would repeat the noise of the first release."""
    used = []

    def noted(plan, population, lab, analysis):
        used.append(lab.chance)
        return Release(None)

    monkeypatch.setattr("mixtally.lab.simulation.demo.simulate_release", noted)
    chance = SeededChance(1)
    simulate_demo(Guarantee(epsilon=1.0, delta=1e-6), Lab(chance), seed=1)
    assert used == [chance, chance]
