"""Every outcome of small collections, counted exactly, against the closed forms."""

import math
from fractions import Fraction

import pytest

from accounting import brute
from mixtally.accounting.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.errors import AccountingError
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.fixed_point import SCALE

FIFTH = SCALE // 5


@pytest.mark.parametrize(("bins", "fakes", "threshold", "epsilon"), brute.BLANK_CASES)
def test_flip_blank_is_the_enumerated_divergence(bins, fakes, threshold, epsilon):
    assert brute.flip_blank_holds(bins, fakes, threshold, epsilon)


@pytest.mark.parametrize(("bins", "fakes", "epsilon"), brute.UNIFORM_CASES)
def test_clear_uniform_is_the_enumerated_divergence(bins, fakes, epsilon):
    assert brute.clear_uniform_holds(bins, fakes, epsilon)


@pytest.mark.parametrize(("bins", "ratio", "shift", "epsilon"), brute.SHAPED_CASES)
def test_clear_shaped_is_the_enumerated_divergence(bins, ratio, shift, epsilon):
    assert brute.clear_shaped_holds(bins, ratio, shift, epsilon)


def scaled(delta, share):
    """The same a hair wrong."""
    return lambda *given: Bracket(*(share * end for end in delta(*given)))


blank, uniform, shaped = flip_blank.delta, clear_uniform.delta, clear_shaped.delta
BLANKS = [case for case in brute.BLANK_CASES if case[0] == 2]
UNIFORMS = [case for case in brute.UNIFORM_CASES if case[0] == 3]
SHAPES = [case for case in brute.SHAPED_CASES if case[0] == 2]
HAIRS = (0.99, 1.01, 1.0 - 1e-8, 1.0 + 1e-8)
WRONG = [
    (brute.flip_blank_holds, BLANKS, {
        "a fake more": lambda fakes, q, epsilon: blank(fakes + 1, q, epsilon),
        "a fake fewer": lambda fakes, q, epsilon: blank(max(fakes - 1, 0), q, epsilon),
        "2q": lambda fakes, q, epsilon: blank(fakes, 2 * q, epsilon),
        "q a hair larger": lambda fakes, q, epsilon: blank(fakes, q + (q >> 20), epsilon),
        "half epsilon": lambda fakes, q, epsilon: blank(fakes, q, epsilon / 2),
        "more epsilon": lambda fakes, q, epsilon: blank(fakes, q, epsilon + 1e-6),
        **{f"{share} of it": scaled(blank, share) for share in HAIRS},
    }),
    (brute.clear_uniform_holds, UNIFORMS, {
        "a bin fewer": lambda fakes, bins, epsilon: uniform(fakes, bins - 1, epsilon),
        "a bin more": lambda fakes, bins, epsilon: uniform(fakes, bins + 1, epsilon),
        "a fake more": lambda fakes, bins, epsilon: uniform(fakes + 1, bins, epsilon),
        "more epsilon": lambda fakes, bins, epsilon: uniform(fakes, bins, epsilon + 1e-6),
        **{f"{share} of it": scaled(uniform, share) for share in HAIRS},
    }),
    (brute.clear_shaped_holds, SHAPES, {
        "rolled": lambda weights, epsilon: shaped((*weights[1:], weights[0]), epsilon),
        "shifted": lambda weights, epsilon: shaped((*weights[1:], 0), epsilon),
        "ends lost": lambda weights, epsilon: shaped(weights[1:-1], epsilon),
        "more epsilon": lambda weights, epsilon: shaped(weights, epsilon + 1e-6),
        "less epsilon": lambda weights, epsilon: shaped(weights, epsilon * 0.99),
        **{f"{share} of it": scaled(shaped, share) for share in HAIRS},
    }),
]  # fmt: skip


def all_hold(holds, cases, delta):
    """Whether every comparison passes; a number that stops the work is noticed as well."""
    try:
        return all(holds(*case, delta) for case in cases)
    except (AccountingError, IndexError, ValueError):
        return False


@pytest.mark.parametrize(
    ("holds", "cases", "wrong"),
    [
        pytest.param(holds, cases, wrong, id=f"{holds.__name__}: {name}")
        for holds, cases, changes in WRONG
        for name, wrong in changes.items()
    ],
)
def test_a_wrong_number_is_noticed(holds, cases, wrong):
    assert not all_hold(holds, cases, wrong)


def test_a_bracket_too_wide_to_be_useful_is_noticed():
    truth = brute.flip_blank_delta(2, 3, 1 << 60, 1.0)
    ends = flip_blank.delta(3, 1 << 60, 1.0)
    assert brute.brackets(ends, truth)
    assert not brute.brackets(Bracket(0.0, 1.0), truth)
    assert not brute.brackets(Bracket(ends.lower, ends.upper * (1 + 1e-8)), truth)


def test_the_enumeration_itself_gives_randomized_response():
    """One record alone, by hand: flips give p^2 - e^eps q^2, a record in clear gives 1."""
    q = Fraction(1, 5)
    grow = brute.exp_exactly(1.0)
    by_hand = (1 - q) ** 2 - grow * q**2
    enumerated = brute.flip_blank_delta(2, 0, FIFTH, 1.0)
    assert enumerated == pytest.approx(float(by_hand), rel=1e-15)
    assert brute.clear_uniform_delta(3, 0, 1.0) == 1
    assert float(grow) == math.e


def test_the_enumerated_distributions_are_distributions():
    assert sum(brute.flipped(3, 5, FIFTH).values()) == SCALE**3
    assert sum(brute.shaped(3, 1, LaplaceShape(FIFTH, 2).weights).values()) == SCALE
    assert sum(brute.sum_of([brute.uniform(3)] * 4).values()) == 81


def test_further_bins_change_nothing_for_flipped_blanks():
    assert brute.flip_blank_delta(2, 3, FIFTH, 0.5) == brute.flip_blank_delta(3, 3, FIFTH, 0.5)


@pytest.mark.parametrize("fakes", [0, 2, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("below", [1e-3, 1e-6, 1e-10, 1e-12])
def test_flip_blank_brackets_the_truth_where_the_ratio_barely_exceeds(fakes, epsilon, below):
    """Just under the local promise only the rarest outcome counts, and by a hair."""
    threshold = round(SCALE / (1.0 + math.exp(epsilon / 2.0)) * (1.0 - below))
    truth = brute.flip_blank_delta(2, fakes, threshold, epsilon)
    ends = flip_blank.delta(fakes, threshold, epsilon)
    assert ends.lower <= truth <= ends.upper


@pytest.mark.parametrize(
    ("epsilon", "threshold"),
    [(0.01, 9200313654800914797), (0.1, 8992835762322870039), (1.0, 6964396094736529933)],
)
def test_flip_blank_brackets_the_truth_where_a_limit_rounds_up_to_a_whole_number(
    epsilon, threshold
):
    """The least A that counts is then the limit itself, and must not be left out."""
    truth = brute.flip_blank_delta(2, 0, threshold, epsilon)
    assert truth > 1e-20
    ends = flip_blank.delta(0, threshold, epsilon)
    assert ends.lower <= truth <= ends.upper


@pytest.mark.parametrize("others", [(0,), (1,), (2,), (0, 1), (2, 2), (0, 0)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("fakes", [0, 1, 2])
def test_further_people_never_raise_the_divergence_of_flip_blank(fakes, epsilon, others):
    for threshold in (SCALE // 50, FIFTH):
        truth = brute.flip_blank_delta(3, fakes, threshold, epsilon, others)
        assert 0 < truth <= flip_blank.delta(fakes, threshold, epsilon).upper


@pytest.mark.parametrize("others", [(0,), (1,), (2,), (0, 1, 2), (0, 0, 0), (1, 1)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_further_people_never_raise_the_divergence_of_records_in_clear(epsilon, others):
    for fakes in (0, 2, 5):
        truth = brute.clear_uniform_delta(3, fakes, epsilon, others)
        assert 0 < truth <= clear_uniform.delta(fakes, 3, epsilon).upper
    weights = LaplaceShape(SCALE // 20, 2).weights
    truth = brute.clear_shaped_delta(3, weights, epsilon, others)
    assert 0 < truth <= clear_shaped.delta(weights, epsilon).upper


def test_people_at_other_values_hide_a_little_but_less_than_blanks():
    """What makes Prop. 3.1 worth a test: the crowd does matter, in the safe direction."""
    alone = brute.flip_blank_delta(3, 1, FIFTH, 0.5)
    with_another = brute.flip_blank_delta(3, 1, FIFTH, 0.5, (2,))
    with_a_blank = brute.flip_blank_delta(3, 2, FIFTH, 0.5)
    assert with_a_blank <= with_another < alone
