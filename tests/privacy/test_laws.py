"""Every law by name: its certificate is its module's number, and calibration keeps the promise."""

import math
from dataclasses import replace

import pytest

from mixtally.errors import ParameterError
from mixtally.ground.fixed import SCALE
from mixtally.privacy import laws
from mixtally.privacy.divergence import (
    clear_shaped,
    clear_uniform,
    flip_blank,
    flip_uniform,
    k_hot,
    one_hot,
    single_bit,
    vectors,
)
from mixtally.privacy.divergence import memoized as remembered
from mixtally.privacy.laws import LAWS, Ask
from mixtally.records.certificate import Status
from mixtally.records.guarantee import Observer

Q = SCALE // 12
SUMS = Observer.SUMS
KEPT = remembered.Memory(permanent=0.5, p=0.4, q=0.7, hashes=1, reports=9)
PRICES = {
    "blanks": ("flip-blank", {"fakes": 900}, lambda t, e: flip_blank.delta(900, t, e)),
    "blanks, users known": (
        "flip-blank", {"fakes": 900, "users": 50, "bins": 7},
        lambda t, e: flip_blank.delta(900, t, e),
    ),
    "blanks and crowd": (
        "flip-blank", {"fakes": 900, "users": 500, "count_crowd": True},
        lambda t, e: one_hot.messages(500, 900, t, e),
    ),
    "blanks, two-hot": (
        "flip-blank", {"fakes": 900, "max_set": 2}, lambda t, e: k_hot.among_blanks(900, 2, t, e),
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
    "flips": ("flip", {"users": 2000}, lambda t, e: one_hot.messages(2000, 0, t, e)),
    "flips, two bins": (
        "flip", {"users": 2000, "bins": 2}, lambda t, e: one_hot.messages(2000, 0, t, e, 2),
    ),
    "flips, sums": (
        "flip", {"users": 500, "bins": 9, "observer": SUMS},
        lambda t, e: one_hot.sums(500, 0, t, e),
    ),
    "flips, two-hot": (
        "flip", {"users": 500, "max_set": 2}, lambda t, e: k_hot.in_crowd(500, 2, t, e),
    ),
    "flips, bits": (
        "flip", {"users": 500, "bits": 2}, lambda t, e: vectors.any_dataset(500, 2, t, e),
    ),
    "flips, bits among zeros": (
        "flip", {"users": 500, "bits": 3, "background": "zero"},
        lambda t, e: vectors.homogeneous(500, 3, t, e),
    ),
    "uniform": (
        "flip-uniform", {"users": 400, "fakes": 900, "bins": 90},
        lambda t, e: flip_uniform.messages(900, 90, t, e),
    ),
    "shaped": (
        "clear-shaped", {"ratio": SCALE // 2, "shift": 9},
        lambda _, e: clear_shaped.delta(shape_weights(SCALE // 2, 9), e),
    ),
    "memory": (
        "memory", {"permanent": 0.5, "p": 0.4, "q": 0.7, "hashes": 1, "reports": 9},
        lambda _, e: remembered.delta(KEPT, e),
    ),
    "uniform, sums": (
        "flip-uniform", {"users": 200, "fakes": 300, "bins": 9, "observer": SUMS},
        lambda t, e: one_hot.sums(200, 300, t, e),
    ),
}  # fmt: skip


def ask_for(case, threshold=Q):
    name, given, _ = PRICES[case]
    flips = "threshold" in LAWS[name].needs
    return name, Ask(threshold=threshold if flips else None, **given)


def test_every_law_is_among_the_cases():
    assert {name for name, _, _ in PRICES.values()} == set(LAWS)


@pytest.mark.parametrize("case", PRICES)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_a_certificate_is_the_number_of_the_laws_module(case, epsilon):
    name, ask = ask_for(case)
    certificate, ends = laws.price(name, ask, epsilon), PRICES[case][2](Q, epsilon)
    assert (certificate.lower, certificate.upper) == pytest.approx(ends, rel=1e-12, abs=0)
    assert 0 <= certificate.lower <= certificate.upper <= 1
    assert certificate.upper > 0
    observer = Observer.LINKED if name == "memory" else ask.observer
    assert (certificate.epsilon, certificate.observer) == (epsilon, observer)
    assert certificate.status is Status.PROVED
    assert certificate.source
    assert "mix" in certificate.assumption


@pytest.mark.parametrize("case", PRICES)
def test_the_upper_end_alone_is_that_of_the_price(case):
    name, ask = ask_for(case)
    alone = LAWS[name].upper(ask, 1.0)
    assert alone == pytest.approx(laws.price(name, ask, 1.0).upper, rel=1e-9)


@pytest.mark.parametrize("case", PRICES)
def test_a_calibrated_flip_probability_is_the_least_that_keeps_the_promise(case):
    name, ask = ask_for(case, None)
    if "threshold" not in LAWS[name].needs:
        return
    found = laws.calibrate(name, ask, 1.0, 1e-3)
    assert replace(found, threshold=None) == ask
    assert laws.price(name, found, 1.0).upper <= 1e-3
    less = replace(found, threshold=round(found.threshold * (1 - 1e-4)))
    assert laws.price(name, less, 1.0).upper > 1e-3
    assert 0 < laws.standard_error(name, found) < math.inf


@pytest.mark.parametrize(
    "case", ["blanks", "blanks and crowd", "blanks, two-hot", "clear", "bit", "uniform"]
)
def test_the_fewest_fakes_that_keep_the_promise(case):
    name, ask = ask_for(case)
    ask = replace(ask, fakes=None, threshold=ask.threshold and SCALE // 8)
    found = laws.calibrate(name, replace(ask, users=ask.users and 20), 1.0, 1e-2)
    assert found.fakes > 0
    assert laws.price(name, found, 1.0).upper <= 1e-2
    assert laws.price(name, replace(found, fakes=found.fakes - 1), 1.0).upper > 1e-2


def test_the_standard_error_by_hand():
    """Notes 004 below (5.20): N p q / (p - q)^2, and the fakes' own spread."""
    quarter = SCALE // 4
    assert laws.standard_error("flip", Ask(users=12, threshold=quarter)) == pytest.approx(3.0)
    ask = Ask(users=4, fakes=8, threshold=quarter)
    assert laws.standard_error("single-bit", ask) == pytest.approx(3.0)
    assert laws.standard_error("single-bit", replace(ask, repeats=9)) == pytest.approx(1.0)
    ask = replace(ask, bins=2)
    assert laws.standard_error("flip-uniform", ask) == pytest.approx(math.sqrt(9 + 2))
    assert laws.standard_error("clear-uniform", Ask(fakes=8, bins=2)) == pytest.approx(2**0.5)
    assert laws.standard_error("flip", Ask(users=12, threshold=SCALE // 2)) == math.inf


@pytest.mark.parametrize("case", PRICES)
def test_a_missing_parameter_is_refused(case):
    name, ask = ask_for(case)
    for field in LAWS[name].needs:
        with pytest.raises(ParameterError, match=f"^{name}: wanted"):
            laws.price(name, replace(ask, **{field: None}), 1.0)


@pytest.mark.parametrize("name", LAWS)
def test_a_superfluous_parameter_is_refused(name):
    case = next(case for case, entry in PRICES.items() if entry[0] == name)
    _, ask = ask_for(case)
    extra = {
        "users": 3, "bins": 3, "bits": 3, "ones": 0, "max_set": 2, "background": "zero",
        "observer": SUMS, "count_crowd": True, "repeats": 2, "fakes": 0, "threshold": Q,
        "split": True, "ratio": 9, "shift": 3, "permanent": 0.5, "p": 0.1, "q": 0.2, "hashes": 1,
        "reports": 3,
    }  # fmt: skip
    for field, value in extra.items():
        if field not in LAWS[name].needs | LAWS[name].may:
            with pytest.raises(ParameterError, match=f"^{name}: wanted"):
                laws.price(name, replace(ask, **{field: value}), 1.0)


def test_nothing_of_something_counts_as_given():
    """No fakes and no ones are numbers like others; False and the default observer are not."""
    assert laws.given(Ask(fakes=0, ones=0)) == {"fakes", "ones"}
    assert laws.given(Ask(users=2, count_crowd=True, observer=SUMS)) == {
        "users", "count_crowd", "observer",
    }  # fmt: skip
    known = laws.price("single-bit", Ask(users=50, fakes=0, ones=0, threshold=Q), 1.0)
    assert "0 of the others" in known.assumption


@pytest.mark.parametrize(
    ("name", "ask", "subject"),
    [
        ("flip-blank", Ask(fakes=-1, threshold=Q), "fakes"),
        ("flip-blank", Ask(fakes=10**13 + 1, threshold=Q), "fakes"),
        ("flip-blank", Ask(fakes=1, threshold=(1 << 24) - 1), "threshold"),
        ("flip-blank", Ask(fakes=1, threshold=(1 << 63) + 1), "threshold"),
        ("flip-blank", Ask(fakes=1, threshold=Q, max_set=0), "max set"),
        ("flip-blank", Ask(fakes=1, threshold=Q, max_set=17), "max set"),
        ("clear-uniform", Ask(fakes=1, bins=1), "bins"),
        ("clear-uniform", Ask(fakes=1, bins=10**7 + 1), "bins"),
        ("single-bit", Ask(users=1, fakes=1, threshold=Q), "users"),
        ("single-bit", Ask(users=10**10 + 1, fakes=1, threshold=Q), "users"),
        ("single-bit", Ask(users=9, fakes=1, threshold=Q, ones=9), "ones"),
        ("single-bit", Ask(users=9, fakes=1, threshold=Q, ones=-1), "ones"),
        ("single-bit", Ask(users=9, fakes=1, threshold=Q, repeats=0), "repeats"),
        ("single-bit", Ask(users=9, fakes=1, threshold=Q, repeats=1001), "repeats"),
        ("flip", Ask(users=9, threshold=Q, bits=0), "bits"),
        ("flip", Ask(users=9, threshold=Q, bits=65), "bits"),
    ],
)
def test_a_parameter_outside_its_range_is_refused(name, ask, subject):
    with pytest.raises(ParameterError, match=f"^{subject}.*wanted an integer"):
        laws.price(name, ask, 1.0)


@pytest.mark.parametrize("epsilon", [0.0, 0.009, 20.1, math.nan, math.inf, -1.0])
def test_epsilon_outside_its_range_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        laws.price("flip", Ask(users=9, threshold=Q), epsilon)


def test_calibrating_what_is_given_or_both_left_out_is_refused():
    for ask in (Ask(), Ask(fakes=3, threshold=Q), Ask(bins=3)):
        with pytest.raises(ParameterError, match=r"^flip-blank: wanted"):
            laws.calibrate("flip-blank", ask, 1.0, 1e-6)
    with pytest.raises(ParameterError, match=r"^clear-uniform: wanted"):
        laws.calibrate("clear-uniform", Ask(fakes=3, bins=3), 1.0, 1e-6)
