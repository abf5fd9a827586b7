"""Records of every kind, whole, split and repeated, played through the planner's own choices:
errors as stated to five percent, intervals that hold as often as they say, one by one and at once.

Each check has a twin on a planted bug that must fail it. Seeds are fixed: a false alarm would have
shown when the test was written.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from mixtally.lab.data.population import Population
from mixtally.lab.simulation import plan_choice
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import Planner, PlanRequest
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate.conclude import counts
from mixtally.protocol.estimate.noise import NoiseCache

USERS, RUNS, SOME, FEW = 2000, 1000, 400, 60
PLANNER = Planner()
BITS = Question(name="q", bins=6, kind=Kind.BITS)
SETS = Question(name="q", bins=8, kind=Kind.SET, max_set=2)
ATTRIBUTES = make_attributes_question("q", (5, 4))
CASES = {
    "bits split": (BITS, 1.0, {"protocol": "single-bit", "messages_per_user": 7}, None),
    "bits split in clear": (BITS, 0.4, {"messages_per_user": 12}, None),
    "bits sent twice": (BITS, 4.0, {"protocol": "flip", "messages_per_user": 2}, 2),
    "sets": (SETS, 4.0, {"protocol": "flip-blank"}, None),
    "sets in clear": (SETS, 0.4, {}, None),
    "attributes whole": (ATTRIBUTES, 4.0, {"protocol": "flip-blank", "messages_per_user": 2}, None),
    "attributes split": (ATTRIBUTES, 0.4, {"messages_per_user": 8}, None),
    "attributes split, shaped": (
        ATTRIBUTES, 0.3, {"protocol": "clear-shaped", "mix_fakes": True}, None,
    ),
}  # fmt: skip
"""Noise of ten counts and more, so that whole numbers hardly widen the intervals."""


@pytest.fixture(scope="module", autouse=True)
def noises():
    """All collections look noise up in one place, and those of a case are alike."""
    shared = NoiseCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "NoiseCache", lambda: shared)
        yield


def crowd(question):
    """Every bin is held by hundreds: at zero, where intervals end, they cover more."""
    bits = np.zeros((USERS, question.bins), dtype=np.uint8)
    for i in range(question.bins):
        bits[:, i] = np.arange(USERS) % (i + 2) == 0
    if question.kind is Kind.SET:
        bits[:] = 0
        ends = [0, 4, question.bins] if question.attributes is None else [0, 5, question.bins]
        for low, high in pairwise(ends):
            bits[np.arange(USERS), low + np.arange(USERS) // (low + 1) % (high - low)] = 1
    return Population(question, pack_vectors(bits.tobytes(), question.bins))


@cache
def planned(name):
    question, epsilon, more, repeats = CASES[name]
    promised = Guarantee(epsilon=epsilon, delta=1e-4)
    wish = PlanRequest(question=question, guarantee=promised, users=USERS, **more)
    return crowd(question), plan_choice.choose_plan(wish, repeats=repeats)[0]


def played(name, runs):
    people, plan = planned(name)
    assert ("split" in name) == (len(plan.parts) > 1)
    lab = Lab(SeededChance(6), planner=PLANNER)
    return people.truth, [simulate_release(plan, people, lab).result.estimate for _ in range(runs)]


def squares(truth, found):
    """Mean square of all deviations in stated standard errors, and the largest bias of a bin."""
    errors = np.array([[one.error_of(i) for i in range(len(truth))] for one in found])
    off = (np.array([one.counts for one in found]) - truth) / errors  # coins differ
    return float(np.mean(off**2)), float(np.abs(off.mean(axis=0)).max() * len(found) ** 0.5)


def shares(truth, found, moved=0):
    """How often intervals hold: each for itself, and all of a collection at once."""
    each = [
        (f.individual.lower + moved <= truth) & (truth <= f.individual.upper + moved) for f in found
    ]
    every = [(f.simultaneous.lower <= truth) & (truth <= f.simultaneous.upper) for f in found]
    return float(np.mean(each)), float(np.mean(np.all(every, axis=1)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "away", "least"),
    [(SOME, 0.1, 0.91), pytest.param(RUNS, 0.05, 0.93, marks=pytest.mark.exhaustive)],
)
@pytest.mark.parametrize("name", CASES)
def test_errors_and_intervals_are_as_stated(name, runs, away, least):
    """2,400 counts or more a case: their mean square deviates by 2.9 %, a share by 0.45 %; of the
    6,000 of the exhaustive form by 1.8 % and 0.3 %.

    All bins at once: at least 95 % (Bonferroni) of 400, a deviation of 1.1 %, or of 1,000, 0.7 %.
    False alarm below 10^-3 a case; seeds are fixed.
    """
    truth, found = played(name, runs)
    square, bias = squares(truth, found)
    assert square == pytest.approx(1.0, abs=away)
    assert bias < 5.0
    each, together = shares(truth, found)
    assert 0.935 <= each <= 0.975  # of few fakes in a bin exact intervals hold a little more
    assert together >= least


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_a_few_collections_are_as_stated(name):
    """The quick form, of 360 counts or more: false alarm below 10^-3."""
    truth, found = played(name, FEW)
    square, bias = squares(truth, found)
    assert square == pytest.approx(1.0, abs=0.35)
    assert bias < 5.0
    each, together = shares(truth, found)
    assert each > 0.89
    assert together > 0.85


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_the_twin_with_moved_intervals_is_found(name):
    truth, found = played(name, FEW)
    assert shares(truth, found, moved=round(1.5 * found[0].standard_error))[0] < 0.85


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["bits split", "sets", "attributes whole"])
def test_the_twin_that_flips_more_often_is_found(name, plant):
    """Planted in the randomizer: flips are half as frequent again as the plan says."""
    from mixtally.protocol.randomize import parts

    def louder(honest, part):
        return honest(part)._replace(threshold=min(SCALE // 2, part.threshold * 3 // 2))

    plant(parts, "_make_flips", louder)
    assert squares(*played(name, FEW))[0] > 1.35
