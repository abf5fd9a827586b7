"""Uniform fakes that every mix draws among plain bins, where they are asked for or err least."""

import math
from fractions import Fraction

import pytest

from mixtally.accounting.divergence import clear_uniform, planes
from mixtally.accounting.plans.terms import verify
from mixtally.errors import InfeasibleError
from mixtally.model.contract import read_plan, write_plan
from mixtally.model.plan import Cover
from mixtally.model.recipe import UniformRecipe
from mixtally.planning import choose
from planning.requests import PAIR, request

NAME = "clear-uniform"


def planned(bins=4, hops=3, users=30_000, **rest):
    return choose(request(bins=bins, users=users, hops=hops, protocol=NAME, **rest)).plan


@pytest.mark.parametrize(("bins", "hops"), [(2, 1), (4, 3), (20, 2)])
def test_every_mix_draws_as_many_as_the_bins_need(bins, hops):
    plan = planned(bins, hops)
    (part,) = plan.parts
    assert plan.cover is Cover.MIXES
    assert part.planes is None
    assert isinstance(part.recipe, UniformRecipe)
    count = part.recipe.count
    ends = [clear_uniform.delta(many, bins, 1.0) for many in (count - 1, count)]
    assert ends[0].upper > 1e-6 >= ends[1].upper
    assert plan.certificate.upper == pytest.approx(ends[1].upper, rel=1e-9)
    spread = hops * count * (1 / bins) * (1 - 1 / bins)
    assert plan.standard_error == pytest.approx(math.sqrt(spread), rel=1e-9)
    verify(read_plan(write_plan(plan), "plan"))


def test_four_bins_no_longer_err_as_three_planes_do():
    """By planes of p = 3 the error was 101."""
    assert planned().standard_error < 12


def test_attributes_have_fakes_of_their_own():
    plan = planned(question=PAIR, users=10**6, hops=2)
    assert [part.bins for part in plan.parts] == [10, 1000]
    assert all(isinstance(part.recipe, UniformRecipe) for part in plan.parts)
    assert plan.certificate.upper <= 1e-6


def test_more_fakes_than_a_mix_may_draw_are_refused_or_named_by_planes():
    with pytest.raises(InfeasibleError, match="--mix-messages"):
        planned(bins=2, hops=2, mix_messages=20)
    plan = planned(bins=9, hops=2, mix_messages=250)
    assert plan.parts[0].planes is not None
    assert plan.messages_per_mix <= 250


@pytest.mark.parametrize(
    ("bins", "most", "fakes", "of_bins"), [(100, 250, 177, 209), (30, 130, 92, 123)]
)
def test_few_planes_need_fewer_fakes_than_so_many_bins(bins, most, fakes, of_bins):
    """Values that share planes hide among each other as well."""
    plan = planned(bins=bins, hops=2, mix_messages=most)
    (part,) = plan.parts
    ends = [planes.upper(many, part.planes, 1.0) for many in (fakes - 1, fakes)]
    assert ends[0] > 1e-6 >= ends[1]
    assert part.recipe.count == fakes
    assert plan.certificate.upper == pytest.approx(ends[1], rel=1e-9)
    # The twin: as many as bins need would be planned.
    prime = part.planes.prime
    ends = [clear_uniform.delta(many, prime, 1.0).upper for many in (of_bins - 1, of_bins)]
    assert ends[0] > 1e-6 >= ends[1]


def test_a_mix_draws_shaped_fakes_where_these_err_less():
    asked = request(bins=4, users=30_000, hops=3)
    found = choose(asked)
    others = {one.protocol: one.error for one in found.others if one.cover is Cover.MIXES}
    assert found.plan.protocol == "clear-shaped"
    assert found.plan.standard_error < others[NAME] < 12
    assert Fraction(found.plan.messages_per_user) == 1
