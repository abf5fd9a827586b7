"""Where mixes draw fakes, sets are planned in clear among shaped ones of every cell."""

import pytest

from mixtally.accounting.plans.terms import verify
from mixtally.model.plan import Cover
from mixtally.model.question import Kind, Question
from mixtally.planning import Planner, choose
from planning.requests import request


def sets(most, bins=1000, **more):
    question = Question(name="s", bins=bins, kind=Kind.SET, max_set=most)
    return request(question=question, **more)


CASES = {
    "few of many": (
        {"most": 4, "bins": 2210, "users": 1_690_544, "hops": 2, "messages_per_user": 4.0},
        (1.4, 1e-6), (11.4, 484),
    ),
    "two of few": (
        {"most": 2, "bins": 29, "users": 611_620, "hops": 3, "messages_per_user": 2.0},
        (2.01, 1e-7), (4.8, 112),
    ),
    "sixteen": (
        {"most": 16, "bins": 746_646, "users": 8559, "mix_fakes": True, "messages_per_user": 17.0},
        (0.54, 1e-8), (53, 313),
    ),
}  # fmt: skip
"""What is asked, the guarantee, and the errors of shaped fakes and of flips among blanks."""


@pytest.mark.parametrize("name", CASES)
def test_they_err_by_a_fraction_of_what_flips_do(name):
    asked, promise, (shaped, flips) = CASES[name]
    epsilon, delta = promise
    found = choose(sets(**asked, epsilon=epsilon, delta=delta))
    plan, (part,) = found.plan, found.plan.parts
    assert (plan.protocol, plan.cover) == ("clear-shaped", Cover.MIXES)
    assert plan.standard_error == pytest.approx(shaped, rel=0.02)
    cells = asked["bins"] + asked["most"]
    assert (part.most_set, part.layout.bins, plan.messages_per_user) == (
        asked["most"], cells, asked["most"],
    )  # fmt: skip
    assert plan.messages_per_mix == part.recipe.mean_of(cells)
    assert 0.9 * plan.certificate.upper < plan.certificate.lower
    verify(plan)
    least = min(one.error for one in found.others if one.protocol == "flip-blank")
    assert least == pytest.approx(flips, rel=0.02)


def needs(asked):
    (found,) = [
        one.needs
        for one in Planner().candidates(asked).infeasible
        if one.protocol == "clear-shaped"
    ]
    return found


def test_budgets_name_what_they_would_take():
    """A message a member, and fakes for every bin and pad."""
    few = sets(4, hops=2, users=10**6, messages_per_user=3)
    assert choose(few).plan.parts[0].slots == 1
    assert "--messages-per-user 4" in needs(few)
    taken = choose(sets(4, hops=2, users=10**6)).plan.messages_per_mix
    for most, protocol in ((taken, "clear-shaped"), (taken // 2, "clear-uniform")):
        asked = sets(4, hops=2, users=10**6, mix_messages=most)
        assert choose(asked).plan.protocol == protocol
    assert "--mix-messages" in needs(asked)


def test_many_collections_of_sets_take_a_gaussian_shape():
    plan = choose(sets(16, bins=50, hops=2, users=10**6, collections=4)).plan
    assert plan.parts[0].recipe.facts().keys() == {"shape_variance", "shape_shift"}
    verify(plan)


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (Question(name="s", bins=20, kind=Kind.SET), {}),
        (Question(name="s", bins=10**7, kind=Kind.SET, max_set=2), {}),
        (Question(name="s", bins=20, kind=Kind.SET, max_set=2), {"local_epsilon": 4.0}),
        (Question(name="s", bins=20, kind=Kind.SET, max_set=2), {"hops": None}),
    ],
)
def test_others_are_not(question, more):
    """Sets of one, bins that leave no numbers for pads, a local promise, no mix that draws."""
    asked = request(question=question, **({"hops": 2, "users": 10**6} | more))
    found, _ = Planner().candidates(asked)
    assert all(one.protocol != "clear-shaped" for one in found)
