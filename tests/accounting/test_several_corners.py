"""The ends of the ranges: a number or a refusal, never a warning or a trace; soon enough."""

import math
from itertools import product

import pytest

from accounting import by_name
from helpers.sampled import covering
from mixtally.accounting.accountant import Accountant, local_epsilon
from mixtally.errors import MixtallyError, ParameterError
from mixtally.model.guarantee import Observer
from mixtally.primitives.fixed_point import SCALE

SUMS = Observer.SUMS
OWN = Accountant()
"""One for all epsilons of a record: a composition is made once."""
THRESHOLDS = {"2^-40": 1 << 24, "1/3": SCALE // 3, "1/2": 1 << 63}
BLANKS = [
    {"fakes": fakes, "repeats": repeats, **more}
    for fakes, repeats in ((0, 1), (0, 1000), (1000, 1000), (10**5, 2))
    for more in ({}, {"max_set": 2, "split": True}, {"max_set": 16, "split": True})
]
CROWDS = [
    {"fakes": 1000, "users": users, "count_crowd": True, "repeats": repeats}
    for users in (2, 20)
    for repeats in (None, 2)
]
BITS = [
    {"users": users, "bits": bits, "repeats": repeats, **more}
    for users, bits, repeats in ((2, 1, 1000), (2, 64, None), (4, 64, 2), (2, 64, 1000))
    for more in ({"split": True}, {"observer": SUMS}, {"split": True, "background": "zero"})
]
SUMMED = [
    {"users": 2, "repeats": repeats, **more}
    for repeats in (None, 1, 2, 1000)
    for more in (
        {"split": True}, {"observer": SUMS}, {"observer": SUMS, "max_set": 16},
        {"observer": SUMS, "max_set": 2, "bins": 3},
    )
]  # fmt: skip
SINGLE = [
    {"users": users, "fakes": fakes, "repeats": repeats}
    for users in (2, 9)
    for fakes in (0, 50)
    for repeats in (1, 1000)
]
CLEAR = [{"fakes": k, "bins": 2, "repeats": r, **more} for k in (0, 500) for r in (1, 2, 1000)
         for more in ({}, {"max_set": 16, "split": True})]  # fmt: skip
SHAPED = [{"ratio": ratio, "shift": shift, "repeats": r} for ratio in (1, SCALE // 3, 15 << 60)
          for shift in (1, 60) for r in (1, 2, 1000)]  # fmt: skip


def certificate_of(name, given, epsilon, threshold=None):
    ends = by_name.certificate_of(name, epsilon, accountant=OWN, threshold=threshold, **given)
    assert 0 <= ends.lower <= ends.upper <= 1
    return ends


def words(given):
    if not isinstance(given, dict):
        return str(given)
    return " ".join(f"{k}={v}" for k, v in given.items() if v is not None)


KINDS = [
    (name, given)
    for name, all_of in (
        ("flip-blank", BLANKS), ("flip", BITS), ("flip", SUMMED), ("single-bit", SINGLE),
    )
    for given in all_of
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "epsilon", "q"),
    covering((*kind, *more) for kind in KINDS for more in product([0.01, 1.0, 20.0], THRESHOLDS)),
    ids=words,
)
def test_ends_of_the_ranges_have_a_price(name, given, epsilon, q):
    ends = certificate_of(name, given, epsilon, THRESHOLDS[q])
    if q == "1/2":
        assert ends.lower == 0
        assert ends.upper < 1e-9


@pytest.mark.parametrize(
    "q",
    ["2^-40", "1/3", "1/2"],
)
@pytest.mark.parametrize("given", CROWDS, ids=words)
@pytest.mark.parametrize("epsilon", [0.01, 20.0])
def test_ends_of_the_ranges_have_a_price_with_the_crowd_counted(given, epsilon, q):
    certificate_of("flip-blank", given, epsilon, THRESHOLDS[q])


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_ends_of_the_ranges_have_a_price_in_clear(epsilon):
    for given in CLEAR:
        ends = certificate_of("clear-uniform", given, epsilon)
        assert given["fakes"] or ends.upper == 1
    for given in SHAPED:
        certificate_of("clear-shaped", given, epsilon)


@pytest.mark.parametrize("pmf", ["flip-blank", "flip"])
@pytest.mark.parametrize(("bins", "most"), [(2, 2), (2, 3), (3, 2), (4, 3)])
def test_more_set_bits_than_half_the_bins_have_a_price(pmf, bins, most):
    given = {"fakes": 3} if pmf == "flip-blank" else {"users": 3}
    certificate_of(pmf, given | {"bins": bins, "max_set": most}, 1.0, SCALE // 3)


@pytest.mark.parametrize(("bins", "most"), [(2, 2), (2, 3), (3, 2)])
def test_more_set_bits_than_half_the_bins_have_a_price_when_repeated(bins, most):
    given = {"fakes": 3, "bins": bins, "max_set": most, "repeats": 2}
    certificate_of("flip-blank", given, 1.0, SCALE * 13 // 32)


def test_a_lower_end_counts_no_more_set_bits_than_there_are_bins():
    """Of two bins no record sets three."""
    for repeats in (2, 3):
        given = {"fakes": 1, "bins": 2, "repeats": repeats}
        two = certificate_of("flip-blank", given | {"max_set": 2}, 1.0, SCALE // 3)
        three = certificate_of("flip-blank", given | {"max_set": 3}, 1.0, SCALE // 3)
        assert three.lower <= two.upper


@pytest.mark.parametrize(
    "wrong",
    [
        {"fakes": 1, "count_crowd": True}, {"fakes": 1, "repeats": 0},
        {"fakes": 1, "repeats": 1001},
        {"fakes": 1, "max_set": 17, "split": True}, {"fakes": 1, "bits": 3, "split": True},
        {"fakes": 1, "observer": SUMS}, {"fakes": 1, "users": 1, "count_crowd": True},
    ],
    ids=words,
)  # fmt: skip
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ParameterError, match="expected"):
        certificate_of("flip-blank", wrong, 1.0, SCALE // 9)


@pytest.mark.parametrize("repeats", [1, 2, 1000])
def test_a_split_of_one_bit_and_one_round_is_the_bit_itself(repeats):
    given = {"users": 20, "repeats": repeats}
    split = certificate_of("flip", given | {"bits": 1, "split": True}, 1.0, SCALE // 5)
    bit = certificate_of("single-bit", given | {"fakes": 0}, 1.0, SCALE // 5)
    assert (split.lower, split.upper) == pytest.approx((bit.lower, bit.upper), rel=1e-9)


def test_the_local_epsilon_counts_every_message():
    odds, given = math.log(3.0), {"users": 5, "threshold": SCALE // 4, "repeats": 7}
    assert local_epsilon(by_name.record("flip", **given)) == pytest.approx(14 * odds)
    bits = by_name.record("flip", **given, bits=3, split=True)
    assert local_epsilon(bits) == pytest.approx(21 * odds)
    parts = by_name.record("flip-blank", **given, fakes=0, max_set=2, split=True)
    assert local_epsilon(parts) == pytest.approx(28 * odds)
    assert local_epsilon(by_name.record("clear-uniform", fakes=3, bins=3, repeats=2)) == math.inf


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("flip", {"split": True}, "every bit is a message of its own"),
        ("flip", {"split": True, "repeats": 2}, "the messages of a person apart"),
        ("flip", {"bits": 3, "split": True}, "the messages of a person apart"),
        ("flip", {"bits": 1, "split": True}, "every bit is a message of its own"),
        ("flip-blank", {"fakes": 3, "max_set": 2, "split": True}, "the messages of a person apart"),
        ("flip-blank", {"fakes": 3, "split": True}, "every bit is a message of its own"),
        ("flip-uniform", {"fakes": 3, "bins": 3, "split": True}, "every bit is a message"),
    ],
    ids=words,
)
def test_that_mixes_keep_messages_apart_is_told_once(name, given, told):
    certificate = by_name.certificate_of(name, 1.0, users=20, threshold=SCALE // 3, **given)
    assert told in certificate.assumption
    assert certificate.assumption.count("keep") == 1


@pytest.mark.parametrize(
    "name", ["flip-blank", "flip-blank alone", "single-bit", "clear-uniform", "clear-shaped"]
)
def test_that_every_round_brings_its_own_fakes_is_told_of_the_fakes_of_people(name):
    """Also where all rounds have one exact formula: it counts the fakes of each."""
    flipped = {"fakes": 3, "threshold": SCALE // 3}
    given = {
        "flip-blank": {**flipped, "users": 20, "count_crowd": True},
        "flip-blank alone": flipped,
        "single-bit": {**flipped, "users": 20},
        "clear-uniform": {"fakes": 3, "bins": 9},
        "clear-shaped": {"ratio": SCALE // 3, "shift": 3},
    }[name]
    told = by_name.certificate_of(name.split()[0], 1.0, repeats=2, **given).assumption
    assert told.count("every round brings its own fakes") == (name != "clear-shaped")
    once = by_name.certificate_of(name.split()[0], 1.0, **given).assumption
    assert "every round" not in once


def test_errors_are_of_the_package():
    assert issubclass(ParameterError, MixtallyError)
