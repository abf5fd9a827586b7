"""Both ends of delta of any randomizer: golden values, enumerations and every trap."""

import math
import random
from fractions import Fraction
from itertools import pairwise
from time import process_time

import mpmath as mp
import numpy as np
import pytest

from helpers.randomizers import geometric, hadamard, kary, thirds, unary
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.curves import find_epsilon, trace_randomizer
from mixtally.accounting.divergence.matrix import EXACT_TWO_OUTPUTS, Group, Randomizer
from mixtally.errors import AccountingError, EffortError
from mixtally.model.matrix import make_matrix
from oracle import Collection, exp_exactly, truth, worst

NEAR = 1.001


def fractions(text):
    """Rows separated by slashes with spaces around them."""
    return [[Fraction(one) for one in row.split()] for row in text.split(" / ")]


GOLDEN = {  # matrix, people, e^epsilon, truth, upper, lower end of a uniform crowd
    "A": (fractions("3/4 1/4 / 1/3 2/3"), 3, Fraction(3, 2), *[Fraction(9, 64)] * 3),
    "B": (fractions("4/5 1/5 / 1/2 1/2 / 1/10 9/10"), 4, Fraction(2), *[Fraction(729, 2000)] * 3),
    "C": (thirds(), 4, Fraction(2), *[Fraction(2731, 10125)] * 3),
    "D": (fractions("1/2 1/2 0 / 0 1/2 1/2"), 3, Fraction(2), *[Fraction(1, 2)] * 3),
    "E": (fractions("1 0 / 0 1"), 3, Fraction(2), *[Fraction(1)] * 3),
    "F": (fractions("1/3 2/3 / 1/3 2/3"), 5, Fraction(1), *[Fraction(0)] * 3),
    "G": (fractions("6/10 3/10 1/10 / 1/10 2/10 7/10"), 4, Fraction(3, 2),
          Fraction(6561, 20000), Fraction(177, 500), Fraction(6561, 20000)),
    "H": (fractions("3/8 1/8 3/8 1/8 / 3/8 3/8 1/8 1/8 / 3/8 1/8 1/8 3/8"), 3, Fraction(5, 4),
          *[Fraction(147, 1024)] * 3),
    "I": (thirds(), 1, Fraction(2), *[Fraction(7, 15)] * 3),
    "P": (fractions("2/3 1/3 / 1/4 3/4 / 1/2 1/2"), 4, Fraction(1),
          Fraction(5, 24), Fraction(4645, 20736), Fraction(5, 27)),
}  # fmt: skip


def prepared(matrix, users, *more):
    return Randomizer(make_matrix(matrix, normalize=isinstance(matrix[0][0], float)), users, *more)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name):
    matrix, users, ratio, true, most, least = GOLDEN[name]
    one, epsilon = prepared(matrix, users), math.log(ratio)
    assert truth(matrix, users, ratio) == true
    ends = one.ends(epsilon)
    assert ends.lower.value <= true <= ends.upper.value <= min(most, true * NEAR if ends.exact
                                                               else most) * NEAR  # fmt: skip
    assert true <= one._any_upper(epsilon, 0.0).value <= most * NEAR
    assert least / NEAR <= one.lower(epsilon).value <= least
    assert bool(ends.exact) == (name != "G")


def test_the_worst_crowd_of_two_outputs_may_be_mixed():
    ends = prepared(*GOLDEN["P"][:2]).ends(0.0)
    assert ends.lower.crowd == "1 x 0 and 2 x 1"
    assert ends.exact == EXACT_TWO_OUTPUTS


@pytest.mark.parametrize("name", ["A", "B", "C", "G"])
@pytest.mark.parametrize("turn", [1, -1])
def test_the_lower_end_is_the_delta_of_the_pair_and_the_crowd_it_names(name, turn):
    matrix, users, ratio = GOLDEN[name][:3]
    matrix = matrix[::turn]
    found = prepared(matrix, users).ends(math.log(ratio)).lower
    crowd = [int(found.crowd)] * (users - 1) if name in "CG" else [
        int(label) for many, _, label in (one.split() for one in found.crowd.split(" and "))
        for _ in range(int(many))
    ]  # fmt: skip
    pair = int(found.one), int(found.other)
    true = worst(Collection(matrix, users), [ratio], [crowd], [pair])[0]
    assert true * (1 - 1e-6) <= found.value <= true


def test_weights_are_rounded_up_and_the_ratio_down(watch):
    seen = watch(Randomizer, "_blanket")
    rng, many = random.Random(5), 60
    for _ in range(many):
        matrix, users, _, _, _ = draw_case(rng)
        one, epsilon = prepared(matrix, users), rng.uniform(0.0, 3.0)
        one._any_upper(epsilon, 0.0)
        exact = exp_exactly(epsilon)
        for grow in (given[-2] for given in seen):
            assert exact * (1 - Fraction(1, 2**50)) <= grow <= exact
        seen.clear()
        for u, v in zip(one.ones, one.others, strict=True):
            for away in (1, -1):
                found = one._weights(np.array([u]), np.array([v]), math.exp(epsilon), away)[0]
                for p, q, weight in zip(one.cells[u], one.cells[v], found, strict=True):
                    gap = Fraction(int(p), one.scale) - exact * Fraction(int(q), one.scale)
                    assert away * (Fraction(float(weight)) - gap) >= 0 or (p <= q and weight == 0)


def test_a_pair_of_less_loss_may_be_exposed():
    """The values 0 and 1 differ most where all may send; only value 2 sends the last output."""
    matrix = fractions("80/100 20/100 0 / 20/100 80/100 0 / 45/100 45/100 10/100")
    ends = prepared(matrix, 300).ends(1.0)
    assert ends.upper.one == "2"
    assert 0.1 <= ends.upper.value <= 0.11


LARGE = {  # matrix, people, epsilon, upper, lower
    "3-ary": (kary(3, 3), 1000, 0.8, 9.327150084508e-7, None),
    "10-ary": (kary(10, 3), 1000, 0.6634, 9.989499611551e-7, None),
    "100-ary": (kary(100, 5), 10**5, 0.25, 9.916287e-12, None),
    "3-ary, far": (kary(3, 1), 1000, 0.3, 4.834740430559e-20, None),
    "Hadamard": (hadamard(8, 3), 1000, 0.55, 1.03366e-6, 4.75429e-7),
    "unary": (unary(5, 3), 1000, 0.53, 1.03012e-6, 6.21763e-7),
    "geometric": (geometric(5, 3), 1000, 0.66, 1.08697e-6, 2.21447e-8),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_golden_values(name):
    matrix, users, epsilon, most, least = LARGE[name]
    ends = prepared(matrix, users).ends(epsilon)
    assert most * (1 - 1e-5) <= ends.upper.value <= most * NEAR
    assert ends.lower.value < ends.upper.value
    if least is not None:
        assert least / NEAR <= ends.lower.value <= least * (1 + 1e-5)
    if name == "geometric":
        assert ends.lower[1:] == ("0", "5", "0") or ends.lower[1:] == ("5", "0", "5")


Q = Fraction(1 / (1 + math.exp(3)))


@pytest.mark.parametrize(
    ("low", "high", "users", "epsilon", "true", "ones"),
    [
        (Fraction(1, 10), Fraction(7, 10), 200, 0.5, 5.242100338234e-5, 0),
        (Q, 1 - Q, 1000, 0.8, 1.069298609152e-7, 997),
        (Q, 1 - Q, 1000, 0.8232, 7.084474856e-8, 0),
    ],
)
def test_two_outputs_are_exact(low, high, users, epsilon, true, ones):
    ends = prepared([[1 - low, low], [1 - high, high]], users).ends(epsilon)
    assert true <= ends.upper.value <= true * 1.00101
    assert true * (1 - 1e-8) <= ends.lower.value <= true
    assert ends.exact
    held = {(int(many), label) for many, _, label in
            (part.split(" ") for part in ends.lower.crowd.split(" and "))}  # fmt: skip
    flipped = {(many, "01"[label == "0"]) for many, label in held}
    wanted = {(many, label) for many, label in ((ones, "1"), (users - 1 - ones, "0")) if many}
    assert wanted in (held, flipped)


@pytest.mark.parametrize("users", [2, 3, 4])
def test_a_rare_output_of_two_does_not_lower_the_upper_end(users):
    matrix = [[Fraction(10**12 - one, 10**12), Fraction(one, 10**12)] for one in (1, 3)]
    ratio = Fraction(101, 100)
    ends = prepared(matrix, users).ends(math.log(ratio))
    true = truth(matrix, users, ratio)
    assert ends.lower.value <= true <= ends.upper.value <= true * 1.00101


def draw_case(rng):
    """Return a matrix with two to four values, people, e^epsilon, fakes and their row."""
    rows, outputs = rng.choice([(2, 2), (3, 2), (2, 3), (3, 3), (4, 3), (3, 4), (2, 5)])
    users, zeros = rng.randint(2, 5 if rows * outputs <= 9 else 4), rng.random() < 0.4
    matrix = []
    while len(matrix) < rows:
        row = [0 if zeros and rng.random() < 0.3 else rng.randint(1, 12) for _ in range(outputs)]
        if sum(row):
            matrix.append([Fraction(one, sum(row)) for one in row])
    ratio = rng.choice(
        [Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(6)]
    )
    fakes, law = rng.choice([0, 0, 0, 1, 2]) * (users < 5), ()
    if fakes:
        row = [rng.randint(1, 6) for _ in range(outputs)]
        law = rng.choice([[Fraction(one, sum(row)) for one in row], matrix[0]])
    return matrix, users, ratio, fakes, law


def check_random_cases(seed, many):
    rng = random.Random(seed)
    for _ in range(many):
        matrix, users, ratio, fakes, law = draw_case(rng)
        true = truth(matrix, users, ratio, [law] * fakes)
        ends = prepared(matrix, users, fakes, law).ends(math.log(ratio))
        told = matrix, users, ratio, fakes, law, true, ends
        assert ends.lower.value <= true + 1e-15, told
        assert true <= ends.upper.value + 1e-15, told
        if ends.exact:
            assert ends.upper.value <= true * 1.0021 + 1e-17, told


def test_no_truth_is_outside_of_both_ends():
    check_random_cases(1, 40)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2, 27))
def test_no_truth_of_five_thousand_is_outside_of_both_ends(seed):
    check_random_cases(seed, 200)


def test_fakes_of_another_shape():
    """Two uniform fakes: golden K, where both the truth and the bound are known."""
    third = [Fraction(1, 3)] * 3
    ends = prepared(thirds(), 3, 2, third).ends(math.log(2))
    assert truth(thirds(), 3, Fraction(2), [third] * 2) == Fraction(3674, 30375)
    assert Fraction(3694, 30375) <= ends.upper.value <= Fraction(3694, 30375) * NEAR
    assert 0.5 * Fraction(3674, 30375) < ends.lower.value <= Fraction(3674, 30375)


def test_many_people_among_many_fakes():
    """Cells of fakes lose little: k-ary people are uniform fakes with their replaced share."""
    law = [Fraction(1, 3)] * 3
    base = prepared(thirds(), 2000).upper(0.2).value
    # 3,000 fakes that are uniform with chance 2/5, as in the rows 11/15, 2/15, 2/15 of one value
    fakes = prepared(thirds(), 500, 1500, thirds()[0]).upper(0.2).value
    assert base <= fakes <= 1.4 * base
    assert prepared(thirds(), 2000, 10, law).upper(0.2).value < base


def test_unequal_people():
    """People with a quieter randomizer hide less; the truth is enumerated by mixed rows."""
    quiet = [[Fraction(14, 15), Fraction(1, 30), Fraction(1, 30)]] * 2 + [
        [Fraction(1, 30), Fraction(14, 15), Fraction(1, 30)]
    ]
    one = Randomizer(make_matrix(thirds()), 2, groups=[Group(make_matrix(quiet), 2)])
    ratio = Fraction(2)
    true = max(
        truth_of_crowd(thirds(), ratio, (x, *more))
        for x in thirds()
        for more in ((a, b) for a in quiet for b in quiet)
    )
    ends = one.ends(math.log(ratio))
    assert ends.lower.value <= true <= ends.upper.value
    alone = Randomizer(make_matrix(thirds()), 2).upper(math.log(ratio)).value
    equal = Randomizer(make_matrix(thirds()), 4).upper(math.log(ratio)).value
    assert equal < ends.upper.value < alone


def truth_of_crowd(matrix, ratio, others):
    """The largest divergence of the pairs of ``matrix`` among fixed rows, by the oracle's fakes."""
    return truth(matrix, 1, ratio, list(others))


@pytest.mark.parametrize(("ratio", "one", "two"), [
    (2, Fraction(1087, 3375), Fraction(1866239, 3796875)),
    (4, Fraction(121, 1125), Fraction(426469, 1265625)),
])  # fmt: skip
def test_rounds_are_composed(ratio, one, two):
    matrix = make_matrix(thirds())
    prepared_one = Randomizer(matrix, 3)
    assert one <= prepared_one.upper(math.log(ratio)).value <= one * NEAR
    curve = trace_randomizer(prepared_one, matrix.local_epsilon)
    assert two <= LossSum([(curve.losses(), 2)]).delta(math.log(ratio)) <= two * NEAR


def test_exposed_outputs_are_an_infinite_loss_in_every_round():
    matrix = make_matrix(fractions("9/10 1/10 0 / 9/10 0 1/10"))
    curve = trace_randomizer(Randomizer(matrix, 50), matrix.local_epsilon)
    assert matrix.local_epsilon == math.inf
    two = LossSum([(curve.losses(), 2)]).delta(18.0)
    assert 1 - 0.9**2 <= two <= (1 - 0.9**2) * NEAR


@pytest.mark.parametrize(("matrix", "wanted"), [(kary(10, 3), 0.663), (hadamard(8, 3), 0.551)])
def test_epsilon_of_well_known_randomizers(matrix, wanted):
    one = prepared(matrix, 1000)
    found = find_epsilon(lambda epsilon: one.upper(epsilon).value, 1e-6, 20.0)
    assert found == pytest.approx(wanted, abs=6e-4)
    assert one.upper(found).value <= 1e-6 < one.upper(found * (1 - 1e-5)).value


def test_the_bound_falls_with_people_fakes_and_epsilon():
    matrix, law = rounded_geometric(), [Fraction(1, 4)] * 4
    by_people = [prepared(matrix, n).upper(0.5).value for n in (5, 10, 100, 1000)]
    by_fakes = [prepared(matrix, 20, m, law).upper(0.5).value for m in (1, 50, 500)]
    by_epsilon = [prepared(matrix, 20).upper(e).value for e in (0.0, 0.2, 0.5, 1.0)]
    assert by_fakes[0] < by_epsilon[2]
    for found in (by_people, by_fakes, by_epsilon):
        assert all(before > after for before, after in pairwise(found))


def rounded_geometric():
    """Geometric noise on 0..3 with exact entries."""
    rows = [[Fraction(round(one * 10**6), 10**6) for one in row] for row in geometric(3, 2)]
    return [[*row[:-1], 1 - sum(row[:-1])] for row in rows]


def test_a_value_that_nobody_should_hold_still_lowers_the_cover():
    both = fractions("1/2 1/4 1/4 / 1/4 1/2 1/4")
    more = [*both, [Fraction(1, 8), Fraction(1, 8), Fraction(3, 4)]]
    assert prepared(more, 20).upper(0.3).value > prepared(both, 20).upper(0.3).value


def test_outputs_are_merged_only_if_they_are_proportional_for_everybody():
    """The first two columns are proportional for the pair 0, 1 and not for the third value."""
    matrix = fractions("2/10 2/10 6/10 / 3/10 3/10 4/10 / 5/10 1/10 4/10")
    one = prepared(matrix, 4)
    assert one.cells.shape[1] == 3
    assert one.exact_bit is None
    assert truth(matrix, 4, Fraction(5, 4)) <= one.upper(math.log(1.25)).value
    merged = prepared(matrix[:2], 4)
    assert merged.cells.shape[1] == 2
    assert merged.ends(math.log(1.25)).exact == EXACT_TWO_OUTPUTS


def test_two_rows_have_the_smaller_of_two_bounds():
    """The ratio of the rows takes nearly two values, where the reduction to two outputs wins."""
    rows = fractions("45/108 47/108 16/108 / 180/195 11/195 4/195")
    one = prepared(rows, 100)
    assert one._two_rows is not None
    found = one.upper(0.8).value
    one._two_rows = None
    assert 0 < found < 0.1 * one.upper(0.8).value
    few = prepared(rows, 4)
    assert truth(rows, 4, Fraction(5, 4)) <= few.upper(math.log(1.25)).value


def test_the_bound_of_two_rows_is_for_two_rows():
    """A third value between the two is allowed for crowds: the pair alone would promise less."""
    rows = fractions("40/100 39/100 21/100 / 20/100 21/100 59/100 / 30/100 60/100 10/100")
    assert prepared(rows, 5)._two_rows is None


def test_a_nearly_zero_mean_and_a_positive_one():
    """The hidden outputs may favor the pair as a whole: u is exposed, v is not."""
    matrix = fractions("1/100 99/100 0 / 1/100 1/100 98/100 / 98/100 1/100 1/100")
    for people in (2, 3, 4):
        for ratio in (Fraction(1), Fraction(3), Fraction(40)):
            ends = prepared(matrix, people).ends(math.log(ratio))
            assert ends.lower.value <= truth(matrix, people, ratio) <= ends.upper.value


def test_a_lower_end_above_the_upper_one_is_an_error(plant):
    one = prepared(thirds(), 10)
    plant(Randomizer, "lower", lambda honest, *given: honest(*given)._replace(value=1.0))
    with pytest.raises(AccountingError, match="expected a lower end below"):
        one.ends(0.5)


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr("mixtally.accounting.divergence.matrix._MOST_WORK", 17)
    with pytest.raises(EffortError, match="pairs of rows times outputs, got 18"):
        prepared(thirds(), 10)


@pytest.mark.seconds
def test_all_pairs_of_a_large_matrix_take_three_seconds():
    """Measured: 2.9 s on a machine of 2026; the limit allows for one twenty times as slow."""
    rng, clock = random.Random(1), process_time()
    matrix = np.array([[1 + rng.random() for _ in range(300)] for _ in range(100)])
    one = Randomizer(make_matrix((matrix / matrix.sum(1, keepdims=True)).tolist(), normalize=True),
                     10**9)  # fmt: skip
    ends = one.ends(4.7e-5)
    assert 1e-13 < ends.lower.value < ends.upper.value < 1e-9
    assert process_time() - clock < 60


def test_two_outputs_of_too_many_people_have_the_bound_of_any_crowd():
    matrix = make_matrix(fractions("3/4 1/4 / 1/4 3/4"))
    one = Randomizer(matrix, 10**9)
    ends, curve = one.ends(1e-4), trace_randomizer(one, matrix.local_epsilon)
    assert 0 < ends.lower.value < ends.upper.value
    assert not ends.exact
    # The lattice of losses has steps of 2^-16, which is coarse for this crowd.
    assert ends.upper.value <= curve.delta(1e-4) <= ends.upper.value * 1.2


@pytest.mark.parametrize("rare", [3, 7, 90])
def test_a_lower_end_keeps_the_messages_that_nearly_nobody_sends(rare):
    """Of 10^9 people a few send the first output by a chance below the digits of 1 minus it."""
    scale, users, fakes, epsilon = 10**17, 10**9, 10, 0.01
    matrix = [[Fraction(one, scale), Fraction(scale - one, scale)] for one in (rare, scale // 2)]
    fake = [Fraction(1, 10**4), Fraction(9999, 10**4)]
    lower = prepared(matrix, users, fakes, fake)._count_set(0, 1, 0, math.exp(epsilon))
    with mp.workdps(50):
        counts = [(users - 1, mp.mpf(rare) / scale), (fakes, mp.mpf(1) / 10**4)]
        laws = [
            [mp.binomial(n, k) * q**k * (1 - q) ** (n - k) for k in range(9)] for n, q in counts
        ]
        some = [mp.fsum(laws[0][k - j] * laws[1][j] for j in range(k + 1)) for k in range(9)]
        one, other = (
            [a * (1 - p) + b * p for a, b in zip(some, [0, *some], strict=False)]
            for p in (mp.mpf(rare) / scale, mp.mpf(1) / 2)
        )
        true = mp.fsum(max(0, p - mp.exp(epsilon) * q) for p, q in zip(one, other, strict=True))
        assert true * (1 - mp.mpf("1e-8")) <= lower <= true
