"""Memoized answers and their plan: integers nearest to what was asked, one encoding, refusals."""

import math

import numpy as np
import pytest

from mixtally.errors import ParameterError, PlanError
from mixtally.model.mechanism.memoized import Memoized, make_memoized
from mixtally.model.memoized_plan import (
    MEMOIZED_VERSION,
    MemoizedPlan,
    hashed_question,
    make_memoized_plan,
)
from mixtally.model.question import Kind, Question
from mixtally.primitives.codec import canonical_bytes, fingerprint, from_canonical
from mixtally.primitives.fixed_point import SCALE

QUESTION = Question(name="color", bins=3, labels=("red", "green", "blue"))
HASHED = hashed_question("word", 64, 2)


def test_probabilities_become_the_nearest_integers_and_come_back():
    for f, p, q in ((0.5, 0.5, 0.75), (1.0, 0.0, 1.0), (0.3, 0.1, 0.7), (2.0**-40, 0.0, 2.0**-64)):
        made = make_memoized(3, f, p, q)
        assert (made.f, made.report_probabilities) == (f, (p, q))
        assert made.permanent % 2 == 0
    assert make_memoized(3, 2.0**-40, 0.0, 0.6 * 2.0**-64).q == 1
    assert make_memoized(3, 0.5, 0.5, 0.75).facts() == {"permanent": 0.5, "p": 0.5, "q": 0.75}


def test_a_plan_comes_back_from_its_bytes_and_every_number_is_in_its_fingerprint():
    plan = make_memoized_plan(HASHED, 0.5, 0.5, 0.75, 8)
    assert from_canonical(canonical_bytes(plan), MemoizedPlan, "a plan") == plan
    others = [
        make_memoized_plan(HASHED, 0.5, 0.5, 0.75, 7),
        make_memoized_plan(HASHED, 0.6, 0.5, 0.75, 8),
        make_memoized_plan(HASHED, 0.5, 0.4, 0.75, 8),
        make_memoized_plan(HASHED, 0.5, 0.5, 0.8, 8),
        make_memoized_plan(hashed_question("word", 64, 3), 0.5, 0.5, 0.75, 8),
        make_memoized_plan(hashed_question("word", 65, 2), 0.5, 0.5, 0.75, 8),
        make_memoized_plan(Question(name="word", bins=64), 0.5, 0.5, 0.75),
    ]
    assert len({fingerprint(one) for one in [plan, *others]}) == 8


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"permanent": (1 << 24) - 2}, "permanent: expected"),
        ({"permanent": (1 << 24) + 1}, "an even integer"),
        ({"permanent": SCALE + 2}, "permanent: expected"),
        ({"p": 3, "q": 3}, "0 <= p < q <= 1"),
        ({"p": -1}, "0 <= p < q <= 1"),
        ({"q": SCALE + 1}, "0 <= p < q <= 1"),
        ({"hashes": 2}, "hashes: expected an integer in"),
        ({"hashed": True, "hashes": 65}, r"hashes: expected an integer in \[1, 64\]"),
        ({"hashed": True, "hashes": 0}, "hashes: expected"),
        ({"cohorts": 2}, "Only hashed values can have several cohorts"),
        ({"hashed": True, "cohorts": 0}, "cohorts: expected"),
        ({"hashed": True, "cohorts": 65_537}, "cohorts: expected"),
        ({"bins": 1}, "expected"),
    ],
)
def test_integers_outside_their_ranges_are_refused(changes, said):
    fields = {"bins": 8, "permanent": SCALE // 2, "p": 1, "q": SCALE}
    assert Memoized(**fields).hashes == 1
    with pytest.raises(ParameterError, match=said):
        Memoized(**fields | changes)


@pytest.mark.parametrize("chance", [-0.1, 1.1, math.nan, math.inf])
def test_what_is_no_probability_is_refused(chance):
    for numbers in ((chance, 0.5, 0.75), (0.5, chance, 0.75), (0.5, 0.5, chance)):
        with pytest.raises(ParameterError, match=r"expected a (probability|number in)"):
            make_memoized(8, *numbers)


@pytest.mark.parametrize(
    ("question", "mechanism"),
    [
        (QUESTION, make_memoized(4, 0.5, 0.5, 0.75)),
        (QUESTION, make_memoized(3, 0.5, 0.5, 0.75, hashes=1)),
        (HASHED, make_memoized(64, 0.5, 0.5, 0.75)),
        (HASHED, make_memoized(64, 0.5, 0.5, 0.75, hashes=3)),
        (Question(name="x", bins=3, kind=Kind.BITS), make_memoized(3, 0.5, 0.5, 0.75)),
        (
            Question(name="x", bins=3, kind=Kind.SET, max_set=2, labels=("a", "b", "c")),
            make_memoized(3, 0.5, 0.5, 0.75, hashes=2),
        ),
    ],
)
def test_a_mechanism_for_another_question_is_refused(question, mechanism):
    with pytest.raises(PlanError, match="Ask for one value from each person"):
        MemoizedPlan(question=question, mechanism=mechanism)


def test_another_version_is_refused():
    mechanism = make_memoized(3, 0.5, 0.5, 0.75)
    for version in (1, MEMOIZED_VERSION + 1):
        with pytest.raises(PlanError, match="Use the version that wrote it"):
            MemoizedPlan(version=version, question=QUESTION, mechanism=mechanism)


def test_coins_alone_have_no_error_that_is_finite():
    told, coins = make_memoized(3, 0.5, 0.5, 0.75), make_memoized(3, 1.0, 0.5, 0.75)
    assert math.isinf(coins.standard_error(100, 5))
    assert told.standard_error(100, math.inf) < told.standard_error(100, 5)
    each = told.variance(5, np.array([0.0, 40.0]), np.array([100.0, 60.0]))
    assert each[0] == told.standard_error(100, 5) ** 2
