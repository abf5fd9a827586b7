"""Sets in clear among shaped fakes: the worst pair by enumeration, priced as messages composed."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

import oracle
from accounting import brute_sets
from accounting.test_tables import truth as composed_truth
from helpers import contracts as c
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import ObservedMessage, in_clear
from mixtally.accounting.plans import terms
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, count_honest_parts
from mixtally.errors import AccountingError
from mixtally.model.guarantee import Guarantee
from mixtally.model.mechanism import InClear, ShapedFakes
from mixtally.model.question import Kind, Question
from mixtally.model.shape import LaplaceShape, Shape
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from oracle import exp_exactly


class Table(Shape, frozen=True, dict=True):
    """Any chances of 0, 1, .. fakes, over ``of``."""

    chances: tuple[int, ...]

    @property
    def weights(self):
        return tuple(one * SCALE // sum(self.chances) for one in self.chances)


COINS, UNEVEN = Table((1, 4, 6, 4, 1)), Table((1, 20, 40, 67))
LAPLACE = LaplaceShape(SCALE >> 3, 4)
EPSILONS = (0.1, 1.0, 2.0)
SETS = [(2, 2, COINS), (3, 2, UNEVEN), (2, 2, UNEVEN)]
KEPT = pytest.mark.parametrize(("bins", "size", "shape"), SETS)


def among(records, cells, weights, bare=()):
    """Records among fakes of every cell but the ``bare`` ones."""
    numbers = [
        {k << 8 * cell: Fraction(weight, SCALE) for k, weight in enumerate(weights)}
        for cell in range(cells)
        if cell not in bare
    ]
    return brute_sets.among(records, numbers)


def worst(bins, size, weights, grow, bare=(), drawn=brute_sets.draw_record):
    """The largest divergence of all pairs of sets, both directions, as devices send them."""
    records = brute_sets.every_record(bins, size, drawn)
    return oracle.worst(among(records, bins + size, weights, bare), [grow])[0]


def either_way(u, v, weights, grow):
    """Two records' divergences among four cells or as many as they have, either way."""
    cells = max(4, 1 + max(*u, *v))
    of = among([u, v], cells, weights)
    return tuple(oracle.worst(of, [grow], pairs=[way])[0] for way in ((0, 1), (1, 0)))


def disjoint(size, weights, grow):
    """That of two records that share no cell of 2k, either way."""
    return either_way(range(size), range(size, 2 * size), weights, grow)


def record_of(bins, size, shape):
    return Record.of(InClear(bins=bins, fakes=ShapedFakes(shape), max_set=size))


def bounds(bins, size, shape, epsilon):
    return Accountant().delta(record_of(bins, size, shape), epsilon).bounds


def plan_of(bins, size, shape, epsilon, collections=1):
    question = Question(name="s", bins=bins, kind=Kind.SET, max_set=size)
    part = c.shaped(bins, most_set=size, ratio=shape.ratio, shift=shape.shift)
    plan = c.plan_of(question, [part], collections=collections)
    return replace(PrivacyTerms.of(plan), guarantee=Guarantee(epsilon=epsilon, delta=0.1))


@KEPT
def test_the_worst_two_sets_share_no_cell(bins, size, shape):
    """Both directions are one number, which the bounds bracket."""
    for epsilon in EPSILONS:
        grow = exp_exactly(epsilon)
        one, other = disjoint(size, shape.weights, grow)
        assert one == other == worst(bins, size, shape.weights, grow)
        found = bounds(bins, size, shape, epsilon)
        assert 0.9 * one <= found.lower <= one <= found.upper <= 1.02 * one


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_a_plan_is_priced_as_its_record(epsilon):
    one = composed_truth(LAPLACE.weights, 2, epsilon)
    stated = certify_terms(plan_of(3, 2, LAPLACE, epsilon))
    assert 0.9 * one <= stated.lower <= one <= stated.upper <= 1.02 * one
    assert terms.SETS_SOURCE in stated.source
    assert stated.upper == pytest.approx(bounds(3, 2, LAPLACE, epsilon).upper, rel=1e-6)


def test_sets_that_share_cells_tell_less():
    """As so many messages as they do not share."""
    grow = exp_exactly(1.0)
    for shared in (0, 1, 2):
        u, v = range(2), range(2 - shared, 4 - shared)
        told = disjoint(2 - shared, COINS.weights, grow)[0] if shared < 2 else 0
        assert either_way(u, v, COINS.weights, grow)[0] == told


@pytest.mark.parametrize("others", [(0, 1), (2, 3), (0, 3, 1, 2)])
def test_other_people_in_clear_change_nothing(others):
    grow = exp_exactly(1.0)
    u, v = ((*held, *others) for held in ((0, 1), (2, 3)))
    assert either_way(u, v, COINS.weights, grow) == disjoint(2, COINS.weights, grow)


@KEPT
def test_pads_without_fakes_break_the_promise(bins, size, shape):
    """Planted: a mix that draws for the bins alone."""
    grow = exp_exactly(1.0)
    truth = worst(bins, size, shape.weights, grow, bare=range(bins, bins + size))
    assert truth > 1.2 * bounds(bins, size, shape, 1.0).upper


@KEPT
def test_pads_in_one_cell_break_the_promise(bins, size, shape):
    grow = exp_exactly(3.0)
    truth = worst(bins, size, shape.weights, grow, drawn=brute_sets.padded_alike)
    assert truth > 1.05 * bounds(bins, size, shape, 3.0).upper


def counted_once(honest, message):
    """Planted: a set is priced as one of its messages."""
    return honest(message)[0], 1


def test_a_set_priced_as_one_message_is_found(plant):
    plant(in_clear, "observed_unit", counted_once)
    for bins, size, shape in SETS:
        truth = disjoint(size, shape.weights, exp_exactly(1.0))[0]
        assert bounds(bins, size, shape, 1.0).upper < 0.8 * truth


def test_collections_are_as_many_sets():
    """Two of two members are four messages: one price, whoever composes them."""
    (group,) = count_honest_parts(plan_of(3, 2, LAPLACE, 3.0, 2)).items()
    assert group[1] == 4
    assert (group[0].part.bins, group[0].part.most_set, group[0].part.pads) == (2, 1, 0)
    record = record_of(3, 2, LAPLACE)
    found = certify_terms(plan_of(3, 2, LAPLACE, 3.0, 2)).upper
    assert found == pytest.approx(Accountant().upper(record, 3.0, 2), rel=1e-6)
    assert found == pytest.approx(bounds(6, 4, LAPLACE, 3.0).upper, rel=1e-6)
    assert found > 1.1 * certify_terms(plan_of(3, 2, LAPLACE, 3.0)).upper


def test_a_set_is_never_priced_as_one_divergence():
    """Whoever asks for it is stopped."""
    message = ObservedMessage(record_of(3, 2, LAPLACE).message.mechanism)
    with pytest.raises(AccountingError, match="price its messages separately"):
        in_clear.delta(message, 1.0, Memo(10**6))


def test_a_record_says_what_it_rests_on():
    """Of one stream no mix keeps messages apart, as those that are split must be."""
    whole = Accountant().delta(record_of(3, 2, LAPLACE), 1.0)
    split = Accountant().delta(Record.of(record_of(3, 1, LAPLACE).message.mechanism, pieces=2), 1.0)
    assert whole.bounds == split.bounds
    assert "2 messages composed" in whole.source
    assert "apart" in split.assumption
    assert "apart" not in whole.assumption


def test_every_pair_of_members_is_looked_at():
    """The enumeration has the sets that it should."""
    assert len(brute_sets.every_record(3, 2)) == 1 + 3 + len(list(combinations(range(3), 2)))
