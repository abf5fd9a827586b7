"""Every protocol by name: its certificate is its module's number, calibration keeps the promise."""

import math

import pytest

from accounting import by_name
from helpers import named
from helpers.protocols import examples_of
from mixtally.accounting import accountant
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.divergence import (
    Bound,
    clear_shaped,
    clear_uniform,
    flip_blank,
    flip_uniform,
    k_hot,
    kary_response,
    one_hot,
    single_bit,
    vectors,
)
from mixtally.accounting.divergence import memoized as answers
from mixtally.accounting.divergence.registry import DIVERGENCES, divergence_of
from mixtally.accounting.parameters import parse_parameters
from mixtally.errors import ParameterError
from mixtally.model.certificate import Status
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import Parameter, mechanism_of, protocols
from mixtally.model.mechanism.memoized import make_memoized
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

Q = SCALE // 12
SUMS = Observer.SUMS
NEEDS = {name: mechanism_of(name).PROTOCOLS[name].required for name in protocols()}
REPLACED = named.kary_response(bins=9, replaced=SCALE // 4, crowd=400, fakes=3)
BOTH = (kary_response.lower_bound, kary_response.upper_bound)
PRICES = {
    "blanks": ("flip-blank", {"fakes": 900}, lambda t, e: flip_blank.delta(900, t, e)),
    "blanks, users known": (
        "flip-blank", {"fakes": 900, "users": 50, "bins": 7},
        lambda t, e: flip_blank.delta(900, t, e),
    ),
    "blanks and crowd": (
        "flip-blank", {"fakes": 900, "users": 500, "count_crowd": True},
        lambda t, e: one_hot.messages_delta(500, 900, t, e),
    ),
    "blanks, two-hot": (
        "flip-blank", {"fakes": 900, "max_set": 2}, lambda t, e: k_hot.delta_among_blanks(900, 2,
            t, e),
    ),
    "clear": (
        "clear-uniform", {"fakes": 900, "bins": 90}, lambda _, e: clear_uniform.delta(900, 90, e),
    ),
    "bit": (
        "single-bit", {"users": 400, "fakes": 10},
        lambda t, e: single_bit.delta(400, 10, t, e, count_crowd=True),
    ),
    "bit, ones known": (
        "single-bit", {"users": 400, "fakes": 0, "ones": 0},
        lambda t, e: single_bit.delta(400, 0, t, e, 0),
    ),
    "bit, repeated": (
        "single-bit", {"users": 300, "fakes": 5, "ones": 3, "repeats": 4},
        lambda t, e: single_bit.delta(300, 5, t, e, 3, repeats=4),
    ),
    "flips": ("flip", {"users": 2000}, lambda t, e: one_hot.messages_delta(2000, 0, t, e)),
    "flips, two bins": (
        "flip", {"users": 2000, "bins": 2}, lambda t, e: one_hot.messages_delta(2000, 0, t, e, 2),
    ),
    "flips, sums": (
        "flip", {"users": 500, "bins": 9, "observer": SUMS},
        lambda t, e: one_hot.sums_delta(500, 0, t, e),
    ),
    "flips, two-hot": (
        "flip", {"users": 500, "max_set": 2}, lambda t, e: k_hot.delta_in_crowd(500, 0, 2, t, e),
    ),
    "flips, bits": (
        "flip", {"users": 500, "bits": 2}, lambda t, e: vectors.any_dataset_delta(500, 2, t, e),
    ),
    "flips, bits among zeros": (
        "flip", {"users": 500, "bits": 3, "background": "zero"},
        lambda t, e: vectors.homogeneous_delta(500, 3, t, e),
    ),
    "uniform": (
        "flip-uniform", {"users": 400, "fakes": 900, "bins": 90},
        lambda t, e: flip_uniform.messages_delta(900, 90, t, e),
    ),
    "replaced": (
        "kary-response", {"users": 400, "bins": 9, "replaced": 0.25, "fakes": 3},
        lambda _, e: [each(REPLACED, e) for each in BOTH],
    ),
    "shaped": (
        "clear-shaped", {"ratio": SCALE // 2, "shift": 9},
        lambda _, e: clear_shaped.delta(LaplaceShape(SCALE // 2, 9).weights, e),
    ),
    "uniform, sums": (
        "flip-uniform", {"users": 200, "fakes": 300, "bins": 9, "observer": SUMS},
        lambda t, e: one_hot.sums_delta(200, 300, t, e),
    ),
}  # fmt: skip


def given_for(case, threshold=Q):
    name, given, _ = PRICES[case]
    return name, given | ({"threshold": threshold} if "flip" in NEEDS[name] and threshold else {})


def certified(record, epsilon):
    return Accountant().certificate(record, epsilon)


def test_every_protocol_has_a_divergence():
    assert set(DIVERGENCES) == {mechanism_of(name) for name in protocols()}


def test_every_protocol_has_a_certificate_that_says_what_it_rests_on(protocol):
    record = parse_parameters(protocol, examples_of(protocol)).honest_record
    for epsilon in (0.3, 2.0):
        certificate = certified(record, epsilon)
        message = accountant._observe_record(record).message
        ends = divergence_of(message).delta(message, epsilon, Memo(0)).bounds
        assert (certificate.lower, certificate.upper) == (ends.lower, ends.upper)
        assert 0 <= certificate.lower <= certificate.upper <= 1
        assert certificate.upper > 0
        assert certificate.status is Status.PROVED
        assert certificate.source
        assert "mix" in certificate.assumption


@pytest.mark.parametrize("case", PRICES)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_a_certificate_is_the_number_of_its_own_module(case, epsilon):
    name, given = given_for(case)
    record = by_name.record(name, **given)
    certificate, ends = certified(record, epsilon), PRICES[case][2](Q, epsilon)
    assert (certificate.lower, certificate.upper) == pytest.approx(ends, rel=1e-12, abs=0)
    assert 0 <= certificate.lower <= certificate.upper <= 1
    assert certificate.upper > 0
    observer = given.get("observer", Observer.MESSAGES)
    assert (certificate.epsilon, certificate.observer) == (epsilon, observer)
    assert certificate.status is Status.PROVED
    assert certificate.source
    assert "mix" in certificate.assumption


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_a_certificate_of_memoized_answers_is_their_divergence(epsilon):
    kept = make_memoized(2, 0.5, 0.4, 0.7, hashes=1)
    certificate, ends = answers.certificate(kept, 9, epsilon), answers.delta(kept, 9, epsilon)
    assert (certificate.lower, certificate.upper) == pytest.approx(ends, rel=1e-12, abs=0)
    assert 0 <= certificate.lower <= certificate.upper <= 1
    assert certificate.upper > 0
    assert (certificate.epsilon, certificate.observer) == (epsilon, Observer.LINKED)
    assert certificate.status is Status.PROVED
    assert certificate.source
    assert "mix" in certificate.assumption


@pytest.mark.parametrize("epsilon", [0.0, 0.009, 20.1, math.nan, math.inf, -1.0])
def test_memoized_answers_have_no_certificate_outside_the_range_of_epsilon(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        answers.certificate(make_memoized(2, 0.5, 0.4, 0.7), 9, epsilon)


@pytest.mark.parametrize("case", PRICES)
def test_the_upper_end_alone_is_that_of_the_certificate(case):
    name, given = given_for(case)
    record = by_name.record(name, **given)
    message = accountant._observe_record(record).message
    (alone,) = divergence_of(message).upper(message, [1.0], Bound.EXACT, Memo(0))
    assert alone == pytest.approx(certified(record, 1.0).upper, rel=1e-9)


@pytest.mark.parametrize("case", PRICES)
def test_a_calibrated_flip_probability_is_the_least_that_keeps_the_promise(case):
    name, given = given_for(case, None)
    if "flip" not in NEEDS[name]:
        return
    found = by_name.calibrated(name, 1.0, 1e-3, **given)
    assert found.with_parameter(Parameter.FLIP, Q) == by_name.record(name, threshold=Q, **given)
    assert certified(found, 1.0).upper <= 1e-3
    less = found.with_parameter(
        Parameter.FLIP, round(by_name.value(found, Parameter.FLIP) * (1 - 1e-4))
    )
    assert certified(less, 1.0).upper > 1e-3
    assert 0 < found.message.mechanism.standard_error(given.get("users", 900)) < math.inf


@pytest.mark.parametrize(
    "case", ["blanks", "blanks and crowd", "blanks, two-hot", "clear", "bit", "uniform"]
)
def test_the_fewest_fakes_that_keep_the_promise(case):
    name, given = given_for(case)
    given = {field: value for field, value in given.items() if field != "fakes"}
    given |= {"threshold": SCALE // 8} if "threshold" in given else {}
    given |= {"users": 20} if "users" in given else {}
    found = by_name.calibrated(name, 1.0, 1e-2, **given)
    fakes = by_name.value(found, Parameter.FAKES)
    assert fakes > 0
    assert certified(found, 1.0).upper <= 1e-2
    assert certified(found.with_parameter(Parameter.FAKES, fakes - 1), 1.0).upper > 1e-2


def test_the_standard_error_by_hand():
    """Notes 004 below (5.20): N p q / (p - q)^2, and the fakes' own spread."""
    quarter = SCALE // 4
    assert named.flip(bins=2, crowd=12, threshold=quarter).standard_error(12) == pytest.approx(3.0)
    bit = {"crowd": 4, "fakes": 8, "threshold": quarter}
    assert named.single_bit(**bit).standard_error(4) == pytest.approx(3.0)
    assert named.single_bit(**bit, repeats=9).standard_error(4) == pytest.approx(1.0)
    uniform = named.flip_uniform(bins=2, **bit)
    assert uniform.standard_error(4) == pytest.approx(math.sqrt(9 + 2))
    clear = named.clear_uniform(fakes=8, bins=2)
    assert clear.standard_error(8) == pytest.approx(2**0.5)
    half = named.flip(bins=2, crowd=12, threshold=SCALE // 2)
    assert half.standard_error(12) == math.inf
