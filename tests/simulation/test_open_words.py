"""Words of an open domain as a library: the worst crowd errs as planned, any list is answered."""

import numpy as np
import pytest
from msgspec.structs import replace as altered

from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.open_words import count_true_words, hash_words
from mixtally.lab.simulation.play import play
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.guarantee import Guarantee
from mixtally.model.hashing import draw_seed
from mixtally.model.layout import Layout
from mixtally.model.planes import Planes
from mixtally.model.question import Question, make_open_question
from mixtally.planning import Planner, choose, forecast
from mixtally.planning.request import PlanRequest
from mixtally.protocol.encode.hashed import encode, look_up_words
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.received import reconcile_parts

USERS = 400
PLANNER = Planner()
SAME = Population(
    Question(name="word", bins=2, labels=("held by all", "held by none")), np.zeros(USERS, np.int64)
)


def listed(question, words):
    return look_up_words(question, words)


def planned(chance, users=USERS, protocol="clear-uniform", **more):
    promised = Guarantee(epsilon=4.0, delta=1e-6)
    question = make_open_question("word", draw_seed(chance))
    return choose(
        PlanRequest(question=question, guarantee=promised, users=users, protocol=protocol, **more),
        PLANNER,
    ).plan


def collected(plan, crowd, words, chance):
    """What listed words come to, and how many people hold them."""
    some = listed(plan.question, words)
    found = simulate_release(
        plan, hash_words(crowd, plan.question), Lab(chance), Analysis(listed=some)
    )
    return found.result, count_true_words(crowd, some)


@pytest.fixture(scope="module")
def errors():
    """The errors of three words that nobody holds, in a crowd that holds one other."""
    chance, found = SeededChance(1), []
    plan = planned(chance)
    for _ in range(300):
        result, truth = collected(plan, SAME, ["a", "b", "c"], chance)
        assert truth.counts.tolist() == [0, 0, 0]
        found.append(result.estimate.counts)
    return plan, np.concatenate(found)


@pytest.mark.seconds
def test_the_worst_crowd_errs_as_planned(errors):
    """900 errors: their root mean square deviates by 2.4 %; false alarm below 1e-6."""
    plan, found = errors
    assert np.sqrt(np.mean(found**2)) == pytest.approx(plan.standard_error, rel=0.12)
    assert abs(found.mean()) < 5 * plan.standard_error / 30


@pytest.mark.seconds
def test_the_forecast_holds_for_the_worst_crowd(errors):
    """900 errors, of which 95 % stay within one bin's, deviation 0.7 %, and all within those of a
    thousand at once; false alarm 1e-5, and 5 % of 0.9 taken from a seed that does not.
    """
    plan, found = errors
    expected = forecast(plan)
    assert 0.92 < np.mean(np.abs(found) <= expected.half_width) < 0.98
    assert np.abs(found).max() <= expected.largest_error


def test_a_small_crowd_errs_as_planned_too():
    """40 runs of three errors: deviation 6.5 %, false alarm below 1e-6; planted, the fakes alone
    are taken to err, which is 0.6 of it.
    """
    chance = SeededChance(4)
    plan = planned(chance)
    found = np.concatenate(
        [collected(plan, SAME, ["a", "b", "c"], chance)[0].estimate.counts for _ in range(40)]
    )
    seen = float(np.sqrt(np.mean(found**2)))
    assert seen == pytest.approx(plan.standard_error, rel=0.33)
    prime = plan.parts[0].planes.prime
    assert seen > 1.2 * np.sqrt(plan.fakes / prime)


def test_a_crowd_is_hashed_by_its_words_and_not_by_their_order():
    question = planned(SeededChance(2)).question
    words = Question(name="word", bins=3, labels=("x", "y", "z"))
    turned = Question(name="word", bins=3, labels=("z", "y", "x"))
    one = hash_words(Population(words, np.array([0, 0, 2])), question)
    other = hash_words(Population(turned, np.array([2, 2, 0])), question)
    assert np.array_equal(one.records, other.records)
    assert one.records.tolist() == encode(question, ["x", "x", "z"]).tolist()


def test_the_same_messages_answer_any_list():
    """One collection, two lists: what is common to both is counted alike, and nothing is spent."""
    chance = SeededChance(3)
    plan = planned(chance)
    crowd = hash_words(SAME, plan.question)
    played = play(plan, [crowd.codes], chance)
    first, second = (
        conclude(plan, played.tallies, Analysis(listed=listed(plan.question, words)))
        for words in (["held by all", "a"], ["z", "held by all", "y"])
    )
    assert first.estimate.counts[0] == second.estimate.counts[1]
    assert first.estimate.individual.lower[0] == second.estimate.individual.lower[1] > 300
    assert first.certificate == second.certificate


def test_a_word_is_held_however_it_is_spelled():
    words = Question(name="word", bins=2, labels=("cafe\u0301", "tea"))
    crowd = Population(words, np.array([0, 0, 0, 1, 1]))
    plan = planned(SeededChance(5))
    truth = count_true_words(crowd, listed(plan.question, ["caf\u00e9", "milk"]))
    assert truth.counts.tolist() == [3, 0]
    assert truth.figures == {"others": (2,)}


@pytest.mark.parametrize("words", [["a"], ["a", "a"], ["caf\u00e9", "cafe\u0301"]])
def test_a_list_is_of_two_different_words(words):
    with pytest.raises(DataError, match=r"look for: expected (at least two|different words)"):
        listed(planned(SeededChance(3)).question, words)


def test_an_open_question_without_a_list_is_refused():
    plan, chance = planned(SeededChance(6)), SeededChance(6)
    with pytest.raises(ParameterError, match="as the question is open"):
        simulate_release(plan, hash_words(SAME, plan.question), Lab(chance), Analysis())


def test_a_list_is_only_for_an_open_question():
    with pytest.raises(PlanError, match="expected an open domain"):
        listed(SAME.question, ["a", "b"])


def with_digits(plan, digits):
    """Return the same plan over fewer points, with a certificate of its own."""
    (part,) = plan.parts
    over = Planes(part.planes.prime, digits)
    layout = Layout(part.layout.form, over.messages)
    fewer = altered(part, bins=over.points, planes=over, layout=layout)
    plan = altered(plan, question=altered(plan.question, bins=over.points), parts=(fewer,))
    return altered(plan, certificate=certify_terms(PrivacyTerms.of(plan)))


@pytest.mark.parametrize("digits", [3, 4])
def test_intervals_allow_for_words_that_share_a_point(digits):
    """A word is one point with another's by a chance of at most people / points, each of three."""
    chance = SeededChance(7)
    plan = with_digits(planned(chance), digits)
    points = plan.parts[0].planes.points
    result, _ = collected(plan, SAME, ["a", "b", "c"], chance)
    assert 1e-6 < USERS / points < 0.05
    (came,) = reconcile_parts(plan, result.received)
    one, messages = came.mechanism, result.messages
    counted = np.rint(result.estimate.counts * one.gain + one.offset(messages)).astype(np.int64)
    for ends, lines in ((result.estimate.individual, 1), (result.estimate.simultaneous, 3)):
        assert ends.level == 0.95
        enough = 0.95 + lines * USERS / points
        general = ", as if all points lay in general position"
        assert (enough >= 1.0) == ends.method.endswith(general)
        wanted = intervals(
            one, Tally(counted, messages), enough if enough < 1.0 else 0.95, simultaneous_over=lines
        )
        assert (ends.lower.tolist(), ends.upper.tolist()) == (
            wanted.lower.tolist(),
            wanted.upper.tolist(),
        )


def test_where_points_are_too_few_it_is_said():
    chance = SeededChance(8)
    plan = with_digits(planned(chance, users=20_000), 2)
    crowd = Population(SAME.question, np.zeros(20_000, np.int64))
    analysis = Analysis(listed=listed(plan.question, ["a", "b"]), level=0.999999)
    found = simulate_release(plan, hash_words(crowd, plan.question), Lab(chance), analysis)
    assert found.result.estimate.individual.method.endswith("general position")
