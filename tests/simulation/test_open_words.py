"""Words of an open domain as a library: the planner's worst case is what the worst crowd shows."""

import numpy as np
import pytest

from mixtally.data.population import Population
from mixtally.errors import DataError
from mixtally.planner import Planner, PlanRequest, choose, forecast
from mixtally.records.guarantee import Guarantee
from mixtally.records.hashing import HMAC_SHA256, Hashing, drawn_seed
from mixtally.records.question import Question
from mixtally.simulation.lab import Lab
from mixtally.simulation.open_words import collect_words, hashed
from mixtally.simulation.seeded import SeededChance

USERS, BINS = 400, 40
PLANNER = Planner()
SAME = Population(
    Question(name="word", bins=2, labels=("held by all", "held by none")), np.zeros(USERS, np.int64)
)


def planned(chance, users=USERS, bins=BINS):
    question = Question(
        name="word", bins=bins, hashed=Hashing(function=HMAC_SHA256, seed=drawn_seed(chance))
    )
    promised = Guarantee(epsilon=4.0, delta=1e-6)
    return choose(
        PlanRequest(question=question, guarantee=promised, users=users, mix_fakes=True), PLANNER
    ).plan


@pytest.fixture(scope="module")
def errors():
    """The errors of two candidates that nobody holds, in a crowd that holds one other value."""
    chance, found = SeededChance(1), []
    for _ in range(600):
        release, truth = collect_words(planned(chance), SAME, ["a", "b", "c"], Lab(chance))
        assert truth.counts.tolist() == [0] * len(truth.counts)
        found.append(release.result.estimate.counts)
    return np.concatenate(found)


@pytest.mark.seconds
def test_the_worst_crowd_errs_as_planned(errors):
    """1,750 lines, 44 of them hit: the root mean square deviates by 8 %; false alarm 2e-4."""
    plan = planned(SeededChance(1))
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(plan.standard_error, rel=0.3)
    assert plan.standard_error == pytest.approx(plan.collisions, rel=0.01)


@pytest.mark.seconds
def test_the_forecast_holds_for_the_worst_crowd_where_the_normal_law_would_not(errors):
    """The bin that everybody shares errs by the crowd, nine standard errors: planted, the normal
    law's 3.4 for all bins at once."""
    expected = forecast(planned(SeededChance(1)))
    assert np.mean(np.abs(errors) <= expected.half_width) >= 0.95
    assert np.abs(errors).max() <= expected.largest_error
    assert np.abs(errors).max() > 3.4 * expected.standard_error
    assert expected.visible_count > USERS


def test_a_crowd_is_hashed_by_its_words_and_not_by_their_order():
    question = planned(SeededChance(2)).question
    words = Question(name="word", bins=3, labels=("x", "y", "z"))
    turned = Question(name="word", bins=3, labels=("z", "y", "x"))
    one = hashed(Population(words, np.array([0, 0, 2])), question)
    other = hashed(Population(turned, np.array([2, 2, 0])), question)
    assert np.array_equal(one.records, other.records)


def test_one_line_is_too_few():
    with pytest.raises(DataError, match="at least two that do not share one bin"):
        collect_words(planned(SeededChance(3)), SAME, ["a"], Lab(SeededChance(3)))
