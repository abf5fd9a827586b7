"""Two bins whose fakes add up to a fixed number: against enumeration in fractions."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product

import pytest
from msgspec.structs import replace

import oracle
from helpers import contracts
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition import tables
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.tables import losses_of
from mixtally.accounting.divergence import clear_paired
from mixtally.accounting.divergence.in_clear import usual_ratio
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, verify
from mixtally.device.client import shaped
from mixtally.device.contract.shape import gaussian_weights, laplace_weights
from mixtally.errors import AccountingError, ParameterError
from mixtally.model.mechanism import InClear, ShapedFakes
from mixtally.model.question import Kind, Question
from mixtally.model.shape import LaplaceShape, PairedGaussianShape, PairedLaplaceShape, ratio_of
from mixtally.primitives.fixed_point import SCALE

EPSILONS = (0.0, 0.1, 0.7, 1.0, 1.5, 3.0, 6.0)
SHAPES = {
    "fall": PairedLaplaceShape(SCALE // 3, 2),
    "one fake on either side": PairedLaplaceShape(SCALE // 2, 1),
    "steep, with ends of no chance": PairedLaplaceShape(1 << 20, 3),
    "bell": PairedGaussianShape(2, 3),
    "narrow bell": PairedGaussianShape(1, 2),
}


def collections(shape, mixes, others):
    """The chance of every pair of counts, in fractions, with the person in the first bin or not."""
    weights = [Fraction(one, SCALE) for one in shape.weights]
    fakes = {0: Fraction(1)}
    for _ in range(mixes):
        more = defaultdict(Fraction)
        for (k, chance), (f, one) in product(fakes.items(), enumerate(weights)):
            more[k + f] += chance * one
        fakes = more
    total = 2 * shape.shift * mixes
    first, second = others
    return [
        {(first + own + k, second + 1 - own + total - k): one for k, one in fakes.items()}
        for own in (1, 0)
    ]


def truth(shape, epsilon, times=1, mixes=1):
    """The larger divergence of both orders, of ``times`` messages that all move the same way."""
    grow = oracle.exp_exactly(epsilon)
    here, there = collections(shape, mixes, (2, 1))
    single = [(here.get(key, 0), there.get(key, 0)) for key in here | there]
    every = {(Fraction(1), Fraction(1)): 1}
    for _ in range(times):
        more = defaultdict(int)
        for ((p, q), many), (x, y) in product(every.items(), single):
            more[p * x, q * y] += many
        every = more
    return max(
        sum((many * max(Fraction(0), p - grow * q) for (p, q), many in every.items()), Fraction(0)),
        sum((many * max(Fraction(0), q - grow * p) for (p, q), many in every.items()), Fraction(0)),
    )


def test_the_tables_have_every_number_up_to_twice_the_shift():
    for shape in SHAPES.values():
        weights = shape.weights
        assert len(weights) == 2 * shape.shift + 1
        assert sum(weights) == SCALE
        assert weights == weights[::-1]
        assert shape.mean == shape.shift
        assert shape.mean_of(2) == shape.most == 2 * shape.shift
    assert SHAPES["steep, with ends of no chance"].weights[-1] == 0


def test_a_table_is_that_of_independent_bins_between_its_ends():
    """Up to the numbers that are cut off, whose chance the others share."""
    whole, cut = laplace_weights(SCALE // 2, 30), laplace_weights(SCALE // 2, 30, paired=True)
    assert [one / SCALE for one in cut] == pytest.approx([one / SCALE for one in whole[:61]])
    whole, cut = gaussian_weights(9, 40), gaussian_weights(9, 40, paired=True)
    assert list(cut) == [*whole, *[0] * (81 - len(whole))]


@pytest.mark.parametrize("name", SHAPES)
def test_once_it_is_the_enumerated_divergence(name):
    for epsilon in EPSILONS:
        true = truth(SHAPES[name], epsilon)
        found = clear_paired.delta(SHAPES[name].weights, epsilon)
        assert oracle.brackets(found, true)
        assert found.upper <= true + 2.0**-120 + 3e-9 * float(true)
        composed = LossSum([(losses_of(SHAPES[name].weights, paired=True), 1)]).delta(epsilon)
        assert true <= composed <= 1.02 * true + 2.0**-100, epsilon
        up, down = shaped.paired_delta(SHAPES[name].weights, epsilon)
        assert true <= Fraction(up, down) <= true + Fraction(1, 1 << 100)


def test_a_table_that_is_not_symmetric_has_the_delta_of_its_worse_order():
    weights = (SCALE // 8, SCALE // 2, SCALE // 4, SCALE // 8)
    grow = oracle.exp_exactly(0.4)
    steps = [(Fraction(a, SCALE), Fraction(b, SCALE)) for a, b in pairwise((0, *weights, 0))]
    ways = [
        sum(max(Fraction(0), x - grow * y) for x, y in steps),
        sum(max(Fraction(0), y - grow * x) for x, y in steps),
    ]
    assert ways[0] != ways[1]
    for given in (weights, weights[::-1]):
        assert oracle.brackets(clear_paired.delta(given, 0.4), max(ways))
        up, down = shaped.paired_delta(given, 0.4)
        assert float(Fraction(up, down)) == pytest.approx(float(max(ways)), rel=1e-12)
    with pytest.raises(AccountingError, match="symmetric"):
        losses_of(weights, paired=True)


@pytest.mark.parametrize("name", SHAPES)
def test_twice_and_thrice_it_is_the_enumerated_divergence(name):
    for times, epsilon in ((2, 0.1), (2, 1.0), (3, 1.5)):
        true = truth(SHAPES[name], epsilon, times)
        weights = SHAPES[name].weights
        found = LossSum([(losses_of(weights, paired=True), times)]).delta(epsilon)
        assert true <= found <= 1.01 * true + 2.0**-90, (times, epsilon)
        least = tables.lower_of(weights, times, epsilon, paired=True)
        assert 0.0 <= least <= true
        assert least >= 0.4 * true or true < 1e-12


@pytest.mark.parametrize("name", ["fall", "bell"])
def test_further_mixes_never_add_to_delta(name):
    """Whichever of them is honest: what all others draw is independent of its fakes."""
    for epsilon in (0.0, 0.7, 1.5):
        alone = clear_paired.delta(SHAPES[name].weights, epsilon)
        assert truth(SHAPES[name], epsilon, mixes=2) <= alone.upper


def certificate_of(recipe):
    part = replace(contracts.paired(), recipe=recipe)
    plan = contracts.plan_of(Question(name="q", bins=2), [part], delta=1e-6)
    return certify_terms(PrivacyTerms.of(plan))


def test_28_fakes_hide_a_yes_or_no():
    shape = PairedLaplaceShape(usual_ratio(1.0, 1, paired=True), 14)
    assert math.sqrt(shape.spread) == pytest.approx(1.3569, abs=1e-4)
    found = certificate_of(shape)
    assert found.upper == pytest.approx(3.8426e-7, rel=1e-4)
    assert found.upper <= 1.000001 * found.lower + 1e-13
    short = certificate_of(PairedLaplaceShape(shape.ratio, 13))
    assert short.lower > 1e-6


def test_20_bits_have_half_the_variance_of_independent_bins():
    bits = Question(name="q", bins=20, kind=Kind.BITS)
    part = contracts.paired_gaussian(variance=361, shift=105)
    plan = contracts.plan_of(bits, [part] * 20, delta=1e-6)
    found = certify_terms(PrivacyTerms.of(plan))
    assert 9.4e-7 < found.lower <= found.upper <= 1e-6
    assert part.standard_error(1000, 1, 0) == pytest.approx(19.0, abs=1e-3)
    assert part.standard_error(1000, 1, 0, summed=2) == part.standard_error(1000, 1, 0)


def test_several_collections_are_composed():
    part = contracts.paired_gaussian(variance=6581, shift=469)
    question = Question(name="q", bins=2)
    plan = contracts.plan_of(question, [part], delta=1e-6, collections=365)
    found = certify_terms(PrivacyTerms.of(plan))
    assert 8e-7 < found.lower <= 9.9e-7 < found.upper <= 1e-6
    assert math.sqrt(part.recipe.spread) == pytest.approx(81.12, abs=0.01)


def test_a_plan_with_paired_fakes_is_verified_and_an_altered_one_is_not():
    plan = contracts.proved(contracts.plan_of(Question(name="q", bins=2), [contracts.paired()]))
    assert verify(plan).upper == plan.certificate.upper
    less = replace(plan.parts[0], recipe=PairedLaplaceShape(contracts.PAIRED_RATIO, 19))
    with pytest.raises(Exception, match="its promise is false"):
        verify(replace(plan, parts=(less,)))


def test_it_is_named_by_its_parameters():
    from mixtally import delta

    found = delta("clear-shaped", epsilon=1, paired=True, shape_decay=1.0, shape_shift=14)
    assert found.upper == pytest.approx(3.8426e-7, rel=1e-4)
    apart = delta("clear-shaped", epsilon=1, bins=2, shape_decay=1.0, shape_shift=14)
    assert apart.upper > 0.1


def test_other_records_have_no_paired_fakes():
    fakes = ShapedFakes(PairedLaplaceShape(ratio_of(0.5), 9))
    for more in ({"bins": 3}, {"bins": 2, "max_set": 2}):
        with pytest.raises(ParameterError, match="expected two bins"):
            InClear(fakes=fakes, **more)
    assert InClear(bins=3, fakes=ShapedFakes(LaplaceShape(ratio_of(0.5), 9))).cells == 3


def test_a_lower_bound_of_mixed_rounds_is_below_their_composition():
    accountant = Accountant()
    mechanism = InClear(bins=2, fakes=ShapedFakes(SHAPES["bell"]), repeats=3)
    found = accountant.delta(Record.of(mechanism), 0.5).bounds
    assert 0.0 < found.lower <= found.upper < 1.0
