"""Sets are planned in clear where the budget has a message a member and the fakes."""

from dataclasses import replace

import pytest

from mixtally.accounting.plans.terms import verify
from mixtally.model.question import Kind, Question
from mixtally.planning import Planner, choose
from planning.requests import named, proved, request, surveyed


def sets(most, bins=1000, **more):
    question = Question(name="s", bins=bins, kind=Kind.SET, max_set=most)
    return request(question=question, **more)


TARGETS = {2: 8.67, 3: 10.48, 4: 12.04, 8: 16.94, 16: 23.92}
"""Standard errors of an empty bin of 1,000 at (1, 1e-6), by 40-digit arithmetic; coins add a
thousandth or two of the fakes."""


@pytest.mark.parametrize("most", TARGETS)
def test_the_error_is_that_of_the_known_fakes(most):
    plan = choose(sets(most)).plan
    assert plan.protocol == plan.name == "clear-uniform"
    assert plan.standard_error == pytest.approx(TARGETS[most], rel=2e-3)
    assert plan.messages_per_user == pytest.approx(most + plan.fakes / 10**6, rel=1e-6)
    (part,) = plan.parts
    assert (part.bins, part.most_set, part.layout.bins) == (1000, most, 1000 + most)
    assert plan.certificate.lower > 0.9 * plan.certificate.upper > 0.85e-6
    verify(plan)


def test_a_budget_of_fewer_messages_names_what_it_would_take():
    asked = sets(4, messages_per_user=2)
    assert choose(asked).plan.parts[0].slots == 1
    assert choose(replace(asked, whole_records=True)).plan.protocol == "flip-blank"
    (needs,) = [
        one.needs
        for one in Planner().candidates(asked).infeasible
        if one.protocol == "clear-uniform"
    ]
    assert "--messages-per-user 4.146" in needs
    plan = choose(sets(4, messages_per_user=4.146)).plan
    assert (plan.protocol, plan.parts[0].slots) == ("clear-uniform", None)


def test_the_cheaper_flips_stand_beside_it():
    plans = {plan.name: plan for plan in proved(sets(2, bins=40, users=10**5))}
    assert plans["clear-uniform"].standard_error < plans["flip-blank"].standard_error
    found = plans["flip-blank"]
    assert found.fakes == 10**5


def test_collections_and_fewer_honest_people_are_priced():
    one = named(sets(3, bins=50, users=10**5), "clear-uniform")
    again = named(sets(3, bins=50, users=10**5, collections=2), "clear-uniform")
    some = named(sets(3, bins=50, users=10**5, honest_share=0.5), "clear-uniform")
    assert 1.2 < again.standard_error / one.standard_error < 2.0
    assert some.fakes == pytest.approx(2 * one.fakes, rel=0.01)
    for plan in (again, some):
        verify(plan)


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (Question(name="s", bins=20, kind=Kind.SET), {}),
        (Question(name="s", bins=10**7, kind=Kind.SET, max_set=2), {"over_planes": False}),
        (Question(name="s", bins=20, kind=Kind.SET, max_set=2), {"local_epsilon": 4.0}),
        (Question(name="s", bins=20, kind=Kind.SET, max_set=2), {"users": 30}),
    ],
)
def test_others_are_not(question, more):
    """Sets of one, bins that leave no numbers for pads, a local promise, too few people."""
    found = surveyed(request(question=question, **more))
    assert all(one.protocol != "clear-uniform" for one in found)


def test_a_set_of_few_bins():
    """Of two: an empty and a full one share no cell of four."""
    plan = named(sets(2, bins=2, users=10**5), "clear-uniform")
    assert plan.parts[0].layout.bins == 4
    assert plan.certificate.upper <= 1e-6


@pytest.mark.parametrize(
    ("size", "users", "prime", "error"), [(2, 10**5, 1327, 15.05), (4, 10**6, 7607, 26.33)]
)
def test_sets_that_fakes_cannot_cover_are_sent_over_planes(size, users, prime, error):
    """The greatest prime that fakes cover."""
    plan = choose(sets(size, bins=10**5, users=users)).plan
    (part,) = plan.parts
    assert (part.planes.prime, part.most_set) == (prime, size)
    assert part.planes.digits > size
    assert plan.standard_error == pytest.approx(error, rel=0.02)
    verify(plan)


@pytest.mark.parametrize(("collections", "error"), [(52, 72.2), (365, 190.9)])
def test_of_many_collections_no_factor_of_one_is_paid_again_and_again(collections, error):
    """Half of all cells differ: fakes in them are far from Poisson numbers. With the factor of one
    message in every one 52 collections err by 77.9, and 365 find no end.
    """
    asked = sets(3, bins=10, users=10**5, collections=collections, protocol="clear-uniform")
    plan = choose(replace(asked, messages_per_user=50)).plan
    assert plan.standard_error == pytest.approx(error, rel=2e-3)
    assert plan.certificate.upper <= 1e-6
    verify(plan)
