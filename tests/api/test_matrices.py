"""``delta``, ``epsilon`` and ``curve`` of matrices, protocols and plans."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mixtally
from helpers.randomizers import hadamard, thirds
from mixtally.errors import DataError, ParameterError

HALF = [["3/4", "1/4"], ["1/4", "3/4"]]
FRAME = pd.DataFrame([[0.75, 0.25], [0.25, 0.75]], index=["no", "yes"], columns=["a", "b"])
CROWD = {"users": 100, "epsilon": 0.3}


@pytest.mark.parametrize(
    "given",
    [
        HALF,
        [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]],
        np.array([[0.75, 0.25], [0.25, 0.75]]),
        np.array([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]),
        FRAME,
        pl.DataFrame({"who": ["no", "yes"], "a": [0.75, 0.25], "b": [0.25, 0.75]}),
        pl.DataFrame({"a": [0.75, 0.25], "b": [0.25, 0.75]}),
        ((0.75, 0.25), (0.25, 0.75)),
    ],
)
def test_every_form_of_a_matrix_gives_the_same(given):
    assert mixtally.delta(given, **CROWD).upper == mixtally.delta(HALF, **CROWD).upper


def test_a_result_names_pairs_and_crowds_by_label():
    found = mixtally.delta(FRAME, **CROWD)
    assert set(found.pair) == set(found.lower_pair) == {"no", "yes"}
    assert "x no" in found.crowd or "x yes" in found.crowd
    assert found.exact.startswith("two outputs")
    assert 0 < found.lower <= found.upper <= 1.002 * found.lower
    assert found.index == pytest.approx(2.0)
    assert found.mu == pytest.approx(math.sqrt(2.0 / 100))
    assert found.local_epsilon == pytest.approx(math.log(3))
    assert "exact because two outputs" in repr(found)
    assert "no against yes" in repr(found) or "yes against no" in repr(found)


def test_a_row_named_as_fake_stays_a_value():
    with_fakes = mixtally.delta(FRAME, fakes=50, fake_row="no", **CROWD)
    assert with_fakes.upper < mixtally.delta(FRAME, **CROWD).upper
    assert mixtally.delta(FRAME, fakes=50, fake_row=[0.75, 0.25], **CROWD).upper == with_fakes.upper
    skewed = pd.DataFrame([[0.75, 0.25], [0.4, 0.6]], index=["no", "yes"], columns=["a", "b"])
    found = [
        mixtally.delta(skewed, fakes=50, fake_row=row, **CROWD).upper
        for row in ("no", "yes", [0.4, 0.6])
    ]
    assert found[0] != found[1] == found[2]
    uniform = mixtally.delta(FRAME, fakes=50, fake_row="uniform", **CROWD)
    assert uniform.upper != with_fakes.upper


def test_only_honest_people_and_fakes_count():
    half = mixtally.delta(FRAME, honest_share=0.5, **CROWD)
    assert half.upper == mixtally.delta(FRAME, users=50, epsilon=0.3).upper
    assert half.users == 50
    grouped = mixtally.delta(FRAME, honest_share=0.5, groups=[(FRAME, 40)], **CROWD)
    assert grouped.others == 20
    assert grouped.upper == mixtally.delta(FRAME, users=50, epsilon=0.3, groups=[(FRAME, 20)]).upper


def test_groups_of_other_people_hide_too():
    found = mixtally.delta(FRAME, groups=[(FRAME, 50)], **CROWD)
    more = found.upper
    assert "50 people of other groups" in found.assumption
    assert mixtally.delta(FRAME, users=150, epsilon=0.3).upper <= more * 1.01
    assert more < mixtally.delta(FRAME, **CROWD).upper


def test_rounds_add_up():
    one, three = (mixtally.delta(thirds(), rounds=k, users=50, epsilon=1) for k in (1, 3))
    assert one.upper < three.upper
    two = mixtally.delta(thirds(), rounds=2, users=3, epsilon=math.log(2)).upper
    assert 1866239 / 3796875 <= two <= 1.001 * 1866239 / 3796875
    composed = mixtally.curve(thirds(), rounds=2, users=3).delta(math.log(2))
    assert 1866239 / 3796875 <= composed <= 1.002 * 1866239 / 3796875
    assert one.lower == three.lower
    assert "3 rounds composed" in three.source
    assert three.local_epsilon == 3 * one.local_epsilon


def test_epsilon_and_delta_agree():
    found = mixtally.epsilon(hadamard(8, 3), users=1000, delta=1e-6, normalize=True)
    assert found.epsilon == pytest.approx(0.5511, abs=1e-4)
    assert found.upper <= 1e-6
    assert found.normalized == 7
    again = mixtally.delta(hadamard(8, 3), users=1000, epsilon=found.epsilon, normalize=True)
    assert again.upper == found.upper


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("clear-uniform", {"bins": 10, "fakes": 500}),
        ("kary-response", {"bins": 5, "users": 1000, "replaced": 0.3}),
        ("memory", {"permanent": 0.5, "p": 0.5, "q": 0.75, "hashes": 1, "reports": 1}),
    ],
)
def test_every_protocol_has_a_curve_and_an_epsilon(what, given):
    found = mixtally.epsilon(what, delta=1e-4, **given)
    assert found.upper <= 1e-4
    points = [0.5 * found.epsilon, found.epsilon]
    curve = mixtally.curve(what, epsilons=points, **given)
    assert curve.upper[0] > 1e-4 >= curve.upper[1]
    assert curve.upper[1] == pytest.approx(found.upper, rel=1e-9)


def test_a_plan_has_a_curve_and_an_epsilon(tmp_path):
    plan = mixtally.plan(3, epsilon=1, delta=1e-6, users=1000)
    found = mixtally.epsilon(plan, delta=1e-9)
    assert found.epsilon > 1
    assert found.upper <= 1e-9
    assert mixtally.delta(plan, epsilon=1).upper == plan.certificate.upper
    plan.save(tmp_path / "plan.json")
    for path in (tmp_path / "plan.json", str(tmp_path / "plan.json")):
        assert mixtally.delta(path, epsilon=1).upper == plan.certificate.upper
    curve = mixtally.curve(tmp_path / "plan.json")
    assert curve.delta(1.0) >= plan.certificate.lower
    assert curve.epsilon(1e-9) == pytest.approx(found.epsilon, rel=2e-2)


def test_a_curve_is_composed_and_given_to_another_library():
    """dp-accounting composes the exported distribution as this library does."""
    curve = mixtally.curve(thirds(), users=50)
    theirs = curve.to_dp_accounting()
    for rounds in (1, 7):
        ours = curve.compose(rounds) if rounds > 1 else curve
        other = theirs.self_compose(rounds)
        for epsilon in (0.5, 1.0, 2.0):
            true = mixtally.delta(thirds(), users=50, epsilon=epsilon, rounds=rounds).upper
            assert true * (1 - 1e-6) - 1e-12 <= ours.delta(epsilon) <= true * 1.05 + 1e-12
            assert true * (1 - 1e-6) - 1e-10 <= other.get_delta_for_epsilon(epsilon)
            assert other.get_delta_for_epsilon(epsilon) <= true * 1.05 + 1e-10
    back = mixtally.PrivacyCurve.from_dp_accounting(theirs)
    for epsilon in (0.0, 0.3, 1.1, 1.7):
        exact = mixtally.delta(thirds(), users=50, epsilon=epsilon).upper
        assert exact * (1 - 1e-6) <= back.delta(epsilon) <= exact * 1.5


def test_an_exported_infinite_loss_stays_infinite():
    curve = mixtally.curve([["9/10", "1/10", "0"], ["9/10", "0", "1/10"]], users=50)
    assert curve.to_dp_accounting().get_delta_for_epsilon(30.0) >= 0.1 * (1 - 1e-9)
    assert curve.epsilon(0.05) == math.inf


def test_a_profile_is_a_list_of_pairs():
    curve = mixtally.curve(thirds(), users=50, epsilons=[2.0, 0.5, 1.0])
    assert [epsilon for epsilon, _ in curve.profile()] == [0.5, 1.0, 2.0]
    assert all(low <= high for low, high in zip(curve.lower, curve.upper, strict=True))
    again = mixtally.PrivacyCurve.from_profile(reversed(curve.profile()))
    assert again.upper == curve.upper
    between = mixtally.delta(thirds(), users=50, epsilon=0.7).upper
    below = mixtally.delta(thirds(), users=50, epsilon=0.2).upper
    assert between <= again.delta(0.7)
    assert below <= again.delta(0.2) <= 1
    assert again.delta(5.0) == again.upper[-1]


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "at least one epsilon.* got 0 epsilons and 0 deltas"),
        ([1.0, 0.1], "expected pairs of two numbers"),
        ("abc", "expected pairs of two numbers"),
        ([(0.0, 0.1), (1.0, 0.2)], "point 2: expected a delta from 0 to 1 that falls"),
        ([(0.0, 0.1), (0.0, 0.05)], "point 2: expected an epsilon above the one before"),
        ([(-1.0, 0.1)], "point 1: expected an epsilon"),
        ([(0.0, 1.5)], "expected a delta from 0 to 1"),
        ([(0.0, -0.1)], "expected a delta from 0 to 1"),
        ([(0.0, float("nan"))], "expected a delta from 0 to 1"),
        ([(float("nan"), 0.1)], "expected an epsilon"),
        ([(float("inf"), 0.1)], "expected an epsilon"),
    ],
)
def test_a_false_profile_is_refused(points, said):
    with pytest.raises(DataError, match=said):
        mixtally.PrivacyCurve.from_profile(points)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mixtally.delta(HALF, epsilon=1), "users: expected the number of people"),
        (lambda: mixtally.delta(HALF, epsilon=1, users=0), "users: expected an integer"),
        (lambda: mixtally.delta(HALF, epsilon=1, users=1e11), "users: expected an integer"),
        (lambda: mixtally.delta(HALF, epsilon=1, users="many"), "users: expected a whole number"),
        (lambda: mixtally.delta(HALF, epsilon=-1, users=9), "epsilon: expected a number"),
        (lambda: mixtally.delta(HALF, epsilon=21, users=9), "epsilon: expected a number"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, bins=2), "bins: expected a matrix with"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, rounds=0), "rounds: expected an integer"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, fakes=2), "fake_row: expected both"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, fake_row="0"), "fake_row: expected"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, fakes=2, fake_row="x"), "or a row: 0, 1"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, fakes=2, fake_row=[1]), "2 probabilit"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, groups=[(HALF,)]), "a matrix and a"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, groups=[(thirds(), 3)]), "the outputs"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, groups=[(HALF, -1)]), "an integer"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, honest_share=2), "honest share: exp"),
        (lambda: mixtally.delta(HALF, users=9, epsilon=1, honest_share=0), "honest share: exp"),
        (lambda: mixtally.delta([[1, 0], [1]], users=9, epsilon=1), "matrix, row 1: exp"),
        (lambda: mixtally.curve(HALF, users=9).compose(0), "rounds: expected an integer"),
        (lambda: mixtally.curve(HALF, users=9).compose(1.5), "rounds: expected an integer"),
        (lambda: mixtally.PrivacyCurve.from_dp_accounting(5), "distribution of dp-acc"),
        (lambda: mixtally.delta("flip", epsilon=1, rounds=2), "rounds: expected a matrix with it"),
        (lambda: mixtally.delta("flip", epsilon=1, groups=[(HALF, 2)]), "groups: expected a matr"),
        (lambda: mixtally.delta(3, users=9, epsilon=1), "a list or an array"),
        (lambda: mixtally.delta([1, 2], users=9, epsilon=1), "matrix, row 0: expected a list"),
        (lambda: mixtally.delta({"a": [1]}, users=9, epsilon=1), "a list or an array"),
        (lambda: mixtally.delta(np.zeros(4), users=9, epsilon=1), r"a shape of \(4,\)"),
        (lambda: mixtally.delta(np.zeros((10, 10**6)), users=9, epsilon=1), "at most 1,000,000"),
        (lambda: mixtally.epsilon(HALF, users=9, delta=0), "delta: expected a number from"),
        (lambda: mixtally.epsilon([[1, 0], [0, 1]], users=9, delta=1e-6), "some epsilon up to 20"),
        (lambda: mixtally.epsilon("clear-uniform", bins=9, fakes=1, delta=1e-9), "some epsilon"),
        (lambda: mixtally.curve(HALF, users=9, epsilons=[-1]), "epsilon: expected a number"),
        (lambda: mixtally.curve(HALF, users=9, epsilons=["a"]), "epsilons"),
        (lambda: mixtally.delta(HALF, user=9, epsilon=1), "Did you mean users"),
    ],
)  # fmt: skip
def test_what_cannot_be_priced_is_refused(call, said):
    with pytest.raises((DataError, ParameterError), match=said):
        call()


@pytest.mark.parametrize(("delta", "false"), [(1e-6, True), (0.1, False)])
def test_a_claim_that_the_exact_delta_refutes_is_called_false(delta, false):
    found = mixtally.attack(HALF, epsilon=0.1, delta=delta, users=100, runs=100, seed=1)
    said = "The guarantee is false, because the exact delta is above the stated delta."
    assert (said in repr(found)) == (said in str(found.document().promise)) == false
