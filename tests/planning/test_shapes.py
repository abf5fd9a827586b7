"""Which shape the planner takes, and that no smaller one of its kind keeps the promise."""

import math
from functools import cache

import pytest
from msgspec.structs import replace

from mixtally.accounting.accountant import Accountant, Record
from mixtally.errors import InfeasibleError
from mixtally.model.guarantee import Guarantee
from mixtally.model.mechanism import InClear, ShapedFakes
from mixtally.model.question import Question, make_attributes_question
from mixtally.model.shape import GaussianShape, LaplaceShape
from mixtally.planning import shapes
from mixtally.planning.choose import choose
from mixtally.planning.request import PlanRequest

USUAL = Guarantee(epsilon=1.0, delta=1e-6)
KNOWN = [
    (1, LaplaceShape, 2.80, 25),
    (4, LaplaceShape, 11.31, 100),
    (12, GaussianShape, 20.81, 113),
    (52, GaussianShape, 43.28, 241),
    (365, GaussianShape, 114.7, 657),
]
"""Collections, the shape of least error, its error and its fakes a bin."""


def asked(collections=1, question=None, guarantee=USUAL, **more):
    return PlanRequest(
        question=question or Question(name="q", bins=100),
        guarantee=guarantee,
        users=10**6,
        collections=collections,
        mix_fakes=True,
        protocol="clear-shaped",
        **more,
    )


@cache
def planned(collections, **more):
    return choose(asked(collections, **more)).plan


@pytest.mark.parametrize(("collections", "kind", "error", "shift"), KNOWN)
def test_the_shape_of_least_error_is_taken(collections, kind, error, shift):
    plan = planned(collections)
    (part,) = plan.parts
    assert isinstance(part.recipe, kind)
    known_total = math.sqrt(1 - 1 / 100)  # counts of 100 bins add up to the people
    assert plan.standard_error == pytest.approx(error * known_total, rel=1e-3)
    assert (part.recipe.shift, part.mean_added) == (shift, part.recipe.mean_of(100))
    assert plan.certificate.upper <= 1e-6


def kept(shape, times, guarantee=USUAL):
    record = Record.of(InClear(bins=2, fakes=ShapedFakes(shape)))
    return Accountant().upper(record, guarantee.epsilon, times) <= guarantee.delta


@pytest.mark.parametrize("collections", [12, 52, 365])
def test_neither_less_variance_nor_a_fake_fewer_keeps_the_promise(collections):
    """Of a variance below by a part in a thousand, with any shift at all."""
    shape = planned(collections).parts[0].recipe
    assert kept(shape, collections)
    assert not kept(replace(shape, shift=shape.shift - 1), collections)
    less = replace(shape, variance=shape.variance * 98 // 100, shift=2 * shape.shift)
    assert not kept(less, collections)


def test_attributes_are_asked_as_often_as_collections():
    several = choose(asked(3, question=make_attributes_question("q", (9, 5, 4, 2)))).plan
    assert [part.recipe for part in several.parts] == [planned(12).parts[0].recipe] * 4


def test_a_shape_that_fits_comes_before_one_of_less_error():
    """At four collections the Laplace shape errs less, and adds more."""
    few = choose(asked(4, mix_messages=90 * 100)).plan
    assert isinstance(few.parts[0].recipe, GaussianShape)
    assert few.standard_error > planned(4).standard_error
    with pytest.raises(InfeasibleError, match="--mix-messages"):
        choose(asked(4, mix_messages=50 * 100))


def test_what_is_likely_is_nearly_what_is_found():
    accountant = Accountant()
    for collections, kind, *_ in KNOWN:
        found = shapes.least_shape(
            asked(collections, accept_probable=True), 1, accountant, lambda _: True
        )
        assert isinstance(found, kind)
        assert found.spread == pytest.approx(planned(collections).parts[0].recipe.spread, rel=0.05)


def test_a_promise_beyond_every_shape_is_refused():
    tiny = Guarantee(epsilon=0.01, delta=1e-15)
    with pytest.raises(InfeasibleError, match="its fakes would be too many"):
        choose(asked(1000, guarantee=tiny))


def test_what_a_table_itself_tells_and_shifts_that_end_stop_no_search():
    """Of the smallest deltas nothing is found or something proved; it is no error of ours."""
    question = make_attributes_question("q", (17, 12, 7))

    def found(epsilon):
        promised = Guarantee(epsilon=epsilon, delta=1.17e-15)
        return choose(asked(20, question, promised, messages_per_user=3)).plan.certificate

    with pytest.raises(InfeasibleError, match="a larger epsilon"):
        found(0.0991)
    assert found(0.5).upper <= 1.17e-15
