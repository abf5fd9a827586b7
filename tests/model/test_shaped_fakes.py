"""Shapes are distributions: integers that sum to 2^64, falling from the shift to both sides."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from helpers import contracts
from mixtally.device.contract.shape import MOST_VARIANCE
from mixtally.errors import ParameterError, PlanError
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism.fakes import ShapedFakes
from mixtally.model.shape import (
    GaussianShape,
    LaplaceShape,
    PairedGaussianShape,
    PairedLaplaceShape,
    ratio_of,
)
from mixtally.primitives.chance import Keystream
from mixtally.primitives.codec import canonical_bytes
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.mixing import draw_shaped_fakes

MOST_ABOVE = 100_000
SHIFTS = st.integers(1, 300)
SHAPES = st.one_of(
    st.builds(LaplaceShape, st.integers(1, SCALE - (1 << 56)), SHIFTS),
    st.builds(GaussianShape, st.integers(1, 20_000), SHIFTS),
)


@settings(max_examples=60)
@given(SHAPES)
def test_the_weights_fall_from_the_shift_to_both_sides(shape):
    weights, shift = shape.weights, shape.shift
    assert sum(weights) == SCALE
    assert weights[-1] > 0
    assert all(isinstance(w, int) and w >= 0 for w in weights)
    above, below = weights[shift:], weights[shift::-1]
    assert all(outer <= inner for inner, outer in pairwise(above))
    assert below[1:] == (*above[1:], *[0] * shift)[:shift]


def true_falls(shape, count):
    """f(j) of j = 0, 1, .. to a hundred digits, by another way than the table's."""
    with localcontext() as context:
        context.prec = 120
        if isinstance(shape, LaplaceShape):
            return [Fraction(shape.ratio, SCALE) ** j for j in range(count)]
        double = Decimal(2 * shape.variance)
        return [Fraction((-Decimal(j * j) / double).exp()) for j in range(count)]


@pytest.mark.parametrize(
    "shape",
    [
        LaplaceShape(ratio_of(0.5), 25),
        LaplaceShape(ratio_of(1.7), 3),
        LaplaceShape(1 << 62, 40),
        GaussianShape(36, 36),
        GaussianShape(1, 2),
        GaussianShape(143, 7),
    ],
)
def test_the_weights_are_the_distribution_to_the_last_unit(shape):
    """Rounded down but at the shift; the table ends where 64 bits have nothing left."""
    weights, shift = shape.weights, shape.shift
    falls = true_falls(shape, len(weights) + 60)
    kept = [fall for fall in falls if fall * SCALE >= 1]
    total = sum(kept) + sum(kept[1 : shift + 1])
    floors = [fall * SCALE // total for fall in kept]
    wanted = [*floors[shift:0:-1]] if len(floors) > shift else None
    assert wanted is None or list(weights[:shift]) == wanted
    assert list(weights[shift + 1 :]) == [w for w in floors[1:] if w]
    assert falls[len(weights) - shift] * SCALE < total  # what comes next is nothing
    assert abs(sum(falls[j] for j in range(len(kept), len(falls)))) < Fraction(4, SCALE)


def test_a_slow_fall_ends_at_the_longest_table():
    weights = LaplaceShape(SCALE - 1, MOST_ABOVE).weights
    assert len(weights) == 2 * MOST_ABOVE + 1
    assert (sum(weights), min(weights) > 0) == (SCALE, True)
    widest = GaussianShape(MOST_VARIANCE, 5).weights
    assert len(widest) == 5 + MOST_ABOVE + 1
    assert sum(widest) == SCALE


@pytest.mark.parametrize(
    ("shape", "mean"),
    [(LaplaceShape(ratio_of(0.5), 25), 25.00006), (GaussianShape(36, 36), 36.0000000363)],
)
def test_the_mean_is_that_of_the_table_and_not_the_shift(shape, mean):
    exact = sum(k * Fraction(w, SCALE) for k, w in enumerate(shape.weights))
    square = sum(k * k * Fraction(w, SCALE) for k, w in enumerate(shape.weights))
    assert shape.mean == float(exact) == pytest.approx(mean, rel=1e-6)
    assert shape.mean > shape.shift
    assert shape.spread == float(square - exact**2)
    assert [shape.mean_of(bins) for bins in (1, 10**7)] == [round(exact), round(exact * 10**7)]


@pytest.mark.parametrize(
    "shape",
    [
        *(LaplaceShape(*one) for one in ((1 << 63, 5), (1 << 63, 60), (1 << 63, 70), (1, 3))),
        GaussianShape(1, 20),
        GaussianShape(50_000, 1),
    ],
)
def test_every_accepted_shape_can_be_drawn(shape):
    """Also when its low end is so rare that it has no weight left."""
    fakes = draw_shaped_fakes(shape.weights, Layout(Form.INDEX, 3), Keystream(bytes(32)))
    assert len(fakes) <= 3 * shape.most


@pytest.mark.parametrize("decay", [1e-6, 0.005, 0.5, 1.0, 10.0, 40.0])
def test_a_ratio_is_the_power_of_its_decay_to_half_a_unit(decay):
    true = math.exp(-decay) * SCALE
    assert abs(ratio_of(decay) - true) <= 0.5 + 1e-15 * true
    assert LaplaceShape(ratio_of(decay), 1).decay == pytest.approx(decay, rel=1e-2, abs=1e-12)


@pytest.mark.parametrize("decay", [0.0, -1.0, 9e-7, 41.0, math.nan, math.inf])
def test_an_impossible_decay_is_refused(decay):
    with pytest.raises(ParameterError, match="shape decay"):
        ratio_of(decay)


@pytest.mark.parametrize(
    ("ratio", "shift"), [(0, 1), (SCALE, 1), (-1, 1), (1, 0), (1, -1), (1, 100_001)]
)
def test_an_impossible_shape_is_refused(ratio, shift):
    with pytest.raises(ParameterError, match="shape"):
        LaplaceShape(ratio, shift)


@pytest.mark.parametrize(
    ("variance", "shift"), [(0, 1), (-1, 1), (MOST_VARIANCE + 1, 1), (1, 0), (1, 100_001)]
)
def test_an_impossible_gaussian_is_refused(variance, shift):
    with pytest.raises(ParameterError, match="shape"):
        GaussianShape(variance, shift)


@pytest.mark.parametrize("mixes", [0, -1, 101])
def test_an_impossible_number_of_mixes_is_refused(mixes):
    with pytest.raises(ParameterError, match="mixes"):
        ShapedFakes(LaplaceShape(1 << 63, 5), mixes)


def test_weights_once_computed_change_nothing_that_is_compared_or_written():
    used, fresh = LaplaceShape(1 << 63, 5), LaplaceShape(1 << 63, 5)
    assert len(used.weights) == 5 + 1 + 62
    assert used.weights is used.weights
    assert (used, hash(used), canonical_bytes(used)) == (fresh, hash(fresh), canonical_bytes(fresh))
    assert len(replace(used, shift=7).weights) == 7 + 1 + 62


@pytest.mark.parametrize("recipe", [PairedLaplaceShape(1 << 62, 3), PairedGaussianShape(4, 4)])
def test_paired_fakes_need_two_bins(recipe):
    pair = replace(contracts.shaped(2), recipe=recipe)
    assert pair.mean_added == 2 * recipe.shift
    assert pair.mechanism(fakes=0).has_paired_fakes
    assert pair.protocol == "clear-shaped"
    for other in (contracts.shaped(3), contracts.shaped(2, most_set=2), contracts.shaped(9)):
        with pytest.raises(PlanError, match="two bins for fakes with a fixed total"):
            replace(other, recipe=recipe)
    with pytest.raises(PlanError, match="uniform fakes among planes"):
        replace(contracts.over_planes(9, 2, drawn=6), recipe=recipe)
    with pytest.raises(PlanError, match="blanks of hops"):
        replace(contracts.flipped(2, blanks=3), recipe=recipe)


def test_shapes_of_another_kind_are_other_recipes():
    """Though their integers are equal."""
    plain, pair = LaplaceShape(1 << 63, 5), PairedLaplaceShape(1 << 63, 5)
    assert plain != pair
    assert canonical_bytes(plain) != canonical_bytes(pair)
    assert replace(pair, shift=7).weights == PairedLaplaceShape(1 << 63, 7).weights
    assert {**plain.facts(), "shape_total": 10} == pair.facts()
