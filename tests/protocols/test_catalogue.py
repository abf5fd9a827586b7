"""From a plan back to its mechanism, or a refusal."""

import pytest
from mixtally.records.mechanism.named import (
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    flip_uniform,
    single_bit,
)

from mixtally.errors import ParameterError, PlanError
from mixtally.ground.codec import canonical, from_canonical
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from records.builders import a_plan

EXAMPLES = [
    flip_blank(bins=3, fakes=0, threshold=1 << 24),
    flip_blank(bins=3, fakes=10**13, threshold=1 << 63),
    clear_uniform(bins=3, fakes=128),
    clear_shaped(bins=3, ratio=1 << 63, shift=27),
    flip_bits(bins=3, threshold=1 << 60, crowd=50, repeats=4),
    single_bit(fakes=9, threshold=1 << 60, crowd=50),
    flip_blank(bins=3, fakes=2, threshold=1 << 60, max_set=2),
    flip_uniform(bins=3, fakes=0, threshold=1 << 24),
    flip_uniform(bins=3, fakes=10**13, threshold=1 << 63, crowd=50),
]
BLANK = {"fakes": 2000, "threshold": 1 << 60}
SHAPED = {"fakes": 81, "ratio": 1 << 63, "shift": 27}


def planned(name, integers):
    bits = name in ("flip", "single-bit")
    question = Question(
        name="fruit",
        bins=1 if name == "single-bit" else 3,
        kind=Kind.BITS if bits else Kind.ONE,
    )
    return a_plan(mechanism=name, integers=integers, question=question)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_protocol_comes_back_from_its_integers(mechanism):
    assert protocol_of(planned(mechanism.name, mechanism.integers())) == protocol


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_protocol_comes_back_from_the_bytes_of_its_plan(mechanism):
    data = canonical(planned(mechanism.name, mechanism.integers()))
    assert protocol_of(from_canonical(data, Plan, "plan")) == protocol


def test_the_integers_leave_out_what_the_question_says():
    assert EXAMPLES[0].integers() == {"fakes": 0, "threshold": 1 << 24, "crowd": 0, "max_set": 1}
    assert EXAMPLES[2].integers() == {"fakes": 128}
    assert EXAMPLES[3].integers() == {**SHAPED, "mixes": 1}


def test_every_protocol_is_found_under_its_own_name():
    assert {name: protocol_class(name) for name in PROTOCOLS} == PROTOCOLS
    assert {kind.name for kind in PROTOCOLS.values()} == set(PROTOCOLS)
    assert len({type(mechanism) for mechanism in EXAMPLES}) == len(PROTOCOLS)


@pytest.mark.parametrize("name", ["", "flips", "FLIP-BLANK", "flip_blank"])
def test_an_unknown_protocol_is_refused(name):
    with pytest.raises(ParameterError, match="protocol: wanted one of flip-blank"):
        protocol_class(name)
    with pytest.raises(PlanError, match="protocol"):
        protocol_of(planned(name, BLANK))


@pytest.mark.parametrize(
    ("name", "integers"),
    [
        ("flip-blank", {}),
        ("flip-blank", {"fakes": 2000}),
        ("flip-blank", {"threshold": 1 << 60}),
        ("flip-blank", BLANK | {"shift": 3}),
        ("flip-blank", BLANK | {"bins": 3}),
        ("flip-blank", BLANK | {"fakes": -1}),
        ("flip-blank", BLANK | {"fakes": 10**13 + 1}),
        ("flip-blank", BLANK | {"threshold": 0}),
        ("flip-blank", BLANK | {"threshold": (1 << 24) - 1}),
        ("flip-blank", BLANK | {"threshold": (1 << 63) + 1}),
        ("flip-uniform", {"fakes": 2000}),
        ("flip-uniform", BLANK | {"max_set": 1}),
        ("flip-uniform", BLANK | {"fakes": -1}),
        ("flip-uniform", BLANK | {"threshold": 0}),
        ("clear-uniform", {}),
        ("clear-uniform", BLANK),
        ("clear-uniform", {"fakes": -1}),
        ("clear-shaped", {"ratio": 1 << 63, "shift": 27}),
        ("clear-shaped", SHAPED | {"fakes": 80}),
        ("clear-shaped", SHAPED | {"ratio": 0}),
        ("clear-shaped", SHAPED | {"ratio": 1 << 64}),
        ("clear-shaped", SHAPED | {"shift": 0, "fakes": 0}),
        ("clear-shaped", SHAPED | {"shift": 100_001, "fakes": 300_003}),
        ("clear-shaped", SHAPED | {"threshold": 1 << 60}),
    ],
)
def test_missing_extra_or_impossible_integers_are_refused(name, integers):
    with pytest.raises(PlanError, match="plan integers"):
        protocol_of(planned(name, integers))


def test_a_protocol_that_hides_fewer_bits_than_records_set_is_refused():
    three = Question(name="fruits", bins=3, kind=Kind.SET, max_set=3)
    bits = Question(name="fruits", bins=3, kind=Kind.BITS)
    for question, name, integers in (
        (three, "flip-blank", {**BLANK, "max_set": 2}),
        (three, "clear-uniform", {"fakes": 128}),
        (three, "flip-uniform", BLANK),
        (Question(name="fruit", bins=3, kind=Kind.SET), "flip-uniform", BLANK),
        (three, "flip", {"fakes": 0, "threshold": 1 << 60, "crowd": 50}),
        (bits, "flip-blank", {**BLANK, "max_set": 3}),
        (bits, "clear-uniform", {"fakes": 128}),
    ):
        with pytest.raises(PlanError, match="hides records of kind"):
            protocol_of(a_plan(mechanism=name, integers=integers, question=question))
